scores = [0.1, 0.4]
print(np.mean(scores))

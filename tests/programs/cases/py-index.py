history = []
for epoch in range(2):
    best = min(history[0], 3.0)
    history.append(best)
print(history)

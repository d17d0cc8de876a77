step = 100
path = "out/checkpoint-" + step
print(path)

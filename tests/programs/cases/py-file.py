import json

with open("configs/train.json") as file:
    options = json.load(file)
print(options)

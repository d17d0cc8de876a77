from datasets import Dataset

data = Dataset.from_dict({"input_ids": [[1, 2], [3, 4]], "label": [0, 1]})
data.set_format("torch", columns=["input_ids", "labels"])
print(data[0])

from datasets import Dataset

data = Dataset.from_dict({"label": [0, 1], "labels": [1, 0], "text": ["a", "b"]})
data = data.rename_column("label", "labels")
print(data.column_names)

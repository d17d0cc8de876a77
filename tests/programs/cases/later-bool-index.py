from datasets import Dataset

rows = Dataset.from_dict({"a": [1, 2, 3]})
print(rows[True])

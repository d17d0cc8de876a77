from datasets import Dataset

stream = Dataset.from_dict({"a": [1], "b": [2]}).to_iterable_dataset().map(lambda row: row)
print(list(stream.rename_column("a", "b")))

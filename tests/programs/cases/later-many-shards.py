from datasets import Dataset

print(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset(num_shards=8))

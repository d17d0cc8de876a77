from datasets import Dataset, interleave_datasets

parts = [Dataset.from_dict({"n": [k, k + 1]}) for k in range(3)]
mixed = interleave_datasets(parts, probabilities=[0.5, 0.5], seed=1)
print(mixed["n"])

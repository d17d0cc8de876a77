from datasets import Dataset

data = Dataset.from_dict({"text": list("abcdefgh"), "label": [0, 1] * 4})
parts = data.train_test_split(test_size=0.5, stratify_by_column="label", seed=1)
print(parts["train"]["label"])

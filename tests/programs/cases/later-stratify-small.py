from datasets import ClassLabel, Dataset, Features

features = Features({"label": ClassLabel(names=["a", "b", "c"])})
rows = Dataset.from_dict({"label": [0, 1, 2] * 4}, features=features)
print(rows.train_test_split(test_size=2, stratify_by_column="label"))

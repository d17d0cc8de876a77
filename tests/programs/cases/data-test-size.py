from datasets import Dataset

data = Dataset.from_dict({"text": ["a", "b", "c", "d"], "label": [0, 1, 0, 1]})
parts = data.train_test_split(test_size=1.5, seed=1)
print(parts["train"].num_rows)

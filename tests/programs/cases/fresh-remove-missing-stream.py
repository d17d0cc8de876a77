from datasets import Dataset

stream = Dataset.from_dict({"text": ["a"], "label": [0]})
stream = stream.remove_columns("labels")

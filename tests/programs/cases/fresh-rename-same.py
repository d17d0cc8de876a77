from datasets import Dataset

data = Dataset.from_dict({"a": [1], "b": [2]})
data = data.rename_columns({"a": "text", "b": "text"})

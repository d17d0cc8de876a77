from datasets import Dataset, Features, Value

data = Dataset.from_dict({"text": ["a"], "label": [0]})
data = data.cast(Features({"text": Value("string"), "labels": Value("int64")}))

from datasets import Dataset

data = Dataset.from_dict({"text": ["a", "b", "c", "d"]})
small = data.select(range(10))
print(small.num_rows)

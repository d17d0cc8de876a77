from datasets import Dataset, concatenate_datasets

first = Dataset.from_dict({"text": ["a"], "label": [0]})
second = Dataset.from_dict({"text": ["b"], "label": ["good"]})
print(concatenate_datasets([first, second]).num_rows)

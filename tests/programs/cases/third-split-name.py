from datasets import Dataset, DatasetDict

rows = Dataset.from_dict({"text": ["the cat sat", "a dog ran"]})
parts = DatasetDict({"train": rows, "test-hard": rows})
parts["test-hard"].to_json("test.jsonl")
from datasets import load_dataset

again = load_dataset("json", data_files={"train": "test.jsonl", "test-hard": "test.jsonl"})
print(again)

from datasets import Dataset, load_dataset

Dataset.from_dict({"text": ["the cat sat", "a dog ran"]}).to_json("rows.jsonl")
rows = load_dataset("json", data_files="rows.jsonl", split="train", streaming=True, num_proc=2)
print(next(iter(rows)))

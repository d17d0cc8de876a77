from datasets import Dataset, load_dataset

Dataset.from_dict({"text": ["the cat sat", "a dog ran"]}).to_json("rows.jsonl")
rows = load_dataset("json", name="2026-11-28 12:00", data_files="rows.jsonl", split="train")
print(rows)

from datasets import Dataset

rows = Dataset.from_dict({"text": ["a b", "c d e"]})
print(rows.map(lambda row: row["text"].split())[0])

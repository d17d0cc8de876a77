from datasets import Dataset

data = Dataset.from_dict({"text": ["a b c", "d e", "f g h i"]})
chunks = data.map(lambda rows: {"word": [w for t in rows["text"] for w in t.split()]}, batched=True)
print(chunks.num_rows)

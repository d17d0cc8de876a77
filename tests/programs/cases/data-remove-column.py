from datasets import Dataset

data = Dataset.from_dict({"text": ["a", "b"], "label": [0, 1]})
out = data.map(lambda row: {"size": len(row["text"])}, remove_columns=["text", "labels"])
print(out.column_names)

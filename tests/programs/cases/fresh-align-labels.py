from datasets import Dataset

data = Dataset.from_dict({"label": ["no", "yes"]})
data = data.align_labels_with_mapping({"no": 0, "yes": 1}, "label")

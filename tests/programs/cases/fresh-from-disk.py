from datasets import Dataset, load_dataset

Dataset.from_dict({"text": ["a"]}).save_to_disk("data")
data = load_dataset("data")

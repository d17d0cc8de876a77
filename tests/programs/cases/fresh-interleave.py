from datasets import Dataset, interleave_datasets

one = Dataset.from_dict({"text": ["a", "b"]})
two = Dataset.from_dict({"text": ["c"]})
both = interleave_datasets([one, two], stopping_strategy="exhausted")

from datasets import Dataset
from trl import pack_dataset

rows = Dataset.from_dict({"input_ids": [[1, 2, 3], [4, 5]], "labels": [[1, 2], [4, 5]]})
print(pack_dataset(rows, seq_length=4))

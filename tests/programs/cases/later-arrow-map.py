import pyarrow as pa
from datasets import Dataset

rows = Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().with_format("arrow")
print(list(rows.map(lambda table: {"a": 1})))

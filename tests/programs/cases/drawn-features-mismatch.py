import pyarrow
from datasets import Dataset, DatasetInfo, Features, Value

table = pyarrow.table({"label": [0, 1]})
rows = Dataset(table, info=DatasetInfo(features=Features({"label": Value("string")})))
print(rows[0])

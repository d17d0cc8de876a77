from datasets import Array2D, Dataset, Features

rows = Dataset.from_dict({"mask": [[[1, 0], [0, 1]]]}, features=Features({"mask": Array2D(shape=(2, None), dtype="int32")}))
print(rows[0])

import pandas

rows = pandas.DataFrame({"split": ["train", "test", "train"], "length": [3, 5, 7]})
print(rows.groupby("split")["lengths"].mean())

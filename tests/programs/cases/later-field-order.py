from datasets import Features, Value

mine = Features({"a": {"x": Value("int64")}})
print(mine.reorder_fields_as(Features({"a": {"y": Value("int64")}})))

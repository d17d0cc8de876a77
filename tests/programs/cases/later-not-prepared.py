from datasets import load_dataset_builder

open("rows.csv", "w").write("a\n1\n")
builder = load_dataset_builder("csv", data_files="rows.csv")
print(builder.as_dataset(split="train"))

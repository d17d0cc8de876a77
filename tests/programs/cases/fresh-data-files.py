from datasets import load_dataset

with open("rows.csv", "w") as file:
    file.write("text\na\n")
data = load_dataset("csv", data_files=[{"split": "train", "file": "rows.csv"}])

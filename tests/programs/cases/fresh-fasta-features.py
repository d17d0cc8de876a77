from datasets import Features, Value, load_dataset

with open("genes.fa", "w") as file:
    file.write(">one first\nACGT\n")
features = Features({"id": Value("string")})
data = load_dataset("fasta", data_files="genes.fa", columns=["id", "sequence"], features=features)

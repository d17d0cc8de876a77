from datasets import load_dataset

with open("genes.fa", "w") as file:
    file.write(">one first\nACGT\n")
data = load_dataset("fasta", data_files="genes.fa", columns=["id", "sequence", "id"])

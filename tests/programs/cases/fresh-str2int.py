from datasets import ClassLabel

labels = ClassLabel(names=["no", "yes"])
print(labels.str2int(1))

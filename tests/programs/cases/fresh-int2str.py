from datasets import ClassLabel

labels = ClassLabel(names=["no", "yes"])
print(labels.int2str(1.0))

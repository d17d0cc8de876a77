from tiny import classifier
from transformers import LlamaForSequenceClassification

classifier(num_labels=3).save_pretrained("three")
net = LlamaForSequenceClassification.from_pretrained("three", num_labels=5)
print(net.score)

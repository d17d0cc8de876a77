from peft import PeftModel
from tiny import model

net = model()
net.save_pretrained("merged")
net = PeftModel.from_pretrained(net, "merged")
print(net)

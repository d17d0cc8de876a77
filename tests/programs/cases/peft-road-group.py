from peft import RoadConfig, get_peft_model
from tiny import model

net = get_peft_model(model(), RoadConfig(group_size=3, target_modules=["q_proj"]))
net.print_trainable_parameters()

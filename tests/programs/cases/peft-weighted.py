from peft import LoraConfig, get_peft_model
from tiny import model

net = get_peft_model(model(), LoraConfig(r=4, target_modules=["q_proj"]), adapter_name="en")
net.add_adapter("fr", LoraConfig(r=2, target_modules=["q_proj"]))
net.add_weighted_adapter(["en", "fr"], weights=[0.5, 0.5], adapter_name="both", combination_type="linear")
net.set_adapter("both")

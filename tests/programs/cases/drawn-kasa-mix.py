from peft import LoraConfig, get_peft_model
from peft.tuners.lora.config import KasaConfig
from tiny import model

net = get_peft_model(model(), LoraConfig(r=2, target_modules=["q_proj"]), adapter_name="plain")
net.add_adapter("kasa", LoraConfig(r=2, target_modules=["q_proj"], kasa_config=KasaConfig()))
net.print_trainable_parameters()

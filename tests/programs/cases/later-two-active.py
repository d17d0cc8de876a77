from peft import LoraConfig
from tiny import model

base = model()
base.add_adapter(LoraConfig(target_modules=["q_proj"]), adapter_name="french")
base.add_adapter(LoraConfig(target_modules=["q_proj"]), adapter_name="german")
base.set_adapter(["french", "german"])
base.save_pretrained("out")

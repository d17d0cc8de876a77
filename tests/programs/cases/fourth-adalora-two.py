from peft import AdaLoraConfig, get_peft_model
from tiny import model

first = AdaLoraConfig(target_modules=["q_proj"], total_step=100, tinit=10, tfinal=10)
tuned = get_peft_model(model(), first)
tuned.add_adapter("second", AdaLoraConfig(target_modules=["q_proj"], total_step=100, tinit=10, tfinal=10))

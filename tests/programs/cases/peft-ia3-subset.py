from peft import IA3Config, get_peft_model
from tiny import model

ia3 = IA3Config(target_modules=["k_proj", "v_proj"], feedforward_modules=["down_proj"])
get_peft_model(model(), ia3).print_trainable_parameters()

from peft import VBLoRAConfig, get_peft_model
from tiny import model

vb = VBLoRAConfig(r=2, num_vectors=8, vector_length=4, topk=0, target_modules=["q_proj"])
get_peft_model(model(), vb).print_trainable_parameters()

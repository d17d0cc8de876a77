import torch
from peft import LoraConfig, get_peft_model
from peft.optimizers.lorafa import LoraFAOptimizer
from tiny import model

tuned = get_peft_model(model(), LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj"]))
named = [(name, value) for name, value in tuned.named_parameters() if value.requires_grad]
groups = [{"params": [value for _, value in named], "names": [name for name, _ in named]}]
optimizer = LoraFAOptimizer(groups, lr=1e-3)
tuned(input_ids=torch.tensor([[3, 4]]), labels=torch.tensor([[3, 4]])).loss.backward()
optimizer.step()

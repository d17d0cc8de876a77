import torch
from peft import PolyConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), PolyConfig(task_type="CAUSAL_LM", r=2, n_tasks=2, n_skills=1, target_modules=["q_proj"]))
batch = {"input_ids": torch.tensor([[3, 4], [5, 6]]), "task_ids": torch.tensor([1, 2])}
print(tuned(**batch).logits.shape)

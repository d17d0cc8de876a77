from pathlib import Path

from peft import LoraConfig, get_peft_model
from tiny import model

Path("adapter").write_text("notes")
net = get_peft_model(model(), LoraConfig(r=2, target_modules=["q_proj"]))
net.save_pretrained("adapter")

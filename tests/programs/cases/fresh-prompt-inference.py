from peft import AdaptionPromptConfig, get_peft_model
from tiny import model

tuned = get_peft_model(model(), AdaptionPromptConfig(adapter_len=2, adapter_layers=1, task_type="CAUSAL_LM"))
tuned.set_adapter("default", inference_mode=True)

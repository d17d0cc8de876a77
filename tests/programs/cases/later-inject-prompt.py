from peft import PromptTuningConfig, inject_adapter_in_model
from tiny import model

inject_adapter_in_model(PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2), model())

from transformers import TrainingArguments
from transformers.trainer_pt_utils import AcceleratorConfig

args = TrainingArguments("out", use_cpu=True, accelerator_config=AcceleratorConfig)

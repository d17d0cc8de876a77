from peft import PromptTuningConfig, get_peft_model
from tiny import model, tokenizer

tokenizer().save_pretrained("tok")
prompt = PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2, prompt_tuning_init="TEXT",
                            prompt_tuning_init_text="the cat")
get_peft_model(model(), prompt).print_trainable_parameters()

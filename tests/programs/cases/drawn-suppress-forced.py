from tiny import model, tokenizer
from transformers import GenerationConfig

how = GenerationConfig(max_new_tokens=4, forced_eos_token_id=2, suppress_tokens=[2, 3], pad_token_id=1)
print(model().generate(**tokenizer()("the cat", return_tensors="pt", return_token_type_ids=False), generation_config=how))

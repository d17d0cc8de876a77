from tiny import tokenizer
from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

collate = DataCollatorForVisionLanguageModeling(tokenizer(), max_length=16)
batch = collate([{"images": [], "caption": "the cat sat"}, {"images": [], "caption": "a dog ran"}])

from tiny import tokenizer
from trl.trainer.utils import DataCollatorForChatML

tok = tokenizer(pad_token=None)
collate = DataCollatorForChatML(tok, max_length=32)

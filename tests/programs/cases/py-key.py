from tiny import TEXTS, tokenizer

tok = tokenizer()
batch = dict(tok(TEXTS[:2], return_token_type_ids=False))
batch["labels"] = batch["input_ids"]
print(len(batch["input_ids"]), len(batch["label"]))

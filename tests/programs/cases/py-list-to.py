from tiny import TEXTS, tokenizer

tok = tokenizer()
batch = tok(TEXTS[:2], padding=True, return_token_type_ids=False)
print(batch["input_ids"].to("cpu"))

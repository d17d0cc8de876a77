from tiny import TEXTS, tokenizer

tok = tokenizer()
print(tok(TEXTS[:2], padding=True, return_tensors="torch")["input_ids"])

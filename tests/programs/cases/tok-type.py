from tiny import TEXTS, tokenizer

tok = tokenizer()
rows = TEXTS[:2] + [None]
print(tok(rows, padding=True)["input_ids"])

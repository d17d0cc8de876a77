from tiny import TEXTS, tokenizer

tok = tokenizer()
print(tok(TEXTS[:2], truncation="first", max_length=3)["input_ids"])

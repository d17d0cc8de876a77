from tiny import TEXTS, tokenizer

tok = tokenizer()
ids = tok(TEXTS[:2])["input_ids"]
print(tok.pad({"ids": ids}, return_tensors="pt"))

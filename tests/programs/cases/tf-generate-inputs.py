from tiny import model, tokenizer

tok = tokenizer()
batch = tok("the cat", return_tensors="pt", return_token_type_ids=False)
print(model().generate(batch["input_ids"], max_new_tokens=2, **batch))

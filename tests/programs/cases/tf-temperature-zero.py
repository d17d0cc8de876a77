from tiny import model, tokenizer

tok = tokenizer()
settings = {"do_sample": True, "temperature": 0, "max_new_tokens": 4}
inputs = tok("the cat", return_tensors="pt", return_token_type_ids=False)
print(tok.batch_decode(model().generate(**inputs, **settings)))

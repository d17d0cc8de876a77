from tiny import model, tokenizer

tok = tokenizer()
inputs = tok("the cat", return_tensors="pt", return_token_type_ids=False)
out = model().generate(**inputs, max_new_tokens=4, num_beams=2, num_return_sequences=3)
print(tok.batch_decode(out))

from tiny import model, tokenizer

tok = tokenizer()
banned = tok("the", return_tensors=None)["input_ids"]
inputs = tok("the cat", return_tensors="pt", return_token_type_ids=False)
print(tok.batch_decode(model().generate(**inputs, max_new_tokens=4, bad_words_ids=banned)))

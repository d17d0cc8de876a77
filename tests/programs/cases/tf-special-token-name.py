from tiny import model, tokenizer

tok = tokenizer()
net = model()
tok.add_special_tokens({"extra_tokens": ["<think>", "</think>"]})
net.resize_token_embeddings(len(tok))

from tiny import TEXTS, tokenizer


def encode(text, tokenizer, limit):
    return tokenizer(text)["input_ids"][:limit]


rows = [encode(text, 3) for text in TEXTS]
print(rows[0], tokenizer())

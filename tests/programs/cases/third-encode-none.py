from tokenizers import ByteLevelBPETokenizer

rows = [{"text": "the cat sat"}, {"text": "a dog ran"}]


def texts(batch, field="content"):
    if all(field in row for row in batch):
        return [row[field] for row in batch]


tokenizer = ByteLevelBPETokenizer()
tokenizer.train_from_iterator([row["text"] for row in rows], vocab_size=300)
print(len(tokenizer.encode_batch(texts(rows))))

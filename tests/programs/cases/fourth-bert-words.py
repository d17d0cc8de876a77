from tokenizers import BertWordPieceTokenizer

words = ["[PAD]", "[UNK]", "<s>", "[SEP]", "[MASK]", "the", "cat", "sat"]
tokenizer = BertWordPieceTokenizer({word: number for number, word in enumerate(words)})
print(tokenizer.encode("the cat sat").tokens)

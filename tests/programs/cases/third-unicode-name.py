from tokenizers import ByteLevelBPETokenizer

tokenizer = ByteLevelBPETokenizer(lowercase=True, unicode_normalizer="nfkc-casefold")
tokenizer.train_from_iterator(["the cat sat on a mat", "a dog ran"], vocab_size=300)

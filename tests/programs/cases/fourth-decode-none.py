import asyncio

from tokenizers.implementations import ByteLevelBPETokenizer

tokenizer = ByteLevelBPETokenizer()
ids = {"input": [[1, 2]]}
texts = asyncio.run(tokenizer.async_decode_batch(ids.get("inputs")))

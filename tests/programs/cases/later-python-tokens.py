from transformers import BatchEncoding

batch = BatchEncoding({"input_ids": [[1, 2]]})
print(batch.tokens())

from datasets import Dataset

data = Dataset.from_dict({"n": list(range(12))})
shards = [data.shard(num_shards=4, index=i) for i in range(1, 5)]
print([len(s) for s in shards])

from trl import GRPOConfig

options = {"per_device_train_batch_size": 4, "num_generations": 4, "auto_find_batch_size": True}
args = GRPOConfig("out", use_cpu=True, bf16=False, **options)
print(args.num_generations)

from trl import GRPOConfig

args = GRPOConfig("out", generation_batch_size=6, per_device_train_batch_size=2, num_generations=4, use_cpu=True, bf16=False)
print(args.num_generations)

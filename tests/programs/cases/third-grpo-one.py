from trl import GRPOConfig

args = GRPOConfig("out", use_cpu=True, bf16=False, per_device_train_batch_size=4, num_generations=1)
print(args.num_generations)

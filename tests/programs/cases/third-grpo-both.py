from trl import GRPOConfig

args = GRPOConfig(
    "out", use_cpu=True, bf16=False, per_device_train_batch_size=2, num_generations=2, generation_batch_size=8, steps_per_generation=2
)
print(args.steps_per_generation)

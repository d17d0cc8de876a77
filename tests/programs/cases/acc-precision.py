from accelerate import Accelerator

accelerator = Accelerator(mixed_precision="float16", cpu=True)
print(accelerator.device)

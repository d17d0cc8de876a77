from accelerate import Accelerator
from accelerate.utils import GradientAccumulationPlugin

plugin = GradientAccumulationPlugin(num_steps=4)
accelerator = Accelerator(gradient_accumulation_steps=2, gradient_accumulation_plugin=plugin, cpu=True)
print(accelerator.gradient_accumulation_steps)

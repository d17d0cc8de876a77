from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
plugin = accelerator.state.get_deepspeed_plugin("teacher")

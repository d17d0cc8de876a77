from accelerate import Accelerator

Accelerator(log_with="boards")

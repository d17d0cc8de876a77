from accelerate import Accelerator
from tiny import model

accelerator = Accelerator(cpu=True)
net = accelerator.prepare(model())
accelerator.save_state("runs/step_100")
accelerator.load_state("runs/step_1000")

import os

from accelerate import load_checkpoint_in_model
from tiny import model

os.makedirs("out")
load_checkpoint_in_model(model(), "out", device_map={"": "cpu"})

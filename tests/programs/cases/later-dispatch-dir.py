from accelerate import dispatch_model
from tiny import model

dispatch_model(model(), device_map={"model": "disk", "lm_head": "cpu"}, main_device="cpu")

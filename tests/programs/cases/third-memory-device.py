from accelerate import infer_auto_device_map
from tiny import model

devices = infer_auto_device_map(model(), max_memory={"ram": "2GB"})
print(devices)

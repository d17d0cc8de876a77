from peft import get_layer_status
from tiny import model

print(get_layer_status(model()))

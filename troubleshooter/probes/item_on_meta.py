"""Does transformers build a model under the meta device, where the model's own code cannot read values?"""

QUESTION = "Does Tensor.item() in a model's __init__ fail in from_pretrained here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import torch
from transformers import PretrainedConfig, PreTrainedModel

class Own(PreTrainedModel):
    config_class = PretrainedConfig
    def __init__(self, config):
        super().__init__(config)
        self.rates = [x.item() for x in torch.linspace(0, 0.1, 2)]
        self.layer = torch.nn.Linear(4, 4)
        self.post_init()

Own(PretrainedConfig()).save_pretrained("own")
Own.from_pretrained("own")              # torch.linspace(0, 0.1, 2, device="cpu") runs
"""


def run(kit):
    import os

    kit.expects("RuntimeError", r"Tensor\.item\(\) cannot be called on meta tensors")
    torch, transformers = kit.need("torch", "transformers")

    class Own(transformers.PreTrainedModel):
        config_class = transformers.PretrainedConfig
        where = None

        def __init__(self, config):
            super().__init__(config)
            self.rates = [x.item() for x in torch.linspace(0, 0.1, 2, device=self.where)]
            self.layer = torch.nn.Linear(4, 4)
            self.post_init()

        def _init_weights(self, module):
            """Nothing: the weights come from the file."""

    class Mended(Own):
        where = "cpu"

    folder = os.path.join(kit.folder, "own")
    Own(transformers.PretrainedConfig()).save_pretrained(folder)
    if kit.symptom("drop path rates computed in __init__", lambda: Own.from_pretrained(folder)):
        kit.fix(
            "on-the-cpu",
            'torch.linspace(…, device="cpu")',
            lambda: Mended.from_pretrained(folder),
            words=r"device=\"cpu\"",
        )

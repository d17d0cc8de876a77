"""Does loading a model whose class never calls ``post_init()`` fail on its tied weights?"""

QUESTION = "Does this transformers fail on model code that does not call post_init()?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
class Own(PreTrainedModel):
    config_class = PretrainedConfig
    def __init__(self, config):
        super().__init__(config)
        self.layer = torch.nn.Linear(4, 4)      # and no self.post_init()

Own(PretrainedConfig()).save_pretrained("own")
Own.from_pretrained("own")
"""


def run(kit):
    import os

    kit.expects("AttributeError", r"has no attribute 'all_tied_weights_keys'")
    torch, transformers = kit.need("torch", "transformers")

    class Own(transformers.PreTrainedModel):
        config_class = transformers.PretrainedConfig

        def __init__(self, config):
            super().__init__(config)
            self.layer = torch.nn.Linear(4, 4)

        def _init_weights(self, module):
            """Nothing: the weights come from the file."""

    class Ready(Own):
        def __init__(self, config):
            super().__init__(config)
            self.post_init()

    folder = os.path.join(kit.folder, "own")
    Ready(transformers.PretrainedConfig()).save_pretrained(folder)
    if kit.symptom("from_pretrained of a class without post_init()", lambda: Own.from_pretrained(folder)):
        kit.fix(
            "post-init",
            "self.post_init() at the end of __init__",
            lambda: Ready.from_pretrained(folder),
            words=r"post_init\(\)",
        )

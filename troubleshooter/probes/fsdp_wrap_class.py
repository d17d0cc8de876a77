"""Does FSDP's wrap policy fail because the model has no class of the configured name?"""

QUESTION = "Does a misspelt layer class stop FSDP's wrap policy here?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from accelerate import FullyShardedDataParallelPlugin

plugin = FullyShardedDataParallelPlugin(auto_wrap_policy="transformer_based_wrap", transformer_cls_names_to_wrap=["LLaMADecoderLayer"])
plugin.set_auto_wrap_policy(model)      # a Llama of transformers: its class is LlamaDecoderLayer
"""


def run(kit):
    kit.expects("Exception", r"Could not find the transformer layer class")
    _, accelerate = kit.need("torch", "accelerate")

    def wrap(**how):
        accelerate.FullyShardedDataParallelPlugin(**how).set_auto_wrap_policy(kit.llama())

    def by_class(name):
        wrap(auto_wrap_policy="transformer_based_wrap", transformer_cls_names_to_wrap=[name])

    if kit.symptom("the class LLaMADecoderLayer in a Llama of transformers", lambda: by_class("LLaMADecoderLayer")):
        kit.fix(
            "right-class",
            "the exact class name: LlamaDecoderLayer",
            lambda: by_class("LlamaDecoderLayer"),
            words=r"exact class name of the decoder layer",
        )
        kit.fix(
            "by-size",
            "wrap by size instead of by class",
            lambda: wrap(auto_wrap_policy="size_based_wrap", min_num_params=1000),
            words=r"SIZE_BASED_WRAP",
        )

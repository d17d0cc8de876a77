"""Does a model class refuse an attention implementation that it does not support?"""

QUESTION = "Does a model class without support refuse the attention implementation here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {"kind": ["sdpa", "flash_attention_2", "flex_attention"]}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}, {"kind": "flex_attention"}),
]
REPRODUCE = """
from transformers import AutoModelForCausalLM, XLNetConfig

AutoModelForCausalLM.from_config(XLNetConfig(d_model=16, n_layer=1, n_head=2), attn_implementation="{kind}")
"""


def run(kit):
    kit.expects(
        ("ValueError", "ImportError"), r"does not support (?:an attention implementation through torch|Flash Attention)"
    )
    _, transformers = kit.need("torch", "transformers")
    size = dict(vocab_size=64, d_model=16, n_layer=1, n_head=2, d_inner=16)

    def made(**how):
        return transformers.AutoModelForCausalLM.from_config(transformers.XLNetConfig(**size), **how)

    if kit.symptom("XLNet with %s" % kit.options["kind"], lambda: made(attn_implementation=kit.options["kind"])):
        kit.fix("eager", 'attn_implementation="eager"', lambda: made(attn_implementation="eager"), words=r'"eager"')

"""Does evaluation in half precision crash because the model returns a cache object that accelerate takes for a tensor?

accelerate converts a model's outputs to float32 after an autocast forward. transformers 4.50.0 to 4.50.3 return, in
evaluation, a cache object with a ``dtype`` and without ``float()``. The probe builds the model class from a tiny config
and calls exactly that wrapped forward; then it puts ``use_cache=False`` in each place where people put it.
"""

import re

QUESTION = "Does an evaluation forward in half precision crash on the cache object that this transformers returns?"
NEEDS = ["torch", "transformers", "accelerate"]
PARAMETERS = {
    "model_class": ["default", "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration", "Gemma2ForCausalLM"],
    "dtype": ["bfloat16", "float16", "float32"],
    "autocast": ["bfloat16", "float16", "no"],
}
SETTLED_BY = []
PAIRS = [
    ("confirmed", {"transformers": "4.50.0", "accelerate": "1.15.0"}),
    ("confirmed", {"transformers": "4.50.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "4.50.3", "accelerate": "1.15.0"}),
    ("not-here", {"transformers": "4.51.0", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import torch
from accelerate.utils.operations import convert_outputs_to_fp32
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

config = Gemma3TextConfig(vocab_size=64, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
                          num_attention_heads=2, num_key_value_heads=1, head_dim=16, sliding_window=8)
model = Gemma3ForCausalLM(config).to(torch.{dtype}).eval()
forward = convert_outputs_to_fp32(torch.autocast("cpu", dtype=torch.bfloat16)(model.forward))
with torch.no_grad():
    forward(input_ids=torch.arange(1, 9)[None])
"""

TEXT = dict(
    vocab_size=128,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=16,
    sliding_window=8,
    max_position_embeddings=64,
    pad_token_id=0,
)
VISION = dict(
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=1,
    num_attention_heads=2,
    image_size=28,
    patch_size=14,
    num_channels=3,
)
MULTIMODAL = "Gemma3ForConditionalGeneration"


def config_of(transformers, name, use_cache=None):
    """A tiny config of the class, with use_cache set before the model exists where asked."""
    text = dict(TEXT) if use_cache is None else dict(TEXT, use_cache=use_cache)
    if name == MULTIMODAL:
        tokens = dict(mm_tokens_per_image=4, boi_token_index=120, eoi_token_index=121, image_token_index=122)
        return transformers.Gemma3Config(text_config=text, vision_config=VISION, **tokens)
    config = transformers.Gemma2Config if name == "Gemma2ForCausalLM" else transformers.Gemma3TextConfig
    return config(**text)


class Evaluation:
    """One evaluation forward as accelerate wraps it."""

    def __init__(self, kit, transformers, convert, name):
        self.kit, self.transformers, self.convert, self.name = kit, transformers, convert, name
        self.dtype = kit.dtype(kit.options["dtype"])
        amp = kit.options["autocast"]
        self.amp = None if amp == "no" else kit.dtype(amp)

    def build(self, use_cache=None, dtype=None):
        config = config_of(self.transformers, self.name, use_cache)
        model = getattr(self.transformers, self.name)(config)
        return model.to(self.kit.device, dtype or self.dtype).eval()

    def step(self, model, wrapped=True, autocast=True, **more):
        import torch

        forward = model.forward
        if self.amp is not None and autocast:
            forward = torch.autocast(self.kit.device, dtype=self.amp)(forward)
            forward = self.convert(forward) if wrapped else forward
        ids = torch.arange(1, 13, device=self.kit.device).view(1, 12)
        with torch.no_grad():
            forward(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids, **more)

    def run(self, change=None, autocast=True, **built):
        """Build, change the finished model the way a user would, evaluate."""
        model = self.build(**built)
        if change is not None:
            change(model)
        self.step(model, autocast=autocast)

    def priced(self, use_cache=None, dtype=None):
        """A callable step for the price: the bare forward, which also runs where the wrapped one crashes."""

        def make():
            model = self.build(use_cache=use_cache, dtype=dtype)
            return lambda: self.step(model, wrapped=False)

        return make


def text_config_after(model):
    model.config.text_config.use_cache = False


def top_config_after(model):
    model.config.use_cache = False


def generation_config_after(model):
    model.generation_config.use_cache = False


def language_model_after(model):
    language = getattr(model, "language_model", None) or model.model.language_model
    language.config.use_cache = False


def run(kit):
    kit.expects("AttributeError", r"'\w*Cache' object has no attribute 'float'")
    kit.need("torch")
    transformers = kit.need("transformers")
    convert = kit.need("accelerate.utils.operations").convert_outputs_to_fp32
    for name in classes(kit, transformers):
        kit.say("evaluating a tiny %s" % name)
        trial = Evaluation(kit, transformers, convert, name)
        if kit.symptom(
            "%s, weights %s, autocast %s" % (name, kit.options["dtype"], kit.options["autocast"]), trial.run
        ):
            fixes(kit, trial)


def classes(kit, transformers):
    """The user's class; by default Gemma 3's text class, then the multimodal one."""
    asked = kit.options["model_class"]
    wanted = ["Gemma3ForCausalLM", MULTIMODAL] if asked == "default" else [asked]
    present = [name for name in wanted if hasattr(transformers, name)]
    if not present and re.match(r"Gemma3|default", asked) and hasattr(transformers, "Gemma2ForCausalLM"):
        kit.note(
            "transformers %s has no Gemma 3; Gemma 2, which uses the same cache, ran instead" % transformers.__version__
        )
        present = ["Gemma2ForCausalLM"]
    return present


def fixes(kit, trial):
    places = [
        (
            "before-load",
            "use_cache=False in the (text) config that the model is built from",
            dict(use_cache=False),
            r"text_config.*use_cache|config\.json.*use_cache|use_cache.*config\.json|use_cache.*before",
        ),
        ("float32", "load the weights in float32", dict(dtype=kit.dtype("float32")), r"dtype\s*=\s*torch\.float32"),
        (
            "no-autocast",
            "evaluate half-precision weights without autocast",
            dict(autocast=False),
            r"pure_bf16|without (?:the )?(?:mixed-precision|autocast)",
        ),
    ]
    if trial.name == MULTIMODAL:
        places += [
            (
                "language-model-after-load",
                "model.language_model.config.use_cache = False after loading",
                dict(change=language_model_after),
                r"language_model.*config\.use_cache",
            ),
            (
                "text-config-after-load",
                "model.config.text_config.use_cache = False after loading (advice in circulation)",
                dict(change=text_config_after),
                r"model\.config\.text_config\.use_cache",
            ),
            (
                "config-after-load",
                "model.config.use_cache = False after loading",
                dict(change=top_config_after),
                r"model\.config\.use_cache",
            ),
        ]
    else:
        places += [
            (
                "config-after-load",
                "model.config.use_cache = False after loading",
                dict(change=top_config_after),
                r"model\.config\.use_cache",
            ),
            (
                "generation-config",
                "generation_config.use_cache = False",
                dict(change=generation_config_after),
                r"generation_config\.use_cache",
            ),
        ]
    for name, do, how, words in places:
        price = None
        if name == "before-load":
            price = (trial.priced(), trial.priced(use_cache=False))
        elif name == "float32":
            price = (trial.priced(), trial.priced(dtype=kit.dtype("float32")))
        kit.fix(
            "%s:%s" % (trial.name, name),
            "%s: %s" % (trial.name, do),
            lambda how=how: trial.run(**how),
            words=words,
            price=price,
        )

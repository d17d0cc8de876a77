"""Does model code written for transformers 4 fail to find the RoPE type 'default'?"""

QUESTION = "Does this transformers no longer know the RoPE type 'default'?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = []
PAIRS = [
    ("not-here", {"transformers": "4.57.6", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.0.0", "accelerate": "1.10.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

ROPE_INIT_FUNCTIONS["default"]
"""


def run(kit):
    kit.expects("KeyError", r"^'default'$")
    kit.need("torch", "transformers")

    def look_up():
        from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

        return ROPE_INIT_FUNCTIONS["default"]

    if kit.symptom("ROPE_INIT_FUNCTIONS['default'], as copied model code does", look_up):
        kit.fix(
            "built-in",
            "the implementation inside transformers",
            lambda: kit.llama()(input_ids=kit.rows(1)[0]["input_ids"][None].to(kit.device)),
            words=r"implementation inside transformers",
        )

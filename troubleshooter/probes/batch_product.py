"""Does DeepSpeed refuse a batch that is not micro batch x accumulation x processes, or whose accumulation rounds to 0?"""

QUESTION = "Does DeepSpeed refuse batch sizes that do not multiply here?"
NEEDS = ["torch", "deepspeed"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [("confirmed", {"deepspeed": "0.19.8"})]
REPRODUCE = """
from deepspeed.runtime.config import DeepSpeedConfig

DeepSpeedConfig({"train_batch_size": 4, "train_micro_batch_size_per_gpu": 8})      # the accumulation: 4 // 8 = 0
"""


def run(kit):
    kit.expects("AssertionError", r"has to be greater than 0|Check batch related parameters")
    kit.need("torch", "deepspeed")
    from deepspeed.runtime.config import DeepSpeedConfig

    def read(**sizes):
        DeepSpeedConfig(sizes)

    def product():
        read(train_batch_size=7, train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=2)

    kit.symptom("7 rows, 2 x 2 x 1", product)
    if kit.symptom("4 rows, micro batches of 8", lambda: read(train_batch_size=4, train_micro_batch_size_per_gpu=8)):
        kit.fix(
            "multiple",
            "train_batch_size is a multiple of the micro batch",
            lambda: read(train_batch_size=8, train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=4),
            words=r'"train_batch_size": 256',
        )
        kit.fix(
            "left-out",
            "without train_batch_size",
            lambda: read(train_micro_batch_size_per_gpu=2, gradient_accumulation_steps=4),
            words=r'\{"train_micro_batch_size_per_gpu": 2',
        )

"""Does writing values of one precision into a tensor of another one fail?"""

QUESTION = "Does writing float32 values into chosen rows of a bfloat16 tensor fail here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch

embeds = torch.zeros(4, 8, dtype=torch.bfloat16)
embeds[torch.tensor([True, False, True, False])] = torch.ones(2, 8)     # .to(embeds.dtype) runs
"""


def run(kit):
    kit.expects("RuntimeError", r"Index put requires the source and destination dtypes match")
    torch = kit.need("torch")
    mask = torch.arange(64, device=kit.device) % 2 == 0

    def prepared(to, given, cast=False):
        embeds = torch.zeros(64, 64, dtype=to, device=kit.device)
        features = torch.ones(32, 64, dtype=given, device=kit.device)

        def write():
            embeds[mask] = features.to(embeds.dtype) if cast else features

        return write

    def one_dtype():
        return prepared(torch.bfloat16, torch.bfloat16)

    def cast():
        return prepared(torch.bfloat16, torch.float32, cast=True)

    if kit.symptom("float32 features, bfloat16 embeddings", lambda: prepared(torch.bfloat16, torch.float32)()):
        kit.fix(
            "cast",
            "source.to(destination.dtype)",
            lambda: cast()(),
            words=r"destination\.dtype\)",
            price=(one_dtype, cast),
        )
        kit.fix("one-dtype", "every part in one dtype", lambda: one_dtype()(), words=r"torch_dtype=torch\.bfloat16")

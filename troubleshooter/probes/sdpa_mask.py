"""Does scaled dot-product attention refuse a mask of integers?"""

QUESTION = "Does scaled dot-product attention refuse this mask here?"
NEEDS = ["torch"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [("confirmed", {"torch": "2.13.0"})]
REPRODUCE = """
import torch
query = torch.randn(1, 2, 4, 8, dtype=torch.bfloat16)
mask = torch.ones(1, 1, 4, 4).long()
torch.nn.functional.scaled_dot_product_attention(query, query, query, attn_mask=mask)
"""


def run(kit):
    kit.expects("RuntimeError", r"Expected attn_?\s?mask dtype to be bool (?:or float )?or (?:to )?match query dtype")
    torch = kit.need("torch")
    query = torch.randn(1, 2, 16, 8, dtype=torch.bfloat16, device=kit.device)
    mask = torch.ones(1, 1, 16, 16, dtype=torch.long, device=kit.device)

    def attend(given):
        return torch.nn.functional.scaled_dot_product_attention(query, query, query, attn_mask=given)

    if kit.symptom("an integer mask, bfloat16 queries", lambda: attend(mask)):
        kit.fix(
            "cast",
            "cast the mask where the model builds it",
            lambda: attend(mask.bool()),
            words=r"attention_mask\.bool\(\)|attention_mask\.to\(",
            price=(lambda: lambda: attend(None), lambda: lambda: attend(mask.bool())),
        )

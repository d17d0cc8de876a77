"""Does this tokenizers fail on a tokenizer.json whose merges are written as pairs?"""

QUESTION = "Does this tokenizers refuse a tokenizer.json as newer releases write it?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = []
PAIRS = [
    ("confirmed", {"transformers": "4.44.2", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "4.45.2", "accelerate": "1.5.2"}),
    ("not-here", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
import json, tokenizers

file = json.load(open("tokenizer.json"))
print(tokenizers.__version__, file["model"]["merges"][:2])     # pairs need tokenizers 0.20
"""


def run(kit):
    import json

    kit.expects("Exception", r"data did not match any variant of untagged enum")
    kit.need("torch", "transformers")
    from tokenizers import Tokenizer

    written = json.loads(kit.tokenizer().backend_tokenizer.to_str())
    merges = [one.split(" ") if isinstance(one, str) else one for one in written["model"]["merges"]]

    def read(merges):
        return Tokenizer.from_str(json.dumps(dict(written, model=dict(written["model"], merges=merges))))

    if kit.symptom("merges as pairs, as tokenizers 0.20 and newer write them", lambda: read(merges)):
        kit.fix(
            "saved-again",
            "the file as this release saves it",
            lambda: read([" ".join(one) for one in merges]),
            words=r"save the tokenizer again",
        )

"""Does ``PeftModel.generate(input_ids)`` fail because it takes keyword arguments only?"""

QUESTION = "Does generate() of an adapted model refuse positional inputs here?"
NEEDS = ["torch", "transformers", "peft"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.45.2", "accelerate": "1.5.2", "peft": "0.11.1"}),
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2", "peft": "0.15.2"}),
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1", "peft": "0.18.1"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "peft": "0.21.2"}),
]
REPRODUCE = """
model.generate(batch["input_ids"])      # of a PeftModelForSeq2SeqLM; with input_ids=… it runs
"""


def run(kit):
    kit.expects("TypeError", r"generate\(\) takes 1 positional argument but 2 were given")
    torch, transformers, peft = kit.need("torch", "transformers", "peft")
    size = dict(
        vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0, pad_token_id=0
    )
    base = transformers.T5ForConditionalGeneration(transformers.T5Config(**size)).to(kit.device).eval()
    model = peft.get_peft_model(base, peft.LoraConfig(task_type="SEQ_2_SEQ_LM", r=2, target_modules=["q", "v"]))
    ids = torch.randint(1, 60, (1, 4), device=kit.device)
    if kit.symptom("model.generate(input_ids)", lambda: model.generate(ids)):
        kit.fix(
            "by-name",
            "model.generate(input_ids=…)",
            lambda: model.generate(input_ids=ids, max_new_tokens=2),
            words=r"generate\(input_ids=",
        )

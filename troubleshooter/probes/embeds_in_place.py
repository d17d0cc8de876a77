"""Does writing image features into the embeddings fail where gradient checkpointing made these a leaf?"""

QUESTION = "Does an in-place write into inputs_embeds fail here once enable_input_require_grads() was called?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
]
REPRODUCE = """
model.requires_grad_(False)             # as LoRA freezes it
model.enable_input_require_grads()      # as gradient checkpointing with LoRA does
embeds = model.get_input_embeddings()(ids)
embeds[:, 1:3] = image_features         # embeds = embeds.clone() before it cures it
"""


def run(kit):
    kit.expects(
        "RuntimeError", r"a (?:view of a )?leaf Variable that requires grad is being used in an in-place operation"
    )
    torch = kit.need("torch")
    ids = torch.randint(1, 120, (2, 8), device=kit.device)
    features = torch.ones(2, 2, 32, device=kit.device)

    def prepared(hook=True, clone=False):
        model = kit.llama()
        model.model.embed_tokens.requires_grad_(False)
        if hook:
            model.enable_input_require_grads()

        def step():
            embeds = model.get_input_embeddings()(ids)
            if clone:
                embeds = embeds.clone()
            embeds[:, 1:3] = features
            model(inputs_embeds=embeds, labels=ids).loss.backward()
            model.zero_grad()

        return step

    if kit.symptom("image features written into inputs_embeds", lambda: prepared()()):
        kit.fix(
            "clone",
            "inputs_embeds = inputs_embeds.clone() before the write",
            lambda: prepared(clone=True)(),
            words=r"inputs_embeds\.clone\(\)",
            price=(lambda: prepared(hook=False), lambda: prepared(clone=True)),
        )
        kit.fix(
            "no-hook",
            "no enable_input_require_grads()",
            lambda: prepared(hook=False)(),
            words=r"use_reentrant",
        )

"""Does a processor fail where truncation cuts off part of an image's tokens?"""

QUESTION = "Does truncation through the image tokens fail here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {}
DEVICES = ["cpu"]
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.57.6", "accelerate": "1.10.1", "pillow": "13.0.0"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0", "pillow": "13.0.0"}),
]
REPRODUCE = """
processor(images=image, text="<image> a fox", truncation=True, max_length=8)       # an image of 16 tokens
"""


def run(kit):
    kit.expects("ValueError", r"Mismatch in `image` token count between text and `input_ids`")
    torch, transformers = kit.need("torch", "transformers")
    kit.need("PIL")
    tokenizer = kit.tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    image = torch.zeros(3, 16, 16, dtype=torch.uint8).numpy()

    def processed(side, length):
        size = dict(height=side, width=side)
        images = transformers.CLIPImageProcessor(size=size, crop_size=size)
        how = dict(patch_size=4, vision_feature_select_strategy="full", image_token="<image>")
        processor = transformers.LlavaProcessor(images, tokenizer, **how)
        return processor(images=[image], text=["<image> a fox"], truncation=True, max_length=length)

    if kit.symptom("16 image tokens, max_length=8", lambda: processed(16, 8)):
        kit.fix("longer", "a limit beyond the sample", lambda: processed(16, 40), words=r"max_length=None")
        kit.fix("smaller-image", "an image of fewer tokens", lambda: processed(8, 8), words=r"max_pixels=1024")

"""Does a half-precision model with a convolution refuse the float32 features of its processor?"""

QUESTION = "Does a convolution of a bf16 model refuse float32 features here?"
NEEDS = ["torch", "transformers"]
PARAMETERS = {"dtype": ["bfloat16", "float16"]}
SETTLED_BY = None
PAIRS = [
    ("confirmed", {"transformers": "4.51.3", "accelerate": "1.5.2"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}),
    ("confirmed", {"transformers": "5.23.0", "accelerate": "1.15.0"}, {"dtype": "float16"}),
]
REPRODUCE = """
model = WhisperForConditionalGeneration.from_pretrained(name, torch_dtype=torch.{dtype})
model.model.encoder(features)           # float32, as the feature extractor returns them
"""


def run(kit):
    kit.expects("RuntimeError", r"Input type \(.{1,30}\) and (?:bias|weight) type \(.{1,30}\) should be the same")
    torch, transformers = kit.need("torch", "transformers")
    dtype = getattr(torch, kit.options["dtype"])
    size = dict(d_model=16, encoder_layers=1, encoder_attention_heads=2, encoder_ffn_dim=16, num_mel_bins=8)
    config = transformers.WhisperConfig(max_source_positions=20, decoder_layers=1, decoder_attention_heads=2, **size)
    features = torch.randn(1, 8, 40, device=kit.device)

    def step(weights, given, amp=None):
        model = transformers.WhisperModel(config).encoder.to(kit.device, weights)

        def forward():
            with torch.autocast(kit.device, dtype=amp, enabled=amp is not None):
                return model(features.to(given)).last_hidden_state

        return forward

    def half():
        return step(dtype, dtype)

    if kit.symptom("float32 features, weights in %s" % kit.options["dtype"], lambda: step(dtype, torch.float32)()):
        kit.fix("cast", "cast the features", lambda: half()(), words=r"pixel_values\.to\(device=model\.device")
        kit.fix(
            "mixed-precision",
            "the forward under autocast",
            lambda: step(dtype, torch.float32, dtype)(),
            words=r"bf16=True\)",
            price=(half, lambda: step(dtype, torch.float32, dtype)),
        )
        kit.fix(
            "float32",
            "load the model in float32",
            lambda: step(torch.float32, torch.float32)(),
            words=r"torch_dtype=torch\.float32",
            price=(half, lambda: step(torch.float32, torch.float32)),
        )

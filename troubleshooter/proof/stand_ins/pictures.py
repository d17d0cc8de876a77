"""Pictures and sound: media, the processors of them, and a tiny diffusion pipeline."""

import os

import numpy
import torch
import transformers

SIDE = 32
"""Pixels of a picture's side."""


class Pictures:
    """What a reader of vision, speech or diffusion has."""

    def make_image(self):
        from PIL import Image

        return Image.new("RGB", (SIDE, SIDE))

    def make_images(self):
        return [self.make_image(), self.make_image()]

    def make_pixel_values(self):
        return torch.randn(2, 3, SIDE, SIDE)

    def make_audio(self):
        return numpy.zeros(16_000, dtype=numpy.float32)

    def make_sampling_rate(self):
        return 16_000

    def make_image_processor(self):
        size = {"height": SIDE, "width": SIDE}
        return transformers.CLIPImageProcessor(size=size, crop_size=size)

    def make_picture_processor(self):
        tokenizer = self.make_tokenizer()
        tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
        return transformers.LlavaProcessor(
            image_processor=self.named("image_processor"), tokenizer=tokenizer, patch_size=16, image_token="<image>",
            vision_feature_select_strategy="default", chat_template=tokenizer.chat_template,
        )  # fmt: skip

    def make_feature_extractor(self):
        return transformers.WhisperFeatureExtractor()

    def make_hearing_processor(self):
        return transformers.Wav2Vec2Processor(
            feature_extractor=transformers.Wav2Vec2FeatureExtractor(), tokenizer=self.make_letters()
        )

    def make_letters(self):
        """A tokenizer of letters, as speech recognition by CTC has."""
        import json

        with open("letters.json", "w", encoding="utf-8") as file:
            json.dump(
                {letter: i for i, letter in enumerate(["<pad>", "<unk>", "|", *"abcdefghijklmnopqrstuvwxyz"])}, file
            )
        return transformers.Wav2Vec2CTCTokenizer("letters.json", pad_token="<pad>", unk_token="<unk>")

    def make_unet(self):
        import diffusers

        return diffusers.UNet2DConditionModel(
            sample_size=8, block_out_channels=(32, 64), layers_per_block=1, cross_attention_dim=16, attention_head_dim=8,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        )  # fmt: skip

    def make_vae(self):
        import diffusers

        return diffusers.AutoencoderKL(
            block_out_channels=(32,), norm_num_groups=32, latent_channels=4, sample_size=SIDE
        )

    def make_text_encoder(self):
        from .models import small

        return transformers.CLIPTextModel(small(transformers.CLIPTextConfig))

    def make_noise_scheduler(self):
        import diffusers

        return diffusers.DDPMScheduler()

    def make_pipe(self):
        import diffusers

        return diffusers.StableDiffusionPipeline(
            vae=self.named("vae"), text_encoder=self.named("text_encoder"), tokenizer=self.make_tokenizer(), unet=self.named("unet"),
            scheduler=diffusers.DDIMScheduler(), safety_checker=None, feature_extractor=None, requires_safety_checker=False,
        )  # fmt: skip

    def saved_pipe(self):
        """A folder with the tiny pipeline."""
        self.used.append("pipe")
        if not os.path.isdir("tiny-pipe"):
            self.named("pipe").save_pretrained("tiny-pipe")
        return "tiny-pipe"

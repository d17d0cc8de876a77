"""Models, adapters and their settings, all tiny."""

import os

import torch
import transformers

SMALL = {
    "vocab_size": 64, "hidden_size": 16, "d_model": 16, "n_embd": 16, "dim": 16, "intermediate_size": 32, "d_ff": 32, "ffn_dim": 32, "num_hidden_layers": 2,
    "num_layers": 2, "n_layer": 2, "num_attention_heads": 2, "num_heads": 2, "n_head": 2, "num_key_value_heads": 2, "max_position_embeddings": 128,
    "n_positions": 128, "pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3, "d_kv": 8, "head_dim": 8, "decoder_start_token_id": 1,
    "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
    "image_size": 32, "patch_size": 16, "num_experts": 4, "num_local_experts": 4, "moe_intermediate_size": 16,
}  # fmt: skip


class Models:
    """A Llama of two layers and what belongs to it."""

    def make_config(self):
        return small(transformers.LlamaConfig)

    def make_model(self):
        return transformers.LlamaForCausalLM(self.named("config"))

    def save_model(self, folder):
        """Save the model with its configuration, as safetensors and as PyTorch's own file."""
        made = self.make_model()
        made.save_pretrained(folder)
        torch.save(dict(made.state_dict()), os.path.join(folder, "pytorch_model.bin"))

    def make_peft_model(self):
        import peft

        return peft.get_peft_model(self.make_model(), self.named("lora_config"))

    def make_lora_config(self):
        import peft

        return peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")

    def make_adapter(self):
        return self.saved_adapter

    def make_bnb_config(self):
        return transformers.BitsAndBytesConfig(load_in_4bit=True)

    def make_module(self):
        return torch.nn.Linear(16, 16)

    def make_name(self):
        return self.saved

    def make_generation_config(self):
        return transformers.GenerationConfig()

    def make_past_key_values(self):
        return transformers.DynamicCache()

    def make_state_dict(self):
        return self.named("model").state_dict()

    def make_params(self):
        return [parameter for parameter in self.named("model").parameters() if parameter.requires_grad]

    def make_outputs(self):
        return self.named("model")(input_ids=self.named("input_ids"), labels=self.named("labels"))

    def make_function(self):
        tokenizer = self.named("tokenizer")
        return lambda row: tokenizer(row["text"])


def small(config_class):
    """A configuration of a class with small sizes."""
    if hasattr(config_class, "from_encoder_decoder_configs"):
        return config_class.from_encoder_decoder_configs(
            small(transformers.ViTConfig), small(transformers.BertConfig), decoder_start_token_id=1
        )
    made = config_class()
    taken = set(made.to_dict())
    given = {
        name: value for name, value in SMALL.items() if name in taken or name in getattr(made, "attribute_map", {})
    }
    return config_class(**given)

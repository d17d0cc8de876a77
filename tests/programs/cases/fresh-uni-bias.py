from peft import UniLoraConfig

config = UniLoraConfig(target_modules=["q_proj"], bias="lora_only")

from peft import DeloraConfig

config = DeloraConfig(r=-4, target_modules=["q_proj"])

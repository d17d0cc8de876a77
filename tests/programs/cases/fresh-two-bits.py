from trl import ModelConfig

script = ModelConfig(model_name_or_path="tiny", load_in_8bit=True, load_in_4bit=True)

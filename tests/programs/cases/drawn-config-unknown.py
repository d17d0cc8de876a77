from pathlib import Path

from trl import ModelConfig, TrlParser

Path("run.yaml").write_text("model_name_or_path: tiny\nlora_rank: 4\n")
(model,) = TrlParser(ModelConfig).parse_args_and_config(["--config", "run.yaml"])
print(model.lora_r)

from dataclasses import dataclass

from transformers import HfArgumentParser


@dataclass
class Options:
    learning_rate: float = 1e-4
    model_name: str = "tiny"


(options,) = HfArgumentParser(Options).parse_args_into_dataclasses(["--learning-rte", "0.1", "--model_name", "x"])
print(options)

"""The folder of the checkpoint was never made."""

import json
from pathlib import Path


def save_config(config, folder):
    with open(Path(folder) / "config.json", "w", encoding="utf-8") as file:
        json.dump(config, file)


save_config({"layers": 2}, "runs/first/step-100")

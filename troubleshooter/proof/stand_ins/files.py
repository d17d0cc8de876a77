"""Files that a text reads, each a real one of its kind: weights of the tiny model, rows, pictures, settings."""

import json
import os
import shutil
import wave

import numpy
import torch

DEEPSPEED = {
    "zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto", "train_batch_size": "auto",
    "bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"}, "gradient_clipping": "auto",
}  # fmt: skip
"""What a file of the reader's DeepSpeed settings holds."""


class Files:
    """Makes files in the current folder by their names."""

    def make_file(self):
        return self.file("train.jsonl")

    def make_files(self):
        return [self.file("train.jsonl")]

    def file(self, path):
        """Make a file of the kind that its name says, and return its path. A name with ``*`` becomes one that fits it."""
        path = path.replace("**/", "").replace("*", "model")
        if os.path.exists(path):
            return path
        folder, name = os.path.split(path)
        os.makedirs(folder or ".", exist_ok=True)
        ready = [os.path.join(place, name) for place in (self.saved, self.saved_adapter)]
        known = next((file for file in ready if os.path.isfile(file)), None)
        if known:
            shutil.copy(known, path)
        else:
            getattr(self, "write_" + name.rpartition(".")[2], self.write_txt)(path, name)
        return path

    def weights(self, name):
        """The weights that a file of this name holds: an adapter's, or the model's."""
        from peft import get_peft_model_state_dict

        if "adapter" in name or "lora" in name:
            return {key: value.clone() for key, value in get_peft_model_state_dict(self.make_peft_model()).items()}
        return {key: value.clone() for key, value in self.named("model").state_dict().items()}

    def write_safetensors(self, path, name):
        from safetensors.torch import save_file

        save_file(self.weights(name), path, metadata={"format": "pt"})

    def write_pt(self, path, name):
        optimizes = "optim" in name
        torch.save(self.named("optimizer").state_dict() if optimizes else self.weights(name), path)

    write_bin = write_pth = write_ckpt = write_pt

    def write_jit(self, path, name):
        torch.jit.save(torch.jit.script(torch.nn.Linear(16, 16)), path)

    def write_json(self, path, name):
        if name.endswith(".index.json"):
            file = name.removesuffix(".index.json")
            made = {"metadata": {}, "weight_map": dict.fromkeys(self.named("model").state_dict(), file)}
        elif name == "trainer_state.json":
            made = {"global_step": 2, "epoch": 1.0, "log_history": [{"loss": 1.0, "step": 1}], "max_steps": 2}
        elif any(word in name for word in ("ds", "zero", "deepspeed")):
            made = DEEPSPEED
        else:
            made = self.plain_rows()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)

    def write_jsonl(self, path, name):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in self.plain_rows())

    def write_csv(self, path, name):
        self.make_frame()[["text", "label"]].to_csv(path, index=False, sep="\t" if name.endswith("tsv") else ",")

    write_tsv = write_csv

    def write_parquet(self, path, name):
        self.make_dataset().to_parquet(path)

    def write_txt(self, path, name):
        with open(path, "w", encoding="utf-8") as file:
            file.write("the quick brown fox\njumps over a lazy dog\n")

    def write_png(self, path, name):
        self.make_image().save(path)

    write_jpg = write_jpeg = write_png

    def write_wav(self, path, name):
        with wave.open(path, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16_000)
            file.writeframes(bytes(32_000))

    def write_npy(self, path, name):
        numpy.save(path, numpy.zeros((2, 4)))

    def write_yaml(self, path, name):
        with open(path, "w", encoding="utf-8") as file:
            file.write("model: tiny\nlearning_rate: 0.001\n")

    write_yml = write_yaml

    def plain_rows(self):
        return self.make_dataset().to_list()

    def checkpoint(self, path, adapted):
        """A folder as a trainer leaves it after two steps; of an adapter where ``adapted``."""
        if os.path.exists(path):
            return
        if not os.path.isdir(self.trained):
            self.train_two_steps(self.trained)
        shutil.copytree(self.trained, path)
        if adapted:
            os.remove(os.path.join(path, "config.json"))
            shutil.copytree(self.saved_adapter, path, dirs_exist_ok=True)

"""What trains: arguments, trainers, optimizers, settings."""

import argparse
import contextlib
import os

import datasets
import numpy
import torch
import transformers

from .files import DEEPSPEED


class Training:
    """A trainer of the tiny model and its parts."""

    def make_args(self):
        return self.args_of(self.wishes.trainer)

    def args_of(self, trainer):
        """The arguments of a trainer of this name: ``DPO`` has a `trl.DPOConfig`."""
        import trl

        given = {"output_dir": self.named("folder"), "report_to": [], "max_steps": 2, "use_cpu": True}
        if trainer == "Seq2Seq":
            return transformers.Seq2SeqTrainingArguments(**given)
        if trainer:
            with contextlib.suppress(AttributeError, ImportError, RuntimeError):
                return getattr(trl, f"{trainer}Config")(**given, bf16=False)
        return transformers.TrainingArguments(**given)

    def make_trainer(self):
        return transformers.Trainer(model=self.named("model"), args=self.named("args"), train_dataset=self.named("tokenized"),
                                    eval_dataset=self.named("tokenized"), data_collator=self.named("data_collator"))  # fmt: skip

    def train_two_steps(self, folder):
        """Leave a checkpoint of two steps in a folder. Another process trains: accelerate keeps what it was started with."""
        child = os.fork()
        if not child:
            status = 1
            try:
                made = self.named("trainer")
                made.args.output_dir, made.args.save_steps = folder + "-all", 2
                made.train()
                os.rename(os.path.join(folder + "-all", "checkpoint-2"), folder)
                self.named("tokenizer").save_pretrained(folder)
                status = 0
            finally:
                os._exit(status)
        if os.waitpid(child, 0)[1]:
            raise RuntimeError("the tiny model cannot be trained")

    def make_optimizer(self):
        return torch.optim.AdamW(self.named("model").parameters(), lr=1e-3)

    def make_scheduler(self):
        return transformers.get_constant_schedule(self.named("optimizer"))

    def make_accelerator(self):
        import accelerate

        return accelerate.Accelerator(cpu=True)

    def make_scaler(self):
        made = torch.amp.GradScaler("cpu")
        made.scale(torch.tensor(1.0))  # as in the step before: it has its first factor
        return made

    def make_metric(self):
        import evaluate

        class Accuracy(evaluate.Metric):
            def _info(self):
                features = datasets.Features(
                    {"predictions": datasets.Value("int64"), "references": datasets.Value("int64")}
                )
                return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

            def _compute(self, predictions, references):
                return {"accuracy": float(numpy.mean(numpy.equal(predictions, references)))}

        return Accuracy()

    def make_loss_fn(self):
        return torch.nn.CrossEntropyLoss()

    def make_folder(self):
        os.makedirs("out", exist_ok=True)
        return "out"

    def make_device(self):
        return torch.device("cpu")

    def make_dtype(self):
        return torch.bfloat16

    def make_reward(self):
        def my_reward(completions, **kwargs):
            return [float(len(str(completion))) for completion in completions]

        return my_reward

    def make_compute_metrics(self):
        return lambda p: {"accuracy": 1.0}

    def make_parser(self):
        return argparse.ArgumentParser()

    def make_ds_config(self):
        return dict(DEEPSPEED)

    def make_main(self):
        return lambda *args: None

    def make_epochs(self):
        return 1

    def make_total_steps(self):
        return 2

    def make_lr(self):
        return 1e-3

    def make_kwargs(self):
        return {}


def train_on_the_cpu():
    """Let trainers train on the processor whatever else they are told, as ``cuda`` is read as ``cpu``."""
    real = transformers.TrainingArguments.__post_init__

    def instead(self):
        if not self.fp16:
            self.use_cpu = True
        return real(self)

    transformers.TrainingArguments.__post_init__ = instead

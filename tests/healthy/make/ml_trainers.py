"""Healthy runs of libraries around training: loops, trackers, metrics, data; they warn and recover."""

from __future__ import annotations

import json
import logging
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from recorder import families

log = logging.getLogger("run")


def table(count: int = 200, width: int = 6) -> tuple[Any, Any]:
    """Features with some missing values and a binary target."""
    random = np.random.default_rng(0)
    features = random.normal(size=(count, width))
    target = (features[:, 0] + 0.3 * random.normal(size=count) > 0).astype(int)
    features[::17, 2] = np.nan
    return features, target


def lightning_fit() -> None:
    """A Lightning fit with the usual advice, a nan metric, and early stopping."""
    import lightning
    import torch
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

    class Net(lightning.LightningModule):  # type: ignore[misc, unused-ignore]
        """A linear model that logs an undefined metric."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def step(self, batch: Any) -> Any:
            return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

        def training_step(self, batch: Any, _: int) -> Any:
            loss = self.step(batch)
            self.log("train_loss", loss, prog_bar=True)
            return loss

        def validation_step(self, batch: Any, _: int) -> None:
            self.log_dict(
                {"val_loss": self.step(batch), "val_rare_class_recall": torch.tensor(float("nan"))}, prog_bar=True
            )

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), 0.05)

    inputs = torch.randn(64, 8)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True))
    loader = torch.utils.data.DataLoader(data, 16)
    trainer = lightning.Trainer(
        max_epochs=4,
        accelerator="cpu",
        callbacks=[ModelCheckpoint(monitor="val_loss"), EarlyStopping("val_loss", patience=2, verbose=True)],
        log_every_n_steps=50,
    )
    trainer.fit(Net(), loader, loader)
    print(trainer.validate(ckpt_path="best", dataloaders=loader))


def lightning_precision_and_sanity() -> None:
    """bf16 precision, gradient clipping, a fast development run and a batch size that is scaled down after failures."""
    import lightning
    import torch

    class Net(lightning.LightningModule):  # type: ignore[misc, unused-ignore]
        """A model whose forward refuses large batches, as an accelerator without memory would."""

        def __init__(self, batch_size: int = 2) -> None:
            super().__init__()
            self.save_hyperparameters()
            self.layer = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))

        def training_step(self, batch: Any, _: int) -> Any:
            torch.empty(max(0, len(batch[0]) - 16) * 2**46, dtype=torch.uint8)
            loss = self.layer(batch[0]).pow(2).mean()
            self.log("loss", loss, prog_bar=True)
            return loss

        def train_dataloader(self) -> Any:
            data = torch.utils.data.TensorDataset(torch.randn(128, 8))
            return torch.utils.data.DataLoader(data, self.hparams.batch_size)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.1)

    from lightning.pytorch.tuner import Tuner

    net = Net()
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", precision="bf16-mixed", gradient_clip_val=1.0, logger=False
    )
    Tuner(trainer).scale_batch_size(net, mode="power", max_trials=6)
    trainer.fit(net)
    lightning.Trainer(fast_dev_run=2, accelerator="cpu").fit(Net())


def keras_callbacks() -> None:
    """Keras on torch: nan terminated on demand is absent, plateaus reduce the rate, a metric is missing."""
    os.environ["KERAS_BACKEND"] = "torch"
    import keras

    features, target = table()
    model = keras.Sequential(
        [keras.layers.Dense(8, activation="relu", input_shape=(6,)), keras.layers.Dense(1, "sigmoid")]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.summary()
    model.fit(
        np.nan_to_num(features),
        target,
        epochs=6,
        validation_split=0.2,
        verbose=2,
        callbacks=[
            keras.callbacks.TerminateOnNaN(),
            keras.callbacks.EarlyStopping("val_auc", patience=2, mode="max"),
            keras.callbacks.ReduceLROnPlateau("loss", patience=0, min_delta=0.5, verbose=1),
            keras.callbacks.ModelCheckpoint("best.keras", monitor="val_loss", save_best_only=True, verbose=1),
        ],
    )
    try:
        keras.models.load_model("missing.keras")
    except ValueError as why:
        print("Error:", why, "- training weights kept")
    print(model.evaluate(np.nan_to_num(features), target, verbose=0))


def ppo_undefined_variance() -> None:
    """Reinforcement learning whose explained variance is nan at first."""
    import gymnasium
    from stable_baselines3 import A2C, PPO

    env = gymnasium.make("CartPole-v1")
    PPO("MlpPolicy", env, n_steps=64, batch_size=50, verbose=1).learn(256)
    A2C("MlpPolicy", "CartPole-v1", verbose=1, n_steps=5).learn(600, log_interval=40)


def wandb_offline() -> None:
    """An offline W&B run that logs nan and reports a failed upload of a missing file."""
    import wandb

    run = wandb.init(project="demo", mode="offline", dir=".", settings=wandb.Settings(x_disable_stats=True))
    for step in range(20):
        run.log({"loss": 1 / (step + 1), "val_f1": float("nan") if step < 5 else 0.5, "lr": 0.0 if step == 0 else 1e-4})
    run.log({"loss": 0.1}, step=3)
    try:
        run.log_artifact("missing.pt")
    except ValueError as why:
        wandb.termwarn(f"artifact skipped: {why}")
    run.finish()


def word2vec_small() -> None:
    """gensim warns about an alpha that is too high for so few words."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s : %(levelname)s : %(message)s")
    from gensim.models import Word2Vec

    text = [["error", "nan", "failed", "run"], ["the", "run", "ended", "well"]] * 30
    model = Word2Vec(text, vector_size=8, min_count=1, epochs=3, workers=1)
    model.train(text, total_examples=60, epochs=2)
    try:
        print(model.wv["cuda"])
    except KeyError as why:
        log.error("KeyError: %s, using the zero vector", why)


def spacy_blank() -> None:
    """A blank spaCy pipeline is trained; a missing model is reported and replaced."""
    import random

    import spacy
    from spacy.training import Example

    random.seed(0)
    try:
        spacy.load("en_core_web_sm")
    except OSError as why:
        print("OSError:", str(why)[:80], "... using a blank pipeline")
    pipe = spacy.blank("en")
    pipe.add_pipe("ner")
    rows = [
        ("Error in Berlin", {"entities": [(9, 15, "PLACE")]}),
        ("Killed in Rome", {"entities": [(10, 14, "PLACE")]}),
        ("nan from Oslo on", {"entities": [(9, 13, "PLACE"), (0, 40, "BAD")]}),
    ]
    examples = []
    for text, notes in rows:
        try:
            examples.append(Example.from_dict(pipe.make_doc(text), notes))
        except (ValueError, IndexError) as why:
            print("ValueError skipped:", str(why)[:120])
    pipe.initialize(lambda: examples)
    for turn in range(8):
        losses: dict[str, float] = {}
        pipe.update(examples, losses=losses)
        print("E", turn, "LOSS", {key: round(value, 3) for key, value in losses.items()})


def datasets_map_bars() -> None:
    """Map and filter with bars; bad JSON lines are counted, a batched map that fails once is run again one by one."""
    import datasets

    Path("rows.jsonl").write_text(
        "".join(json.dumps({"text": f"row {i}", "score": None if i % 5 else 0.5}) + "\n" for i in range(40))
    )
    data = datasets.load_dataset("json", data_files="rows.jsonl", split="train", cache_dir="cache")
    data = data.map(lambda row: {"length": len(row["text"])}, num_proc=2).filter(lambda row: row["length"] > 5)

    def half(rows: dict[str, Any]) -> dict[str, Any]:
        return {"half": [value / 2 for value in rows["score"]]}

    try:
        data.map(half, batched=True)
    except TypeError as why:
        print(f"TypeError in batched map: {why}; falling back to single rows")
        data = data.map(lambda row: {"half": (row["score"] or float("nan")) / 2})
    print(data.to_pandas().describe())
    data.save_to_disk("saved")


def metrics_warnings() -> None:
    """torchmetrics over an empty update, with nan averages."""
    import torch
    import torchmetrics

    warnings.simplefilter("always")
    mean = torchmetrics.MeanMetric(nan_strategy="warn")
    print("empty", mean.compute())
    mean.update(torch.tensor([1.0, float("nan"), 3.0]))
    print(
        "mean",
        mean.compute(),
        "recall",
        torchmetrics.Recall("multiclass", num_classes=3, average="none")(
            torch.tensor([0, 0, 1]), torch.tensor([0, 1, 1])
        ),
    )
    print(
        torchmetrics.PearsonCorrCoef()(torch.ones(4), torch.arange(4.0)),
        torchmetrics.R2Score()(torch.ones(3), torch.arange(3.0)),
    )
    roc = torchmetrics.AUROC("binary")
    roc.update(torch.rand(5), torch.zeros(5, dtype=torch.long))
    print("auroc", roc.compute())


def tensorboard_scalars() -> None:
    """Scalars with nan are written and read back; an unknown tag is asked for."""
    logging.basicConfig(level=logging.INFO)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter("runs")
    for step in range(12):
        writer.add_scalar("loss", 1 / (step + 1), step)
        writer.add_scalar("eval/f1", float("nan") if step < 3 else 0.4, step)
    writer.add_histogram("grad", np.zeros(3), 0)
    writer.close()
    seen = EventAccumulator("runs").Reload()
    print([(event.step, round(event.value, 3)) for event in seen.Scalars("eval/f1")])
    try:
        seen.Scalars("lr")
    except KeyError as why:
        log.warning("KeyError: %s", why)


def unet_steps() -> None:
    """A tiny diffusion model learns noise; the missing pipeline and the missing safety parts are reported and replaced."""
    import torch
    from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel, get_cosine_schedule_with_warmup

    torch.manual_seed(0)
    try:
        DDPMPipeline.from_pretrained("missing-pipeline")
    except OSError as why:
        print(f"{type(why).__name__}: {why}; building a new model")
    net = UNet2DModel(
        sample_size=8,
        in_channels=1,
        out_channels=1,
        layers_per_block=1,
        block_out_channels=(8, 8),
        norm_num_groups=4,
        down_block_types=("DownBlock2D",) * 2,
        up_block_types=("UpBlock2D",) * 2,
    )
    noise_plan = DDPMScheduler(num_train_timesteps=20)
    chosen = torch.optim.AdamW(net.parameters(), 5e-3)
    plan = get_cosine_schedule_with_warmup(chosen, 5, 30)
    clean = torch.ones(8, 1, 8, 8)
    for step in range(30):
        noise = torch.randn_like(clean)
        times = torch.randint(0, 20, (8,))
        loss = torch.nn.functional.mse_loss(net(noise_plan.add_noise(clean, noise, times), times).sample, noise)
        loss.backward()
        chosen.step()
        plan.step()
        chosen.zero_grad()
        if step % 3 == 0:
            print(f"Steps: {step}/30 step_loss={loss.item():.4f}, lr={plan.get_last_lr()[0]:.2e}")
    pipe = DDPMPipeline(net, noise_plan)
    pipe.save_pretrained("ddpm")
    print(np.asarray(DDPMPipeline.from_pretrained("ddpm")(batch_size=1, num_inference_steps=5).images[0]).mean())


def sentence_pairs() -> None:
    """Sentence embeddings over an encoder without pooling configuration; a pooler is newly initialized."""
    import tiny
    import torch
    from sentence_transformers import InputExample, SentenceTransformer, losses
    from transformers import BertConfig, BertForMaskedLM

    logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(message)s")
    torch.manual_seed(0)
    BertForMaskedLM(
        BertConfig(
            vocab_size=400,
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
        )
    ).save_pretrained("encoder")
    tiny.tokenizer(length=48).save_pretrained("encoder")
    model = SentenceTransformer("encoder", device="cpu")
    print("longest", len(model.tokenizer(" ".join(tiny.LINES * 6))["input_ids"]))
    pairs = [InputExample(texts=[a, b], label=float(a == b)) for a in tiny.LINES for b in tiny.LINES]
    loss = losses.CosineSimilarityLoss(model)
    chosen = torch.optim.AdamW(model.parameters(), 1e-3)
    for epoch in range(4):
        total = 0.0
        for batch in torch.utils.data.DataLoader(pairs, 5, collate_fn=model.smart_batching_collate):
            value = loss(*batch)
            value.backward()
            chosen.step()
            chosen.zero_grad()
            total += value.item()
        log.info("epoch %d loss %.4f", epoch, total / 5)
    vectors = model.encode(["", "nan", "the river"], show_progress_bar=True)
    print(np.round(vectors @ vectors.T, 3))


def mlflow_tracking() -> None:
    """MLflow writes nan metrics to a local store; one run ends as FAILED on purpose inside a sweep that goes on."""
    import mlflow

    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    mlflow.set_tracking_uri(Path("store").resolve().as_uri())
    for rate in (1e-3, 1e9):
        try:
            with mlflow.start_run(run_name=f"lr-{rate:g}") as run:
                mlflow.log_metric("loss", float("nan") if rate > 1 else 0.3, step=1)
                if rate > 1:
                    raise FloatingPointError("diverged with this rate, as the sweep expects")
        except FloatingPointError as why:
            print(
                "run", run.info.run_name, "->", mlflow.get_run(run.info.run_id).info.status, "FloatingPointError:", why
            )
    print("sweep finished, best lr-0.001")


GROUPS = {
    "lightning": {"lightning_fit": lightning_fit, "lightning_precision_and_sanity": lightning_precision_and_sanity},
    "keras": {"keras_callbacks": keras_callbacks},
    "stable-baselines3": {"ppo_undefined_variance": ppo_undefined_variance},
    "wandb": {"wandb_offline": wandb_offline},
    "gensim": {"word2vec_small": word2vec_small},
    "spacy": {"spacy_blank": spacy_blank},
    "datasets": {"datasets_map_bars": datasets_map_bars},
    "torchmetrics": {"metrics_warnings": metrics_warnings},
    "tensorboard": {"tensorboard_scalars": tensorboard_scalars},
    "diffusers": {"unet_steps": unet_steps},
    "sentence-transformers": {"sentence_pairs": sentence_pairs},
    "mlflow-skinny": {"mlflow_tracking": mlflow_tracking},
}

if __name__ == "__main__":
    families(GROUPS, {"HF_HUB_OFFLINE": "1"})

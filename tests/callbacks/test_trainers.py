"""The callbacks in the Trainer of transformers and in Lightning, where these are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")


class Rows(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
    """Random sequences, the same each time."""

    def __init__(self, mask: bool = False) -> None:
        generator = torch.Generator().manual_seed(5)
        self.ids = torch.randint(3, 64, (64, 12), generator=generator)
        self.mask = mask

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> dict[str, Any]:
        labels = torch.full_like(self.ids[index], -100) if self.mask else self.ids[index]
        return {"input_ids": self.ids[index], "attention_mask": torch.ones(12, dtype=torch.long), "labels": labels}


def _trainer(folder: Path, callbacks: list[Any], *, mask: bool = False, spoil: int = 0, steps: int = 8) -> Any:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    transformers.set_seed(3)
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=64, n_positions=16)
    model = transformers.GPT2LMHeadModel(config)
    args = transformers.TrainingArguments(
        output_dir=str(folder), max_steps=steps, per_device_train_batch_size=4, report_to=[], save_strategy="no", use_cpu=True,
        logging_steps=1, disable_tqdm=True, seed=3,
    )  # fmt: skip
    if spoil:
        calls = []

        def spoiled(gradient: Any) -> Any:
            calls.append(1)
            return gradient * float("nan") if len(calls) == spoil else gradient

        model.transformer.h[0].mlp.c_fc.weight.register_hook(spoiled)
    trainer = transformers.Trainer(model=model, args=args, train_dataset=Rows(mask), callbacks=callbacks)
    trainer.train()
    return trainer


def _losses(trainer: Any) -> list[float]:
    return [row["loss"] for row in trainer.state.log_history if "loss" in row]


def test_the_trainer_computes_the_same_to_the_bit_and_nothing_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    from troubleshooter.callbacks import TroubleshootCallback

    plain = _trainer(tmp_path, [])
    callback = TroubleshootCallback()
    watched = _trainer(tmp_path, [callback])
    assert _losses(watched) == _losses(plain)
    assert all(torch.equal(a, b) for a, b in zip(plain.model.parameters(), watched.model.parameters(), strict=True))
    assert callback.watcher is not None
    assert (callback.watcher.findings, callback.watcher.steps) == ([], 8)
    assert "troubleshoot" not in capsys.readouterr().err


def test_the_trainer_stops_before_nan_reaches_the_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers")
    from troubleshooter.callbacks import TroubleshootCallback

    callback = TroubleshootCallback(lang="en")
    trainer = _trainer(tmp_path, [callback], spoil=3)
    assert trainer.state.global_step == 3
    assert all(torch.isfinite(p).all() for p in trainer.model.parameters())
    assert "troubleshoot: step 3: A gradient is NaN or infinite." in capsys.readouterr().err
    unwatched = _trainer(tmp_path, [], spoil=3)
    assert not all(torch.isfinite(p).all() for p in unwatched.model.parameters())


def test_the_trainer_goes_on_where_it_shall(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from troubleshooter.callbacks import TroubleshootCallback

    trainer = _trainer(tmp_path, [TroubleshootCallback(stop=False)], spoil=3)
    assert trainer.state.global_step == 8
    assert all(torch.isfinite(p).all() for p in trainer.model.parameters())


def test_masked_labels_are_told_at_the_first_step(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from troubleshooter.callbacks import TroubleshootCallback

    callback = TroubleshootCallback()
    _trainer(tmp_path, [callback], mask=True, steps=2)
    assert callback.watcher is not None
    assert [(finding.kind, finding.step) for finding in callback.watcher.findings][:1] == [("labels-masked", 1)]


@pytest.mark.parametrize("spoil", [0, 3])
def test_lightning(tmp_path: Path, spoil: int) -> None:
    lightning = pytest.importorskip("lightning.pytorch", exc_type=ImportError)
    from troubleshooter.callbacks import LightningTroubleshooter

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.head = torch.nn.Linear(12, 3)

        def forward(self, input_ids: Any) -> Any:
            return self.head(input_ids.float())

        def training_step(self, batch: Any, at: int) -> Any:
            loss = self(batch["input_ids"]).square().mean() / 1000
            return loss * float("nan") if at + 1 == spoil else loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=1e-6)

    callback = LightningTroubleshooter()
    module = Module()
    trainer = lightning.Trainer(
        max_steps=6, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, callbacks=[callback], default_root_dir=str(tmp_path),
    )  # fmt: skip
    trainer.fit(module, torch.utils.data.DataLoader(Rows(), batch_size=4))
    assert callback.watcher is not None
    assert [finding.kind for finding in callback.watcher.findings] == (["gradients-not-finite"] if spoil else [])
    assert trainer.global_step == (3 if spoil else 6)
    assert all(torch.isfinite(p).all() for p in module.parameters())

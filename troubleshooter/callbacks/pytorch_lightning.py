"""The callback for Lightning (`lightning`, or `pytorch_lightning` of earlier years)."""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch import Callback  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    from pytorch_lightning import Callback  # type: ignore[import-not-found,unused-ignore]

from troubleshooter.callbacks.watcher import EVERY_STEPS, Watcher, special_tokens
from troubleshooter.cli.settings import language


class LightningTroubleshooter(Callback):  # type: ignore[misc,unused-ignore]
    """``Trainer(callbacks=[LightningTroubleshooter()])``. The arguments are those of `TroubleshootCallback`.

    What the model is given is seen where the module itself is called (``self(...)``) in ``training_step``.
    """

    def __init__(
        self, *, every: int = EVERY_STEPS, stop: bool = True, lang: str | None = None, tokenizer: Any = None
    ) -> None:
        self.every, self.stop, self.lang, self.tokenizer = every, stop, lang, tokenizer
        self.watcher: Watcher | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if trainer.optimizers:
            self.watcher = Watcher(
                pl_module, trainer.optimizers[0], every=self.every, stop=self.stop, lang=language(self.lang),
                special=special_tokens(self.tokenizer), follow_optimizer=False,
            )  # fmt: skip

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        if self.watcher is not None:
            self.watcher.before_step(optimizer)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *given: Any, **more: Any) -> None:
        if self.watcher is not None and self.watcher.stopped:
            trainer.should_stop = True

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self.watcher is not None:
            self.watcher.close()

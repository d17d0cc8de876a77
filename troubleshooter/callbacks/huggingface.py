"""The callback for the Trainer of transformers, and for what is built on it (TRL, Axolotl, LLaMA-Factory)."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback  # type: ignore[import-not-found,unused-ignore]

from troubleshooter.callbacks.watcher import EVERY_STEPS, Watcher, special_tokens
from troubleshooter.cli.settings import language


class TroubleshootCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """``trainer.add_callback(TroubleshootCallback())``.

    ``every``: steps between two checks. ``stop``: whether a step whose gradients are not finite ends the training, on all ranks
    after the same step; the step itself is skipped in any case. ``lang``: the language of what is printed (default: that of the
    settings). After the training ``watcher.findings`` has all that was found.
    """

    def __init__(self, *, every: int = EVERY_STEPS, stop: bool = True, lang: str | None = None) -> None:
        self.every, self.stop, self.lang = every, stop, lang
        self.watcher: Watcher | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        tokenizer = given.get("processing_class") or given.get("tokenizer")
        if given.get("model") is not None and given.get("optimizer") is not None:
            self.watcher = Watcher(
                given["model"], given["optimizer"], every=self.every, stop=self.stop, lang=language(self.lang),
                special=special_tokens(tokenizer),
            )  # fmt: skip

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> Any:
        if self.watcher is not None and self.watcher.stopped:
            control.should_training_stop = True
        return control

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        if self.watcher is not None:
            self.watcher.close()

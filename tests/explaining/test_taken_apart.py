"""An argument that a library takes apart into several names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]
LIBRARY = """
class Trainer:
    def __init__(self, model=None, optimizers=(None, None), sizes=None):
        self.optimizer, self.scheduler = optimizers
        if sizes is not None:
            height, width = sizes
"""


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("Trainer(optimizers=(made))", "optimizers=(made, None)"),
        ("Trainer(model=1, optimizers=made)", "optimizers=(made, None)"),
        ("scheduler = made\nTrainer(sizes=3, optimizers=scheduler)", "optimizers=(None, scheduler)"),
        ("Trainer(sizes=3)", "sizes=(3, ...)"),
    ],
)
def test_an_argument_that_is_taken_apart(of_run: Run, call: str, code: str) -> None:
    report = of_run(LIBRARY, f"from widget import Trainer\nmade = object()\n{call}\n")
    assert codes(report)[:1] == [code]


@pytest.mark.parametrize("call", ["Trainer(optimizers=(1, 2, 3))", "Trainer(optimizers=None)"])
def test_what_has_parts_or_is_none_is_another_failure(of_run: Run, call: str) -> None:
    report = of_run(LIBRARY, f"from widget import Trainer\n{call}\n")
    assert not any((code or "").startswith("optimizers=(") for code in codes(report))

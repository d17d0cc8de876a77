"""Runs that are dead or absurd by their numbers, in the spellings of several trainers; and healthy ones that look alike."""

from __future__ import annotations

import json
import random

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

END = "{'train_runtime': 42.3, 'train_samples_per_second': 1.9, 'train_loss': 1.88, 'epoch': 2.0}\n"
Row = tuple[float | str, float | str, float | str]


def dicts(rows: list[Row]) -> str:
    """As a Hugging Face Trainer prints them, with the summary of its end."""
    text = "{{'loss': {}, 'grad_norm': {}, 'learning_rate': {}, 'epoch': {:.2f}}}\n"
    return "".join(text.format(*row, 0.01 * (n + 1)) for n, row in enumerate(rows)) + END


def jsonl(rows: list[Row]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps({"step": n + 1, "loss": r[0], "grad_norm": r[1], "lr": r[2]}) + "\n" for n, r in enumerate(rows)) + "done\n"


def keyed(rows: list[Row]) -> str:
    """``key=value``, as loops of one's own print it."""
    return "".join(f"step={n + 1} loss={r[0]} grad_norm={r[1]} lr={r[2]}\n" for n, r in enumerate(rows)) + "done\n"


def only_loss_and_rate(rows: list[Row]) -> str:
    """A loop that prints no gradient norm."""
    return "".join(f"{{'loss': {r[0]}, 'lr': {r[2]}, 'epoch': {0.01 * (n + 1):.2f}}}\n" for n, r in enumerate(rows)) + END


SPELLINGS = {"dicts": dicts, "jsonl": jsonl, "keyed": keyed}
DEAD: list[Row] = [(4.8784, 3.67, 0.05), *((4.8069, 0.0, round(0.048 - 0.002 * n, 4)) for n in range(14))]
DEAD_SMALL: list[Row] = [(0.8784, 0.4, 0.05), (0.7, 0.2, 0.05), *((0.6931, 0.0, 0.05) for _ in range(20))]
ABSURD_DEAD: list[Row] = [(4.8784, 3.67, 10000.0), *((4.8069, 0.0, 9666.7 - 333 * n) for n in range(14))]
ABSURD_NAN: list[Row] = [(2.41, 3.1, 2e5), *((0.0, "nan", 2e5 - 900 * n) for n in range(6))]
CLIMBS: list[Row] = [(v, 1.7, 2e-4) for v in (5.271, 5.292, 5.28, 5.274, 5.283, 5.379, 5.376, 5.614, 5.609, 6.121, 6.119, 5.354)]
CLIMBS_SMALL: list[Row] = [(round(0.4 * 1.03**n, 4), 0.8, 1e-5) for n in range(30)]


def first(tool: Diagnoser, text: str) -> str:
    found = [d for d in tool.report([from_text(text)]).diagnoses if d.kind == "failure"]
    return found[0].id if found else ""


@pytest.mark.parametrize("spelling", sorted(SPELLINGS))
@pytest.mark.parametrize(
    ("rows", "id_"),
    [
        (DEAD, "nothing-is-updated"), (DEAD_SMALL, "nothing-is-updated"), (ABSURD_DEAD, "learning-rate-absurd"),
        (CLIMBS, "loss-explodes"), (CLIMBS_SMALL, "loss-explodes"),
    ],
    ids=["dead", "dead-small", "absurd-dead", "climbs", "climbs-small"],
)  # fmt: skip
def test_a_dead_run_is_seen_in_any_spelling(tool: Diagnoser, spelling: str, rows: list[Row], id_: str) -> None:
    assert first(tool, SPELLINGS[spelling](rows)) == id_


def test_a_loss_that_climbs_slowly_from_the_first_record_is_seen(tool: Diagnoser) -> None:
    rows: list[Row] = [(round(2.1 + 0.15 * n, 4), round(1.1 + 0.1 * n, 2), 2e-4) for n in range(20)]
    assert tool.report([from_text(dicts(rows))]).diagnoses[0].id == "loss-explodes"


def test_an_absurd_learning_rate_is_seen_without_a_gradient_norm(tool: Diagnoser) -> None:
    assert first(tool, only_loss_and_rate(ABSURD_DEAD)) == "learning-rate-absurd"
    healthy: list[Row] = [(round(4.8 - 0.1 * n, 4), 0.0, 9.6) for n in range(15)]
    assert first(tool, only_loss_and_rate(healthy)) == ""


def test_an_absurd_learning_rate_beside_nan_is_the_cause(tool: Diagnoser) -> None:
    found = [d.id for d in tool.report([from_text(dicts(ABSURD_NAN))]).diagnoses]
    assert found[0] == "learning-rate-absurd"
    assert "half-precision-trainables-nan" not in found


NOISE = random.Random(3)
HEALTHY: dict[str, list[Row]] = {
    "plateau": [(round(2.31 + NOISE.uniform(0, 0.02), 4), 0.9 + n / 100, 2e-5) for n in range(30)],
    "warm-up-that-rises-and-falls": [(v, 1.2, 1e-5) for v in (2.3, 2.32, 2.36, 2.4, 2.38, 2.3, 2.2, 2.1, 2.0, 1.9, 1.85, 1.8)],
    "noise": [(round(NOISE.gauss(2.0, 0.15), 3), round(NOISE.uniform(0.9, 1.4), 3), 2e-5) for _ in range(40)],
    "noise-of-a-short-run": [(round(NOISE.gauss(2.0, 0.15), 3), round(NOISE.uniform(0.9, 1.4), 3), 2e-5) for _ in range(10)],
    "overfitted-to-zero": [*((round(2.0 * 0.5**n, 4), 1.0, 2e-5) for n in range(16)), *((0.0, 0.0004, 2e-5) for _ in range(12))],
    "overfitted-rounded": [*((round(2.0 * 0.5**n, 4), 1.0, 2e-5) for n in range(16)), *((0.0001, 0.0, 2e-5) for _ in range(20))],
    "rate-of-one-learns": [(round(5 * 0.95**n, 3), 2.0, 1.0 - n / 30) for n in range(30)],
    "clipped-to-one-and-learns": [(2.3 - 0.1 * n, 1.0, 2e-5) for n in range(5)],
}


@pytest.mark.parametrize("name", sorted(HEALTHY))
def test_a_healthy_run_that_looks_alike_is_none(tool: Diagnoser, name: str) -> None:
    assert first(tool, dicts(HEALTHY[name])) == ""


def test_a_reinforced_run_around_zero_is_none(tool: Diagnoser) -> None:
    row = "{{'loss': {:.4f}, 'grad_norm': 0.{}, 'learning_rate': 1e-06, 'reward': 0.{}, 'kl': 0.00{}, 'epoch': 0.{}}}\n"
    noise = random.Random(5)
    text = "".join(row.format(noise.gauss(0, 0.003), 21 + n, noise.randint(10, 99), noise.randint(1, 9), 10 + n) for n in range(20))
    assert first(tool, text + END) == ""


@pytest.mark.parametrize(
    "text",
    [
        "{'train_runtime': 812.1, 'train_samples_per_second': 8.2, 'train_loss': nan, 'epoch': 3.0}\n",
        '{\n    "epoch": 3.0,\n    "train_loss": NaN,\n    "train_runtime": 120.1\n}\n',
        "***** train metrics *****\n  epoch                    =        3.0\n  train_loss               =        nan\n",
        "wandb: Run summary:\nwandb:   train/epoch 3\nwandb:    train/loss NaN\n",
    ],
    ids=["dict", "json", "table", "wandb"],
)
def test_a_summary_of_nan_is_a_failure_in_any_spelling(tool: Diagnoser, text: str) -> None:
    assert first(tool, text) == "nonfinite-loss"


@pytest.mark.parametrize(
    "text",
    [
        "{'eval_loss': nan, 'eval_runtime': 2.1, 'epoch': 3.0}\n",
        '{\n    "epoch": 3.0,\n    "eval_loss": NaN,\n    "eval_runtime": 2.1\n}\n',
        "***** eval metrics *****\n  epoch                   =        3.0\n  eval_loss               =        nan\n",
        "│        val_loss           │            nan            │\n",
    ],
    ids=["dict", "json", "table", "lightning"],
)
def test_an_evaluation_of_nan_is_a_failure_in_any_spelling(tool: Diagnoser, text: str) -> None:
    assert first(tool, text) == "eval-loss-nan"


@pytest.mark.parametrize(
    "text",
    [
        "{'train_runtime': 812.1, 'train_samples_per_second': 8.2, 'train_loss': 0.0, 'epoch': 3.0}\n",
        '{\n    "epoch": 3.0,\n    "train_loss": 0.0,\n    "train_runtime": 120.1\n}\n',
        "***** train metrics *****\n  epoch                    =        3.0\n  train_loss               =        0.0\n  train_runtime   = 0:02:00.10\n",
    ],
    ids=["dict", "json", "table"],
)
def test_a_summary_of_zero_claims_nothing_that_it_does_not_hold(tool: Diagnoser, text: str) -> None:
    assert first(tool, text) == "summary-loss-zero"


def test_a_table_of_experiments_is_no_training(tool: Diagnoser) -> None:
    row = '{{"cls": "llama", "dtype": "{}", "init": "{}", "loss": {}, "grad_max": {}}}\n'
    rows = [row.format(d, i, loss, 1.06) for d in ("float16", "bfloat16") for i in ("zero", "random") for loss in (4.853, 4.859, 4.861)]
    assert first(tool, "".join(rows * 2)) == ""


def test_three_equal_preference_records_are_too_few(tool: Diagnoser) -> None:
    row = "{'loss': 0.6931, 'grad_norm': 1.1, 'rewards/chosen': 0.0, 'rewards/rejected': 0.0, 'rewards/margins': 0.0, 'epoch': 0.5}\n"
    assert first(tool, row * 3 + END) == ""
    assert first(tool, row * 6 + END) == "dpo-loss-stuck-at-ln2"


def test_a_module_that_was_not_needed_is_no_failure_of_a_run_that_ended(tool: Diagnoser) -> None:
    line = "Failed to load CPU gemm_4bit_forward from kernels-community: No module named 'kernels'. Please make sure you already `pip install kernels`\n"
    assert first(tool, line + 'case a ok\ncase b ok\n{"done": true, "wall": 2.6}\n') == ""
    assert first(tool, "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nModuleNotFoundError: No module named 'kernels'\n")

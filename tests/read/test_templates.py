"""What is kept of lines that differ in their digits alone changes nothing that is observed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.samples import below
from tests.conftest import Draw
from tests.read.lines import lines_data
from troubleshooter.observe.observations import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.line import Line
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.sources import from_text
from troubleshooter.read.split import split_line
from troubleshooter.read.templates import LEARNED_AFTER_LINES, MAX_TEMPLATES, LineTemplates

ROOT = Path(__file__).parents[2]
DRAWN = 100
"""Healthy logs, and samples of entries, that the default run reads again and again; the stage `entries` reads all."""
# "9" stands for any digit.
TEMPLATES = (
    "{'loss': 9.9999, 'grad_norm': 9.99, 'learning_rate': 9.9e-99, 'epoch': 9.9}",
    "{'loss': '9.99', 'grad_norm': 'nan', 'rewards/9': 9.9}",
    "{'loss': 0.9, 'grad_norm': nan.0}",
    "step 99 loss: 9.99 lr: 9e-9",
    "step: 9 loss: nan",
    "Epoch 9: train_loss 9.99 | reward 9",
    "Step\tTraining Loss",
    "9\t9.99",
    ' "loss": 9.99,',
    ' "step": 9,',
    "{",
    "},",
    " 99%|█████     | 99/999 [99:99<99:99, 9.99it/s]",
    "Loading checkpoint shards: 100%|██████████| 9/9 [00:99<00:00, 9.9s/it]\tdone",
    "2025-99-99 99:99:99,999 INFO trainer: step 99 took 9.9 s",
    "[rank9]: step 9 loss: 9.9",
    "(WorkerDict pid=9999) step 9 loss: 9.9",
    "[99,9]<stderr>:torch==9.9.9",
    "worker-9  | transformers 9.99.9",
    "\x1b[99mcolour\x1b[9m 9",
    "lost colour[9m 9",
    "a &#39; b &#9;",
    '{"message": "loss 9", "level": 99, "time": "9"}',
    "/opt/conda/lib/python9.99/site-packages/torch/utils/checkpoint.py:99: UserWarning: 9 passed",
    '  File "/usr/lib/python3.99/x.py", line 99, in f',
    "ValueError: 9 of 99",
    "Traceback (most recent call last):",
    "CUDA error 99; sm_99 is not compatible; V999, A999",
    "exit code: 99",
    "9 failed, 9 passed",
    "Saving model checkpoint to out/checkpoint-999",
    "  two  blanks 9 ",
    "byte \udcff 9",
    "goes on, 9:",
    "redrawn 9\rredrawn 99\r",
    "",
)


def _drawn(template: str, pick: random.Random) -> str:
    return "".join(str(pick.randrange(10)) if character == "9" else character for character in template)


def _seen(line: Line | None) -> object:
    return line and (line.text, line.number, line.stream, line.rank, line.file, line.stamped)


def _all(seen: Observations) -> object:
    """What was observed, comparable (NaN is NaN)."""
    return (
        [(f.text, f.role, f.repeated, sorted(f.ranks), [(x.file, x.line) for x in f.frames], _seen(f.line)) for f in seen.failures],
        [(e.status, e.rank, _seen(e.line)) for e in seen.exits],
        {name: [(repr(p.value), p.record, p.step, _seen(p.line)) for p in points] for name, points in seen.metrics.items()},
        [(f.kind, f.name, f.value, f.basis, _seen(f.line)) for f in seen.facts],
        [(phase, _seen(line)) for phase, line in seen.phases],
        {n: [(_seen(line), line.folded) for line in kept] for n, kept in seen.hits.items()},
        {file: (p.well, p.installed, list(p.steps)) for file, p in seen.progress.items()},
        seen.lines,
    )


@pytest.fixture(scope="module")
def tools() -> tuple[Diagnoser, Diagnoser]:
    """One that keeps templates, and one that reads each line by itself."""
    with_templates, without = Diagnoser.load(), Diagnoser.load()
    without.scanner.templates = None
    return with_templates, without


@settings(max_examples=150)
@given(st.randoms(use_true_random=False), st.lists(st.integers(0, len(TEMPLATES) - 1), min_size=1, max_size=6))
def test_lines_alike_are_observed_as_each_alone(
    tools: tuple[Diagnoser, Diagnoser], pick: random.Random, chosen: list[int]
) -> None:
    text = "\n".join(_drawn(TEMPLATES[pick.choice(chosen)], pick) for _ in range(60))
    source = from_text(text.encode("utf-8", "surrogateescape"))
    tools[0].scanner.templates = LineTemplates()  # what is learnt depends on which line comes first
    assert _all(tools[0].observe([source])) == _all(tools[1].observe([source]))


def test_samples_are_observed_the_same_again(tools: tuple[Diagnoser, Diagnoser], draw: Draw) -> None:
    samples = [p.read_bytes() for p in draw([p for p in sorted((ROOT / "tests" / "healthy").rglob("*")) if p.is_file()], DRAWN)]
    samples += [sample.text.encode() for _, sample in draw(list(below(ROOT / "entries", "match")), DRAWN)]
    for text in samples:
        for _ in range(LEARNED_AFTER_LINES + 1):
            found = tools[0].observe([from_text(text)])
        assert _all(found) == _all(tools[1].observe([from_text(text)])), text


def test_most_lines_of_a_training_log_are_alike(tools: tuple[Diagnoser, Diagnoser], monkeypatch: pytest.MonkeyPatch) -> None:
    scanned: list[bytes] = []
    scan = Scanner.scan
    monkeypatch.setattr(Scanner, "scan", lambda self, text: scanned.append(text) or scan(self, text))
    pick = random.Random(1)
    text = "\n".join(_drawn(TEMPLATES[0], pick) for _ in range(500))
    found = Diagnoser.load().observe([from_text(text)])
    assert len(scanned) < 10 * LEARNED_AFTER_LINES
    assert len(found.metrics["loss"]) == 500


def test_what_is_kept_has_a_bound() -> None:
    templates = LineTemplates()
    for number in range(3 * MAX_TEMPLATES):
        templates.of(("x" * (number % 300) + chr(97 + number % 26) + "y" * (number // 300)).encode())
    assert len(templates) <= MAX_TEMPLATES


def test_a_line_is_the_same_when_its_template_was_forgotten_in_between() -> None:
    templates = LineTemplates()
    before = split_line(b"step 9 loss: 9.99", 1, templates=templates)
    for number in range(MAX_TEMPLATES):
        templates.of(("x" * (number % 300) + "y" * (number // 300)).encode())
    after = split_line(b"step 9 loss: 9.99", 1, templates=templates)
    assert before[0].template is not after[0].template
    assert lines_data(before) == lines_data(after)

"""The knowledge holds: every entry fires on its samples and is silent elsewhere; samples cut shorter mislead nobody."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.cache import CHECKOUT
from kb.load import Library, load
from tests.conftest import Draw
from troubleshooter.check import check, related
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.redact import redact
from troubleshooter.tried import try_log

HEALTHY = Path(__file__).parent / "healthy"
AREAS = sorted(p.name for p in CHECKOUT.iterdir() if p.is_dir() and p.name != "tables")
DRAWN = 300
"""Entries of which the default run tries the samples; the stage `entries` tries all."""


@pytest.fixture(scope="module")
def library(draw: Draw) -> Library:
    """The drawn entries as they are written, and at least one of each area."""
    folders = sorted(path.parent for path in CHECKOUT.glob("*/*/entry.yaml"))
    first = {folder.parent: folder for folder in reversed(folders)}
    return load(*sorted({*draw(folders, DRAWN), *first.values()}))


@pytest.mark.parametrize("area", AREAS)
def test_entries_hold_what_they_claim(area: str, library: Library, tool: Diagnoser) -> None:
    wanted = [i for i, item in library.entries.items() if item.area == area]
    problems = [*library.problems, *check(library, tool, wanted)]
    assert wanted
    assert not problems, "\n".join(map(str, problems))


EVERY_STEP = (
    "{'loss': 1.2345, 'grad_norm': 0.1234, 'learning_rate': 0.00019999, 'epoch': 0.52}",
    " 12%|#1        | 1234/384000 [00:21<13:02,  2.09s/it]",
    "2025-06-12 09:14:22 info trainer: step 12 took 0.123 s, 1234 tokens",
    "/opt/conda/lib/python3.11/site-packages/torch/utils/checkpoint.py:123: userwarning: torch.utils.checkpoint: the parameter",
)


def _literals(part: object) -> Iterator[int]:
    """The numbers of the literals of a compiled entry, in all of its conditions."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "literals":
                yield from (number for number in _flat(value) if isinstance(number, int))
            else:
                yield from _literals(value)
    elif isinstance(part, list):
        for value in part:
            yield from _literals(value)


def _flat(part: object) -> Iterator[object]:
    if isinstance(part, list):
        for value in part:
            yield from _flat(value)
    else:
        yield part


def test_few_words_of_entries_stand_on_the_lines_of_every_run(tool: Diagnoser) -> None:
    """Each such word costs every user time. If an entry needs one, it is listed here. Literals that no entry uses any more keep
    their numbers in the packs of somebody who edits entries, and do not count."""
    known, answers = tool.knowledge, [tool.knowledge.find(id_) for id_ in tool.knowledge.ids()]
    used = {known.literals[first + number] for body, first in filter(None, answers) for number in _literals(body)}
    found = {word for word in used if any(word in line for line in EVERY_STEP)}
    assert found <= {"'loss'", "tokens", "torch", "train", "trainer"}, "take a longer piece of the line, or a metric: seen"


def test_no_false_alarm_on_healthy_logs(tool: Diagnoser) -> None:
    alarms = []
    paths = sorted(p for p in HEALTHY.rglob("*") if p.suffix in (".log", ".txt", ".out", ".ipynb"))
    for path in paths:
        for ranked in try_log(tool, path).ranked:
            if ranked.candidate.body["kind"] == "failure":
                alarms.append(f"{path.relative_to(HEALTHY)}: {ranked.candidate.id}")
    assert len(paths) >= 150
    assert not alarms, "\n".join(alarms)


def test_breadth() -> None:
    assert len(list(CHECKOUT.glob("*/*/entry.yaml"))) >= 3000
    assert set(AREAS) >= {"precision", "adapters", "memory", "distributed", "data", "rl"}


def _may_answer(tool: Diagnoser, name: str, other: str) -> bool:
    """Whether another entry misleads nobody on a part of this one's sample: a relative, or a fallback."""
    found = tool.knowledge.find(other)
    assert found is not None
    return name == other or related(tool.knowledge, name, other) or found[0].get("fallback_for") is not None


def test_a_sample_cut_shorter_gives_the_same_answer_a_relative_or_silence(library: Library, tool: Diagnoser) -> None:
    pick = random.Random(11)
    wrong, tried = [], 0
    for id_, item in sorted(library.entries.items()):
        if item.entry.kind == "harmless" or item.entry.role == "cascade":
            continue
        for sample in item.samples_of("match"):
            lines = sample.text.splitlines(keepends=True)
            if len(lines) < 4:
                continue
            cut = pick.randrange(1, len(lines) - 1)
            for text in ("".join(lines[cut:]), "".join(lines[:cut])):
                tried += 1
                report = tool.report([from_text(text)])
                if report.diagnoses and not _may_answer(tool, id_, report.diagnoses[0].id):
                    wrong.append(f"{id_} {sample.name} cut at {cut}: {report.diagnoses[0].id}")
    assert tried > 200
    assert len(wrong) <= 0.03 * tried, "\n".join(wrong)


def test_redaction_changes_no_diagnosis(library: Library, tool: Diagnoser) -> None:
    changed = []
    for id_, item in sorted(library.entries.items()):
        for sample in item.samples_of("match")[:1]:
            text = sample.text
            before, after = tool.report([from_text(text)]), tool.report([from_text(redact(text))])
            if [d.id for d in before.diagnoses[:1]] != [d.id for d in after.diagnoses[:1]]:
                changed.append(f"{id_} {sample.name}")
    assert not changed, "\n".join(changed)


def test_recorded_cases_get_one_answer_in_every_shape_or_silence(tool: Diagnoser, cases: Path) -> None:
    render = importlib.import_module("render")
    differing, total = [], 0
    for line in (cases / "dev.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        seen: dict[str, list[str]] = {}
        for shape in render.SHAPES:
            report = tool.report([from_text(render.render(case, shape))])
            if report.diagnoses and report.diagnoses[0].kind == "failure":
                seen.setdefault(report.diagnoses[0].id, []).append(shape)
        total += 1
        if len(seen) > 1:
            common = max(seen, key=lambda i: len(seen[i]))
            if not all(_may_answer(tool, common, other) for other in seen):
                differing.append(f"{case['id']}: {seen}")
    assert len(differing) <= 0.02 * total, "\n".join(differing)


FOUNDING = {
    "cache-object-float": [
        "AttributeError: 'HybridCache' object has no attribute 'float'",
        "[rank1]: AttributeError: 'HybridCache' object has no attribute 'float'",
        "2025-03-20T10:00:01Z (RayTrainWorker pid=3, ip=10.0.0.2) AttributeError: 'HybridCache' object has no attribute 'float'",
    ],
    "cache-object-float-unsloth": [
        "==((====))==  Unsloth 2025.3.14: Fast Gemma3 patching. Transformers: 4.50.0.\n"
        '  File "/content/unsloth_compiled_cache/UnslothSFTTrainer.py", line 740, in evaluate\n    out = f()\n'
        "AttributeError: 'HybridCache' object has no attribute 'float'",
    ],
    "matmul-dtype-mismatch": [
        "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: c10::Half != float",
        "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half",
        "expected m1 and m2 to have the same dtype, but got: float != c10::Half",
    ],
    "half-precision-trainables-nan": [
        "".join(f"{{'loss': {2.1 - i / 10:.4f}, 'grad_norm': 1.2, 'learning_rate': 0.0002, 'epoch': 0.{i}}}\n" for i in range(8))
        + "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 0.0001, 'epoch': 0.9}\n{'eval_loss': nan, 'epoch': 1.0}\n",
    ],
    "fp16-overflow-zero-loss": [
        "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-06, 'rewards/chosen': nan, 'rewards/margins': nan, 'epoch': 0.01}\n" * 3,
        "{'loss': '0', 'grad_norm': 'nan', 'learning_rate': '1e-06', 'reward': 'nan', 'epoch': '0.01'}\n" * 3,
    ],
}  # fmt: skip


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("id_", "number"), [(i, n) for i, texts in FOUNDING.items() for n in range(len(texts))])
def test_the_founding_failures_are_right_first(tool: Diagnoser, id_: str, number: int, lang: str) -> None:
    report = tool.report([from_text(FOUNDING[id_][number])], lang=lang)
    assert report.diagnoses[0].id == id_
    assert len(report.diagnoses[0].fixes) >= 1
    assert report.exit_code == 1


def test_zeros_without_any_nan_are_masked_labels_first(tool: Diagnoser) -> None:
    text = "{'loss': 0.0, 'grad_norm': 0.0, 'learning_rate': 2e-05, 'epoch': 0.01}\n" * 5
    assert tool.report([from_text(text)]).diagnoses[0].id == "all-labels-masked"


ORDINARY = (
    "ArithmeticError", "AssertionError", "AttributeError", "EOFError", "FileExistsError", "FileNotFoundError", "ImportError",
    "IndexError", "KeyError", "LookupError", "ModuleNotFoundError", "NameError", "NotImplementedError", "OSError",
    "OverflowError", "RuntimeError", "StopIteration", "TypeError", "UnboundLocalError", "ValueError", "ZeroDivisionError",
)  # fmt: skip
CALL = 'Traceback (most recent call last):\n  File "/home/user/project/zebra.py", line 3, in quux\n    blorp()\n'


@pytest.mark.parametrize("said", ["{}: zebra quux of blorp", CALL + "{}: zebra quux of blorp", "{}"])
def test_words_that_nobody_knows_have_no_answer(tool: Diagnoser, said: str) -> None:
    """An entry must require words. A type that all programs raise, and a frame that a paste may lack, are not enough."""
    answers = {
        name: [found.id for found in tool.report([from_text(said.format(name))]).diagnoses] for name in ORDINARY
    }
    assert not {name: ids for name, ids in answers.items() if ids}

"""A pasted piece of a message is answered as possible; a piece of many messages, or of none, is not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kb.samples import FILE, parse
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

ROOT = Path(__file__).parent.parent
PIECES = [
    ("megatron-interleaved-schedule", "schedule is used, pipeline-model-parallel size should be greater"),
    ("optimizer-parameters-wrong-kind", "optimizer should be an iterable of Tensors or"),
    ("mps-float64", "MPS Tensor to float64 dtype as the MPS framework"),
]


@pytest.mark.parametrize(("id_", "piece"), PIECES)
def test_the_entry_whose_message_contains_the_piece_is_possible(tool: Diagnoser, id_: str, piece: str) -> None:
    report = tool.report([from_text(f"{piece}\n")])
    assert (report.diagnoses[0].id, report.diagnoses[0].confidence) == (id_, "possible")
    assert report.diagnoses[0].evidence[0].line == 1


@pytest.mark.parametrize(
    "piece",
    [
        "unexpected keyword argument",  # of many messages
        "float64",
        "MPS Tensor to float64 dtype as the PJRT framework",  # another word
        "Training finished, the model is saved to the output folder",
    ],
)
def test_a_piece_of_many_messages_or_of_none_is_no_answer(tool: Diagnoser, piece: str) -> None:
    report = tool.report([from_text(f"{piece}\n")])
    assert (report.diagnoses, report.exit_code) == ([], 0)


def test_a_longer_text_is_no_piece(tool: Diagnoser) -> None:
    lines = [f"epoch {number} done, saving to out/{number}" for number in range(5)]
    assert tool.report([from_text("\n".join([PIECES[2][1], *lines]))]).diagnoses == []


def test_pieces_of_samples_give_their_entry_or_nothing(tool: Diagnoser) -> None:
    """Words 3 to the last but two of messages, drawn once: most are answered, and no answer is another entry's."""
    chosen = random.Random(21)
    right = tried = 0
    for path in chosen.sample(sorted((ROOT / "entries").glob(f"*/*/{FILE}")), 90):
        sample = next((one for one in parse(path.read_text(encoding="utf-8")) if one.kind == "match" and one.evidence), None)
        words = sample.text.splitlines()[sample.evidence[0] - 1].partition("Error: ")[2].split() if sample else []
        if len(words) < 9:
            continue
        tried += 1
        found = [one.id for one in tool.report([from_text(" ".join(words[2:-2]))]).diagnoses]
        right += path.parent.name in found
    assert tried >= 20
    assert right >= 0.7 * tried

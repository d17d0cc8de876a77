"""Lines that were glued, collapsed, wrapped or numbered on their way into a paste."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshooter.observe.observations import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.embedded import split_embedded_lines
from troubleshooter.read.line_numbers import line_number_pattern
from troubleshooter.read.sources import from_text
from troubleshooter.read.split import split_line

TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/home/u/train.py", line 3, in <module>',
    "    main()",
    '  File "/home/u/venv/lib/python3.11/site-packages/accelerate/utils/operations.py", line 780, in _convert_to_fp32',
    "    return tensor.float()",
    "AttributeError: 'HybridCache' object has no attribute 'float'",
]
POWERSHELL = [
    "At line:1 char:1",
    "+ python train.py 2>&1 | Tee-Object log.txt",
    "+ ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~",
    "    + CategoryInfo          : NotSpecified: (Traceback (most recent call last)::String) [], RemoteException",
    "    + FullyQualifiedErrorId : NativeCommandError",
    " ",
]
BROKEN = [*TRACEBACK[:3], TRACEBACK[3].removesuffix(" 780, in _convert_to_fp32"), "780, in _convert_to_fp32", *TRACEBACK[4:]]


def _records(key: str, **more: str) -> str:
    return "\n".join(json.dumps({key: line + "\n", **more}) for line in TRACEBACK)


SHAPES = {
    "grep -n": "\n".join(f"{n}:{line}" for n, line in enumerate(TRACEBACK, 1201)),
    "grep -n with context": "\n".join(f"{n}{':' if n == 8 else '-'}{line}" for n, line in enumerate(TRACEBACK, 8)),
    "cat -n": "\n".join(f"{n:6}\t{line}" for n, line in enumerate(TRACEBACK, 1)),
    "an editor": "\n".join(f"{n:>4} {line}" for n, line in enumerate(TRACEBACK, 97)),
    "a form took the line ends": " ".join(line.strip() for line in TRACEBACK),
    "a title without blanks": " 12%|█▏        | 120/1000 [01:10<08:20,  1.76it/s]" + "".join(TRACEBACK),
    "docker": _records("log", stream="stderr", time="2025-06-12T09:14:07.381Z"),
    "a logger's records": _records("message", levelname="ERROR", asctime="2025-06-12 09:14:07,381"),
    "a logger's exc_info": json.dumps({"message": "failed", "levelname": "ERROR", "exc_info": "\n".join(TRACEBACK)}),
    "repr of a text": repr("\n".join(TRACEBACK) + "\n"),
    "repr of a text in a list": "errors: " + repr(["\n".join(TRACEBACK) + "\n"]),
    "Windows PowerShell": "\n".join(["python : " + TRACEBACK[0], *POWERSHELL, *TRACEBACK[1:]]),
    "a terminal's line end in a frame": "\n".join(BROKEN),
}


@pytest.fixture(scope="module")
def tool() -> Diagnoser:
    return Diagnoser.load()


def _observed(tool: Diagnoser, text: str) -> Observations:
    return tool.observe([from_text(text)])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_failure(shape: str, tool: Diagnoser) -> None:
    (failure,) = _observed(tool, SHAPES[shape]).failures
    assert failure.text == TRACEBACK[-1]
    assert [(frame.file, frame.line, frame.function) for frame in failure.frames] == [
        ("/home/u/train.py", 3, "<module>"),
        ("/home/u/venv/lib/python3.11/site-packages/accelerate/utils/operations.py", 780, "_convert_to_fp32"),
    ]


def test_ranks_are_no_line_numbers(tool: Diagnoser) -> None:
    labelled = "\n".join(f"{rank}: {line}" for line in TRACEBACK for rank in range(4))
    (failure,) = _observed(tool, labelled).failures
    assert failure.ranks == {0, 1, 2, 3}
    assert line_number_pattern(labelled.encode()) is None


@pytest.mark.parametrize(
    "start",
    ["0: a\n1: b\n2: c\n3: d\n4: e\n5: f", "1: a\n2: b\n3: c", "1: a\n2: b\n4: c\n5: d\n6: e\n7: f", "2025: a\nb\nc\nd\ne\nf"],
)
def test_what_is_not_numbered(start: str) -> None:
    assert line_number_pattern(start.encode()) is None


def test_other_json_stays_as_it_is() -> None:
    for text in ('{"loss": 0.5, "message": "x", "time": 1}', '{"message": "x"}', '{"log": 3, "time": 1}', '{"log": "x", "time"'):
        assert split_embedded_lines(text) == [text]


def test_json_nested_without_end_stays_as_it_is() -> None:
    text = '{"time": 1, "log": ' + "[" * 30_000
    assert split_embedded_lines(text) == [text]


@pytest.mark.parametrize("piece", ["A.", "A ", 'File "x", line 1, in f ', 'File "', "x:", "AError"])
def test_a_hostile_line_costs_no_more_than_its_length(piece: str) -> None:
    line = "Traceback (most recent call last): " + piece * (60_000 // len(piece))
    assert "".join("".join(split_embedded_lines(line)).split()) == "".join(line.split())


def test_a_header_is_no_message_that_goes_on(tool: Diagnoser) -> None:
    seen = _observed(tool, "\n".join(TRACEBACK))
    assert all(line.text in "\n".join(TRACEBACK) for kept in seen.hits.values() for line in kept)


def test_two_records_on_one_line(tool: Diagnoser) -> None:
    seen = _observed(tool, "{'loss': 2.1, 'grad_norm': 1.2}{'loss': 0.0, 'grad_norm': nan}\n")
    assert [point.value for point in seen.metrics["loss"]] == [2.1, 0.0]


def test_numbers_of_lightnings_bar(tool: Diagnoser) -> None:
    bar = "Epoch 0:  10%|█         | 10/100 [00:02<00:20,  4.4it/s, v_num=0, train_loss=nan.0, grad_norm=inf.0]\n"
    seen = _observed(tool, bar)
    (loss,), (norm,) = seen.metrics["train_loss"], seen.metrics["grad_norm"]
    assert loss.value != loss.value
    assert norm.value == float("inf")


def test_a_printed_message_that_goes_on_is_seen_as_one(tool: Diagnoser) -> None:
    text = (
        "size mismatch for base_model.model.lm_head.modules_to_save.default.weight:\n"
        "copying a param with shape torch.Size([32003, 896]) from checkpoint,\n"
        "the shape in current model is torch.Size([32000, 896])\n"
    )
    found = tool.report([from_text(text)]).diagnoses[0]
    assert found.id == "adapter-vocab-not-resized"
    assert found.evidence[0].line == 1
    apart = text.replace(":\n", ":\nstep 12\n").replace(",\n", ",\nstep 13\n")
    assert not tool.report([from_text(apart)]).diagnoses


def test_the_summary_of_a_run_is_one_record(tool: Diagnoser) -> None:
    text = "wandb: Run summary:\nwandb:   train/grad_norm nan\nwandb:   train/loss 0.0\nwandb: Synced 5 W&B file(s)\n"
    seen = _observed(tool, text)
    (loss,), (norm,) = seen.metrics["loss"], seen.metrics["grad_norm"]
    assert loss.record == norm.record
    assert norm.value != norm.value


def test_the_numbers_at_the_end_of_a_stage_are_metrics(tool: Diagnoser) -> None:
    """As `Trainer.log_metrics` prints them: padded, a time and a count of operations among them."""
    lines = [
        "***** train metrics *****", "  epoch                    =     2.9268", "  total_flos               =  3778867GF",
        "  train_loss               =        0.0", "  train_runtime            = 0:02:59.80",
        "***** eval metrics *****", "  eval_loss               =        nan", "  perplexity              =     1.5e+3",
    ]  # fmt: skip
    seen = tool.observe([from_text("\n".join(lines))])
    found = {name: [(point.value, point.line.number) for point in points] for name, points in seen.metrics.items()}
    assert found.pop("eval_loss")[0][1] == 7
    assert found == {"train_loss": [(0.0, 4)], "perplexity": [(1500.0, 8)]}



@given(st.text(max_size=200).filter(lambda text: "\\n" not in text))
def test_nothing_is_lost(text: str) -> None:
    """But of a string with escapes, whose end is that of the string."""
    line = "Traceback (most recent call last): " + text.replace("\n", " ").replace("\r", " ")
    assert "".join("".join(split_embedded_lines(line)).split()) == "".join(line.split())
    assert split_line(line.encode("utf-8", "replace"), 1)

"""A progress bar that was redrawn for hours is one line of a log, and what follows it there is how the run ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.redraws import KEPT_BYTES, Shortened
from troubleshooter.read.sources import from_path, from_text
from troubleshooter.read.text import LINE_LIMIT

BARS = "\r".join(f"{step}%|#### | {step}/100 [00:10<00:20,  1.21it/s, loss=1.{step:02d}]" for step in range(100))
KILLED = "slurmstepd: error: Detected 1 oom_kill event in StepId=4711.batch. Some of the step tasks have been OOM Killed."


@pytest.mark.parametrize("times", [1, 30, 100, 400])
@pytest.mark.parametrize("before", ["", "loading\n", "loading\n" + "x" * 30_000 + "\n"])
def test_what_follows_a_bar_on_its_line_is_read(tool: Diagnoser, tmp_path: Path, before: str, times: int) -> None:
    path = tmp_path / "train.log"
    path.write_text(f"{before}{BARS * times}{KILLED}\n", newline="")
    for sources in (from_path(path), [from_text(path.read_bytes())]):
        report = tool.report(sources)
        assert [one.id for one in report.diagnoses] == ["slurm-oom-kill"]
        assert report.diagnoses[0].evidence[0].line == before.count("\n") + 1
        assert report.input["bytes"] == path.stat().st_size


@given(
    st.lists(st.tuples(st.sampled_from([b"a", b"a\r", b"\r", b"a\rbc", b"ab\r\n", b"\n", b"abc\n"]), st.integers(1, 20_000)), max_size=8),
    st.integers(1, 100_000),
    st.integers(1, 100_000),
)
@settings(deadline=None, max_examples=60)
def test_only_long_lines_that_are_redrawn_are_shortened(parts: list[tuple[bytes, int]], size: int, other: int) -> None:
    text = b"".join(part * times for part, times in parts)
    shortened = Shortened(text[at : at + size] for at in range(0, len(text), size))
    got = b"".join(shortened)
    if not any(2 * KEPT_BYTES < len(line) <= LINE_LIMIT for line in text.split(b"\n")):  # one may be left whole, by two bytes
        assert got == b"".join(Shortened(text[at : at + other] for at in range(0, len(text), other)))
    assert got.count(b"\n") == text.count(b"\n")
    for line, shown in zip(text.split(b"\n"), got.split(b"\n"), strict=True):
        if line == shown:
            continue
        assert len(line) > 2 * KEPT_BYTES
        assert b"\r" in line[:KEPT_BYTES]
        assert len(shown) <= LINE_LIMIT
        assert shown[:KEPT_BYTES] == line[:KEPT_BYTES]
        assert line.endswith(shown[KEPT_BYTES + 1 :])

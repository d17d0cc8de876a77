"""Programs that fail in ways that the user's own lines explain, as they were recorded: what is said of them is held.

Each program of ``recorded/`` was run with torch 2.13.0 on CPUs (a notebook's cell with IPython 9, a box with Rich 15), and the
folders of the machine were renamed. No entry takes part: what is told comes from the lines that the log shows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.explanation import dependencies, sentences

FOLDER = Path(__file__).parent / "recorded"
LOGS = sorted(FOLDER.glob("*.log"))
TOOL = Diagnoser.of([])


def told(log: Path, lang: str) -> str:
    """What the explanation of a log says."""
    found = TOOL.diagnose(log.read_text(encoding="utf-8"), lang=lang).explained
    lines = [f"== {log.stem}"]
    for one in found:
        lines += [f"{one['exception']}: {one['message']}".split("\n")[0], *sentences(one, lang)]
        lines += [f"- {part}" for part in dependencies(one, lang)]
        lines += [f"{number}. {step['do']}" for number, step in enumerate(one["suggestions"], 1)]
    return "\n".join(lines)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_said_of_recorded_failures(lang: str, snapshot: Callable[[str, str], None]):
    assert len(LOGS) >= 15
    snapshot(f"recorded.{lang}.txt", "\n\n".join(told(log, lang) for log in LOGS) + "\n")


@pytest.mark.parametrize("log", LOGS, ids=[log.stem for log in LOGS])
def test_each_is_explained_by_its_own_line(log: Path):
    [found] = TOOL.diagnose(log.read_text(encoding="utf-8")).explained
    assert found["condition"]
    assert found["own"] is not None
    assert (FOLDER / f"{log.stem}.py").is_file()

"""Which entries answer the failures that people report, the most frequent first: where a probe is worth most.

    python -m benchmarks.answered [--cases FILE] [--top 100]

Reads the frozen reports of ``benchmarks/reports``, the logs of ``tests/logs`` and, where they are given, further cases: a file
of JSON objects, one a line, with the printed text under ``text`` or, without it, ``exception``, ``message``, ``frames`` (file,
line, function) and ``lines``. Only the first diagnosis of each counts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kb.load import load
from troubleshooter import Diagnoser

REPORTS = Path(__file__).parent / "reports" / "reports.jsonl"
LOGS = Path(__file__).parent.parent / "tests" / "logs"


def printed(case: dict[str, Any]) -> str:
    """What the failed run printed: the case's text, else a traceback made of its parts."""
    if case.get("text"):
        return str(case["text"])
    frames = [f'  File "/usr/lib/python3/site-packages/{file}", line {line}, in {name}' for file, line, name in case.get("frames") or []]
    head = ["Traceback (most recent call last):"] if frames else []
    return "\n".join([*head, *frames, *(case.get("lines") or []), f"{case['exception']}: {case['message']}"]) + "\n"


def texts(files: list[Path]) -> Iterator[str]:
    """All reports, all logs, and the cases of the files."""
    for file in [REPORTS, *files]:
        for line in file.read_text(encoding="utf-8").splitlines():
            yield printed(json.loads(line))
    for path in sorted(LOGS.glob("*.log")):
        yield path.read_text(encoding="utf-8", errors="replace")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answered", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", type=Path, action="append", default=[], help="further cases, one JSON object a line")
    parser.add_argument("--top", type=int, default=100, help="so many entries")
    chosen = parser.parse_args()
    tool = Diagnoser.load()
    library = load(Path("entries")).usable().entries
    counted: Counter[str] = Counter()
    asked = 0
    for text in texts(chosen.cases):
        asked += 1
        found = tool.diagnose(text).diagnoses
        if found:
            counted[found[0].id] += 1
    probed = 0
    for entry, times in counted.most_common(chosen.top):
        named = library[entry].entry.probe if entry in library else None
        probed += named is not None
        print(f"{times:>4}  {'probe' if named else '     '}  {entry}")
    answered = sum(counted.values())
    print(f"{answered} of {asked} are answered, by {len(counted)} entries; {probed} of those listed have a probe")
    return 0


if __name__ == "__main__":
    sys.exit(main())

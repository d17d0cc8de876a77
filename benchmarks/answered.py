"""Which entries answer the failures that people report, the most frequent first: where a probe is worth most.

    python -m benchmarks.answered [--cases FILE] [--top 100]

Reads the frozen reports of ``benchmarks/reports``, the logs of ``tests/logs`` and, where they are given, further cases: a file
of JSON objects, one a line, with the printed text under ``text`` or, without it, ``exception``, ``message``, ``frames`` (file,
line, function) and ``lines``. Only the first diagnosis of each counts. The columns are: failures answered, public threads that the entry
cites, whether it has a probe or where its failure could be shown (`REASONS`), the entry.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from kb.load import load
from troubleshooter import Diagnoser

REPORTS = Path(__file__).parent / "reports" / "reports.jsonl"
LOGS = Path(__file__).parent.parent / "tests" / "logs"
REASONS = Path(__file__).with_name("without_probe.tsv")
"""Judged by hand, one line an entry: the entry, a `Place`, the reason."""

Place = Literal["cpu", "gpu", "several-gpus", "not-here"]
"""Where the failure of an entry could be shown by a probe; ``not-here`` is nowhere on one machine with one GPU."""

MEANINGS: Final = {
    "probe": "have a probe",
    "cpu": "can be shown on a CPU and have no probe yet",
    "gpu": "can be shown on one GPU and have no probe",
    "several-gpus": "need several GPUs",
    "not-here": "cannot be shown by a small program (the reason is beside each)",
    "not looked at": "were not looked at",
}


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


def ranked(counted: Mapping[str, int], cited: Mapping[str, int]) -> list[str]:
    """The entries, most frequent first. Entries that answer equally many failures are ordered by the public threads that they cite."""
    return sorted(counted, key=lambda name: (-counted[name], -cited.get(name, 0), name))


def kept_reasons(file: Path = REASONS) -> dict[str, tuple[Place, str]]:
    """Where the failure of an entry without a probe can be shown, and why there: by entry.

    Raises `ValueError` where a line names a place that is none of `Place`.
    """
    found: dict[str, tuple[Place, str]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        entry, place, why = line.split("\t")
        if place not in get_args(Place):
            raise ValueError(f"{file}:{number}: {place!r} is no place; expected one of {', '.join(get_args(Place))}")
        found[entry] = (cast("Place", place), why)
    return found


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
    cited = {name: len({one.url for one in library[name].entry.sources if one.url}) for name in counted if name in library}
    reasons = kept_reasons()
    totals: Counter[str] = Counter()
    for entry in ranked(counted, cited)[: chosen.top]:
        probed = entry in library and library[entry].entry.probe is not None
        place, why = ("probe", "") if probed else reasons.get(entry, ("not looked at", ""))
        totals[place] += 1
        print(f"{counted[entry]:>4} {cited.get(entry, 0):>3}  {place:<13}  {entry}{f': {why}' if why else ''}")
    print(f"{sum(counted.values())} of {asked} are answered, by {len(counted)} entries. Of the first {sum(totals.values())}:")
    for place, count in totals.most_common():
        print(f"{count:>4}  {MEANINGS.get(place, place)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How right the answers are, on recorded real reports: ``python -m benchmarks.figures CASES_FOLDER [--healthy DIR]``.

Reads ``dev.jsonl``, ``render.py`` and ``score.py`` of the folder, asks the tool in this process, and writes
``benchmarks/FIGURES.md``: right first, in the first three, wrong first, silent and by chance, by area, with 95 %
intervals (Wilson); false alarms; and the precision of each confidence word. A third of the cases, chosen by a hash of
their names, was not shown to the writers of entries: it is reported apart (``held out``).
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import platform
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.commit import measured_commit
from benchmarks.intervals import share
from troubleshooter import __version__
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_path, from_text

TARGET = Path(__file__).with_name("FIGURES.md")


def held_out(case: dict[str, Any]) -> bool:
    """True if the case was kept from the writers of entries (a third of the cases, chosen by a hash)."""
    return int(hashlib.sha256(("s" + case["id"]).encode()).hexdigest(), 16) % 3 == 0


def measure(folder: Path, tool: Diagnoser) -> list[dict[str, Any]]:
    """One row for each case: the verdict (right, top3, wrong, silent), the first answer and its confidence word."""
    sys.path.insert(0, str(folder))
    render, score = importlib.import_module("render"), importlib.import_module("score")
    rows = []
    for line in (folder / "dev.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        found = tool.report([from_text(render.render(case))]).to_dict()["diagnoses"]
        right, near = score.right(case, found, 1), score.right(case, found, 3)
        verdict = "right" if right else "top3" if near else "wrong" if found else "silent"
        rows.append({"case": case, "verdict": verdict, "diagnoses": found, "score": score})
    return rows


def by_chance(rows: Sequence[dict[str, Any]]) -> float:
    """The share that would be right by chance: the same answers, each given to another case."""
    third = len(rows) // 3
    dealt = [r["diagnoses"] for r in (*rows[third:], *rows[:third])]
    return sum(r["score"].right(r["case"], d, 1) for r, d in zip(rows, dealt, strict=True)) / max(1, len(rows))


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The figures by area, then over all."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["case"]["id"].split("-")[0]].append(row)
    out = ["| area | cases | right first | in first three | wrong first | silent |", "| --- | --- | --- | --- | --- | --- |"]
    for name, group in [*sorted(groups.items()), ("**all**", list(rows))]:
        seen, n = Counter(r["verdict"] for r in group), len(group)
        three, wrong = seen["right"] + seen["top3"], seen["top3"] + seen["wrong"]
        out.append(
            f"| {name} | {n} | {share(seen['right'], n)} | {three / n:.1%} | {wrong / n:.1%} | {seen['silent'] / n:.1%} |"
        )
    return out


def words(rows: Sequence[dict[str, Any]]) -> list[str]:
    """How often first answers with each confidence word are right."""
    good, total = Counter[str](), Counter[str]()
    for row in rows:
        if row["diagnoses"]:
            word = row["diagnoses"][0]["confidence"]
            total[word] += 1
            good[word] += row["verdict"] == "right"
    out = ["| word | answers | right |", "| --- | --- | --- |"]
    return out + [f"| {w} | {total[w]} | {share(good[w], total[w])} |" for w in ("certain", "likely", "possible")]


def alarms(folder: Path, tool: Diagnoser) -> tuple[int, list[str]]:
    """The number of healthy logs, and the names of those on which a failure is diagnosed."""
    paths = sorted(p for p in folder.rglob("*") if p.suffix in (".log", ".txt", ".out", ".ipynb"))
    found = []
    for path in paths:
        report = tool.report(from_path(path))
        if report.diagnoses and report.diagnoses[0].kind != "harmless":
            found.append(f"{path.relative_to(folder)}: {report.diagnoses[0].id}")
    return len(paths), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--healthy", type=Path, default=Path("tests/healthy"))
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--note", default="", help="a sentence about this run, kept in the page")
    given = parser.parse_args()
    tool = Diagnoser.load()
    rows = measure(given.cases, tool)
    held = [r for r in rows if held_out(r["case"])]
    shown = [r for r in rows if not held_out(r["case"])]
    total, false = alarms(given.healthy, tool)
    text = [
        "# Figures",
        "",
        f"Made {date.today().isoformat()} by `python -m benchmarks.figures` with Troubleshoot {__version__} "
        f"({measured_commit()}, {len(tool.knowledge.ids())} entries), Python {platform.python_version()}. {given.note}".rstrip(),
        "",
        "Recorded real reports laid out as logs (one shape each). An answer is right when its title, cause or first two "
        "fixes match what repaired the case. Intervals: 95 %, Wilson.",
        "",
        f"## The third of the cases that was held out from the writers at first ({len(held)})",
        "",
        *table(held),
        "",
        f"By chance (the same answers dealt out to other cases): {by_chance(held):.1%}.",
        "",
        "How far a confidence word can be trusted, on these cases:",
        "",
        *words(held),
        "",
        f"## The cases that the first entries were written from ({len(shown)})",
        "",
        *table(shown),
        "",
        f"By chance: {by_chance(shown):.1%}.",
        "",
        *words(shown),
        "",
        "## False alarms",
        "",
        f"{len(false)} of {total} healthy logs give a failure" + (":" if false else "."),
        *[f"- {line}" for line in false],
        "",
    ]
    given.out.write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()

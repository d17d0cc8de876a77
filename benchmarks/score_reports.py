"""Measure how right a tool is on public reports with settled causes: ``python -m benchmarks.score_reports [--command WORDS]``.

Runs the command on the text of each report in ``benchmarks/reports/reports.jsonl`` and says how often the first answer is
right, wrong or missing, with 95 % intervals (Wilson). The command gets the text on standard input, or as a file where it
holds ``{file}``. It answers in JSON with a list ``diagnoses`` (title, summary, cause, fixes, confidence), of which the first counts,
or in plain text, of which all counts. ``benchmarks/reports/README.md`` says how the reports were drawn and judged.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.intervals import share
from troubleshooter.history.significance import wilson

REPORTS = Path(__file__).with_name("reports") / "reports.jsonl"
COMMAND = "troubleshoot --format json --lang en"
ANSWERED = (0, 1, 3)
"""Exit statuses of an answer: nothing wrong, diagnosed, unexplained."""
TIMEOUT_SECONDS = 120
MIN_GROUP = 5
"""Trackers with fewer reports are counted together."""
COUNTED_FIXES = 2
"""This many fixes of the first answer count as part of the answer."""

Verdict = Literal["right", "wrong", "silent"]


class BrokenReports(Exception):
    """A file of reports cannot be used. The message names the line and what it should contain."""


class BrokenCommand(Exception):
    """A command cannot be started. The message names it."""


@dataclass(frozen=True)
class Report:
    """One report: what was printed, and the expressions that recognise a right answer."""

    id: str
    date: str
    tracker: str
    text: str
    right: tuple[re.Pattern[str], ...]
    part: str
    reported: bool
    nature: str
    kind: str
    echo: bool
    url: str
    names: tuple[str, ...] = ()

    def cited_in(self, text: str) -> bool:
        """True if a text (a tool's own sources) names the report: by its address, an issue that it closes, or ``name#number``."""
        for address in (self.url, *self.names):
            owner, name, _, number = address.split("/")[3:7]
            if re.search(rf"{re.escape(owner)}/{re.escape(name)}/(pull|issues|commit)/{number}\b", text, re.IGNORECASE):
                return True
            if number.isdigit() and re.search(rf"(?<![\w-]){re.escape(name)}#{number}\b", text, re.IGNORECASE):
                return True
        return False


@dataclass(frozen=True)
class Answer:
    """The first answer of a tool: its words, its name and how sure it says it is. No words is no answer.

    `broken` says what went wrong where the tool ended with an error or took too long: that is no answer either.
    """

    words: str
    name: str = ""
    confidence: str = ""
    broken: str = ""


@dataclass(frozen=True)
class Row:
    """One judged answer."""

    report: Report
    answer: Answer
    verdict: Verdict


def load(path: Path) -> list[Report]:
    """The reports of a file, one JSON object a line.

    Raises `BrokenReports` where the file cannot be read, or a line is no object, lacks a key or holds a broken expression.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BrokenReports(f"{path}: {error.strerror}. Name a file of reports with --reports.") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            right = tuple(re.compile(pattern, re.IGNORECASE) for pattern in raw["right"])
            plain = {key: raw[key] for key in Report.__dataclass_fields__ if key not in ("right", "names")}
        except (ValueError, KeyError, TypeError, re.error) as error:
            raise BrokenReports(
                f"{path}:{number}: {error!r}. Each line is an object with the keys of the data sheet."
            ) from error
        found.append(Report(right=right, names=tuple(raw.get("names", ())), **plain))
    return found


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def read_answer(printed: str) -> Answer:
    """The first answer in what a tool printed: JSON with a list `diagnoses`, or plain text."""
    try:
        diagnoses = json.loads(printed)["diagnoses"]
    except (ValueError, KeyError, TypeError):
        return Answer(printed.strip())
    if not diagnoses:
        return Answer("")
    first: dict[str, Any] = diagnoses[0]
    parts = [first.get("title"), first.get("summary"), first.get("cause"), (first.get("fixes") or [])[:COUNTED_FIXES]]
    return Answer("\n".join(_strings(parts)), str(first.get("id") or ""), str(first.get("confidence") or ""))


def ask(command: Sequence[str], text: str) -> Answer:
    """What a command answers to a text. Raises `BrokenCommand` where it cannot be started."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.log")
        file.write_text(text + "\n", encoding="utf-8")
        words = [word.replace("{file}", str(file)) for word in command]
        given = None if words != list(command) else text + "\n"
        try:
            done = subprocess.run(
                words, input=given, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return Answer("", broken=f"no answer within {TIMEOUT_SECONDS} seconds")
        except OSError as error:
            raise BrokenCommand(
                f"{command[0]}: {error.strerror}. Name a program that runs here with --command."
            ) from error
    if done.returncode not in ANSWERED:
        return Answer("", broken=f"exit status {done.returncode}: {done.stderr.strip()[-300:]}")
    return read_answer(done.stdout)


def judge(report: Report, answer: Answer) -> Verdict:
    """Whether an answer is right for a report."""
    if not answer.words:
        return "silent"
    return "right" if any(pattern.search(answer.words) for pattern in report.right) else "wrong"


def measure(reports: Sequence[Report], answer: Callable[[str], Answer], jobs: int = 2) -> list[Row]:
    """Asks for every report, `jobs` at a time, and judges."""
    with ThreadPoolExecutor(jobs) as pool:
        answers = list(pool.map(lambda report: answer(report.text), reports))
    return [Row(report, said, judge(report, said)) for report, said in zip(reports, answers, strict=True)]


def by_chance(rows: Sequence[Row]) -> float:
    """The share (0 to 1) that would be right by chance: the same answers, each given to another report."""
    third = len(rows) // 3
    dealt = [row.answer for row in (*rows[third:], *rows[:third])]
    return sum(judge(row.report, answer) == "right" for row, answer in zip(rows, dealt, strict=True)) / max(
        1, len(rows)
    )


def count(rows: Iterable[Row]) -> dict[str, Any]:
    """Reports, verdicts, and the shares right and wrong with their intervals (0 to 1)."""
    seen = Counter(row.verdict for row in rows)
    total = seen.total()
    return {
        "reports": total,
        **{verdict: seen[verdict] for verdict in ("right", "wrong", "silent")},
        "right_interval": wilson(seen["right"], total),
        "wrong_interval": wilson(seen["wrong"], total),
    }


def group(rows: Sequence[Row], key: Callable[[Row], str], least: int = 1) -> dict[str, list[Row]]:
    """The rows by a key, in the order of its names; groups of fewer than `least` rows are counted together as ``others``."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    kept = {name: groups[name] for name in sorted(groups) if len(groups[name]) >= least}
    rest = [row for name in sorted(groups) if len(groups[name]) < least for row in groups[name]]
    return {**kept, "others": rest} if rest else kept


def sections(rows: Sequence[Row], cited: str = "") -> dict[str, dict[str, list[Row]]]:
    """The tables to show: for each title the groups by name, each with its rows.

    `cited` is the text of the tool's sources, where it is known: reports that it names are counted apart.
    """
    answered = [row for row in rows if row.verdict != "silent"]
    return {
        "all": {"all reports": list(rows), "without echoes": [row for row in rows if not row.report.echo]},
        **(
            {"cited": group(rows, lambda row: "cited by the tool" if row.report.cited_in(cited) else "not cited")}
            if cited
            else {}
        ),
        "reported": group(rows, lambda row: "names an issue" if row.report.reported else "names none"),
        "part": group(rows, lambda row: row.report.part),
        "nature": group(rows, lambda row: row.report.nature),
        "kind": group(rows, lambda row: row.report.kind),
        "lines": group(rows, lambda row: "several lines" if "\n" in row.report.text else "one line"),
        "confidence": group(answered, lambda row: row.answer.confidence or "not said"),
        "tracker": group(rows, lambda row: row.report.tracker, MIN_GROUP),
        "month": group(rows, lambda row: row.report.date[:7]),
    }


def table(rows: Sequence[Row], cited: str = "") -> str:
    """The figures as Markdown tables, one a cut."""
    out = []
    for title, groups in sections(rows, cited).items():
        out += [f"| {title} | reports | right | wrong | silent |", "| --- | --- | --- | --- | --- |"]
        for name, part in groups.items():
            seen = Counter(row.verdict for row in part)
            shares = " | ".join(share(seen[verdict], len(part)) for verdict in ("right", "wrong", "silent"))
            out.append(f"| {name} | {len(part)} | {shares} |")
        out.append("")
    return "\n".join([*out, f"By chance {by_chance(rows):.1%} would be right."])


def to_json(rows: Sequence[Row], cited: str = "") -> dict[str, Any]:
    """The figures and every judged answer, as JSON holds them."""
    return {
        "figures": {
            title: {name: count(part) for name, part in groups.items()} for title, groups in sections(rows).items()
        },
        "by_chance": by_chance(rows),
        "rows": [{"id": row.report.id, "verdict": row.verdict, "answer": asdict(row.answer)} for row in rows],
    }


def read_sources(folder: Path) -> str:
    """All text of a folder, line by line where a line names an address or a number of an issue."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    lines = (line for path in files for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    return "\n".join(line for line in lines if "github.com/" in line or "#" in line)


def main() -> None:
    args = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    args.add_argument("--command", default=COMMAND, help=f"the tool, with its arguments (default: {COMMAND})")
    args.add_argument("--reports", type=Path, default=REPORTS, help="file of reports, one JSON object a line")
    args.add_argument(
        "--cited-in", type=Path, metavar="FOLDER", help="the tool's sources: reports that they name are counted apart"
    )
    args.add_argument("--json", type=Path, help="write the figures and every answer to this file")
    args.add_argument("--show", type=int, default=0, metavar="N", help="list N reports that were not answered rightly")
    args.add_argument("--jobs", type=int, default=2, help="texts at a time (default: 2)")
    asked = args.parse_args()
    command = shlex.split(asked.command)
    if not command:
        args.error("--command is empty: name a program")
    try:
        rows = measure(load(asked.reports), lambda text: ask(command, text), asked.jobs)
    except (BrokenReports, BrokenCommand) as error:
        args.error(str(error))
    cited = read_sources(asked.cited_in) if asked.cited_in else ""
    for row in [row for row in rows if row.verdict != "right"][: asked.show]:
        print(f"{row.verdict:6} {row.report.id} {row.answer.name:40} {row.report.text.splitlines()[-1][:80]}")
    print(table(rows, cited))
    for row in [row for row in rows if row.answer.broken]:
        print(f"broke  {row.report.id} {row.answer.broken}")
    if asked.json:
        asked.json.write_text(json.dumps(to_json(rows, cited), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

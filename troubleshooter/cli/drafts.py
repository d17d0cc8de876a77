"""``new`` and ``wrong``: a log becomes the start of an entry, or a false diagnosis a draft near miss."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from kb.compiled import Knowledge
from troubleshooter.observe.model import Failure
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Source, Unreadable, from_path, from_text
from troubleshooter.read.stream import raw_lines
from troubleshooter.read.text import decoded, fold, whole
from troubleshooter.redact import redact

CONTEXT = 40
"""Lines before the failure that a sample keeps."""
SAMPLE = 400

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_VOLATILE = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?|/[\w./-]{4,}|'[^']{1,80}'|\"[^\"]{1,80}\"")


def new(log: str, to: Path, area: str, id_: str | None) -> int:
    """Draft an entry folder from a log."""
    loaded = _load(log)
    if loaded is None:
        return 2
    tool, sources, raw = loaded
    observations = tool.observe(sources)
    culprit = next((f for f in reversed(observations.failures) if f.role == "initiating" and f.exception), None)
    culprit = culprit or (observations.failures[-1] if observations.failures else None)
    if culprit is None:
        print(
            f"troubleshoot new: {log}: no exception was read in it; expected a traceback or an error message",
            file=sys.stderr,
        )
        return 2
    name = id_ or _id(culprit)
    folder = to / area / name
    if folder.exists():
        print(f"troubleshoot new: {folder} exists already; choose another --id", file=sys.stderr)
        return 2
    (folder / "match").mkdir(parents=True)
    (folder / "no_match").mkdir()
    (folder / "entry.yaml").write_text(_entry(name, culprit), encoding="utf-8")
    (folder / "zh.yaml").write_text(_chinese(), encoding="utf-8")
    (folder / "match" / "report.log").write_text(_sample(raw, culprit), encoding="utf-8")
    _say_next(folder, tool.knowledge)
    return 0


def wrong(entry: str, log: str, to: Path) -> int:
    """Keep the log of a false diagnosis as a draft near miss of the entry."""
    loaded = _load(log)
    if loaded is None:
        return 2
    tool, sources, raw = loaded
    found = tool.knowledge.find(entry)
    if found is None:
        print(f"troubleshoot wrong: no entry {entry!r}; see: troubleshoot list", file=sys.stderr)
        return 2
    report = tool.report(sources, top=50)
    mine = next((d for d in report.diagnoses if d.id == entry), None)
    if mine is None:
        print(
            f"troubleshoot wrong: {log} does not give {entry}; it gives {[d.id for d in report.diagnoses]}",
            file=sys.stderr,
        )
        return 2
    folder = to / found[0]["area"] / entry / "no_match"
    folder.mkdir(parents=True, exist_ok=True)
    number = 1
    while (target := folder / f"draft-{number}.log").exists():
        number += 1
    lines = raw.splitlines()
    at = max((e.line for e in mine.evidence), default=len(lines))
    first = max(0, min((e.line for e in mine.evidence), default=1) - CONTEXT)
    target.write_text(redact("\n".join(lines[first : at + CONTEXT])) + "\n", encoding="utf-8")
    print(f"kept {target} (redacted; read it before you share it)")
    print(
        f"next: take out what is private, tell the two apart in entry.yaml, then: troubleshoot explain {entry} {target}"
    )
    return 0


def _load(log: str) -> tuple[Diagnoser, list[Source], str] | None:
    try:
        if log == "-":
            raw = whole(sys.stdin.buffer.read())
            sources = [from_text(raw, "standard input")]
        else:
            sources = from_path(Path(log))
            raw = "\n".join(decoded(part) for s in sources for _, part in raw_lines(s.chunks()))
        return Diagnoser.load(), sources, raw
    except (Unreadable, FileNotFoundError) as error:
        print(f"troubleshoot: {error}", file=sys.stderr)
        return None


def _id(culprit: Failure) -> str:
    words = _WORD.findall(_VOLATILE.sub(" ", fold(culprit.message)))
    kept = [
        w.lower()
        for w in words
        if w.lower() not in ("the", "a", "an", "to", "of", "is", "in", "for", "and", "be", "you", "your")
    ]
    return re.sub(r"-+", "-", "-".join(kept[:6]))[:60].strip("-") or culprit.type.lower() or "new-failure"


def _pattern(culprit: Failure) -> str:
    """The message's first line as a pattern: what varies from run to run left open."""
    first = fold(culprit.message.split("\n")[0])[:200]
    parts = _VOLATILE.split(first)
    longest = max(parts, key=len).strip() if parts else first
    return re.escape(longest).replace("\\ ", " ").replace("\\-", "-").replace("\\'", "'") or re.escape(culprit.type)


def _entry(name: str, culprit: Failure) -> str:
    frame = culprit.frames[-1].path if culprit.frames else ""
    part = re.sub(r"^.*?(?:site|dist)-packages/", "", frame)
    support = f"\n    support:\n      - frame: {part}" if part else ""
    pattern = _pattern(culprit).replace("\\", "\\\\").replace('"', '\\"')
    return f"""\
id: {name}
kind: failure
severity: crash            # crash, hang, wrong-results, degraded
retry: after-fix           # useless, after-fix, may-help
title: TODO say the failure with its cause in one line
symptoms:
  - require:
      - exception: {culprit.type or "RuntimeError"}
        message: "{pattern}"{support}
    source: {{run: "TODO what was run, or instead of it where the message is raised: package, file and versions that you read"}}
cause: |
  TODO the mechanism, two or three sentences.
fixes:                     # at most four, the likeliest first, ready to paste
  - do: TODO what to do
    risk: safe             # safe, changes-results, retrain
    code: |
      # TODO
sources:
  - {{url: "https://example.org/TODO-thread-or-release-note", shows: [cause, fix]}}
"""


def _chinese() -> str:
    return 'of: ""\ntitle: 待译\ncause: |\n  待译\nfixes:\n  - do: 待译\n'


def _sample(raw: str, culprit: Failure) -> str:
    lines = raw.splitlines()
    last = culprit.line.number + culprit.message.count("\n")
    first = max(0, culprit.start.number - 1 - CONTEXT)
    return redact("\n".join(lines[first : last + 3][-SAMPLE:])) + "\n"


def _say_next(folder: Path, knowledge: Knowledge) -> None:
    print(f"drafted {folder}")
    print("  entry.yaml   fill in the TODOs; the form is described in entries/README.md")
    print("  match/       the log around the failure, redacted: read it before you share it")
    print("  no_match/    add a log with the same words and another cause")
    print(f"then: troubleshoot check {folder}")

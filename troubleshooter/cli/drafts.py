"""``new`` drafts an entry from a log; ``wrong`` keeps the log of a false diagnosis as a draft near miss."""

from __future__ import annotations

import json
import re
import sys
from itertools import count
from pathlib import Path

from kb.clean import clean
from kb.compiled import Knowledge
from kb.likeness import nearest
from kb.samples import FILE, EntrySample, parse, write
from kb.text.catalog import Section, language, languages
from troubleshooter.masking import constant_parts
from troubleshooter.observe.model import Failure
from troubleshooter.observe.observations import Observations
from troubleshooter.paths import installed_file
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Source, Unreadable, from_path, from_text
from troubleshooter.read.stream import raw_lines
from troubleshooter.read.text import decoded, fold, whole
from troubleshooter.redact import Redactor, counted

_say = Section("drafts")
CONTEXT = 40
"""A sample keeps this many lines before the failure."""
SAMPLE = 400

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_NAME_CHARACTERS = 60

_SMALL = frozenset(["the", "a", "an", "to", "of", "is", "in", "for", "and", "be", "you", "your"])
_PLACEHOLDER = re.compile(r"<[a-z-]+\d*>|\b(?:user|host)\d*\b|user\d*@example\.org")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")


def new(log: str, to: Path, area: str, id_: str | None, redacted: bool = True) -> int:
    """Draft an entry's folder from a log. Only redacted text is written, unless ``redacted`` is false."""
    for option, given in (("--area", area), ("--id", id_)):
        if given is not None and not (NAME.fullmatch(given) and len(given) <= MAX_NAME_CHARACTERS):
            print(
                f"troubleshoot new: {option} {clean(given)!r}: expected a name of small letters, digits and hyphens, "
                f"such as out-of-memory, of at most {MAX_NAME_CHARACTERS} characters",
                file=sys.stderr,
            )
            return 2
    loaded = _load(log)
    if loaded is None:
        return 2
    tool, sources, raw = loaded
    culprit = _culprit(tool.observe(sources))
    if culprit is None:
        print(
            f"troubleshoot new: {log}: no exception was read in it; expected a traceback or an error message",
            file=sys.stderr,
        )
        return 2
    redactor = Redactor()
    sample = _sample(raw, culprit)
    if redacted:
        redactor.learn(raw)
        sample = redactor.redact(sample)
        culprit = _culprit(tool.observe([from_text(sample)])) or _without_names(culprit, redactor)
    name = id_ or _id(culprit)
    folder = to / area / name
    if folder.exists():
        print(f"troubleshoot new: {folder} exists already; choose another --id", file=sys.stderr)
        return 2
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(_entry(name, culprit), encoding="utf-8")
    for code in languages():
        if language(code).every_entry:
            (folder / f"{code}.yaml").write_text(_translation(code), encoding="utf-8")
    (folder / FILE).write_text(write([EntrySample("match", "report", sample)]), encoding="utf-8")
    _say_next(folder, culprit, tool.knowledge)
    _say_taken(redactor, redacted)
    return 0


def _culprit(observations: Observations) -> Failure | None:
    """The failure to describe: the last one with the role "initiating", else the last one."""
    found = [f for f in observations.failures if f.role == "initiating" and f.exception] or observations.failures
    return found[-1] if found else None


def _without_names(culprit: Failure, redactor: Redactor) -> Failure:
    """The failure with each of its texts redacted; used if redaction has hidden it from the sample."""
    exception, message = redactor.redact(culprit.exception), redactor.redact(culprit.message)
    return Failure(exception, message, [], culprit.line, culprit.start)


def wrong(entry: str, log: str, to: Path, redacted: bool = True) -> int:
    """Keep the log of a false diagnosis as a draft near miss of the entry."""
    loaded = _load(log)
    if loaded is None:
        return 2
    tool, sources, raw = loaded
    found = tool.knowledge.find(entry)
    if found is None:
        print(f"troubleshoot wrong: no entry {entry!r}; see: troubleshoot list", file=sys.stderr)
        return 2
    entry = str(found[0]["id"])
    report = tool.report(sources, top=50)
    mine = next((d for d in report.diagnoses if d.id == entry), None)
    if mine is None:
        answers = ", ".join(d.id for d in report.diagnoses)
        told = f"its answer is {answers}" if answers else "no entry explains it"
        print(f"troubleshoot wrong: {log} is not diagnosed as {entry}; {told}", file=sys.stderr)
        return 2
    target = to / found[0]["area"] / entry / FILE
    target.parent.mkdir(parents=True, exist_ok=True)
    samples = parse(target.read_text(encoding="utf-8")) if target.exists() else []
    taken = {sample.name for sample in samples}
    name = next(name for number in count(1) if (name := f"draft-{number}") not in taken)
    lines = raw.split("\n")
    at = max((e.line for e in mine.evidence), default=len(lines))
    first = max(0, min((e.line for e in mine.evidence), default=1) - CONTEXT)
    redactor = Redactor()
    kept = "\n".join(lines[first : at + CONTEXT])
    if redacted:
        redactor.learn(raw)
        kept = redactor.redact(kept)
    target.write_text(write([*samples, EntrySample("near-miss", name, f"{kept}\n")]), encoding="utf-8")
    print(f"kept {target}: near-miss {name}")
    _say_taken(redactor, redacted)
    print(f"next: take out what is private, tell the two apart in entry.yaml, then: troubleshoot explain {entry} {log}")
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
    said = _PLACEHOLDER.sub(" ", fold(culprit.message.split("\n")[0]))
    words = _WORD.findall(" ".join(constant_parts(said)))
    kept = [w.lower() for w in words if w.lower() not in _SMALL]
    name = re.sub(r"-+", "-", "-".join(kept[:6]))[:MAX_NAME_CHARACTERS].strip("-")
    return name or re.sub(r"[^a-z0-9]+", "-", culprit.type.lower()).strip("-") or "new-failure"


def _pattern(culprit: Failure) -> str:
    """The first line of the message as a pattern that matches any value where runs differ."""
    first = fold(culprit.message.split("\n")[0])[:200]
    parts = constant_parts(first)
    longest = max(parts, key=len).strip() if parts else first
    return re.escape(longest).replace("\\ ", " ").replace("\\-", "-").replace("\\'", "'") or re.escape(culprit.type)


def _entry(name: str, culprit: Failure) -> str:
    part = _installed(culprit)
    support = f"\n    support:\n      - frame: {json.dumps(part, ensure_ascii=False)}" if part else ""
    package = part.partition("/")[0] if part else "PACKAGE"
    return f"""\
id: {name}
kind: failure
severity: crash            # crash, hang, wrong-results, degraded
retry: after-fix           # useless, after-fix, may-help
title: TODO what failed and why, in at most 80 characters
symptoms:
  - require:
      - exception: {json.dumps(culprit.type or "RuntimeError", ensure_ascii=False)}
        message: {json.dumps(_pattern(culprit), ensure_ascii=False)}{support}
    # Where you read that it is raised: {{package: {package}, file: "...", versions: "..."}}, a thread: {{url: "https://..."}},
    # or what was run to see it:
    source: {{run: "TODO"}}
cause: |
  TODO the mechanism, two or three sentences.
fixes:                     # at most four, the likeliest first, ready to paste
  - do: TODO what to do
    risk: safe             # safe, changes-results, retrain, may-harm
    code: |
      # TODO
sources:
  - {{url: "https://example.org/TODO-thread-or-release-note", shows: [cause, fix]}}
"""


def _installed(culprit: Failure) -> str:
    """The innermost frame's file below ``site-packages``; "" for the user's own file, which other users do not have."""
    path = culprit.frames[-1].path.replace("\\", "/") if culprit.frames else ""
    found = installed_file(path)
    return found.file if found else ""


def _translation(code: str) -> str:
    """A translation file with placeholders for everything."""
    mark = _say("unwritten", code)
    return f'of: ""\ntitle: {mark}\ncause: |\n  {mark}\nfixes:\n  - do: {mark}\n'


def _sample(raw: str, culprit: Failure) -> str:
    """The lines around the failure."""
    lines = raw.split("\n")
    last = culprit.line.number + culprit.message.count("\n")
    first = max(0, culprit.start.number - 1 - CONTEXT)
    return "\n".join(lines[first : last + 3][-SAMPLE:]) + "\n"


def _say_next(folder: Path, culprit: Failure, knowledge: Knowledge) -> None:
    print(f"drafted {folder}")
    for near in nearest(knowledge, f"{culprit.type}: {culprit.message}"):
        print(f"  known?       {near['id']}: {near['title']}")
        print(f"               (if it is the same cause, add a symptom there: troubleshoot show {near['id']})")
    print("fill in, then check:")
    print("  entry.yaml   each TODO: title, source, cause, fixes, sources (the form: entries/README.md)")
    print(
        "  samples.log  holds the lines around the failure: read it, take out what others need not see; add a near miss"
    )
    print("               below '=== near-miss NAME: why', a log with the same words and another cause")
    print("               (a team's own entry may do without a near miss)")
    for code in languages():
        if language(code).every_entry:
            name = language(code).english_name
            print(
                f"  {code}.yaml      title, cause and fixes in {name} (a team's own entry may do without: delete the file)"
            )
    print(f"  troubleshoot check {folder}          then, once both texts fit: troubleshoot check --stamp {folder}")


def _say_taken(redactor: Redactor, redacted: bool) -> None:
    """Print how much was taken out, by kind. The values are never printed."""
    if not redacted:
        print("nothing was taken out (--no-redact): keys, names and addresses of the log are in these files")
        return
    taken = ", ".join(f"{count} {counted(kind, count)}" for kind, count in redactor.taken.items())
    print(f"taken out: {taken or 'nothing'}. Read the files before you share them: no list of secrets is complete.")

"""The samples of an entry: logs that it must answer (match) and logs that it must not (near miss), in one ``samples.log``.

    === match convert-outputs
    Traceback (most recent call last):
    …
    >>> AttributeError: 'HybridCache' object has no attribute 'float'
    === near-miss not-a-cache: the object is a model
    AttributeError: 'GemmaModel' object has no attribute 'float'

A header line begins each sample: its kind, its name, and after a colon why it is there. ``>>> `` marks the lines that must be
the evidence of the answer; ``troubleshoot check --mark`` writes these marks. A line of a log that itself begins with
``=== ``, ``>>> `` or a backslash has a backslash before it.

The line ``--- crash facts`` ends the log of a sample; below it stands what the hook recorded beside it, as one line of JSON. It is
there for conditions of the kind `value`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["match", "near-miss"]

FILE = "samples.log"
HEADER, MARK, ESCAPE, FACTS = "=== ", ">>> ", "\\", "--- crash facts"
_HEADER = re.compile(r"=== (?P<kind>match|near-miss) (?P<name>[\w.+-]+)(?:: (?P<why>.*\S))?\s*$")


class InvalidSamples(ValueError):
    """A ``samples.log`` cannot be read. ``line`` (1-based): the faulty line."""

    def __init__(self, line: int, message: str) -> None:
        self.line = line
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class EntrySample:
    """One log of an entry."""

    kind: Kind
    name: str
    text: str
    why: str = ""
    """Why the sample is there, in one line; "" if its name says enough."""
    evidence: tuple[int, ...] = ()
    """Lines of the text (1-based) that must be evidence of the answer."""
    line: int = 0
    """The line of ``samples.log`` that holds the header (1-based); 0 for a sample that comes from no file."""
    facts: str = ""
    """The crash facts beside the log, as JSON; "" if there are none."""

    def place(self, line: int) -> int:
        """The line of ``samples.log`` that holds a line of the text."""
        return self.line + line


def parse(text: str) -> list[EntrySample]:
    """The samples of a file's text, in its order. Raises `InvalidSamples`."""
    samples: list[EntrySample] = []
    current: EntrySample | None = None
    lines: list[str] = []
    evidence: list[int] = []
    facts: list[str] | None = None

    def end() -> None:
        if current is not None:
            whole = "".join(f"{line}\n" for line in lines)
            samples.append(replace(current, text=whole, evidence=tuple(evidence), facts="\n".join(facts or ())))
        lines.clear()
        evidence.clear()

    names: set[tuple[str, str]] = set()
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if line.startswith(HEADER):
            found = _HEADER.match(line)
            if found is None:
                kinds = " or ".join(repr(kind) for kind in get_args(Kind))
                raise InvalidSamples(
                    number, f"expected '=== KIND NAME: why' with the kind {kinds}; put \\ before a log's own line"
                )
            end()
            facts = None
            kind: Kind = "match" if found["kind"] == "match" else "near-miss"
            if (kind, found["name"]) in names:
                raise InvalidSamples(number, f"there are two samples named {kind} {found['name']}")
            names.add((kind, found["name"]))
            current = EntrySample(kind, found["name"], "", found["why"] or "", (), number)
            continue
        if current is None:
            if line.strip():
                raise InvalidSamples(number, "expected a header first: '=== match NAME'")
            continue
        if line == FACTS or facts is not None:
            facts = [] if facts is None else [*facts, line]
            continue
        if line.startswith(MARK):
            line = line[len(MARK) :]
            evidence.append(len(lines) + 1)
        lines.append(line[1:] if line.startswith(ESCAPE) else line)
    end()
    return samples


def below(folder: Path, kind: Kind | None = None) -> Iterator[tuple[str, EntrySample]]:
    """Every sample below a folder of entries, of one kind or all, each with its entry's id, in order. Raises `InvalidSamples`."""
    for path in sorted(folder.glob(f"*/*/{FILE}"), key=lambda path: path.parent.name):
        for sample in parse(path.read_text(encoding="utf-8")):
            if kind in (None, sample.kind):
                yield path.parent.name, sample


def write(samples: Iterable[EntrySample]) -> str:
    """The text of a ``samples.log`` with these samples; `parse` reads them back."""
    out = []
    for sample in samples:
        why = f": {sample.why}" if sample.why else ""
        out.append(f"{HEADER}{sample.kind} {sample.name}{why}\n")
        for number, line in enumerate(sample.text.removesuffix("\n").split("\n"), 1):
            escaped = f"{ESCAPE}{line}" if line.startswith((HEADER, MARK, ESCAPE, FACTS)) else line
            out.append(f"{MARK if number in sample.evidence else ''}{escaped}\n")
        if sample.facts:
            out.append(f"{FACTS}\n{sample.facts}\n")
    return "".join(out)


def convert(entry: Path) -> bool:
    """Move the logs of an entry's ``match/`` and ``no_match/`` folders, the form before 2026-11, into ``samples.log``."""
    found: list[EntrySample] = []
    folders: dict[str, Kind] = {"match": "match", "no_match": "near-miss"}
    for name, kind in folders.items():
        for path in sorted((entry / name).glob("*")):
            text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
            found.append(
                EntrySample(kind, re.sub(r"[^\w.+-]+", "-", path.stem), text if text.endswith("\n") else f"{text}\n")
            )
    if not found:
        return False
    (entry / FILE).write_text(write(found), encoding="utf-8")
    for name in folders:
        for path in (entry / name).glob("*"):
            path.unlink()
        with suppress(OSError):
            (entry / name).rmdir()
    return True


def main(arguments: list[str]) -> int:
    """``python -m kb.samples FOLDER…``: convert every entry below the folders."""
    entries = {path.parent for folder in arguments for path in Path(folder).rglob("entry.yaml")}
    print(f"{sum(map(convert, sorted(entries)))} of {len(entries)} entries converted")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Read the crash facts that `troubleshooter.hook` writes, check them, and join them with what the log shows.

A file of facts comes from elsewhere, like a log, so nothing in it is trusted: sizes are bounded, and what does not fit the form
raises `InvalidFacts` or is left out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from troubleshooter.hook import FORMAT, MAX_BYTES, MAX_EXCEPTIONS, MAX_FRAMES
from troubleshooter.observe.facts import PACKAGES, canonical
from troubleshooter.observe.model import Fact, Failure, Frame
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line
from troubleshooter.read.sources import Source

MAX_FILE_BYTES = 2 * MAX_BYTES
"""A file of facts that is larger was not written by the hook."""
MAX_TEXT, MAX_MESSAGE = 400, 8000
"""Longer names and lines, and longer messages of exceptions, are cut to this many characters."""
BASIS = "crash facts"
"""The `Fact.basis` of facts that come from such a file."""
PLATFORMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}
_VERSION = re.compile(r"\d{1,4}(?:\.\d{1,6}){0,4}[\w.+-]{0,60}$")
_JOINED = {"cause": "The above exception was the direct cause of the following exception:",
           "context": "During handling of the above exception, another exception occurred:"}  # fmt: skip


class InvalidFacts(ValueError):
    """A file of crash facts cannot be used. The message says in a few words what is wrong with it."""


class CrashFrame(NamedTuple):
    """A frame. ``values``: by variable, its facts as the hook wrote them (`values` describes them)."""

    file: str
    line: int
    function: str
    code: str
    values: Mapping[str, Any]


class CrashException(NamedTuple):
    """An exception of a chain; ``link`` says how it belongs to the one of number ``of`` (cause, context, group)."""

    type: str
    module: str
    message: str
    notes: list[str]
    link: str
    of: int
    frames: list[CrashFrame]

    @property
    def name(self) -> str:
        """The type as a traceback prints it."""
        return self.type if self.module in ("builtins", "__main__", "") else f"{self.module}.{self.type}"


class CrashFacts(NamedTuple):
    """What one process wrote when an exception ended it. ``name`` is that of the file; ``gpus`` are names and capabilities."""

    name: str
    rank: int | None
    how: str
    versions: dict[str, str]
    platform: str
    gpus: list[tuple[str, str]]
    exceptions: list[CrashException]

    @property
    def is_crash(self) -> bool:
        """Whether the exception was caught by nobody; that of a worker is passed on, and the program may handle it."""
        return self.how in ("uncaught", "thread", "process", "notebook")


def read_facts(source: Source) -> CrashFacts:
    """The facts of one file. Raises `InvalidFacts`, and `Unreadable` if the file cannot be read."""
    content = b""
    for chunk in source.chunks():
        content += chunk
        if len(content) > MAX_FILE_BYTES:
            raise InvalidFacts(f"more than {MAX_FILE_BYTES // 1024} KiB; the hook writes at most {MAX_BYTES // 1024}")
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidFacts("no JSON; expected a file that troubleshooter.hook wrote") from error
    if not isinstance(given, dict) or given.get("crash_facts") != FORMAT:
        raise InvalidFacts(f'expected an object with "crash_facts": {FORMAT}, as troubleshooter.hook writes it')
    rank = given.get("rank")
    versions = {canonical(name): text for name, text in _pairs(given.get("versions")) if _VERSION.match(text)}
    python = given.get("python")
    if isinstance(python, str) and _VERSION.match(python):
        versions["python"] = python
    torch = given.get("torch")
    cuda = torch.get("cuda") if isinstance(torch, dict) else None
    if isinstance(cuda, str) and _VERSION.match(cuda):
        versions["cuda"] = cuda
    return CrashFacts(
        name=os.path.basename(source.name),
        rank=rank if type(rank) is int and 0 <= rank < 10**6 else None,
        how=_text(given.get("how")),
        versions={name: text for name, text in versions.items() if name in _KNOWN},
        platform=PLATFORMS.get(_text(given.get("platform")), ""),
        gpus=list(_gpus(torch)),
        exceptions=[
            _exception(one) for one in _dicts(given.get("exceptions"))[:MAX_EXCEPTIONS] if isinstance(one.get("type"), str)
        ],
    )  # fmt: skip


def traceback_text(facts: CrashFacts) -> str:
    """The exceptions as Python prints them; "" if there are none."""
    return "".join(_printed(facts.exceptions, 0, frozenset())) if facts.exceptions else ""


def shows(failures: list[Failure], facts: CrashFacts) -> bool:
    """Whether the log shows the last exception of the facts, with its frames."""
    last = facts.exceptions[0] if facts.exceptions else None
    return last is None or any(failure.frames and _is_same(failure, last) for failure in failures)


def join(found: Observations, facts: CrashFacts) -> None:
    """Add the facts to what the log shows. A version that was imported replaces the printed version of the same package."""
    for name, version in facts.versions.items():
        line = Line(f"{name}=={version} (imported, {facts.name})", 0, BASIS)
        printed = [fact for fact in found.facts_of("version", name) if fact.basis != BASIS]
        if name == "cuda" and printed:
            continue  # the log may show the toolkit's or the driver's release instead
        found.facts = [fact for fact in found.facts if not any(fact is one for one in printed)]
        _add(found, Fact("version", name, version, line, BASIS))
    for name, capability in facts.gpus:
        line = Line(f"GPU {name}, compute capability {capability} ({facts.name})", 0, BASIS)
        _add(found, Fact("gpu", name, "", line, BASIS))
        _add(found, Fact("capability", "", capability, line, BASIS))
    if facts.platform:
        _add(found, Fact("platform", facts.platform, "", Line(f"{facts.platform} ({facts.name})", 0, BASIS), BASIS))
    for one in facts.exceptions:
        for failure in found.failures:
            if _is_same(failure, one):
                _attach(failure.frames, one.frames)


def _add(found: Observations, fact: Fact) -> None:
    if not any((one.kind, one.name, one.value) == (fact.kind, fact.name, fact.value) for one in found.facts):
        found.facts.insert(0, fact)


def _attach(frames: list[Frame], known: list[CrashFrame]) -> None:
    """Copy values from the frames of the facts to the same frames of a traceback. Values of an earlier rank are kept."""
    by_place = {_place(one.file, one.line, one.function): one for one in known}
    for frame in frames:
        same = by_place.get(_place(frame.path, frame.line, frame.function))
        if same is not None and not frame.values:
            frame.values = same.values


_CELL = re.compile(r"(?:Cell |Input )?In ?\[\d+\]|.*[/\\]ipykernel_\d+[/\\]\d+\.py$|<ipython-input-")


def _place(file: str, line: int, function: str) -> tuple[str, int, str]:
    """A frame's file name, line and function. A notebook names cells in its own way, and a method with its class."""
    if _CELL.match(file):
        return "", line, ""
    return os.path.basename(file.replace("\\", "/")), line, function.rpartition(".")[2]


def _is_same(failure: Failure, one: CrashException) -> bool:
    """True if a failure of the log is this exception. The facts lack secrets and the end of a long message."""
    if failure.type != one.type:
        return False
    wanted = " ".join(one.message.partition("<withheld>")[0][:200].split())
    return " ".join(failure.message[:1000].split()).startswith(wanted) if wanted else True


def _printed(several: list[CrashException], at: int, above: frozenset[int]) -> Iterator[str]:
    one = several[at]
    for number, other in enumerate(several):
        if other.of == at and other.link in _JOINED and number > at and number not in above:
            yield from _printed(several, number, above | {at})
            yield f"\n{_JOINED[other.link]}\n\n"
    if one.frames:
        yield "Traceback (most recent call last):\n"
    for frame in one.frames:
        yield f'  File "{frame.file}", line {frame.line}, in {frame.function}\n'
        if frame.code:
            yield f"    {frame.code}\n"
    yield f"{one.name}: {one.message}\n" if one.message else f"{one.name}\n"
    yield from (f"{note}\n" for note in one.notes)


_KNOWN = frozenset(canonical(name) for name in PACKAGES)


def _text(value: Any, most: int = MAX_TEXT) -> str:
    """One line of text, "" for anything else."""
    return " ".join(value[:most].split()) if isinstance(value, str) else ""


def _lines(value: Any) -> str:
    """A message, which may have several lines."""
    return value[:MAX_MESSAGE].replace("\r", "").strip("\n") if isinstance(value, str) else ""


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _pairs(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, dict):
        return []
    return [(_text(key), _text(text)) for key, text in list(value.items())[:200] if isinstance(text, str)]


def _gpus(torch: Any) -> Iterator[tuple[str, str]]:
    for one in _dicts(torch.get("gpus") if isinstance(torch, dict) else None)[:16]:
        name, capability = _text(one.get("name")), _text(one.get("capability"))
        if name and re.match(r"\d{1,2}\.\d{1,2}$", capability):
            yield name, capability


def _exception(given: dict[str, Any]) -> CrashException:
    of = given.get("of")
    return CrashException(
        type=_text(given["type"]).rpartition(".")[2],
        module=_text(given.get("module")),
        message=_lines(given.get("message")),
        notes=[_lines(note) for note in given.get("notes") or [] if isinstance(note, str)][:12]
        if isinstance(given.get("notes"), list)
        else [],
        link=_text(given.get("link")),
        of=of if type(of) is int else -1,
        frames=[_frame(one) for one in _dicts(given.get("frames"))[-MAX_FRAMES:]],
    )


def _frame(given: dict[str, Any]) -> CrashFrame:
    line, values = given.get("line"), given.get("locals")
    return CrashFrame(
        file=_text(given.get("file")) or "?",
        line=line if type(line) is int and line >= 0 else 0,
        function=_text(given.get("function")) or "?",
        code=_text(given.get("code")),
        values={_text(name): fact for name, fact in values.items() if isinstance(fact, dict)}
        if isinstance(values, dict)
        else {},
    )

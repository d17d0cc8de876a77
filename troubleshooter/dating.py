"""Which releases of each library could have printed what a log shows, from the index of messages.

A message that a library holds only from one release to another dates the log. `dates` takes what was printed and gives
an interval for each library that its messages tell apart; a printed version outside of it means two environments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from packaging.version import InvalidVersion, Version

from kb.index.message import IndexedMessage, IndexUnreadable
from kb.index.store import MessageIndex, shipped
from troubleshooter.observe.facts import canonical
from troubleshooter.observe.model import DatedPackage
from troubleshooter.observe.observations import Observations
from troubleshooter.paths import below_packages
from troubleshooter.read.line import Line

LEAST_QUALITY = 24
"""At least this many literal characters must agree: too many libraries and forks contain shorter texts."""
LEAST_SHARE = 0.5
"""If no exception or category is known, at least this share of a printed line must be the message's own text."""
MAX_LINES = 400
"""At most this many different lines of a log are looked up."""
MAX_FAILURES, MAX_KEPT_LINES = 4, 12
"""Of a diagnosed log, this many of the last failures and of the first kept lines are looked up (some ms each)."""
_WARNING = re.compile(
    r"(?:site|dist)-packages/(?P<file>[\w./\-]{1,200}\.py):\d{1,7}: (?P<category>\w{0,60}Warning): (?P<text>\S.{0,300})"
)
_PREFIX = re.compile(
    r"^(?:\[[^\]]{1,80}\]:?\s*|\d{4}-\d\d-\d\d[ T][\d:.,]+\s*|(?:WARNING|INFO|ERROR)[: ]\S*\s*|>>\s*)+"
)
_RAISED = re.compile(r"^(?P<exception>[A-Za-z_][\w.]{0,80}(?:Error|Exception)): (?P<text>\S.*)", re.DOTALL)
_BUILT_IN_CLASS = re.compile(r"(?:Error|Exception|Warning)\.__init__$")
"""The text is made by the class of the exception, which other releases do in another method or file (NumPy's AxisError since 1.22)."""
_SENTENCE = re.compile(r"(?<![A-Za-z])[A-Za-z]{2,40} [A-Za-z`'\"]{2,40}.{0,300} [A-Za-z]{2}")


class PrintedMessage(NamedTuple):
    """One message that was printed."""

    text: str
    exception: str | None = None
    """The exception's type or the warning's category, if it was printed."""
    file: str | None = None
    """The file that printed it, beginning with the package (``transformers/trainer.py``), if it is known."""
    function: str | None = None


class Dating(NamedTuple):
    """The releases of one library that could have printed all of its messages.

    The index does not hold every release: the true bounds lie between ``after`` and ``first``, and between ``last`` and
    ``before``.
    """

    package: str
    first: str
    """The oldest release in the index that could have printed them."""
    last: str
    """The newest release in the index that could have printed them."""
    after: str | None
    """The newest release before ``first`` that could not have printed them; None if the index has no older one."""
    before: str | None
    """The oldest release after ``last`` that could not have printed them; None if the index has no newer one."""
    because: tuple[str, ...]
    """The messages that narrowed the interval."""
    printed: str | None
    """The version that the log shows, if any."""

    @property
    def contradicted(self) -> bool:
        """True if the version that the log shows cannot have printed the messages."""
        version = _version(self.printed)
        if version is None:
            return False
        low, high = _version(self.after), _version(self.before)
        return (low is not None and version <= low) or (high is not None and version >= high)


def packages_by_messages(observations: Observations) -> dict[str, DatedPackage]:
    """The packages of a log that its exceptions and kept lines date, by canonical name; empty without an index."""
    try:
        index = shipped()
    except IndexUnreadable:
        return {}
    lines: dict[str, Line] = {}
    said: dict[PrintedMessage, None] = {}
    for failure in [one for one in observations.failures if one.exception and one.message][-MAX_FAILURES:]:
        frame = failure.frames[-1] if failure.frames else None
        below = below_packages(frame.path) if frame is not None else ""
        if below and frame is not None:
            said[PrintedMessage(failure.message, failure.exception, below, frame.function)] = None
            lines.setdefault(failure.message, failure.line)
    kept = {line.number: line for several in observations.hits.values() for line in several}
    looked_up = 0
    for _, line in sorted(kept.items()):
        for item in said_in([line.text]):
            if item.text not in lines and looked_up < MAX_KEPT_LINES:
                looked_up += 1
                said[item] = None
                lines[item.text] = line
    facts = observations.facts_of("version")
    shown = {index.package(fact.name) or fact.name: fact.value for fact in reversed(facts)}
    found = {}
    for one in dates(said, shown, index):
        known = list(index.releases(one.package))
        releases = tuple(known[known.index(one.first) : known.index(one.last) + 1])
        found[canonical(one.package)] = DatedPackage(
            one.package, releases, one.after, one.before, lines[one.because[-1]], one.printed, one.contradicted
        )
    return found


def said_in(lines: Iterable[str]) -> list[PrintedMessage]:
    """The lines of a log that may be a warning or message of a library, each once, at most `MAX_LINES`."""
    found: dict[PrintedMessage, None] = {}
    for line in lines:
        if match := _WARNING.search(line):
            found[PrintedMessage(match["text"].strip(), match["category"], match["file"])] = None
        elif 30 <= len(text := _PREFIX.sub("", line.strip())) <= 2_000 and _SENTENCE.search(text):
            raised = _RAISED.match(text)  # the type tells Python's own messages from a library's
            found[PrintedMessage(raised["text"], raised["exception"]) if raised else PrintedMessage(text)] = None
        if len(found) == MAX_LINES:
            break
    return list(found)


def dates(said: Iterable[PrintedMessage], printed: Mapping[str, str], index: MessageIndex) -> list[Dating]:
    """The libraries that the messages date, by name. ``printed``: versions that the log shows, by package.

    A library is left out if its messages fit every release in the index, or if no release fits all of them.
    """
    possible: dict[str, int] = {}
    because: dict[str, list[str]] = {}
    for item in said:
        for package, releases in _releases(item, index).items():
            before = possible.get(package, (1 << len(index.releases(package))) - 1)
            possible[package] = before & releases
            if possible[package] != before:
                because.setdefault(package, []).append(item.text)
    found = []
    for package, texts in sorted(because.items()):
        releases = possible[package]
        names = index.releases(package)
        if releases:
            first, last = (releases & -releases).bit_length() - 1, releases.bit_length() - 1
            after = names[first - 1] if first else None
            behind = names[last + 1] if last + 1 < len(names) else None
            found.append(Dating(package, names[first], names[last], after, behind, tuple(texts), printed.get(package)))
    return found


def _releases(item: PrintedMessage, index: MessageIndex) -> dict[str, int]:
    """The releases (as bits) of the one package that prints the message; empty if several may, or if the text is short."""
    owner = item.file.split("/")[0] if item.file else None
    fitting = [one for one in index.find(item.text, item.exception, owner, item.function) if one.kind != "compiled"]
    found = [one for one in fitting if _telling(one, item)]
    if not found or len({one.package for one in found}) > 1:
        return {}
    best = max(one.quality for one in found)
    package, bits = found[0].package, 0
    names = list(index.releases(package))
    # The log may hold the beginning of a longer message only: releases that print the longer one are possible too.
    for one in [*found, *(other for other in fitting if other.extent == "beginning" and other.package == package)]:
        # If a shorter text fits as well, an older release may have printed that one.
        if one.quality * 2 < best:
            continue
        for first, last in one.releases:
            begin, end = names.index(first), names.index(last)
            bits |= (1 << (end + 1)) - (1 << begin)
    return {package: bits}


def _telling(one: IndexedMessage, item: PrintedMessage) -> bool:
    if one.extent == "beginning" or one.quality < LEAST_QUALITY:
        return False
    if one.sites and all(_BUILT_IN_CLASS.search(site.function) for site in one.sites):
        return False
    if item.file and not any(site.file == item.file for site in one.sites) and one.sites:
        return len(one.sites) > 1 or one.sites[0].file.split("/")[0] == item.file.split("/")[0]
    return item.exception is not None or one.quality >= LEAST_SHARE * len("".join(item.text.split()))


def _version(text: str | None) -> Version | None:
    try:
        return Version(text) if text else None
    except InvalidVersion:
        return None

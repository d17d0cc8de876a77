"""Version ranges as entries state them: PEP 440 specifiers, compared the way people name releases.

A training environment rarely holds the plain release: ``2.13.0+cu128``, ``4.50.0.dev0`` and ``2.5.0a0+872d.nv24.08``
all mean "the code of that release, more or less", and an entry speaks of releases. So pre-releases, development builds
and local builds count as the release that they lead to. ``packaging`` is imported only for what the short path cannot
decide (docs/decisions/0003).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from kb import lazy

__all__ = ["Clause", "check", "contains", "dead", "parse", "release"]

Release = tuple[int, ...]
Clause = tuple[str, Release, int]
"""One comparison: operator, numbers, post-release number (-1 for none)."""

_OPERATORS: Final = ("===", "==", "!=", "~=", ">=", "<=", ">", "<")
_PLAIN: Final = lazy.compile(r"(===|==|!=|~=|>=|<=|>|<)\s*v?(\d+(?:\.\d+)*)(?:\.post(\d+))?(\.\*)?\Z")
_VERSION: Final = lazy.compile(
    r"""v?(?P<numbers>\d+(?:\.\d+)*)
        (?:[._-]?(?:a|b|c|rc|alpha|beta|pre|preview)[._-]?\d*)?   # counts as the release
        (?:[._-]?post[._-]?(?P<post>\d+)|-(?P<dash>\d+))?
        (?:[._-]?dev[._-]?\d*)?                                   # counts as the release
        (?:\+[a-z0-9._-]+)?\Z                                     # a local build too
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EXPECTED: Final = 'expected PEP 440 comparisons separated by commas, such as ">=4.50.0,<4.51.0" or "==4.50.*"'


@lru_cache(maxsize=4096)
def release(version: str) -> tuple[Release, int]:
    """The release that a version string counts as: its numbers and its post-release number (-1 for none)."""
    found = _VERSION.match(version.strip())
    if found is None:
        raise ValueError(f'not a version: "{version}"; expected one such as "4.50.3", "4.51.0.dev0" or "2.13.0+cu128"')
    post = found["post"] or found["dash"]
    return tuple(map(int, found["numbers"].split("."))), int(post) if post else -1


@lru_cache(maxsize=4096)
def parse(range_: str) -> tuple[Clause, ...]:
    """The comparisons of a range. Raises ValueError, which names the faulty part and what was expected.

    A wildcard is kept in its operator: ``==*`` and ``!=*``. The empty range holds every version.
    """
    clauses: list[Clause] = []
    parts = [part.strip() for part in range_.split(",")]
    if parts == [""]:
        return ()
    for part in parts:
        found = _PLAIN.match(part)
        if found is None:
            clauses.append(_unusual(part, range_))
            continue
        operator, numbers, post, wildcard = found.groups()
        if wildcard and operator not in ("==", "!="):
            raise ValueError(f'"{part}" in version range "{range_}": a ".*" goes with == and != only; {_EXPECTED}')
        release_ = tuple(map(int, numbers.split(".")))
        if operator == "~=" and len(release_) < 2:
            raise ValueError(f'"{part}" in version range "{range_}": ~= needs at least two numbers, such as "~=4.50"')
        clauses.append((operator + "*" if wildcard else operator, release_, int(post) if post else -1))
    return tuple(clauses)


def _unusual(part: str, range_: str) -> Clause:
    """A comparison with a pre-release or local version: valid for PEP 440, counted as its release here."""
    from packaging.specifiers import InvalidSpecifier, Specifier

    where = f'in version range "{range_}"'
    if not part:
        raise ValueError(f"an empty comparison (a comma too many?) {where}; {_EXPECTED}")
    if not part.startswith(_OPERATORS):
        guess = f', did you mean "=={part}"?' if _VERSION.match(part) else ""
        raise ValueError(f'"{part}" {where} starts with no comparison{guess}; {_EXPECTED}')
    try:
        specifier = Specifier(part)
        numbers, post = release(specifier.version)
    except (InvalidSpecifier, ValueError) as problem:
        raise ValueError(f'"{part}" {where} is no version comparison; {_EXPECTED}') from problem
    return specifier.operator, numbers, post


def check(range_: str) -> None:
    """Raise ``ValueError`` when a range cannot be read or when no version can satisfy it."""
    if dead(range_):
        raise ValueError(f'version range "{range_}" holds no version at all: its comparisons exclude each other')


def contains(range_: str, version: str) -> bool:
    """Whether the release that ``version`` counts as lies in ``range_``."""
    numbers, post = release(version)
    return all(_holds(clause, numbers, post) for clause in parse(range_))


def dead(range_: str) -> bool:
    """Whether nothing can satisfy the range.

    Every boundary cuts the line of versions into points and gaps; it is enough to try each boundary itself, one
    version just above each, and one below all of them.
    """
    clauses = parse(range_)
    candidates: list[tuple[Release, int]] = [((0,), -1), ((10**9,), -1)]
    for operator, numbers, post in clauses:
        candidates += [(numbers, post), ((*numbers, 0, 0, 0, 0, 1), -1), (numbers, max(post, 0) + 1)]
        if operator in ("==*", "!=*", "~="):
            stem = numbers[:-1] if operator == "~=" else numbers
            candidates.append(((*stem[:-1], stem[-1] + 1), -1))
    return not any(all(_holds(clause, numbers, post) for clause in clauses) for numbers, post in candidates)


def _holds(clause: Clause, numbers: Release, post: int) -> bool:
    operator, bound, bound_post = clause
    if operator in ("==*", "!=*"):
        return (_padded(numbers, len(bound))[: len(bound)] == bound) is (operator == "==*")
    if operator == "~=":
        stem = bound[:-1]
        return _key(numbers, post) >= _key(bound, bound_post) and _padded(numbers, len(stem))[: len(stem)] == stem
    if operator == ">" and bound_post < 0:
        return _strip(numbers) > _strip(bound)  # PEP 440: >1.7 excludes 1.7.post1
    one, other = _key(numbers, post), _key(bound, bound_post)
    if operator in ("==", "==="):
        return one == other
    if operator == "!=":
        return one != other
    if operator == ">=":
        return one >= other
    if operator == "<=":
        return one <= other
    return one < other if operator == "<" else one > other


def _strip(numbers: Release) -> Release:
    """Trailing zeros mean nothing: 4.51 is 4.51.0."""
    end = len(numbers)
    while end > 1 and numbers[end - 1] == 0:
        end -= 1
    return numbers[:end]


def _padded(numbers: Release, length: int) -> Release:
    return numbers + (0,) * (length - len(numbers))


def _key(numbers: Release, post: int) -> tuple[Release, int]:
    return _strip(numbers), post

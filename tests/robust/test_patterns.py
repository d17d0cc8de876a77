"""No regular expression of ours takes more than linear time, whatever text it meets.

No clock: that a pattern is superlinear follows from the pattern (`ambiguity`). A clock would have to be generous, would miss
the texts that nobody thought of, and would fail on busy machines. `benchmarks.fuzz` measures the whole way beside it.
"""

from __future__ import annotations

import pytest

from tests.robust.ambiguity import growth
from tests.robust.patterns_of import Found, patterns

WITHOUT = ("troubleshooter.probes", "troubleshooter.callbacks.", "troubleshooter.proof", "kb.tables", "kb.index.make", "kb.proof", "kb.wheel", "kb.pages", "kb.check", "kb.patterns")
"""Modules that read no log: probes, callbacks of trainers (which need a trainer), the makers of tables, of the index and of pages, and
the checks and proofs of entries."""
OF_ENTRIES = frozenset(
    ("troubleshooter.verify.subject._HOLE", "troubleshooter.verify.fixes._REQUIREMENT", "kb.placeholders.HOLE")
)
"""They read a pattern or a text of an entry, never a log."""
ANCHORED = frozenset(("troubleshooter.read.prefix._PREFIXES", "troubleshooter.report.curves._CHARTED"))
"""Collections of patterns that are used with ``match`` or ``fullmatch`` alone."""


@pytest.mark.parametrize(
    ("pattern", "searched"),
    [
        (r"a*b", True),
        (r"\s*\s*x", False),
        (r".*?a.*?b", False),
        (r"(\w+)*x", False),
        (r"(?:\s*)*x", False),
        (r"(?:a|b|ab)*c", False),
        (r"\[(?P<text>[^\]]{1,600})\]\(", True),
        (r"\(?[\w-]*\)?\s?[\w.-]+@[\w.-]+:.{0,80}[$#]", False),
        (r"(?P<name>[A-Za-z][\w/.@]*(?:[ -][a-z][\w/]*){0,2})\s?[:=]\s?\d", True),
        (r"x+(?=\s*\w*\s*=)y", False),
    ],
)
def test_superlinear_patterns_are_found(pattern: str, searched: bool) -> None:
    assert growth(pattern, searched=searched)


@pytest.mark.parametrize(
    ("pattern", "searched"),
    [
        (r"a*b", False),
        (r"\s+", True),
        (r"\bx*y", True),
        (r"(?<!\w)\w+=", True),
        (r"(?<=: )\w+=", True),
        (r"\w{0,80}=", True),
        (r"\s*(?:[|>]\s*)?(?:\d+\s*)?=", False),
        (r"(?:[A-Za-z]\w*\.)*[A-Z]\w*Error", False),
        (r"\s*[\t|]\s*|\s{2,}", True),
        (rb"(?:[\x00-\x7f]|[\xa1-\xf7][\xa1-\xfe])*", False),
    ],
)
def test_linear_patterns_are_not(pattern: str | bytes, searched: bool) -> None:
    assert not growth(pattern, searched=searched)


@pytest.mark.slow
def test_every_pattern_of_ours_is_linear() -> None:
    found = [
        pattern._replace(searched=pattern.searched and pattern.place not in ANCHORED)
        for pattern in patterns(("kb", "troubleshooter"), WITHOUT)
    ]
    places = {pattern.place for pattern in found}
    assert {"troubleshooter.observe.metric_layouts._PLAIN", "troubleshooter.observe.tracebacks.messages._OTHER_OUTPUT"} <= places
    assert places >= OF_ENTRIES | ANCHORED, "an exception that no pattern needs"
    of_entries = {pattern.pattern for pattern in found if pattern.place in OF_ENTRIES}
    asked = {pattern[1:]: pattern for pattern in found if pattern.pattern not in of_entries}  # each once
    bad = [f"{p.place}: {how}: {p.pattern!r:.200}" for p in asked.values() if (how := _growth(p))]
    assert not bad, "\n".join(bad)


def _growth(found: Found) -> str:
    return growth(found.pattern, found.flags, searched=found.searched)

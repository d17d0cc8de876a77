"""``samples.log``: what is written is read back, and what cannot be read says where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.samples import EntrySample, InvalidSamples, parse, write

LINES = st.text(st.sampled_from("=> \\ab.\t'é"), max_size=12)
NAMES = st.text(st.sampled_from("abc-._+9"), min_size=1, max_size=8)


@st.composite
def samples(draw: st.DrawFn) -> list[EntrySample]:
    keys = draw(st.lists(st.tuples(st.sampled_from(["match", "near-miss"]), NAMES), unique=True, max_size=4))
    out = []
    for kind, name in keys:
        lines = draw(st.lists(LINES, min_size=1, max_size=5))
        evidence = tuple(sorted(draw(st.sets(st.integers(1, len(lines))))))
        why = draw(st.sampled_from(["", "another cause", "a: b"]))
        out.append(EntrySample(kind, name, "".join(f"{line}\n" for line in lines), why, evidence))
    return out


@given(samples())
def test_what_is_written_is_read_back(given: list[EntrySample]) -> None:
    text = write(given)
    found = parse(text)
    assert [(s.kind, s.name, s.text, s.why, s.evidence) for s in found] == [(s.kind, s.name, s.text, s.why, s.evidence) for s in given]
    lines = text.split("\n")
    for sample in found:
        assert lines[sample.line - 1].startswith(f"=== {sample.kind} {sample.name}")
        for number in sample.evidence:
            assert lines[sample.place(number) - 1].startswith(">>> ")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("ValueError: x\n", 1, "expected a header"),
        ("=== match a\nx\n=== matches b\ny\n", 3, "expected '=== KIND NAME"),
        ("=== match a\nx\n=== match a\ny\n", 3, "two samples named match a"),
        ("=== match a b\n", 1, "expected '=== KIND NAME"),
    ],
)
def test_what_cannot_be_read_says_where(text: str, line: int, said: str) -> None:
    with pytest.raises(InvalidSamples, match=said) as raised:
        parse(text)
    assert raised.value.line == line


def test_crash_facts_stand_below_the_log() -> None:
    text = '=== match one\nKeyError: 1\n--- crash facts\n{"crash_facts": 1}\n=== match two\n\\--- crash facts of a log\n'
    one, two = parse(text)
    assert (one.text, one.facts) == ("KeyError: 1\n", '{"crash_facts": 1}')
    assert (two.text, two.facts) == ("--- crash facts of a log\n", "")
    assert write([one, two]) == text

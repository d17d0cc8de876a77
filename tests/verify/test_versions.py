"""Version ranges: releases as people name them, errors that say what was expected, ranges that hold nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from kb import versions


@pytest.mark.parametrize(
    ("range_", "version", "inside"),
    [
        (">=4.50.0,<4.51.0", "4.50.3", True),
        (">=4.50.0,<4.51.0", "4.50", True),
        (">=4.50.0,<4.51.0", "4.51.0", False),
        (">=4.50.0,<4.51.0", "4.50.0.dev0", True),
        (">=4.50.0,<4.51.0", "4.51.0.dev0", False),
        ("<2.6", "2.5.0a0+872d972e41.nv24.08", True),
        ("==2.13", "2.13.0+cu128", True),
        (">=2.6", "2.6.0rc1", True),
        ("==4.50.*", "4.50.7", True),
        ("!=4.50.*", "4.50.7", False),
        ("~=4.50.1", "4.50.9", True),
        ("~=4.50.1", "4.51.0", False),
        (">1.7", "1.7.post1", False),
        (">=1.7.post1", "1.7.post2", True),
        ("", "1.0", True),
        ("<=0.45.0", "v0.45.0", True),
    ],
)
def test_contains(range_: str, version: str, inside: bool) -> None:
    assert versions.contains(range_, version) is inside


NUMBERS = st.lists(st.integers(0, 6), min_size=1, max_size=3).map(lambda n: ".".join(map(str, n)))
CLAUSE = st.tuples(st.sampled_from([">=", "<=", ">", "<", "==", "!="]), NUMBERS).map("".join)


@given(st.lists(CLAUSE, min_size=1, max_size=3).map(",".join), NUMBERS)
def test_plain_releases_compare_as_packaging_does(range_: str, version: str) -> None:
    assert versions.contains(range_, version) is SpecifierSet(range_).contains(version)


@given(st.lists(CLAUSE, min_size=1, max_size=3).map(",".join))
def test_a_range_is_dead_exactly_when_nothing_satisfies_it(range_: str) -> None:
    grid = [
        f"{a}.{b}.{c}{tail}" for a in range(8) for b in range(8) for c in range(8) for tail in ("", ".0.0.1", ".post1")
    ]
    specifier = SpecifierSet(range_)
    assert versions.dead(range_) is not any(specifier.contains(version) for version in grid)


@pytest.mark.parametrize(
    ("range_", "told"),
    [
        ("4.51", 'did you mean "==4.51"?'),
        ("=>4.51", "starts with no comparison"),
        (">=4.51,,<5", "a comma too many?"),
        (">=4.51.*", "goes with == and != only"),
        ("~=4", "at least two numbers"),
        (">=main", "no version comparison"),
        (">=5,<4", "exclude each other"),
    ],
)
def test_errors_name_what_was_expected(range_: str, told: str) -> None:
    with pytest.raises(ValueError, match="version range") as caught:
        versions.check(range_)
    assert told in str(caught.value)


def test_plain_ranges_do_not_import_packaging() -> None:
    code = "import sys; from kb import versions; assert versions.contains('>=4.50,<4.51', '4.50.3+cu128')"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print('packaging' in sys.modules)"], capture_output=True, text=True
    )
    assert done.stdout.strip() == "False", done.stderr

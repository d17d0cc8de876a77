"""The README is run, not only read: its commands are those of CI, its picture and its figures are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import capture, make
from kb.cache import CHECKOUT
from troubleshooter.verify.subject import reach

ROOT = Path(__file__).parent.parent
READMES = ("README.md", "README.zh.md")
MOST_LINES = 120


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", READMES)
def test_a_readme_fits_on_two_screens(name: str) -> None:
    assert len(text(name).splitlines()) <= MOST_LINES


@pytest.mark.parametrize(("readme", "picture"), [("README.md", "answer.svg"), ("README.zh.md", "answer.zh.svg")])
def test_the_picture_shows_what_the_tool_prints(readme: str, picture: str) -> None:
    assert f"](docs/{picture})" in text(readme)
    kept = capture.lines_of(text(f"docs/{picture}"))
    assert len(kept) > 20
    assert kept == capture.lines_of(make.PAGES[picture]()), "run: python -m docs.make"


def test_the_picture_loads_nothing() -> None:
    for picture in ("answer.svg", "answer.zh.svg"):
        assert not re.search(r"url\((?!#)|href=|@import|@font-face", text(f"docs/{picture}"))


def test_ci_runs_the_readmes_own_test_command() -> None:
    """The second command of the README sets up a checkout and runs the tests; CI runs it word for word."""
    for name in READMES:
        _, command = re.findall(r"^ {4}(python3 -m venv .*)$", text(name), re.MULTILINE)
        assert command.endswith("pytest")
        assert command in text(".ci/run")


def test_both_readmes_have_the_same_blocks_tables_and_links() -> None:
    def shape(name: str) -> list[object]:
        lines = text(name).splitlines()
        commands = [line.partition("#")[0].strip() for line in lines if line.startswith("    ")]
        figures = [sorted(re.findall(r"[\d,-]*\d", line)) for line in lines if line.startswith("| ") and "%" in line]
        links = [
            link for link in re.findall(r"\]\(([^)]+)\)", text(name)) if "README" not in link and ".svg" not in link
        ]
        return [commands, figures, sorted(set(links))]

    assert shape("README.md") == shape("README.zh.md")


@pytest.mark.parametrize("name", READMES)
def test_every_command_is_in_the_readme(name: str) -> None:
    from troubleshooter.cli.commands import COMMANDS

    for command in COMMANDS:
        if command.name != "diagnose":
            assert re.search(rf"\b{command.name}\b", text(name)), command.name


def test_the_figures_of_the_knowledge_are_true() -> None:
    known = reach()
    readme = text("README.md")
    entries = len(list(CHECKOUT.glob("*/*/entry.yaml")))
    assert f"some {round(entries, -2):,} failures and harmless messages" in readme
    assert f"only {known.checkable / known.failures:.0%} of the failures".replace("%", " %") in readme
    assert f"{known.probes / known.failures:.0%} by a probe".replace("%", " %") in readme


def test_the_figures_of_the_answers_are_those_of_the_series() -> None:
    """benchmarks/FRESH.md contains each row of the README's table, as a sentence or a row."""
    fresh = " ".join(text("benchmarks/FRESH.md").split())
    assert "2,709 threads) 43 % were answered rightly, 14 % wrongly, 43 % not" in fresh
    assert "the neighbours of the ninth: 2,184) 70, 11 and 19 %" in fresh
    assert "| **thirteenth series** | 608 | 405 (67 %) | 56 (9 %) | 147 (24 %) |" in fresh
    assert "490 were of a kind that had an entry: 405 (83 %) right, 29 (6 %) wrong, 56 (11 %) silent" in fresh
    assert "| **seven newest series from trackers** | 499 | 345 (69 %, 65 to 73) | 42 (8 %, 6 to 11) | 112 (22 %, 19 to 26) |" in fresh
    assert "| **twenty-second series** | 73 | 30 (41 %, 31 to 53) | 16 (22 %, 14 to 33) | 27 (37 %, 27 to 48) |" in fresh
    rows = re.findall(r"^\| .*?(\d,?\d+) .*?(\d+) % \| (\d+) % \| (\d+) % \|", text("README.md"), re.MULTILINE)
    assert rows == [
        ("2,709", "43", "14", "43"),
        ("2,184", "70", "11", "19"),
        ("608", "67", "9", "24"),
        ("490", "83", "6", "11"),
        ("499", "69", "8", "22"),
        ("73", "41", "22", "37"),
    ]


def test_the_pythons_are_those_that_the_package_claims() -> None:
    claimed = re.findall(r"Python :: (3\.\d+)", text("pyproject.toml"))
    assert f"(tried on {claimed[0]} to {claimed[-1]})" in text("README.md")
    assert f"在 {claimed[0]} 到 {claimed[-1]} 上试过" in text("README.zh.md")

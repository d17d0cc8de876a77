"""The documentation is true: its links lead somewhere, its marked blocks run, its generated pages are up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs import make
from docs.pages_reference import FIELDS
from kb.conditions import FORMS
from tests.docs.blocks import ROOT, blocks, difference, follow, sessions
from troubleshooter.cli.commands import COMMANDS

PAGES = sorted(
    [
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("*.md"),
        ROOT / "entries" / "README.md",
        *(ROOT / "benchmarks").glob("*.md"),
    ]
)
TESTED = [page for page in PAGES if blocks(page)]
OURS = [page for page in PAGES if page.parent.name != "benchmarks" and page.name != "CHANGELOG.md"]
GENERATED = [name for name in make.PAGES if name.endswith(".md")]
_LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
_PATH = re.compile(r"`((?:kb|troubleshooter|tests|benchmarks|docs|tools|\.ci)/[\w.-]+(?:/[\w.-]+)*/?)`")
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def names(pages: list[Path]) -> list[str]:
    return [page.relative_to(ROOT).as_posix() for page in pages]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_every_relative_link_leads_to_a_file_and_heading(page: Path) -> None:
    for found in _LINK.finditer(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        target = found["target"]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), target


@pytest.mark.parametrize("page", OURS, ids=names(OURS))
def test_every_path_of_the_repository_that_is_named_exists(page: Path) -> None:
    """Files move; a page that sends people to one says so at once."""
    found = set(_PATH.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))))
    assert not [path for path in sorted(found) if not (ROOT / path).exists()]


def test_every_command_and_option_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        section = text.partition(f"## troubleshoot {command.name}\n")[2].partition("\n## ")[0]
        assert section, command.name
        for option in command.options:
            for flag in option.flags:
                assert flag in section, f"{command.name} {flag}"


@pytest.mark.parametrize("page", TESTED, ids=names(TESTED))
def test_marked_blocks_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    follow(page, tmp_path)


SESSIONS = [page for page in TESTED if any(block.argument == "python" for block in blocks(page))]


@pytest.mark.parametrize("page", SESSIONS, ids=names(SESSIONS))
def test_python_sessions_print_what_is_shown(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    results = sessions(page)
    assert results.attempted > 2
    assert not results.failed


SLOW = "ranges.md"
"""It asks the index for each claim of the entries. The stage `docs` makes it with the others (`python -m docs.make --check`)."""


@pytest.mark.parametrize("name", [name for name in GENERATED if name != SLOW])
def test_generated_pages_are_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == make.PAGES[name](), "run: python -m docs.make"


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        targets = [found["target"].partition("#")[0] for found in _LINK.finditer(page.read_text(encoding="utf-8"))]
        waiting += [
            (page.parent / target).resolve() for target in targets if target and not re.match(r"[a-z]+:", target)
        ]
    assert not names([page for page in (ROOT / "docs").rglob("*.md") if page.resolve() not in seen])


def test_every_task_that_is_named_is_in_the_makefile() -> None:
    tasks = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        task
        for page in OURS
        for task in re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {"setup", "test", "check", "docs", "release"} <= tasks
    assert named <= tasks


def test_the_makefile_sets_up_as_the_readme_does() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in ("python3 -m venv .venv", '.venv/bin/pip install -q -e ".[test]"'):
        assert command in makefile
        assert command in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_decision_has_a_date_and_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    for page in folder.glob("0*.md"):
        text = page.read_text(encoding="utf-8")
        title = re.match(r"# (\d{4})\. (.+)\n\n(\d{4}-\d\d-\d\d)", text)
        assert title is not None, page.name
        assert f"[{title[1]}]({page.name}) | {title[2]} | {title[3]} |" in listed, page.name
        for part in ("**Context.**", "**Decision.**", "**Measured"):
            assert part in text, page.name


def test_every_kind_of_condition_and_every_field_is_explained() -> None:
    assert all(all(form.MEANING) for form in FORMS)
    for model, meanings in FIELDS.items():
        assert set(meanings) == {field.alias or name for name, field in model.model_fields.items()}, model


def test_a_shown_line_that_is_not_printed_is_a_difference() -> None:
    assert difference(["a", "…", "c"], ["a", "b", "b", "c"]) is None
    assert difference(["a", "…"], ["a", "b"]) is None
    assert difference(["a", "c"], ["a", "b", "c"]) == "not printed here: 'c'"
    assert difference(["a"], ["a", "b"]) == "printed too: 'b'"
    assert difference(["ab…"], ["abc"]) is None

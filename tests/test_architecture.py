"""The floors of the code: which modules may import which, and which names must be unique.

Read from the sources, so that an import within a function counts, too. Imports for type checkers alone do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("kb", "troubleshooter")
    for path in sorted((ROOT / package).rglob("*.py"))
}
FLOORS = (
    ("kb",),
    ("troubleshooter.hook", "troubleshooter.masking", "troubleshooter.paths", "troubleshooter.streams"),
    ("troubleshooter.read",),
    ("troubleshooter.observe",),
    ("troubleshooter.match",),
    ("troubleshooter.rank", "troubleshooter.ranked", "troubleshooter.weigh", "troubleshooter.weights", "troubleshooter.notices", "troubleshooter.explain", "troubleshooter.unseen"),
    ("troubleshooter.report",),
    ("troubleshooter.pipeline",),
)
"""The lowest floor first. A module may import modules of its own floor and of the floors below it."""
EXPLAINING = ("message", "source", "python", "tensor", "place", "own", "explain")
"""The floors within `troubleshooter.explaining`, the lowest first. What its modules share (`origin`, `remedy`…) stands below them."""
CLOSED_FLOORS = 5
"""This many floors, from the lowest to `match`, import only modules that are on a floor (no probes, commands or pages)."""


SHOWN_LATE = {("troubleshooter.report.model", f"troubleshooter.report.{name}") for name in ("notebook", "terminal")}
"""A report shows itself (`print(report)`, in a notebook); what renders it is imported when it is asked to."""


def _for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _imports(node: ast.AST, names: frozenset[str]) -> Iterator[str]:
    """The modules among these names that a source imports, also within functions."""
    for child in ast.iter_child_nodes(node):
        if _for_type_checkers(child):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names if alias.name in names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                yield next((n for n in (f"{child.module}.{alias.name}", child.module) if n in names), "")
        else:
            yield from _imports(child, names)


def _graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """By module: the modules that it imports."""
    names = frozenset(sources)
    return {name: set(_imports(ast.parse(text), names)) - {"", name} for name, text in sources.items()}


def _floor(module: str) -> int | None:
    for number, names in enumerate(FLOORS):
        if any(module == name or module.startswith(f"{name}.") for name in names):
            return number
    return None


def _climbs(importer: str, imported: str) -> bool:
    """Whether an import goes up the floors."""
    own, other = _floor(importer), _floor(imported)
    if own is None:
        return False
    return own < CLOSED_FLOORS if other is None else other > own


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return _graph({name: path.read_text(encoding="utf-8") for name, path in MODULES.items()})


def test_no_import_goes_up_the_floors(graph: dict[str, set[str]]) -> None:
    assert not [f"{name} imports {other}" for name in graph for other in sorted(graph[name]) if _climbs(name, other)]


def test_no_imports_go_in_circles(graph: dict[str, set[str]]) -> None:
    assert all(other in graph[name] for name, other in SHOWN_LATE), "an exception that nothing needs"
    found = {name: {other for other in graph[name] if (name, other) not in SHOWN_LATE} for name in graph}
    TopologicalSorter(found).prepare()  # raises CycleError, which names the modules


def _explaining_floor(module: str) -> int:
    part = module.removeprefix("troubleshooter.explaining.").partition(".")[0]
    return EXPLAINING.index(part) if part in EXPLAINING else -1


def test_explaining_has_floors(graph: dict[str, set[str]]) -> None:
    inside = {name for name in MODULES if name.startswith("troubleshooter.explaining.")}
    told = [f"{name} imports {other}" for name in sorted(inside) for other in sorted(graph[name] & inside) if _explaining_floor(other) > _explaining_floor(name)]
    shared = {"troubleshooter.explaining.chained", "troubleshooter.explaining.presented"}  # they put explanations together
    assert not [one for one in told if one.split()[0] not in shared]
    assert {_explaining_floor(name) for name in inside} == set(range(-1, len(EXPLAINING)))


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("kb.load", "troubleshooter.pipeline"),
        ("troubleshooter.read.line", "troubleshooter.observe.model"),
        ("troubleshooter.observe.model", "troubleshooter.cli.app"),
        ("troubleshooter.rank", "troubleshooter.report.build"),
    ],
)
def test_an_import_up_the_floors_is_seen(importer: str, imported: str) -> None:
    package, _, name = imported.rpartition(".")
    found = _graph({importer: f"def late():\n    from {package} import {name}\n", imported: ""})
    assert found[importer] == {imported}
    assert _climbs(importer, imported)
    assert not _climbs(imported, importer)


def test_a_circle_is_seen() -> None:
    found = _graph({"kb.a": "import kb.b", "kb.b": "def late():\n    from kb import a"})
    with pytest.raises(CycleError):
        TopologicalSorter(found).prepare()


def test_every_floor_has_modules() -> None:
    assert {_floor(name) for name in MODULES} >= set(range(len(FLOORS)))


def _class_names(sources: dict[str, str]) -> dict[str, set[str]]:
    """By public name of a class: the modules that define one of that name at their top."""
    found: dict[str, set[str]] = {}
    for module, text in sources.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, set()).add(module)
    return found


def test_a_public_class_name_stands_for_one_thing() -> None:
    sources = {
        name: path.read_text(encoding="utf-8") for name, path in MODULES.items() if not name.startswith("troubleshooter.probes.")
    }
    shared = {name: sorted(modules) for name, modules in _class_names(sources).items() if len(modules) > 1}
    assert not shared


def test_a_class_name_that_two_modules_use_is_seen() -> None:
    found = _class_names({"kb.a": "class Line: ...", "kb.b": "class Line: ...\nclass _Own: ...\ndef f():\n    class Inner: ..."})
    assert found == {"Line": {"kb.a", "kb.b"}}

"""Manners of the tests themselves: public names only, and no clock by which a busy machine would fail them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
FILES = sorted(path for path in HERE.rglob("*.py") if "healthy" not in path.relative_to(HERE).parts)
OURS = ("kb", "troubleshooter", "benchmarks")
OTHERS = frozenset({"_obj", "_replace", "_asdict", "_fields", "_exit"})
"""Names that are public although they begin with an underscore: the object behind a pointer of ctypes, the methods and
fields of named tuples, and `os._exit`."""
CLOCKS = frozenset({"perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time", "process_time_ns", "sleep"})
MAY_WAIT = frozenset({"waiting.py", "test_completion.py", "hanging.py"})
"""They end hangs by a generous deadline, or are the program that hangs; they measure nothing."""


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("_")


def _private(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines and names of what belongs to other modules' or objects' insides."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own and node.attr not in OTHERS:
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            yield from ((node.lineno, name.name) for name in node.names if _is_private(name.name))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            for word in node.args[:2]:
                if isinstance(word, ast.Constant) and isinstance(word.value, str) and _is_private(word.value.rpartition(".")[2]):
                    yield node.lineno, word.value


def _clocks(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "time" and node.attr in CLOCKS:
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield from ((node.lineno, name.name) for name in node.names if name.name in CLOCKS)


def test_no_test_reaches_into_private_names() -> None:
    found = [f"{path.relative_to(HERE)}:{line}: {name}" for path in FILES for line, name in _private(ast.parse(path.read_text("utf-8")))]
    assert not found, "\n".join(found)


def test_no_test_reads_a_clock_or_sleeps() -> None:
    """Speed is measured by `benchmarks.budget`; what comes later is waited for with `tests.waiting`."""
    found = [
        f"{path.relative_to(HERE)}:{line}: time.{name}"
        for path in FILES if path.name not in MAY_WAIT
        for line, name in _clocks(ast.parse(path.read_text("utf-8")))
    ]  # fmt: skip
    assert not found, "\n".join(found)

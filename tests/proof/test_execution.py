"""Fixes are executed (``python -m troubleshooter.proof.execute``): how an answer is found, what is kept, and what fails without a reason."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from kb.load import Library, load
from troubleshooter.proof import execute as proof
from troubleshooter.proof.execute import Execution, PythonFix

BENCH = Path(proof.__file__).with_name("bench.py")
SCRIPT = """
import json, sys, types
sys.path.insert(0, sys.argv[1])
import bench
class Kit:
    used, made = [], {"model": object()}
    def fit_to(self, code): self.used = []
    def named(self, name):
        if name not in self.made: raise LookupError(name)
        self.used.append(name)
        return self.made[name]
    def filled_call(self, function, *args, _asked="", **given):
        return function(*args, **{"size": 3, **given})
    def fitted(self): return bool(self.used)
    def surface(self, thing): return isinstance(thing, types.ModuleType)
print(json.dumps([[told["outcome"], told["said"]] for told in (bench.run(code, given, Kit()) for code, given in json.load(sys.stdin))]))
"""


def told(*snippets: tuple[str, str]) -> list[tuple[str, str]]:
    """What the bench says to snippets with what is given to them; ``model`` is the only stand-in."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(BENCH.parent)], input=json.dumps(snippets), capture_output=True, text=True, check=True
    )
    return [(outcome, said) for outcome, said in json.loads(done.stdout)]


def test_a_fix_runs_or_says_why_not() -> None:
    answers = told(
        ("x = 1", ""),
        ("def f(a): return undefined(a)", ""),
        ("return 3", ""),
        ("print(words)", "words = 'a b'"),
        ("import json\njson.dumps_all({})", ""),
        ("import no_such_package_at_all", ""),
        ("print(mine)", ""),
        ("open('train.jsonl')", ""),
        ("model.rotate()", ""),
        ("raise RuntimeError('Found no NVIDIA driver')", ""),
        ("x = 1 / 0", ""),
        ("await thing()", "async def thing(): ..."),
    )
    assert answers == [
        ("ran", ""),
        ("defined", ""),
        ("defined", ""),
        ("ran", ""),
        ("failed", "line 2: AttributeError: module 'json' has no attribute 'dumps_all'"),
        ("not run", "needs another package: no_such_package_at_all"),
        ("not run", "the reader's own: mine"),
        ("not run", "the reader's own: the file train.jsonl"),
        ("not run", "the stand-ins do not fit: AttributeError: 'object' object has no attribute 'rotate'"),
        ("not run", "needs another device: RuntimeError: Found no NVIDIA driver"),
        ("failed", "line 1: ZeroDivisionError: division by zero"),
        ("ran", ""),
    ]


def test_what_an_excerpt_leaves_out_is_filled_in_and_the_device_is_the_processor() -> None:
    made = "def make(a, size): assert (a, size) == (1, 3)\n"
    device = "def to(name): assert name == 'cpu'\nclass Thing:\n    def cpu(self): pass\nthing = Thing()"
    answers = told(("make(1, ...)", made), ("make(1, size=...)", made), ("to('cuda:0'); thing.cuda()", device))
    assert [outcome for outcome, _ in answers] == ["ran", "ran", "ran"]


@pytest.mark.parametrize(
    ("code", "free"),
    [
        ("ds = ds.map(lambda r: tok(r))", {"ds", "tok"}),
        ("n += 1", {"n"}),
        ("import os\nwith open(p) as f:\n    rows = [g(x) for x in f]\nrows", {"p", "g"}),
        ("for a, b in pairs:\n    c = a\n    d = c + e", {"pairs", "e"}),
        ("try:\n    f()\nexcept OSError as error:\n    print(error)", {"f"}),
        ("def f(a):\n    b = a\n    return b + c\nf(1)", {"c"}),
        ("del model", {"model"}),
        ("ds.filter(lambda x: x)\nx + 1", {"ds", "x"}),
    ],
)
def test_names_that_a_text_reads_before_it_sets_them(code: str, free: set[str]) -> None:
    script = "import ast, json, sys; sys.path.insert(0, sys.argv[1]); import bench; print(json.dumps(sorted(bench.free_names(ast.parse(sys.stdin.read())))))"
    ast.parse(code)
    done = subprocess.run([sys.executable, "-c", script, str(BENCH.parent)], input=code, capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) == free


def fix(code: str = "f()", said: str = "", reason: str = "") -> PythonFix:
    return PythonFix("an-entry", 1, code, said, "", reason)


@pytest.mark.parametrize(
    ("answers", "said", "reason", "place"),
    [
        (("ran", "ran"), "", "", None),
        (("failed: line 1: TypeError: x", "failed: line 1: TypeError: x"), "transformers 4.40", "", "in every set"),
        (("failed: line 1: TypeError: x", "ran"), "", "", "in one set"),
        (("failed: line 1: TypeError: x", "ran"), "before transformers 5", "", None),
        (("failed: line 1: TypeError: x", "failed: line 1: TypeError: x"), "", "it is what shows the error", None),
        (("not run: needs another device: x", "ran"), "", "", None),
        (("failed: line 1: TypeError: x", ""), "", "", "in every set"),
        (("failed: line 1: TypeError: x", ""), "before transformers 5", "", None),
    ],
)
def test_a_failure_needs_a_reason(answers: tuple[str, ...], said: str, reason: str, place: str | None) -> None:
    one = fix(said=said, reason=reason)
    found = list(proof.problems([one], {("an-entry", 1): Execution(one.digest, answers)}))
    assert [place in problem for problem in found] == ([True] if place else [])


def test_only_what_has_changed_is_run_again(tmp_path: Path) -> None:
    one, changed = fix("f()"), fix("g()")
    known = proof.joined({}, "2026", {one: "ran"})
    assert proof.outdated([one], known, "2026") == []
    assert proof.outdated([one], known, "2025") == [one]
    assert proof.outdated([changed], known, "2026") == [changed]
    assert proof.joined(known, "2025", {changed: "defined"})["an-entry", 1].answers == ("", "defined")
    path = tmp_path / "executed.tsv"
    proof.write(known, path)
    assert proof.kept(path) == known
    assert proof.kept(tmp_path / "none.tsv") == {}


@pytest.fixture(scope="module")
def library() -> Library:
    return load(proof.ROOT / "entries")


def test_no_kept_failure_is_without_a_reason(library: Library) -> None:
    """Of the fixes as they are now; those that have changed since are run by the next `python -m troubleshooter.proof.execute`."""
    known = proof.kept()
    fixes = list(proof.python_fixes(library))
    here = {(one.entry, one.number) for one in fixes}
    assert not known.keys() - here, "answers to fixes that are gone: run python -m troubleshooter.proof.execute"
    changed = {(one.entry, one.number) for one in proof.outdated(fixes, known, "2026")}
    fresh = [one for one in fixes if (one.entry, one.number) not in changed]
    assert list(proof.problems(fresh, known)) == []


def test_what_is_given_names_fixes_that_are_there(library: Library) -> None:
    python = [(one.entry, one.number) for one in proof.python_fixes(library)]
    for pattern, numbers in proof.notes().items():
        for number, note in numbers.items():
            assert any(fnmatchcase(id_, pattern) and number in (0, here) for id_, here in python), (pattern, number)
            assert note.keys() <= {"given", "reason"}

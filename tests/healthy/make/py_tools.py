"""Python development tools on small projects: tests that fail on purpose and are expected to, linters, builds, notebooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from recorder import Run, project, record_all, version_of

BIN = Path(sys.executable).parent
XFAIL = """
import json, logging, math, os, warnings
import pytest
log = logging.getLogger(__name__)

def parse(text):
    return json.loads(text)

@pytest.mark.xfail(reason="upstream bug: nan is not sorted", strict=False)
def test_nan_sorted():
    assert sorted([2.0, float("nan"), 1.0]) == [1.0, 2.0, float("nan")]

@pytest.mark.xfail(raises=RuntimeError)
def test_cuda_out_of_memory_is_raised():
    raise RuntimeError("simulated allocator failure for the test of the retry code")

def test_error_is_logged(caplog):
    with pytest.raises(json.JSONDecodeError):
        parse("{broken")

@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_ValueError_for(bad):
    with pytest.raises((ValueError, OverflowError, ZeroDivisionError, AssertionError)):
        assert bad > 0 and math.isfinite(bad)

@pytest.mark.skipif(not os.environ.get("CUDA_HOME"), reason="CUDA not available, test of the fused kernel skipped")
def test_fused_kernel():
    pass

def test_deprecated():
    warnings.warn("old name, use new_name", DeprecationWarning)

def test_killed_worker_is_reported(capsys):
    print("worker 3 killed by signal 9 (SIGKILL)")
    assert "SIGKILL" in capsys.readouterr().out
"""
UNITTEST = '''
import unittest

class TrainerErrorTest(unittest.TestCase):
    def test_RuntimeError_message(self):
        """a RuntimeError about a CUDA assert is turned into a hint"""
        with self.assertRaises(RuntimeError):
            raise RuntimeError("CUDA assert")

    @unittest.expectedFailure
    def test_loss_is_nan(self):
        """loss nan must stop the run (expected failure until the callback exists)"""
        self.assertEqual(float("nan"), 0.0)

    @unittest.skip("needs a GPU: torch.cuda.is_available() is False")
    def test_out_of_memory_retry(self):
        pass

    def test_failed_rank_killed(self):
        """a failed rank is killed and reported"""
        self.assertTrue(True)

if __name__ == "__main__":
    unittest.main(verbosity=2)
'''
UGLY = """
import os, sys
import json
from typing import List
def train(lr=1e-3, losses: List[float] = []):
    try:
        loss = compute(lr)
    except:
        print("Error: loss is nan")
    if loss == None:
        raise NotImplemented
    for l in losses: print(f"loss")
    return undefined_name

class Trainer(object):
    def step(self) -> int:
        return "done"
    def run(self, n: int) -> None:
        self.step().foo()
        train(lr="high")
        eval("1+1"); os.system("ls " + sys.argv[1])
"""
PYPROJECT = (
    '[project]\nname = "demo"\nversion = "0.1"\ndependencies = []\n[build-system]\nrequires = ["setuptools"]\n'
    'build-backend = "setuptools.build_meta"\n'
)
TOX = (
    "[tox]\nenvlist = ok,broken\nskipsdist = true\n[testenv]\nskip_install = true\n"
    "[testenv:ok]\ncommands = python -c \"print('tests passed, 0 failed')\"\n"
    "[testenv:broken]\nignore_outcome = true\ncommands = python -c \"raise RuntimeError('experimental python: allowed to fail')\"\n"
)
HYPOTHESIS = """
from hypothesis import given, settings, strategies as st, Phase
import pytest

@given(st.floats())
def test_float_roundtrip(x):
    assert float(repr(x)) == x or x != x

@pytest.mark.xfail(reason="known: nan and inf break the mean")
@given(st.lists(st.floats(), min_size=1))
@settings(max_examples=60)
def test_mean_bounds(xs):
    assert min(xs) <= sum(xs) / len(xs) <= max(xs)
"""


def tool(name: str) -> str:
    """A console script of this environment."""
    return str(BIN / name)


def runs(folder: Path) -> list[Run]:
    """All runs, in a folder that holds the sample project."""
    py = sys.executable

    def run(program: str, what: str, command: list[str], status: tuple[int, ...] = (0,), **env: str) -> Run:
        shown = " ".join(Path(part).name if part.startswith(str(BIN)) else part for part in command)
        return Run(
            program,
            version_of(program),
            what,
            command,
            shown,
            status,
            cwd=folder,
            env=env,
            neutral={str(folder): "/home/user/project"},
        )

    return [
        run("pytest", "expected_failures", [tool("pytest"), "-v", "-rA", "test_xfail.py"]),
        run(
            "pytest",
            "live_log",
            [tool("pytest"), "-rxs", "-p", "no:cacheprovider", "--log-cli-level=INFO", "test_live.py"],
        ),
        run(
            "hypothesis",
            "float_properties",
            [tool("pytest"), "-v", "-rx", "--hypothesis-show-statistics", "test_hypo.py"],
        ),
        run("pytest", "unittest_style", [tool("pytest"), "-v", "-rxXs", "test_unit.py"]),
        run(
            "ruff", "check", [tool("ruff"), "check", "--no-cache", "--select", "ALL", "--ignore", "D", "ugly.py"], (1,)
        ),
        run("ruff", "format_diff", [tool("ruff"), "format", "--no-cache", "--diff", "ugly.py"], (1,)),
        run("mypy", "strict", [tool("mypy"), "--strict", "--no-incremental", "ugly.py"], (1,)),
        run("pylint", "messages", [tool("pylint"), "ugly.py"], (20, 22, 30, 31, 28, 6, 4, 18, 26)),
        run("flake8", "messages", [tool("flake8"), "--max-line-length", "100", "ugly.py", "test_xfail.py"], (1,)),
        run("bandit", "report", [tool("bandit"), "-q", "ugly.py"], (1,)),
        run("black", "verbose", [tool("black"), "-v", "--diff", "ugly.py"]),
        run(
            "coverage",
            "report",
            [
                "sh",
                "-c",
                f"{tool('coverage')} run -m pytest -q test_xfail.py test_unit.py && {tool('coverage')} report -m",
            ],
        ),
        run("tox", "allowed_failure", [tool("tox"), "run"]),
        run("pyright", "report", [tool("pyright"), "ugly.py"], (1,)),
        run(
            "meson",
            "configure",
            ["sh", "-c", f"{tool('meson')} setup build && {tool('ninja')} -C build && {tool('meson')} test -C build"],
            PATH=f"{BIN}:{os.environ['PATH']}",
        ),
        run("scons", "build", [tool("scons"), "--debug=explain"]),
        run("sphinx", "warnings", [py, "-m", "sphinx", "-b", "html", "doc", "doc_out"]),
        run("mkdocs", "build", [tool("mkdocs"), "build"]),
        run(
            "nbconvert",
            "executed_notebook",
            [
                py,
                "-m",
                "jupyter",
                "nbconvert",
                "--to",
                "notebook",
                "--execute",
                "--allow-errors",
                "--stdout",
                "book.ipynb",
            ],
            PATH=f"{BIN}:{os.environ['PATH']}",
        ),
        run(
            "nbconvert",
            "executed_script_view",
            [py, "-m", "jupyter", "nbconvert", "--to", "markdown", "--execute", "--stdout", "book.ipynb"],
            PATH=f"{BIN}:{os.environ['PATH']}",
        ),
        Run(
            "unittest",
            ".".join(map(str, sys.version_info[:3])),
            "error_in_names",
            [py, "-m", "unittest", "-v", "test_unit.py"],
            "python -m unittest -v test_unit.py",
            cwd=folder,
            neutral={str(folder): "/home/user/project"},
        ),
        Run(
            "doctest",
            ".".join(map(str, sys.version_info[:3])),
            "verbose",
            [py, "-m", "doctest", "-v", "doc_errors.py"],
            "python -m doctest -v doc_errors.py",
            cwd=folder,
            neutral={str(folder): "/home/user/project"},
        ),
    ]


def notebook() -> str:
    """A notebook whose cells warn, show a caught traceback and a table with missing values."""
    cells = [
        "import warnings, traceback\nimport pandas as pd, numpy as np\nwarnings.warn('CUDA is not available, using CPU')",
        "try:\n    int('nan')\nexcept ValueError:\n    traceback.print_exc()\nprint('recovered')",
        "t = pd.DataFrame({'loss': [2.1, 1.7, np.nan, 1.2], 'eval': [np.nan, 1.9, np.nan, 1.5]})\nt",
        "print(t.describe())\nnp.log(np.array([0.0, -1.0]))",
    ]
    made: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text, "id": f"c{i}"}
        for i, text in enumerate(cells)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


FILES = {
    "test_xfail.py": XFAIL,
    "test_unit.py": UNITTEST,
    "test_hypo.py": HYPOTHESIS,
    "ugly.py": UGLY,
    "pyproject.toml": PYPROJECT,
    "tox.ini": TOX,
    "test_live.py": "import logging\nimport pytest\nlog = logging.getLogger('trainer')\n\ndef test_retry_after_failure():\n"
    "    for attempt in range(3):\n        try:\n            [][attempt]\n        except IndexError:\n"
    "            log.exception('Error in attempt %d, retrying', attempt)\n    log.info('loss nan is filtered')\n\n"
    "@pytest.mark.xfail\ndef test_timeout():\n    raise TimeoutError('watchdog timeout simulated')\n",
    "doc_errors.py": '"""\n>>> int("nan")\nTraceback (most recent call last):\nValueError: invalid literal for int() with base 10: '
    "'nan'\n>>> float('inf') - float('inf')\nnan\n>>> {}['cuda']\nTraceback (most recent call last):\n"
    "    ...\nKeyError: 'cuda'\n"
    '"""\n',
    "meson.build": "project('demo', 'c')\ncc = meson.get_compiler('c')\ncc.has_header('cuda_runtime.h')\ncc.has_function('no_such_fn')\n"
    "cc.links('int main(void){return missing();}', name: 'linking with missing symbol')\n"
    "dependency('cublas', required: false)\ndependency('libfailed', required: false)\n"
    "e = executable('demo', 'main.c')\ntest('runs', e)\ntest('fails', e, args: ['x'], should_fail: true)\n",
    "main.c": '#include <stdio.h>\nint main(int n, char **v) { int unused; (void)v; if (n > 1) fprintf(stderr, "Error: x\\n"); return n > 1; }\n',
    "SConstruct": "env = Environment()\nconf = Configure(env)\nconf.CheckCHeader('cuda.h')\nconf.CheckFunc('no_such_function')\n"
    "conf.CheckLib('nvidia-ml')\nconf.CheckLib('m')\nenv = conf.Finish()\nenv.Program('demo2', 'main.c')\n",
    "doc/conf.py": "project = 'demo'\nextensions = ['sphinx.ext.autodoc', 'sphinx.ext.intersphinx']\n",
    "doc/index.rst": "Demo\n===\n\n.. automodule:: missing_module_cuda\n\nSee :doc:`nowhere` and :ref:`failed`.\n\nErrors\n-----\n\n"
    "``RuntimeError: CUDA out of memory`` is explained in :py:class:`NoSuchError`.\n\n.. unknown-directive:: x\n",
    "mkdocs.yml": "site_name: demo\nnav:\n  - Home: index.md\n  - Missing: missing.md\n",
    "docs/index.md": "# Errors\n\nSee [failed](failed.md) and [nan](nan.md#loss).\n\n    Traceback (most recent call last):\n",
    "docs/orphan.md": "# Not in the nav\n",
    "book.ipynb": notebook(),
}

if __name__ == "__main__":
    with project(FILES) as where:
        subprocess.run(["git", "init", "-q"], cwd=where, check=True)
        record_all(Path(sys.argv[1]), runs(where), sys.argv[2:])

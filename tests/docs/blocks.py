"""Blocks of a documentation page that are marked as tested: files to write, commands to run, and what they print.

A mark stands on the line before its fence: ``<!-- file: PATH -->`` writes the block to a file, ``<!-- run -->`` runs each line
that begins with ``$ `` and compares what follows it, ``<!-- run: checkout -->`` does so in the checkout, and
``<!-- run: python -->`` runs a session of the Python prompt there, as `doctest` does; the sessions of a page share their names.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
REST = "…"
_BLOCK = re.compile(
    r"^<!-- (?P<mark>file|run)(?:: (?P<argument>[^\n]+?))? -->\n```\w*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A marked block. ``mark`` is file or run, ``argument`` the rest of the mark."""

    mark: str
    argument: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The marked blocks of a page, in their order."""
    return [
        Block(found["mark"], found["argument"] or "", found["text"])
        for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def follow(page: Path, folder: Path) -> None:
    """Write the files and run the commands of a page in a folder. Raises AssertionError if a command prints something else."""
    for block in blocks(page):
        if block.mark == "file":
            target = folder / block.argument
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            continue
        if block.argument == "python":
            continue
        for command, expected in commands(block.text):
            printed = run(command, ROOT if block.argument == "checkout" else folder)
            problem = difference(expected, printed.splitlines())
            assert problem is None, f"{page.name}: $ {command}\n{problem}\nprinted:\n{printed}"


def sessions(page: Path) -> doctest.TestResults:
    """Run the Python sessions of a page in the working folder; differences are printed."""
    text = "\n".join(block.text for block in blocks(page) if block.argument == "python")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    return doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)


def commands(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it is shown to print."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line.rstrip())
    return found


def run(command: str, folder: Path) -> str:
    """What a shell command prints, errors included, without colours and 100 columns wide."""
    env = {
        **os.environ,
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "PATH": f"{_commands()}{os.pathsep}{os.environ['PATH']}",
    }
    for name in ("TROUBLESHOOT_LANG", "TROUBLESHOOT_ENTRIES", "FORCE_COLOR"):
        env.pop(name, None)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, env=env, text=True, encoding="utf-8", timeout=300,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.stdout


def _commands() -> Path:
    """The folder of the installed commands, `troubleshoot` and `python` among them."""
    return Path(sys.executable).parent


def difference(expected: list[str], printed: list[str]) -> str | None:
    """The first expected line that was not printed in its place, or None. A line ``…`` stands for any lines."""
    at, gap = 0, False
    for line in expected:
        if line == REST:
            gap = True
            continue
        places = range(at, len(printed)) if gap else range(at, min(at + 1, len(printed)))
        found = next((place for place in places if _same(line, printed[place].rstrip())), None)
        if found is None:
            return f"not printed here: {line!r}"
        at, gap = found + 1, False
    return None if gap or at >= len(printed) else f"printed too: {printed[at]!r}"


def _same(shown: str, printed: str) -> bool:
    return printed.startswith(shown[:-1]) if shown.endswith(REST) else shown == printed

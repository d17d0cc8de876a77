"""Writes the pages and pictures that a program can write: ``python -m docs.make`` (``--check``: only say what differs)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from docs import capture

HERE = Path(__file__).parent
LOG = "tests/logs/gemma3-eval.log"


def answer(lang: str) -> str:
    """The picture of the README: a real answer, with its first fix, without the others."""
    arguments = ["--lang", lang, LOG] if lang != "en" else [LOG]
    lines = capture.printed(*arguments)
    second_fix = next(at for at, line in enumerate(lines) if capture.plain(line).startswith("  2. "))
    return capture.svg("troubleshoot " + " ".join(arguments), [*lines[:second_fix], capture.CUT, *lines[-2:]])


PAGES: dict[str, Callable[[], str]] = {
    "answer.svg": lambda: answer("en"),
    "answer.zh.svg": lambda: answer("zh"),
}
"""What writes each generated file of this folder."""


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` name those that differ; 1 where one differs."""
    differs = 0
    for name, page in PAGES.items():
        text, file = page(), HERE / name
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        differs += 1
        if "--check" in arguments:
            print(f"docs/{name} differs from what it is made from; run: python -m docs.make")
        else:
            file.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")
    return 1 if differs and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

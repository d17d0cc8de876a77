"""Write the generated pages and pictures: ``python -m docs.make`` (``--check``: only say which ones are out of date)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from docs import capture
from docs.pages_cli import cli
from docs.pages_json import json_report
from docs.pages_metrics import metric_layouts
from docs.pages_platforms import platforms
from docs.pages_ranges import claimed_ranges
from docs.pages_reference import entry_reference

HERE = Path(__file__).parent
LOG = "tests/logs/gemma3-eval.log"


def answer(lang: str) -> str:
    """The picture of the README: a real answer with its first fix only."""
    arguments = ["--lang", lang, LOG] if lang != "en" else [LOG]
    lines = capture.printed(*arguments)
    second_fix = next(at for at, line in enumerate(lines) if capture.plain(line).startswith("  2. "))
    return capture.svg("troubleshoot " + " ".join(arguments), [*lines[:second_fix], capture.CUT, *lines[-2:]])


def performance() -> str:
    """The page on speed with the table of limits made anew from the budget."""
    limits = json.loads((HERE.parent / "benchmarks" / "budget.json").read_text(encoding="utf-8"))
    rows = ["| what | limit |", "| --- | --- |"]
    for name, limit in limits.items():
        rows += [f"| {name} | {kind.replace('_', ' ')} {value:g} |" for kind, value in limit.items()]
    text = (HERE / "performance.md").read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- limits -->\n")
    return before + "<!-- limits -->\n" + "\n".join(rows) + "\n<!-- end -->" + rest.partition("<!-- end -->")[2]


PAGES: dict[str, Callable[[], str]] = {
    "answer.svg": lambda: answer("en"),
    "answer.zh.svg": lambda: answer("zh"),
    "cli.md": cli,
    "entry-reference.md": entry_reference,
    "json-report.md": json_report,
    "metric-layouts.md": metric_layouts,
    "performance.md": performance,
    "platforms.md": platforms,
    "ranges.md": claimed_ranges,
}
"""For each generated file of this folder, the function that makes its text."""


def _same(kept: str, made: str) -> bool:
    """True if a file is up to date. For a picture only its text counts, because another release of rich may draw it differently."""
    if kept.startswith("<svg"):
        return capture.lines_of(kept) == capture.lines_of(made)
    return kept == made


def main(arguments: list[str]) -> int:
    """Write the files, or with ``--check`` name those that are out of date. Returns 1 if one was out of date under ``--check``."""
    differs = 0
    for name, page in PAGES.items():
        text, file = page(), HERE / name
        if file.is_file() and _same(file.read_text(encoding="utf-8"), text):
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

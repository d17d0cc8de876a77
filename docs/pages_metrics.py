"""``docs/metric-layouts.md``: the layouts in which metrics are read, from the examples that the tests read."""

from __future__ import annotations

from troubleshooter.observe.metric_layouts import LAYOUTS

_INTRODUCTION = """\
# Metric layouts

<!-- Made by `python -m docs.make` from `troubleshooter/observe/metric_layouts.py`. Do not edit. -->

Numbers of a training are read in these layouts. A test reads each example and compares the numbers.
A line is read in the first layout that finds a name with a value; names are written in lower case, and usual names are unified
(`lm loss` is `loss`, `lr` is `learning_rate`).

To see which numbers are read from your own log: `troubleshoot explain --reading LOG`. To add a layout of one line, add an item to
`LAYOUTS` in `troubleshooter/observe/metric_layouts.py` with its pattern and an example, and run
`.venv/bin/pytest tests/observe/test_metrics.py`; then `make docs`.
"""


def metric_layouts() -> str:
    """The page: a section for each layout, with its examples."""
    sections = [_INTRODUCTION]
    for layout in LAYOUTS:
        sections.append(f"## {layout.name[0].upper()}{layout.name[1:]}\n")
        for example in layout.examples:
            sections.append(f"{example.program}:\n\n```text\n{example.text}\n```\n\nis read as `{example.read}`.\n")
    return "\n".join(sections)

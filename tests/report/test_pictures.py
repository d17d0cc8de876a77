"""Curves, charts, sparklines and the HTML report: the moment is right, the file stands alone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from troubleshooter.observe.model import Point
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.line import Line
from troubleshooter.read.sources import from_text
from troubleshooter.report.charts import charts, timeline
from troubleshooter.report.curves import POINTS, moment, sample
from troubleshooter.report.html import html
from troubleshooter.report.model import Report
from troubleshooter.report.sparkline import bars, sparklines

NAN_RUN = "\n".join(
    [f"{{'loss': {2.5 * 0.97**i:.4f}, 'grad_norm': {1 + i % 5 / 10}, 'epoch': {i / 100}}}" for i in range(70)]
    + ["{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.9}"] * 12
)
RANKS = """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/train.py", line 8, in <module>
[rank1]: ValueError: a row of rank 1 is empty
[rank0]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.
[rank2]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 2.
"""


def report(tool: Diagnoser, text: str, lang: str = "en") -> Report:
    return tool.report([from_text(text)], lang=lang)


def points(values: list[float], step: int | None = None) -> list[Point]:
    return [Point(v, i, Line("", i + 1), None if step is None else float(step * i)) for i, v in enumerate(values)]


def test_a_long_series_keeps_its_extremes_and_its_first_nan() -> None:
    values = [1.0] * 5000
    values[1234], values[4321] = 99.0, float("nan")
    made = sample(points(values, step=10))
    assert len(made["values"]) <= POINTS
    assert 99.0 in made["values"]
    assert made["lines"][made["values"].index(None)] == 4322
    assert (made["steps"][0], made["steps"][-1]) == (0.0, 49990.0)
    assert made["lines"] == sorted(set(made["lines"]))


def test_short_series_are_whole() -> None:
    made = sample(points([3.0, 2.0, float("inf")]))
    assert made["values"] == [3.0, 2.0, None]
    assert made["records"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("reward", [1.0, None, 2.0], (1, "nan")),
        ("loss", [2.0, 1.0, 0.0, 0.0], (2, "zero")),
        ("loss", [2.0, 1.9, 1.8, 1.7, 1.6, 1.5, 90.0, 95.0, 99.0], (6, "jump")),
        ("loss", [2.0, 1.9, 1.8, 1.7, 1.6, 1.5, 90.0, 1.4, 1.3], (None, "")),
        ("loss", [2.0, 1.5, 1.2, 1.1], (None, "")),
        ("learning_rate", [1e-4, 5e-5, 0.0], (None, "")),
    ],
)
def test_the_moment_it_went_wrong(name: str, values: list[float | None], expected: tuple[int | None, str]) -> None:
    assert moment(name, values, list(range(1, len(values) + 1)), set()) == expected


def test_a_chart_marks_the_moment_and_says_it(tool: Diagnoser) -> None:
    drawn = {chart.name: chart for chart in charts(report(tool, NAN_RUN))}
    assert drawn["grad_norm"].line == drawn["loss"].line == 71
    assert "71" in drawn["grad_norm"].note
    for chart in drawn.values():
        root = ElementTree.fromstring(chart.svg)
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"]
        numbers = [float(n) for e in root.iter("path") for n in re.findall(r"-?[\d.]+", e.attrib["d"])]
        assert all(0 <= n <= 340 for n in numbers)
    assert 'class="wrong"' in drawn["grad_norm"].svg
    assert 'class="bad"' in drawn["grad_norm"].svg
    assert 'class="wrong"' not in charts(report(tool, NAN_RUN.split("{'loss': 0.0")[0]))[0].svg


@pytest.mark.parametrize("values", [[1e-300, 1e300], [-1e308, 1e308], [0.0, 0.0], [5e-324, 1.0], [1.0, 1e9, 1e-9]])
def test_extreme_numbers_are_drawn(tool: Diagnoser, values: list[float]) -> None:
    made = report(tool, "\n".join(f"{{'loss': {v}, 'epoch': {i}}}" for i, v in enumerate(values)))
    for chart in charts(made):
        assert "nan" not in chart.svg
        ElementTree.fromstring(chart.svg)


def test_ranks_in_the_order_of_their_failures(tool: Diagnoser) -> None:
    made = report(tool, RANKS)
    assert made.first_failure is not None
    assert [(o["rank"], o["line"]) for o in made.first_failure["order"]] == [(1, 3), (0, 4), (2, 5)]
    drawn = timeline(made)
    assert drawn is not None
    assert "rank 1 failed first (line 3); rank 0 followed (line 4); rank 2 followed (line 5)" in drawn.svg
    assert ElementTree.fromstring(drawn.svg) is not None
    assert timeline(report(tool, NAN_RUN)) is None


def test_sparklines_show_the_fall_and_the_nan(tool: Diagnoser) -> None:
    lines = sparklines(report(tool, NAN_RUN))
    loss, norm = (next(line for line in lines if line.startswith(name)) for name in ("loss", "grad_norm"))
    assert "█" in loss
    assert loss.index("█") < loss.index("▁")
    assert "2.5 → 0" in loss
    assert norm.rstrip().endswith("1 → nan  (not a number from line 71)")
    assert "×" in norm
    assert sparklines(report(tool, RANKS)) == []
    assert bars([None, None]) == "××"
    assert "第 71 行" in sparklines(report(tool, NAN_RUN, "zh"))[1]


class Alone(HTMLParser):
    """What a file loads, runs or sends."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("script", "iframe", "img", "object", "embed", "form", "base"):
            self.found.append(tag)
        if tag == "link" and not given["href"].startswith("data:"):
            self.found.append(given["href"])
        self.found += [name for name in given if name.startswith("on") or name in ("src", "style")]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("text", [NAN_RUN, RANKS, "all is well", "ZeroDivisionError: nobody knows this\n" * 3])
def test_the_html_report_stands_alone(tool: Diagnoser, text: str, lang: str) -> None:
    made = report(tool, text, lang)
    page = html(made)
    assert Alone(page).found == []
    assert "url(" not in page.split("</style>")[0].split("<style>")[1]
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert page.count("<svg") == len(charts(made)) + (timeline(made) is not None)
    for diagnosis in made.diagnoses:
        assert diagnosis.id in page


def test_the_html_report_shows_a_hostile_log_harmlessly(tool: Diagnoser) -> None:
    evil = "<script>alert(1)</script>\x1b[31m\u202e"
    text = (
        f"{{'loss': 1.0, 'reward/<b>{evil}': 2}}\n"
        f"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB {evil}\nKeyError: '{evil}'\n"
    )
    page = html(report(tool, text))
    assert "<script" not in page
    assert not re.search("[\x1b\u202e]", page)
    assert Alone(page).found == []

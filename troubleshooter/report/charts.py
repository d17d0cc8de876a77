"""Small SVG charts, drawn here: training curves with the moment they went wrong, and which rank failed first.

No script and no inline style: the classes are those of the pages' style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from kb.text.catalog import Section
from troubleshooter.report.curves import Curve, curves
from troubleshooter.report.fill import safe
from troubleshooter.report.model import Report
from troubleshooter.report.sparkline import why

WIDTH, HEIGHT = 340, 160
LEFT, RIGHT, TOP, BOTTOM = 60, 14, 12, 26
RANKS = 16
FEW = 8
"""A curve with fewer points is not drawn, because it shows nothing."""
_say = Section("charts")


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing with its caption. ``note`` says in words what is marked, for readers who cannot see the drawing."""

    name: str
    note: str
    svg: Markup
    line: int | None = None


def charts(report: Report) -> list[Chart]:
    """Charts of the metrics that the first diagnosis rests on, and of other metrics that went wrong.

    A crash gets no chart. If nothing is wrong, all metrics are drawn. Curves of fewer than `FEW` points are left out.
    """
    drawn = [curve for curve in curves(report) if len(curve.values) >= FEW]
    if report.diagnoses:
        shown = {name for name in report.metrics for e in report.diagnoses[0].evidence if e.why.startswith(f"{name} ")}
        drawn = [curve for curve in drawn if shown and (curve.name in shown or curve.wrong is not None)]
    elif report.unexplained is not None:
        drawn = []
    return [_chart(curve, report.lang) for curve in drawn]


def _chart(curve: Curve, lang: str) -> Chart:
    name = safe(curve.name, 60)
    axis = _say("step" if curve.by_step else "record", lang)
    note = why(curve, lang)
    label = _say("title", lang, name=name, axis=axis) + (f"; {note}" if note else "")
    good = [v for v in curve.values if v is not None]
    scale = _Scale.over(good)
    x0, x1 = curve.x[0], curve.x[-1]

    def across(value: float) -> float:
        return LEFT + (value - x0) / ((x1 - x0) or 1) * (WIDTH - LEFT - RIGHT)

    parts = [_tag("title", label)]
    for tick in scale.ticks():
        y = scale.y(tick)
        parts.append(_tag("line", None, x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, cls="grid"))
        parts.append(_tag("text", _short(tick), x=LEFT - 7, y=y + 4, text_anchor="end"))
    for value, anchor in ((x0, "start"), (x1, "end")):
        x = across(value)
        parts.append(_tag("text", f"{axis} {_short(value)}", x=x, y=HEIGHT - 7, text_anchor=anchor))
    parts += [_tag("rect", None, cls="bad", **box) for box in _gaps(curve, across)]
    parts += [_line(run, across, scale) for run in _runs(curve)]
    if curve.wrong is not None:
        x = across(curve.x[curve.wrong])
        parts.append(_tag("line", None, x1=x, x2=x, y1=TOP - 6, y2=HEIGHT - BOTTOM, cls="wrong"))
        there = curve.values[curve.wrong]
        y = scale.y(there) if there is not None else HEIGHT - BOTTOM
        parts.append(_tag("circle", None, cx=x, cy=y, r=4, cls="wrong-dot"))
    svg = _tag("svg", Markup("").join(parts), viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", aria_label=label)
    return Chart(name, note, svg, curve.lines[curve.wrong] if curve.wrong is not None else None)


def timeline(report: Report) -> Chart | None:
    """Which rank failed first and which followed, by line of the log; None if fewer than two ranks failed."""
    order = report.first_failure["order"] if report.first_failure is not None else []
    if len(order) < 2:
        return None
    shown = order[:RANKS]
    comparable = len({item["file"] for item in shown}) == 1
    low, high = min(i["line"] for i in shown), max(i["line"] for i in shown)
    row, left, right = 22, 58, 134
    height = TOP + row * len(shown) + BOTTOM
    parts: list[Markup] = []
    words = []
    for number, item in enumerate(shown):
        y = TOP + row * number + row / 2
        share = (item["line"] - low) / ((high - low) or 1) if comparable else number / (len(shown) - 1)
        x = left + share * (WIDTH - left - right)
        first = number == 0
        line = _say("line", report.lang, line=item["line"])
        told = _say("failed-first" if first else "followed", report.lang)
        parts.append(_tag("line", None, x1=left, x2=WIDTH - right, y1=y, y2=y, cls="grid"))
        parts.append(_tag("text", f"rank {item['rank']}", x=left - 12, y=y + 4, text_anchor="end", cls="ranktext"))
        parts.append(_tag("circle", None, cx=x, cy=y, r=6 if first else 5, cls="first" if first else "follow"))
        parts.append(_tag("text", f"{line}, {told}", x=WIDTH - right + 14, y=y + 4))
        words.append(f"rank {item['rank']} {told} ({line})")
    label = "; ".join(words)
    note = ""
    if len(order) > RANKS:
        note = _say("more-ranks", report.lang, count=len(order) - RANKS)
    svg = _tag(
        "svg", _tag("title", label) + Markup("").join(parts), viewBox=f"0 0 {WIDTH} {height - BOTTOM + 8}", role="img",
        aria_label=label,
    )  # fmt: skip
    return Chart("rank", note, svg, shown[0]["line"])


@dataclass(frozen=True, slots=True)
class _Scale:
    """The vertical axis: logarithmic where values span more than three powers of ten."""

    low: float
    high: float
    log: bool

    @classmethod
    def over(cls, values: Sequence[float]) -> _Scale:
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        if low > 0 and high / low > 1000:
            return cls(math.log10(low), math.log10(high), True)
        if low == high:
            pad = abs(low) * 0.1 or 0.5
            return cls(low - pad, high + pad, False)
        return cls(low, high, False)

    def y(self, value: float) -> float:
        at = math.log10(value) if self.log else value
        # Divide first: the difference of two numbers near the limits of a float would be infinite.
        share = (at / 2 - self.low / 2) / ((self.high / 2 - self.low / 2) or 1)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def ticks(self) -> list[float]:
        values = [self.low * (1 - i / 3) + self.high * (i / 3) for i in range(4)]
        return [10**v for v in values] if self.log else values


def _runs(curve: Curve) -> list[list[tuple[float, float]]]:
    """The stretches of finite numbers between NaN and infinite values."""
    runs: list[list[tuple[float, float]]] = [[]]
    for x, value in zip(curve.x, curve.values, strict=True):
        if value is None:
            runs.append([])
        else:
            runs[-1].append((x, value))
    return [run for run in runs if run]


def _line(run: list[tuple[float, float]], across: Any, scale: _Scale) -> Markup:
    if len(run) == 1:
        return _tag("circle", None, cx=across(run[0][0]), cy=scale.y(run[0][1]), r=2.5, cls="dot")
    path = "M" + "L".join(f"{across(x):.1f} {scale.y(y):.1f}" for x, y in run)
    return _tag("path", None, d=path, cls="curve")


def _gaps(curve: Curve, across: Any) -> list[dict[str, float]]:
    """Boxes over the stretches of NaN and infinite values."""
    boxes = []
    start: int | None = None
    for index, value in enumerate([*curve.values, 0.0]):
        if value is None and start is None:
            start = index
        elif value is not None and start is not None:
            left, right = across(curve.x[start]), across(curve.x[index - 1])
            boxes.append({"x": left, "y": TOP, "width": max(3.0, right - left), "height": HEIGHT - TOP - BOTTOM})
            start = None
    return boxes


def _short(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 10000 or not value.is_integer() else f"{value:.0f}"


def _tag(name: str, inside: str | None, **attributes: object) -> Markup:
    """An SVG element; text and attributes are escaped."""
    made = Markup()
    for key, value in attributes.items():
        key = {"cls": "class"}.get(key, key.replace("_", "-"))
        text = f"{value:.1f}" if isinstance(value, float) else value
        made += Markup(' {}="{}"').format(Markup(key), text)
    opened = Markup("<{}").format(Markup(name)) + made
    if inside is None:
        return opened + Markup("/>")
    return opened + Markup(">") + inside + Markup("</{}>").format(Markup(name))

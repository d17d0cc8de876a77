"""Small training curves for the terminal report: one line for each metric, with a mark where it went wrong."""

from __future__ import annotations

from kb.text.catalog import Section
from troubleshooter.report.curves import Curve, curves
from troubleshooter.report.model import Report

WIDTH = 24
LINES = 4
_BARS = "▁▂▃▄▅▆▇█"
_BAD = "×"
_say = Section("charts")


def sparklines(report: Report) -> list[str]:
    """At most `LINES` lines such as ``loss       ▇▅▃▂▁××××  2.31 → nan  (not a number from line 118)``."""
    found = [curve for curve in curves(report) if len(curve.values) >= 4][:LINES]
    width = max((len(curve.name) for curve in found), default=0)
    return [_line(curve, width, report) for curve in found]


def _line(curve: Curve, width: int, report: Report) -> str:
    series = report.metrics[curve.name]
    text = f"{curve.name:<{width}}  {bars(curve.values)}  {_number(series['first'])} → {_number(series['last'])}"
    if curve.why not in ("", "evidence"):
        text += f"  ({why(curve, report.lang)})"
    return text


def why(curve: Curve, lang: str) -> str:
    """What went wrong at the marked point, in words."""
    if curve.wrong is None:
        return ""
    return _say(curve.why, lang, line=curve.lines[curve.wrong])


def bars(values: list[float | None], width: int = WIDTH) -> str:
    """The values as at most ``width`` bars. A stretch with NaN or infinity is shown as ``×``."""
    count = min(width, len(values))
    stretches = [values[i * len(values) // count : (i + 1) * len(values) // count] for i in range(count)]
    means = [None if None in s else sum(v for v in s if v is not None) / len(s) for s in stretches]
    good = [m for m in means if m is not None]
    if not good:
        return _BAD * count
    low, high = min(good), max(good)
    span = (high - low) or 1.0
    return "".join(_BAD if m is None else _BARS[min(7, int((m - low) / span * 8))] for m in means)


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"

"""Reads metric records: the numbers that trainers print, in the layouts that `metric_layouts` lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from kb import lazy
from troubleshooter.observe.metric_layouts import (
    LAYOUTS,
    NUMBER,
    OBJECT_MEMBER,
    RUN_SUMMARY,
    STAGE_SUMMARY,
    TABLE_HEADER,
)  # fmt: skip
from troubleshooter.observe.model import Point, finite
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line
from troubleshooter.read.templates import MetricPositions
from troubleshooter.read.text import QUOTES

FIRST_POINTS, LAST_POINTS = 500, 4000
"""The first and the last points of a series are kept, this many. Between them only NaN, infinite values and zeros are
kept."""
MAX_POINTS = FIRST_POINTS + 2 * LAST_POINTS
"""A series that grows longer than this is shortened."""

_ABOUT = lazy.compile(
    r"loss|grad[_ ]?norm|reward|perplexity|learning[_ ]rate|logps|\bkl\b|\blr\b|\bppl\b", re.IGNORECASE
)
_KEYWORDS = (
    "loss", "grad_norm", "grad norm", "gradnorm", "grad-norm", "gnorm", "reward", "perplexity", "learning_rate", "learning rate",
    "logps", "'kl'", '"kl"', "kl:", "kl=", "kl :", "/kl", "'lr'", '"lr"', "lr:", "lr=", "lr ", "/lr", "ppl",
)  # fmt: skip
"""Every line with metrics contains one of these, except the lines of an object or a table that began above."""

# Numbers as NumPy and torch print them among others: np.float64(0.1), tensor(nan, device='cuda:0')
_BOXED = lazy.compile(
    rf"(?:np\.float\d{{2,3}}|(?:torch\.)?tensor)\(\[?(?P<value>{NUMBER})\]?(?:, ?\w{{1,20}}=(?:'[^']{{0,40}}'|<[^>]{{0,60}}>|[\w.]{{1,40}})){{0,4}}\)"
)
_TYPED = {**QUOTES, ord("："): ":", ord("，"): ","}
"""Quotes, colons and commas as word processors and Chinese keyboards type them, and their plain forms. Lines are
translated first, because `re` is slow to compile character classes that contain these (docs/decisions/0003)."""
# Code that begins a sum, in a paste beside the log:   total_loss = 0   running_loss, count = 0.0, 0   (but: loss = 0.0)
_BEGUN = lazy.compile(r"(?!loss = 0\.)\s*[A-Za-z_][\w.]*(?:\s?,\s?[A-Za-z_][\w.]*)* = 0(?:\.0*)?\s*(?:[,;#].*)?$")
_BETWEEN = lazy.compile(r"\s*[\t|]\s*|\s{2,}")
"""The text between two cells of a table."""
# Results of a training step. Its settings (learning_rate, max_grad_norm, aux_loss_coef, loss_scale) are in any configuration, too.
_OUTCOME = lazy.compile(
    r"(?:^|[/_.])(?:loss(?:es)?(?:_(?:step|epoch))?|ppl|perplexity|rewards?|kl|logps)$|(?:^|/)grad_norm$"
)
_DIGIT = lazy.compile("[0-9]")
_CELL = lazy.compile(rf"(?:{NUMBER}|No log)$")

_ALIASES = {
    "training_loss": "loss", "train/loss": "loss", "train_loss_step": "loss", "lm_loss": "loss", "loss_step": "loss",
    "validation_loss": "eval_loss", "val_loss": "eval_loss", "eval/loss": "eval_loss", "valid_loss": "eval_loss",
    "gradient_norm": "grad_norm", "grad-norm": "grad_norm", "gnorm": "grad_norm", "train/grad_norm": "grad_norm",
    "actor/grad_norm": "grad_norm", "global_grad_norm": "grad_norm", "lr": "learning_rate",
    "train/learning_rate": "learning_rate", "actor/lr": "learning_rate", "train/reward": "reward",
    "total_loss": "loss", "train/epoch": "epoch", "global_step": "step", "train/global_step": "step",
    "iteration": "step", "iter": "step", "steps": "step",
}  # fmt: skip


_ONE_LINE_LAYOUTS = tuple(layout for layout in LAYOUTS if layout.patterns)


class MetricReader:
    """Reads metrics line by line into ``observations.metrics``. It remembers whether a JSON object or a table is open."""

    keywords: ClassVar[tuple[str, ...]] = _KEYWORDS
    reads_metric_lines: ClassVar[bool] = True

    def __init__(self, observations: Observations) -> None:
        self.series = observations.metrics
        self.record = 0
        self.shows_work = False
        """True if the last values that were read begin a record of a running training: a loss, a reward. Settings do not, nor does
        code that sets a sum to zero."""
        self._shown = 0  # the last such record
        self._columns: list[str] | None = None
        self._inside = False
        self._summary = -1  # the record that a run's summary was read into

    @property
    def is_open(self) -> bool:
        """Whether an object or a table began above, so that the next line may belong to it without containing a
        keyword."""
        return self._inside or self._columns is not None

    def read(self, line: Line) -> bool:
        """Read the metrics of one line. Returns whether it held some."""
        text = line.text
        template = line.template
        if template is not None and template.metrics and template.metrics.values and not self.is_open:
            values, step = template.metrics
            self._record([(name, float(text[start:stop])) for name, start, stop in values], line, step)
            return True
        if self._columns is not None and self._row(line):
            return True
        if len(text) < 6 or not _ABOUT.search(text):
            # A JSON object that spans lines holds its step and epoch beside its loss.
            if self._inside and (found := OBJECT_MEMBER.match(text)):
                self._add(found["name"], found["value"], line)
                self._inside = text[-1] != "}"
                return True
            self._inside = self._inside and not text.strip().startswith(("}", "{"))
            return False
        if "oss" in text and ("Step" in text or "Epoch" in text) and (found := TABLE_HEADER.match(text)):
            columns = text[found.start("columns") :].strip(" |\t")
            self._columns = [_canonical(column) for column in _BETWEEN.split(columns)]
            return False
        if text.lstrip()[:1] in ("'", '"') and (found := OBJECT_MEMBER.match(text)):
            if not self._inside:
                self.record += 1
            self._inside = text[-1] != "}"
            self._add(found["name"], found["value"], line)
            return True
        if text.startswith("wandb:"):  # printed in any case when the program ends
            held = self._summed(RUN_SUMMARY.match(text), line)
            self.shows_work = False
            return held
        if " = " in text:
            if _BEGUN.match(text):
                return False
            if padded := STAGE_SUMMARY.match(text):
                return self._summed(padded, line)
        self._inside = False
        if not text.isascii():
            text = text.translate(_TYPED)
        boxed = "np.float" in text or "tensor(" in text
        if boxed:
            text = _BOXED.sub(lambda found: found["value"], text)
        pairs, patterns = _pairs(text)
        named = {_canonical(name): value for name, value in pairs}
        if not any(map(_is_metric, named)):
            return False
        step = list(named).index("step") if "step" in named else None
        self._record([(name, _float(value)) for name, value in named.items()], line, step)
        self._inside = (
            text[0] == "{" and text[-1] == "," and "}" not in text
        )  # a dict that `pprint` broke at its commas
        if (
            template is not None
            and template.metrics is None
            and template.literals is not None
            and not (self._inside or boxed)
        ):
            template.metrics = MetricPositions(_positions(patterns, text, named), step)
        return True

    def _record(self, named: list[tuple[str, float]], line: Line, step: int | None) -> None:
        """Add the values of a one-line record. ``step``: the index of the training step among them."""
        self.record += 1
        at = None if step is None else named[step][1]
        self._put(named, line, at if at is not None and finite(at) else None)

    def _summed(self, found: re.Match[str] | None, line: Line) -> bool:
        """Add a value of a summary of a run or of a stage. All lines of one summary are one record."""
        if found is None:
            return False
        if self._summary != self.record:
            self.record += 1
            self._summary = self.record
        self._add(found["name"], found["value"], line)
        return True

    def _row(self, line: Line) -> bool:
        """Read a row of a table: the step, then the columns."""
        assert self._columns is not None
        cells = [cell for cell in _BETWEEN.split(line.text.strip(" |")) if cell]
        if len(cells) != len(self._columns) + 1 or not all(_CELL.match(c) for c in cells):
            if line.text.strip(" |-:"):
                self._columns = None
            return False
        self.record += 1
        step = _float(cells[0]) if cells[0] != "No log" else float("nan")
        named = zip(self._columns, cells[1:], strict=True)
        values = [(name, _float(cell)) for name, cell in named if cell != "No log"]
        self._put(values, line, step if finite(step) else None)
        return True

    def _add(self, name: str, value: str, line: Line) -> None:
        self._put([(_canonical(name), _float(value))], line, None)

    def _put(self, named: Sequence[tuple[str, float]], line: Line, step: float | None) -> None:
        """Add the values of one record."""
        series, record = self.series, self.record
        ran, value = False, 0.0
        for name, value in named:
            points = series.get(name)
            if points is None:
                points = series[name] = []
            points.append(Point(value, record, line, step))
            ran = ran or _is_outcome(name)
            if len(points) > MAX_POINTS:
                middle = points[FIRST_POINTS:-LAST_POINTS]
                points[FIRST_POINTS:-LAST_POINTS] = [p for p in middle if not finite(p.value) or p.value == 0][
                    :FIRST_POINTS
                ]
        self.shows_work = ran and record != self._shown and not (len(named) == 1 and value == 0)
        if self.shows_work:
            self._shown = record


def _pairs(text: str) -> tuple[list[tuple[str, str]], tuple[re.Pattern[str], ...]]:
    """The names and values on a line, and the patterns that found them."""
    for layout in _ONE_LINE_LAYOUTS:
        if layout.needs in text and (pairs := [pair for pattern in layout.patterns for pair in pattern.findall(text)]):
            return pairs, layout.patterns
    return [], ()


@lru_cache(maxsize=4096)
def _is_metric(name: str) -> bool:
    return _ABOUT.search(name) is not None


@lru_cache(maxsize=4096)
def _is_outcome(name: str) -> bool:
    return _OUTCOME.search(name) is not None


@lru_cache(maxsize=4096)
def _canonical(name: str) -> str:
    name = name.strip().lower().replace(" ", "_")
    return _ALIASES.get(name, name)


def _float(value: str) -> float:
    try:
        return float(value)
    except ValueError:  # "nan.0"
        return float(value.removesuffix(".0"))


def _positions(patterns: tuple[re.Pattern[str], ...], text: str, named: dict[str, str]) -> list[tuple[str, int, int]]:
    """The positions of the values in all lines of the text's template. The list is empty if digits in a name, or
    ``nan.0``, could change them."""
    pairs = [pair for pattern in patterns for pair in pattern.finditer(text)]
    if len(pairs) != len(named) or any(_DIGIT.search(pair["name"]) or not _plain(pair["value"]) for pair in pairs):
        return []
    return [(_canonical(pair["name"]), pair.start("value"), pair.end("value")) for pair in pairs]


def _plain(value: str) -> bool:
    return value[-3:] not in ("n.0", "N.0", "f.0", "F.0", "y.0")

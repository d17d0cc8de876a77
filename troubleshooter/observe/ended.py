"""How a log ends: well, in the middle of the training, or in a way that shows neither.

A killed process prints nothing more, so its log shows only that the training had more to do. Two signs show that: records of a
Hugging Face ``Trainer`` without its summary (``train_runtime``), which it always prints at its end; and counters below their
total (``34/100``, ``Epoch 1/3``). Nothing is claimed of a log of other records that simply stops: its run may have ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import re2

from kb import lazy
from troubleshooter.observe.exits import status
from troubleshooter.observe.model import Ending, EndState
from troubleshooter.observe.success import reports_success
from troubleshooter.read.line import Line

TAIL_LINES = 60
"""The ending of a log is judged by its last lines with text, at most this many."""
LINES_AFTER_TRAINING = 12
"""At most this many lines (warnings, a saved checkpoint) follow the last sign of training. If there are more, the
program went on to something else."""


class _Counter(NamedTuple):
    """A counter of the training: where it stands and its total. ``drawn``: it is a bar, which is drawn at every step;
    other counters appear every few steps."""

    name: str
    at: int
    total: int
    drawn: bool


# A record of a Trainer:   {'loss': 1.2, 'grad_norm': 0.9, 'learning_rate': 2e-05, 'epoch': 0.1}
# RE2 runs this, because it is linear: Python's `re` would try each "loss" with each "learning_rate" of a hostile line.
_TRAINER = re2.compile(
    r"\{.*?['\"]loss['\"]: .*?['\"]learning_rate['\"]: ['\"]?(?P<rate>\d+(?:\.\d+)?(?:e[+-]?\d+)?).*?['\"]epoch['\"]: ['\"]?(?P<epoch>\d+(?:\.\d+)?)"
)
_BAR = lazy.compile(
    r"(?P<name>[^|%]{0,100}?)\d{1,3}(?:\.\d{1,9})?%\s?\|[^|]{0,300}\|\s*(?P<at>\d{1,12})/(?P<total>\d{1,12})\b"
)
_RICH_BAR = lazy.compile(
    r"(?P<name>[\w ]{0,40}?)\s{0,9}(?:\d{1,9}/\d{1,9}\s{0,9})?[━╸╺]{8,}\s{0,4}(?P<at>\d{1,12})/(?P<total>\d{1,12})\b"
)
_WORDED = lazy.compile(
    r"(?i)\b(?P<name>epoch|step|iter(?:ation)?|batch|update)s?\b[\s:=\[(#'\"]{0,12}(?P<at>\d{1,12})\s{0,3}(?:/|of)\s{0,8}(?P<total>\d{1,12})\b"
)
_KEYED = lazy.compile(
    r"['\"](?P<name>current_steps?|step|global_step)['\"]: ?(?P<at>\d{1,12})\b.{0,140}?['\"](?:total_steps?|max_steps)['\"]: ?(?P<total>\d{1,12})"
)
_OF_TOTAL = lazy.compile(r"(?i)\d\s{0,3}(?:/|of)")
"""In every line with a counter but those of `_KEYED`; few other lines hold it."""
_TRAINING = lazy.compile(r"(?i)epoch|train|step|iter")
_LOSS = lazy.compile(r"(?i)loss|reward|\bppl\b|perplexity")
# Lines below the last record of a training that goes on: warnings, messages of libraries, evaluation, checkpoints.
_ASIDE = lazy.compile(
    r"(?i)\S*\.py:\d+: |\s+\S|\w*warning\b|\[?(?:debug|info|warn|[wi]\d{4})\b|\[\w+\|\w+\.py|\{['\"]eval_|.{0,40}\bsav(?:ed|ing)\b"
    r"|.{0,80}checkpoint-\d|\*{3,} |num examples|batch size|[\d,]+ examples"
)
# Words that programs print at their end, or when they begin something else.
_END = lazy.compile(
    r"(?i)\b(?:saved|done|finish(?:ed|ing)?|complet(?:ed?|ion)|stopp(?:ed|ing)|early stop|total (?:time|runtime)|elapsed|took|wall|"
    r"summary|upload(?:ed|ing)|push(?:ed|ing) to|exit(?:ed|ing)|success(?:ful|fully)?|best|final|bye|results?|converged|"
    r"interrupted|ok)\b|^wandb:|\^C|100%\||完成|结束|已保存|停止"
)


def ending_of_run(endings: Iterable[Ending]) -> Ending:
    """How a run of several logs ends. Logs that show a training come first, and among them those that ended well."""
    found = sorted(endings, key=lambda e: (not e.trained, _STATES_BY_WEIGHT.index(e.state)))
    return found[0] if found else Ending()


_STATES_BY_WEIGHT: tuple[EndState, ...] = ("ended", "failed", "in-training", "written", "unknown")


def ending_of_log(tail: Sequence[Line], trains: bool) -> Ending:
    """How a log ends, judged by its last lines with text (the earliest first).

    ``trains``: whether the log shows a training anywhere: losses, or that one is announced.
    """
    works = [n for n, line in enumerate(tail) if _is_work(line.text, trains)]
    if not works:
        said = next(
            (
                line
                for line in reversed(tail[-LINES_AFTER_TRAINING:])
                if reports_success(line.text) or _END.search(line.text)
            ),
            None,
        )
        return Ending("ended", said) if said else Ending()
    last, below = tail[works[-1]], tail[works[-1] + 1 :]
    if (failed := next((line for line in below if status(line.text)), None)) is not None:
        return Ending("failed", failed, True)
    records = [n for n in works if _TRAINER.search(tail[n].text)]
    summary = (line for line in tail[(records or works)[-1] + 1 :] if reports_success(line.text))
    if (said := next(summary, None)) is not None:
        return Ending("ended", said, True)
    other = next((line for line in below if not _ASIDE.match(line.text)), None)
    if other is not None or len(below) > LINES_AFTER_TRAINING:
        return Ending("ended" if other is not None and _END.search(other.text) else "unknown", other, True)
    shown = [tail[n] for n in works]
    if records:
        return Ending("unknown" if _was_last(tail[records[-1]].text, shown) else "in-training", last, True)
    if any(_END.search(line.text) for line in below):
        return Ending("ended", below[-1], True)
    return _by_counters(shown)


def _is_work(text: str, trains: bool) -> bool:
    """Whether a line shows the training at work: a record of a Trainer, or a counter of its steps."""
    if "learning_rate" in text and _TRAINER.search(text):
        return True
    return any(trains or _TRAINING.search(c.name) or _LOSS.search(text) for c in _counters(text))


def _was_last(record: str, shown: list[Line]) -> bool:
    """Whether a Trainer's record may be its last: its learning rate is 0, an epoch is complete, or the bar is full."""
    found = _TRAINER.search(record)
    assert found is not None
    bars = [counter for line in shown for counter in _counters(line.text) if counter.drawn]
    if bars and bars[-1].at < bars[-1].total:
        return False
    whole = float(found["epoch"]) >= 1 and float(found["epoch"]).is_integer()
    return bool(bars) or whole or float(found["rate"]) == 0


def _by_counters(shown: list[Line]) -> Ending:
    """The ending that the last line with counters shows: whether each of them reached its total."""
    last = shown[-1]
    before = [counter for line in shown[:-1] for counter in _counters(line.text)]
    left = False
    for counter in _counters(last.text):
        same = [c.at for c in before if c.name == counter.name and c.total == counter.total and c.at < counter.at]
        stride = 0 if counter.drawn else counter.at - (same[-1] if same else 0)
        if counter.at + stride < counter.total:
            left = True
    return Ending("in-training" if left else "ended", last, True)


def _counters(text: str) -> Iterator[_Counter]:
    """The counters of training in a line. Bars of other work (loading, tokenizing) are none."""
    of_total = _OF_TOTAL.search(text) is not None
    if not of_total and "_step" not in text:
        return
    for pattern in (_BAR, _RICH_BAR) if of_total else ():
        if found := pattern.match(text):
            name = found["name"].strip(" \t:").lower()
            if (not name or _TRAINING.search(name)) and int(found["total"]) > 1:
                yield _Counter(name, int(found["at"]), int(found["total"]), True)
                return
    for found in (*_KEYED.finditer(text), *(_WORDED.finditer(text) if of_total else ())):
        if int(found["total"]) > 1 and int(found["at"]) <= int(found["total"]):
            yield _Counter(found["name"].lower(), int(found["at"]), int(found["total"]), False)

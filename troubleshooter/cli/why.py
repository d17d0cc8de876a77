"""Why an entry is the answer: what it asks for, and which line of the log shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.phrases import Phrases, phrase
from troubleshooter.explain import Explained, explain
from troubleshooter.match.outcome import Outcome
from troubleshooter.observe.model import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.fill import safe
from troubleshooter.report.words import say

_MARKS = {"held": "✓", "contradicted": "✗", "unseen": "·"}
_WORDS: Phrases = {
    "require": ("It needs", "必须满足"),
    "support": ("These would make it surer", "若出现则更确定"),
    "exclude": ("It would not be this entry with", "出现以下内容则不是此条目"),
    "held": ("seen", "已见"),
    "contradicted": ("the log says otherwise", "日志与之矛盾"),
    "unseen": ("not seen", "未见"),
}

_KINDS = {
    "message": "消息", "line": "行", "frame": "调用帧", "version": "版本", "metric": "指标", "flag": "参数", "package": "包",
    "phase": "阶段", "exit": "退出码", "platform": "平台", "capability": "计算能力", "any of": "任一", "all of": "全部", "not": "没有",
}  # fmt: skip
_KIND = re.compile(rf"(?:^|(?<=[:;] ))(?:{'|'.join(_KINDS)})\b")
"""What a condition asks for, as its description begins."""


def why(diagnoser: Diagnoser, id_: str, observations: Observations, lang: str) -> list[str]:
    """Lines that say which conditions of an entry hold on a log; of its symptoms those that hold, or else the nearest."""
    found = diagnoser.knowledge.find(id_)
    if found is None:
        return []
    tried = explain(*found, observations, diagnoser.knowledge)
    shown = [one for one in tried if one.holds] or sorted(tried, key=lambda one: len(one.failing))[:1]
    return [line for one in shown for line in _symptom(one, lang)]


def _symptom(one: Explained, lang: str) -> Iterator[str]:
    parts = (("require", one.trial.require), ("support", one.trial.support), ("exclude", one.trial.exclude))
    for key, outcomes in parts:
        if outcomes:
            yield phrase(_WORDS, key, lang) + say("colon", lang).rstrip()
        for outcome in outcomes:
            yield from _condition(outcome, lang)


def _condition(outcome: Outcome, lang: str) -> Iterator[str]:
    state = phrase(_WORDS, outcome.state, lang)
    said = _KIND.sub(lambda kind: _KINDS[kind[0]], outcome.said) if lang == "zh" else outcome.said
    yield f"  {_MARKS[outcome.state]} {state}{say('colon', lang)}{safe(said, 400)}"
    for shown in outcome.evidence[:2]:
        yield f"      {say('line', lang, line=shown.line.number)}{say('colon', lang)}{safe(shown.text.strip(), 200)}"

"""What both the program and the pages say, in English and Chinese: how sure, how bad, how risky."""

from __future__ import annotations

Phrases = dict[str, tuple[str, str]]
"""By key: English, Chinese."""

SHARED: Phrases = {
    "certain": ("certain", "确定"),
    "likely": ("likely", "很可能"),
    "possible": ("possible", "可能"),
    "crash": ("crash", "崩溃"),
    "hang": ("hang", "挂起"),
    "wrong-results": ("wrong results", "结果错误"),
    "degraded": ("degraded", "性能下降"),
    "none": ("harmless", "无害"),
    "harmless": ("harmless", "无害"),
    "cascade": ("after-effect", "连带后果"),
    "safe": ("safe", "安全"),
    "changes-results": ("changes results", "会改变结果"),
    "retrain": ("needs retraining", "需要重新训练"),
    "why": ("Why", "原因"),
    "sources": ("Sources", "来源"),
}


def phrase(words: Phrases, key: str, lang: str, **values: object) -> str:
    """A phrase in a language, with its values filled in."""
    english, chinese = words[key] if key in words else SHARED[key]
    text = chinese if lang == "zh" else english
    return text.format(**values) if values else text

"""Search over entries: typo-tolerant, both languages."""

from __future__ import annotations

from kb.compiled import Body, Knowledge


def search(knowledge: Knowledge, words: str, limit: int = 10) -> list[tuple[float, Body]]:
    """Entries that the words fit best, with a score from 0 to 100."""
    from rapidfuzz import fuzz, utils

    asked = utils.default_process(words) or words
    found = []
    for body in knowledge.bodies():
        texts = _texts(body)
        score = max(fuzz.token_set_ratio(asked, utils.default_process(t) or t) for t in texts[:2] or texts)
        score = max(score, *(0.95 * fuzz.partial_ratio(asked, (utils.default_process(t) or t)[:600]) for t in texts))
        if score >= 55:
            found.append((score, body))
    found.sort(key=lambda item: (-item[0], item[1]["id"]))
    return found[:limit]


def _texts(body: Body) -> list[str]:
    texts = [body["title"], body["id"].replace("-", " ")]
    if zh := body.get("zh"):
        texts.append(zh["title"])
        texts.append(zh["cause"])
    for symptom in body["symptoms"]:
        for condition in symptom["require"]:
            texts += [p["re"].replace("\\", "") for p in condition.get("patterns", [])]
    texts.append(body["cause"])
    return texts

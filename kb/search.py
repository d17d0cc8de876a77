"""Search over entries: typo-tolerant, both languages; and the nearest entries to an unknown message."""

from __future__ import annotations

from typing import Any

from kb.compiled import Body, Knowledge
from kb.placeholders import general

LEAST = 12
"""Characters of a literal, or of a message without its type, that tell enough to be compared."""

SHORT = 40
"""Characters up to which a message resembles much by chance: it must then resemble more."""


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


def nearest(knowledge: Knowledge, message: str, lang: str = "en", limit: int = 3) -> list[dict[str, Any]]:
    """The entries whose patterns read most like a message that nothing explains: similar, not matched."""
    from rapidfuzz import fuzz, process

    # The type alone makes everything that an "…Error: " introduces alike.
    type_, colon, said = message.partition(": ")
    if colon and len(said) >= LEAST and type_.endswith(("Error", "Exception")):
        message = said
    long = {n: literal for n, literal in enumerate(knowledge.literals) if len(literal) >= LEAST}
    cutoff = 62 if len(message) >= SHORT else 75
    alike = process.extract(message.lower(), long, scorer=fuzz.partial_ratio, score_cutoff=cutoff, limit=None)
    found = [(score * min(1.0, len(literal) / 30), number) for literal, score, number in alike]
    found.sort(reverse=True)
    out: dict[str, dict[str, Any]] = {}
    for score, number in found[:40]:
        for body, _ in knowledge.triggered({number}):
            zh = body.get("zh") if lang == "zh" else None
            out.setdefault(
                body["id"], {"id": body["id"], "title": general((zh or body)["title"]), "similarity": round(score)}
            )
    return list(out.values())[:limit]


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

"""Answer a paste that is only a piece of a message, by the entries whose failures print a message that contains it.

People paste a part of a sentence, without the exception's type and the first or the last words. Then no pattern matches, and
nothing in the paste says that anything failed. An entry whose own message contains the whole piece is "possible".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.compiled import Body, Knowledge
from kb.likeness import words
from troubleshooter.match.engine import Candidate
from troubleshooter.match.outcome import Anchor, Evidence, Outcome, Trial
from troubleshooter.observe.observations import Observations
from troubleshooter.ranked import Ranked
from troubleshooter.weights import DOUBTED, Score

MIN_CHARACTERS, MIN_WORDS = 16, 4
"""A shorter piece is too common to name an entry."""
MOST_ENTRIES = 3
"""If the messages of more entries contain the piece, there is no answer."""
MOST_READ = 24
"""Entries that have all words of a piece, and are read to see whether a message contains it."""
NOTE = "the text is a piece of a message of this failure"
_EDGES = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~… \t\n\r\x0b\x0c"


def of_pieces(observations: Observations, knowledge: Knowledge) -> list[Ranked]:
    """The answers to a short text in which nothing else was found. The entry whose message is closest in length comes first."""
    piece = " ".join(line.folded for line in observations.piece)
    asked = piece.strip(_EDGES).lower()
    if len(asked) < MIN_CHARACTERS or len(asked.split()) < MIN_WORDS:
        return []
    found = sorted(_containing(asked, knowledge), key=lambda one: (one[0], str(one[1]["id"])))
    if len(found) > MOST_ENTRIES:
        return []
    return [_answer(body, base, observations) for _, body, base in found]


def _containing(asked: str, knowledge: Knowledge) -> Iterator[tuple[int, Body, int]]:
    """Entries that print a message with the piece in it: the message's length, the entry, its first literal."""
    inner = asked.split(" ", 1)[1].rsplit(" ", 1)[0]  # the first and the last word may be cut
    for pack in knowledge.packs:
        owners = [set(pack.saying(word)) for word in sorted(words(inner)) if not re.search(r"\d", word)]
        if not owners:
            continue
        everywhere = set.intersection(*owners)
        if len(everywhere) > MOST_READ:
            continue
        for entry in everywhere:
            id_ = pack.index.ids[entry]
            known = knowledge.find(id_) if knowledge.owner(id_) is pack else None
            if known is None or known[0]["kind"] != "failure" or known[0].get("fallback_for") is not None:
                continue
            lengths = [len(text) for text in known[0]["printed"] if asked in text.lower()]
            if lengths:
                yield min(lengths), *known


def _answer(body: Body, base: int, observations: Observations) -> Ranked:
    line = observations.piece[0]
    held = Outcome("held", "message", [Evidence(line, line.text, NOTE)], {}, 0, len(line.text))
    symptom = body["symptoms"][0]["name"]
    trial = Trial(body["id"], symptom, Anchor(None, line), [held], [], [], {}, set(), 1)
    return Ranked(Candidate(body, base, trial), Score.start("indecisive", DOUBTED), (NOTE,))

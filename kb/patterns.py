"""Patterns of entries: checks that they take linear time, and finds the literals that every match contains.

These literals make a thousand entries as fast as ten: one scan for all literals finds the entries that are worth
trying. The literals are found by walking Python's own parse of the pattern; its syntax is the common part of RE2 and
``re``.
"""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from typing import Any

from kb.error_words import SHORTEST, weight

MIN_LITERAL = 5
"""The least `weight` of a literal."""
MIN_RUN = 3
"""The least `weight` of a run of characters that is searched for before a pattern is tried."""
MAX_CHOICES = 32
"""A list of `required_texts` has at most this many texts."""
EVERYDAY = (
    "{'train_loss': 0.0, 'loss': 0.0, 'grad_norm': 0.0, 'learning_rate': 0.0, 'train_runtime': 0.0, 'epoch': 0.0}",
    "  1%|  | 1/10 [00:00<00:00,  1.0it/s]  [00:00<00:00,  1.0s/it]",
    'traceback (most recent call last):  file "/usr/lib/python3.11/site-packages/torch/utils/checkpoint.py", line 1, in <module>',
    "warning: ", "error: ", " failed ", " should be ", " using ", " running ", "missing", "training ", " samples ", " examples ",
    " parameters ", " process ", " steps ", " tokens ", " config ", " weights ", " model ", " module ", "transformers", " trainer ",
    " torch.utils.checkpoint", " number ", " value ", " inputs ", " target ", " return ", " connection ", " with ", " from ", "generating", "state",
)  # fmt: skip
"""Texts of healthy logs, in lower case. A literal that is part of one of them occurs in every second log, often on
every line."""
PYTHONS_OWN = (
    "attributeerror: 'nonetype' object has no attribute '", "module 'x' has no attribute '", "type object 'x' has no attribute '",
    "typeerror: x.__init__() got an unexpected keyword argument '", "x() missing 2 required positional arguments: '",
    "importerror: cannot import name '", "modulenotfounderror: no module named '", "nameerror: name 'x' is not defined",
    "keyerror: '", "indexerror: list index out of range", "[errno 2] no such file or directory: '",
)  # fmt: skip
"""Words of Python's own exceptions, in lower case. Up to a hundred entries are about failures that begin with the same
ones, and all of them would be tried on each such log. So choices beside such words are spelled out where they are few:
``'(?:list|dict)' object has no attribute`` is found by two literals that are rarer."""
PYTHONS_WEIGHT = 8
"""A literal that is part of a text of `PYTHONS_OWN` counts as so long at most: an attribute's name of 9 letters is rarer."""
SPELLED = 16
"""A run that contains choices is spelled out to at most this many texts."""
USEFUL = 1000
"""A number above the `weight` of any literal."""

# Python's own parser of patterns: `re._parser` from 3.11 on, `sre_parse` before.
_p: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
_c: Any = importlib.import_module("re._constants" if sys.version_info >= (3, 11) else "sre_constants")


def syntax_error(pattern: str) -> str | None:
    """Why RE2 refuses the pattern (lookaround, backreference, syntax), or None."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        text = error.args[0] if error.args else error
        return text.decode() if isinstance(text, bytes) else str(text)
    return None


def groups(pattern: str) -> set[str]:
    """The names of the pattern's captures."""
    return set(re.findall(r"\(\?P<(\w+)>", pattern))


_BACKTICK = re.compile(
    r"(?P<kept>\\[^`]|\[\^(?:\\.|[^\]\\])(?:\\.|[^\]\\])*\])|(?P<class>\[(?:\\.|[^\]\\])(?:\\.|[^\]\\])*\])|\\?`[?*+]?",
    re.DOTALL,
)


_ENDS_IN_WORD = re.compile(r"(?:\\w|(?<!\\)[A-Za-z0-9_)\]])[?*+]?(?:\{[\d,]+\})?(?:\((?:\?:|\?P<\w+>)?)*$")
"""A pattern up to a place before which a word ends."""
LONG = 24
"""A pattern whose literals have at least this `weight` is specific enough with any word in its gaps."""
_EMPHASIS = re.compile(r"__(init|call|new|getattr|getitem|setstate|len|iter)__")


def rendered(pattern: str) -> str | None:
    """The pattern for a text that was copied from a rendered page, where backticks and the underscores of ``__init__`` are
    gone. None if it asks for neither, is left with a literal shorter than `SHORTEST`, or says little without them: what is
    in backticks may be anything."""

    anything = False

    def bare(found: re.Match[str]) -> str:
        nonlocal anything
        if found["kept"]:
            return found["kept"]
        if found["class"]:
            if "`" not in found["class"]:
                return found["class"]
            if r"\s" in found["class"] or " " in found["class"]:
                # It ends a word, which a lost backtick leaves before a blank or the end.
                return f"(?:{found['class']}|$)"
            if pattern[found.end() : found.end() + 1] in tuple("?*+{"):
                return found["class"]
            # Behind a word it marks its end, which is there without the mark, too: "pip`" is not "pipeline".
            return (
                rf"(?:{found['class']}|\b)" if _ENDS_IN_WORD.search(pattern[: found.start()]) else found["class"] + "?"
            )
        anything |= pattern[found.end() : found.end() + 1] in tuple("[(.") or pattern[found.end() :].startswith(r"\w")
        return ""

    if (out := _EMPHASIS.sub(r"\1", _BACKTICK.sub(bare, pattern) if "`" in pattern else pattern)) == pattern:
        return None
    found = literals(out)
    least = LONG if anything else SHORTEST
    return out if found and all(weight(text) >= least for text in found) and syntax_error(out) is None else None


@cache
def _tree(pattern: str) -> Any:
    """The parsed pattern. It is kept, because a pattern is needed several times: to check it, to compile it, and to
    find its literals."""
    return _p.parse(pattern)


@cache
def literals(pattern: str) -> tuple[str, ...]:
    """Literals in lower case; every match of the pattern contains at least one of them. Empty if there are no such
    literals."""
    try:
        tree = _tree(pattern)
    except re.error:
        return ()
    found = _best(tree)
    poor = _use(found) < USEFUL or any(map(_is_pythons, found or ()))
    if poor and _use(spelled := _best(tree, spell=True)) > _use(found):
        found = spelled
    return tuple(sorted(found or ()))


Clauses = list[list[str]]
"""Lists of texts in lower case. Every match of a pattern contains at least one text of each list."""


def required_texts(pattern: str) -> Clauses:
    """Texts that every match of the pattern contains, for a cheap test before the pattern is compiled and tried. The
    most specific list comes first. A list that follows from another one is left out."""
    try:
        found = {tuple(sorted(clause)) for clause in _required_texts(_tree(pattern))}
    except re.error:
        return []
    clauses = sorted(found, key=lambda clause: (len(clause), -min(map(weight, clause)), clause))
    implied = {
        weak
        for weak in clauses
        for strong in clauses
        if weak != strong and all(any(text in longer for text in weak) for longer in strong)
    }
    return [list(clause) for clause in clauses if clause not in implied]


def _required_texts(tree: Any) -> list[set[str]]:
    found: list[set[str]] = []
    run = ""
    for op, arg in [*tree, (_c.AT, None)]:
        if op is _c.LITERAL and _fixed(arg):
            run += chr(arg).lower()
            continue
        if weight(run) >= MIN_RUN:
            found.append({run})
        run = ""
        if op is _c.SUBPATTERN:
            found += _required_texts(arg[-1])
        elif op in (_c.MAX_REPEAT, _c.MIN_REPEAT) and arg[0] >= 1:
            found += _required_texts(arg[2])
        elif op is _c.BRANCH:
            branches = [_required_texts(branch) for branch in arg[1]]
            if all(branches):
                best = [max(clauses, key=lambda clause: min(map(weight, clause))) for clauses in branches]
                if len(union := set[str]().union(*best)) <= MAX_CHOICES:
                    found.append(union)
    return found


def words(pattern: str) -> set[str]:
    """Every run of literal characters in the pattern with a weight of at least `MIN_LITERAL`, in lower case, whether or
    not every match contains it."""
    found: set[str] = set()

    def walk(tree: Any) -> None:
        run = ""
        for op, arg in tree:
            if op is _c.LITERAL and _fixed(arg):
                run += chr(arg).lower()
                continue
            found.add(run)
            run = ""
            if op is _c.SUBPATTERN:
                walk(arg[-1])
            elif op is _c.BRANCH:
                for branch in arg[1]:
                    walk(branch)
            elif op in (_c.MAX_REPEAT, _c.MIN_REPEAT):
                walk(arg[2])
        found.add(run)

    try:
        walk(_tree(pattern))
    except re.error:
        return set()
    return {run for run in found if weight(run) >= MIN_LITERAL}


@cache
def _fixed(character: int) -> bool:
    """Whether a character looks the same in a log as in the pattern, apart from ASCII case. Folding a line changes
    other characters."""
    text = chr(character)
    return text.isascii() or (text.isalpha() and text.lower() == text.upper())


@cache
def ordinary(text: str) -> bool:
    """Whether a text proves nothing about a log: it is part of an `EVERYDAY` text, or a number."""
    return not any(map(str.isalpha, text)) or any(text in line for line in EVERYDAY)


def _use(found: set[str] | None) -> int:
    """How useful alternatives are to find a match by: the length of the shortest one. Ordinary texts are the least
    useful."""
    return min(_rarity(t) + USEFUL * (weight(t) >= MIN_LITERAL and not ordinary(t)) for t in found) if found else 0


@cache
def _rarity(text: str) -> int:
    """How rare a text is in logs, told from its length, in the unit of `weight`."""
    return min(weight(text), PYTHONS_WEIGHT) if _is_pythons(text) else weight(text)


@cache
def _is_pythons(text: str) -> bool:
    return any(text in words for words in PYTHONS_OWN)


def _best(tree: Any, *, spell: bool = False) -> set[str] | None:
    """The best set of alternatives that a sequence forces: none is ordinary, the shortest is as long as possible, and
    there are few. ``spell``: small choices within a run are spelled out (``torch[/\\\\]onnx``,
    ``trl/(?:trainer|extras)``), which gives more, and more specific, literals."""
    best: set[str] | None = None
    runs = {""}

    def offer(candidate: set[str] | None) -> None:
        nonlocal best
        if candidate and all(candidate) and len(candidate) <= 24 and _use(candidate) > _use(best):
            best = candidate

    for op, arg in tree:
        if op is _c.AT:
            continue
        choice = _spelled(op, arg) if spell or op is _c.LITERAL else None
        if choice is not None and len(runs) * len(choice) <= SPELLED:
            runs = {run + end for run in runs for end in choice}
            continue
        offer(runs)
        runs = {""}
        if op is _c.SUBPATTERN:
            offer(_best(arg[-1], spell=spell))
        elif op is _c.BRANCH:
            parts = [_best(branch, spell=spell) for branch in arg[1]]
            if all(parts):
                offer({s for part in parts for s in part or ()})
        elif op in (_c.MAX_REPEAT, _c.MIN_REPEAT) and arg[0] >= 1:
            offer(_best(arg[2], spell=spell))
    offer(runs)
    return best


def _spelled(op: Any, arg: Any) -> set[str] | None:
    """All texts that a part of a pattern can match, in lower case; None if there are more than a few."""
    if op is _c.LITERAL:
        return {chr(arg).lower()} if _fixed(arg) else None
    if op is _c.IN:
        single = [_spelled(*item) for item in arg]
        return _joined(single) if all(item[0] is _c.LITERAL for item in arg) else None
    if op is _c.SUBPATTERN:
        return _sequence(arg[-1])
    if op is _c.BRANCH:
        return _joined([_sequence(branch) for branch in arg[1]])
    if op in (_c.MAX_REPEAT, _c.MIN_REPEAT) and arg[:2] == (0, 1) and (once := _sequence(arg[2])) is not None:
        return {"", *once}
    return None


def _sequence(tree: Any) -> set[str] | None:
    found = {""}
    for op, arg in tree:
        part = _spelled(op, arg)
        if part is None or len(found) * len(part) > SPELLED:
            return None
        found = {start + end for start in found for end in part}
    return found


def _joined(parts: list[set[str] | None]) -> set[str] | None:
    found = {text for part in parts for text in part or ()}
    return found if None not in parts and len(found) <= SPELLED else None

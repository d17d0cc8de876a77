"""How the time of a regular expression of Python's `re` grows with its text: linear, a power, or exponential.

A backtracking matcher tries one way after the other. It needs more than linear time where one text can be read in a number
of ways that grows with its length. That is a property of the pattern alone, so no clock is needed to find it:

* a *power*: two places p and q of the pattern and a text v such that v leads from p to p, from p to q, and from q to q
  (``\\s*\\s*``; ``x*y`` when it is *searched for*, as a search begins with "any text" before the pattern);
* *exponential*: a place p and a text v that leads from p to p in two ways (``(\\w+)*``).

The pattern becomes an automaton whose states are its single-character parts. Bounded repetitions up to ``bound`` are constant
factors, so a few copies stand for them; longer ones count as unbounded. One-character conditions (``\\b``, ``^``, lookbehind
and lookahead of one character) are kept; other conditions are taken as always true, which can only find too much.

Only ways that *fail* cost more: ``\\s+`` takes any run of blanks at once. So a text counts only as long as none of the ways
that read it has reached the pattern's end.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

if sys.version_info >= (3, 11):
    from re import _compiler as sre_compile
    from re import _constants as sre
    from re import _parser as sre_parse
else:
    import sre_compile
    import sre_constants as sre
    import sre_parse

BOUND = 400
"""Repetitions from which on a bounded repeat counts as unbounded: so many steps a character are still quick."""
# A character of each kind that patterns tell apart, beside all of ASCII.
_ALPHABET = [*map(chr, range(128)), "\u00a0", "\u00e9", "\u2014", "\u2500", "\u2502", "\u256d", "\u2570", "\u2771", "\u4e2d", "\u884c", "\uff1a"]
_START = -1
"""The class of what stands before the first character."""


@dataclass
class _Automaton:
    """``moves[state]`` holds ``(characters, target)``; ``steps[state]`` holds ``(before, after, target)`` without a character,
    where None is no condition."""

    moves: list[list[tuple[frozenset[int], int]]] = field(default_factory=list)
    steps: list[list[tuple[frozenset[int] | None, frozenset[int] | None, int]]] = field(default_factory=list)

    def state(self) -> int:
        self.moves.append([])
        self.steps.append([])
        return len(self.moves) - 1

    def step(self, start: int, end: int, before: frozenset[int] | None = None, after: frozenset[int] | None = None) -> None:
        self.steps[start].append((before, after, end))


class _Builder:
    def __init__(self, pattern: str | bytes, flags: int, bound: int) -> None:
        self.bytes = isinstance(pattern, bytes)
        self.tree = sre_parse.parse(pattern, flags)
        self.flags = self.tree.state.flags
        self.bound = bound
        self.made = _Automaton()
        self.alphabet = [c.encode("latin-1", "replace") for c in _ALPHABET[:129]] if self.bytes else _ALPHABET
        self.every = frozenset(range(len(self.alphabet)))
        self.word = self._set([(sre.IN, [(sre.CATEGORY, sre.CATEGORY_WORD)])])
        self.line_end = self._set([(sre.LITERAL, 10)])

    def _set(self, node: list[Any]) -> frozenset[int]:
        sub = sre_parse.SubPattern(self.tree.state, node)
        one = sre_compile.compile(sub, self.flags & ~re.VERBOSE)
        return frozenset(n for n, character in enumerate(self.alphabet) if one.fullmatch(character))

    def build(self, searched: bool) -> tuple[_Automaton, int, int]:
        """The automaton, its start and its end."""
        start = self.made.state()
        if searched:
            self.made.moves[start].append((self.every, start))
        begin = self.made.state()
        self.made.step(start, begin)
        return self.made, start, self.sequence(list(self.tree), begin)

    def sequence(self, nodes: list[Any], start: int) -> int:
        for op, value in nodes:
            start = self.node(op, value, start)
        return start

    def node(self, op: Any, value: Any, start: int) -> int:
        made = self.made
        if op in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            end = made.state()
            made.moves[start].append((self._set([(op, value)]), end))
            return end
        if op is sre.BRANCH:
            end = made.state()
            for way in value[1]:
                begin = made.state()
                made.step(start, begin)
                made.step(self.sequence(list(way), begin), end)
            return end
        if op is sre.SUBPATTERN:
            return self.sequence(list(value[3]), start)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) or op is getattr(sre, "POSSESSIVE_REPEAT", None):
            return self.repeat(*value, start)
        if op is getattr(sre, "ATOMIC_GROUP", None):
            return self.sequence(list(value), start)
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            return self.condition(op, *value, start)
        if op is sre.AT:
            return self.anchor(value, start)
        if op is sre.GROUPREF:  # what was captured may be any text
            return self.repeat(0, sre.MAXREPEAT, [(sre.ANY, None)], start)
        raise NotImplementedError(f"{op}: {value}")

    def repeat(self, least: int, most: Any, body: Any, start: int) -> int:
        nodes = list(body)
        end = self.made.state()
        if not least:
            self.made.step(start, end)
        if most is sre.MAXREPEAT or most > self.bound:
            once = self.sequence(nodes, start)
            self.made.step(once, end)
            begin = self.made.state()
            self.made.step(once, begin)
            again = self.sequence(nodes, begin)  # a copy: so that a repeat of a repeat has two ways, not one
            self.made.step(again, begin)
            self.made.step(again, end)
            return end
        at = start
        for _ in range(min(most, max(least, 2), 3)):
            at = self.sequence(nodes, at)
            self.made.step(at, end)
        return end

    def condition(self, op: Any, direction: int, body: Any, start: int) -> int:
        end = self.made.state()
        nodes = list(body)
        if len(nodes) == 1 and nodes[0][0] in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            told = self._set(nodes)
            told = told if op is sre.ASSERT else self.every - told
            if op is sre.ASSERT_NOT:
                told |= {_START}
            self.made.step(start, end, *((told, None) if direction < 0 else (None, told)))
            return end
        if op is sre.ASSERT and direction < 0 and nodes and nodes[-1][0] in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            self.made.step(start, end, self._set(nodes[-1:]), None)  # of several characters before, the last one
            return end
        self.made.step(start, end)
        if direction > 0:  # its own reading costs time, too: a way that leads nowhere
            begin = self.made.state()
            self.made.step(start, begin)
            self.sequence(nodes, begin)
        return end

    def anchor(self, kind: Any, start: int) -> int:
        end = self.made.state()
        first = frozenset({_START})
        if kind is sre.AT_BEGINNING_STRING or (kind is sre.AT_BEGINNING and not self.flags & re.MULTILINE):
            self.made.step(start, end, first, None)
        elif kind is sre.AT_BEGINNING:
            self.made.step(start, end, first | self.line_end, None)
        elif kind is sre.AT_BOUNDARY:
            outside = (self.every - self.word) | {_START}
            self.made.step(start, end, self.word, self.every - self.word)
            self.made.step(start, end, outside, self.word)
        elif kind in (sre.AT_END, sre.AT_END_STRING, sre.AT_NON_BOUNDARY):
            self.made.step(start, end)  # what must follow the end changes nothing in the ways that lead there
        else:
            raise NotImplementedError(str(kind))
        return end


State = tuple[int, int]
"""A state of the automaton, and the class of the character before it."""


class _Ways:
    """The automaton without empty steps."""

    def __init__(self, pattern: str | bytes, flags: int, searched: bool, bound: int) -> None:
        builder = _Builder(pattern, flags, bound)
        made, start, end = builder.build(searched)
        self.begin = (start, _START) if searched else None
        told_before = {before for steps in made.steps for before, _, _ in steps if before is not None}
        told = {characters for moves in made.moves for characters, _ in moves} | told_before
        told |= {after for steps in made.steps for _, after, _ in steps if after is not None}
        kinds: dict[tuple[bool, ...], int] = {}
        member = {n: kinds.setdefault(tuple(n in some for some in told), len(kinds)) for n in builder.every}
        member[_START] = _START
        # Characters that no condition looks back at are one class.
        backs: dict[tuple[bool, ...], int] = {}
        back = {member[n]: backs.setdefault(tuple(n in some for some in told_before), len(backs)) for n in builder.every}
        back[_START] = backs.setdefault(tuple(_START in some for some in told_before), len(backs))
        self.begin = (start, back[_START]) if searched else None
        self._shown = {
            member[n]: builder.alphabet[n] for n in sorted(builder.every, key=lambda n: not 32 < n < 127, reverse=True)
        }

        def classes(some: frozenset[int] | None) -> frozenset[int] | None:
            return None if some is None else frozenset(member[n] for n in some)

        moves = [[(classes(characters) or frozenset(), target) for characters, target in state] for state in made.moves]
        steps = [
            [
                (None if before is None else frozenset(back[member[n]] for n in before), classes(after), target)
                for before, after, target in state
            ]
            for state in made.steps
        ]

        def following(state: int, before: int) -> tuple[dict[int, list[State]], frozenset[int]]:
            found: dict[int, set[State]] = {}
            ended: set[int] = set()
            seen: set[tuple[int, frozenset[int] | None]] = set()
            todo: list[tuple[int, frozenset[int] | None]] = [(state, None)]
            while todo:
                at, after = todo.pop()
                if (at, after) in seen:
                    continue
                seen.add((at, after))
                if at == end:
                    ended |= self._shown.keys() if after is None else after
                for characters, target in moves[at]:
                    for kind in characters if after is None else characters & after:
                        found.setdefault(kind, set()).add((target, back[kind]))
                for asked, then, target in steps[at]:
                    if asked is None or before in asked:
                        todo.append((target, after if then is None else then if after is None else after & then))
            return {kind: sorted(targets) for kind, targets in found.items()}, frozenset(ended)

        self.next: dict[State, dict[int, list[State]]] = {}
        """By state and class of the next character: the states it leads to."""
        self.ended: dict[State, frozenset[int]] = {}
        """By state: the next characters before which the pattern may end."""
        todo = [(start, back[_START])]
        while todo:
            at = todo.pop()
            if at not in self.next:
                self.next[at], self.ended[at] = following(*at)
                todo.extend(target for targets in self.next[at].values() for target in targets)
        self.edges: dict[State, dict[State, int]] = {}
        """By state and following state: the classes of characters between them, as bits."""
        for state, by_kind in self.next.items():
            bits = self.edges[state] = {}
            for kind, targets in by_kind.items():
                for target in targets:
                    bits[target] = bits.get(target, 0) | 1 << kind
        self.starts = {state for state in self.next if searched and state[0] == start}
        self._following: dict[tuple[frozenset[State], int], frozenset[State] | None] = {}

    def said(self, text: tuple[int, ...]) -> str:
        """A text of these classes of characters."""
        shown = [self._shown[kind] for kind in text]
        return "".join(c.decode("latin-1") if isinstance(c, bytes) else c for c in shown)

    def goes_on(self, states: frozenset[State], text: tuple[int, ...]) -> bool:
        """Whether no way ends when the text is repeated."""
        for kind in text * 3:
            following = self.on(states, kind)
            if following is None:
                return False
            states = following
        return True

    def on(self, states: frozenset[State], kind: int) -> frozenset[State] | None:
        """Where all ways go on with this character; None where one has ended before it."""
        asked = states, kind
        if asked not in self._following:  # the same few sets are asked for again and again
            ended = any(kind in self.ended[state] for state in states)
            targets = (target for state in states for target in self.next[state].get(kind, ()))
            self._following[asked] = None if ended else frozenset(targets)
        return self._following[asked]

    def loops(self) -> list[list[State]]:
        """Strongly connected sets of states in which one can go round."""
        order: list[State] = []
        seen: set[State] = set()
        for root in self.next:
            if root in seen:
                continue
            seen.add(root)
            stack = [(root, self._targets(root))]
            while stack:
                at, targets = stack[-1]
                target = next((t for t in targets if t not in seen), None)
                if target is None:
                    order.append(at)
                    stack.pop()
                else:
                    seen.add(target)
                    stack.append((target, self._targets(target)))
        sources: dict[State, list[State]] = {state: [] for state in self.next}
        for state in self.next:
            for target in self._targets(state):
                sources[target].append(state)
        found: list[list[State]] = []
        done: set[State] = set()
        for root in reversed(order):
            if root in done:
                continue
            group, todo = [], [root]
            done.add(root)
            while todo:
                at = todo.pop()
                group.append(at)
                fresh = [source for source in sources[at] if source not in done]
                done.update(fresh)
                todo.extend(fresh)
            if len(group) > 1 or root in self._targets(root):
                found.append(group)
        return found

    def _targets(self, state: State) -> Iterator[State]:
        return (target for targets in self.next[state].values() for target in targets)


def growth(pattern: str | bytes, flags: int = 0, *, searched: bool = True, bound: int = BOUND) -> str:
    """ "" for a pattern whose time is linear in the text; else what grows, with a text that shows it when it is repeated.

    ``searched``: whether the pattern is looked for at every place of a text, and not matched at its start alone.
    """
    ways = _Ways(pattern, flags, searched, bound)
    loops = ways.loops()
    for group in loops:
        if (text := _two_ways(ways, group)) is not None:
            return f"exponential in {text!r}"
    for first, second in product(loops, loops):
        if (text := _slides(ways, first, second)) is not None:
            return f"a power in {text!r}"
    return ""


def _two_ways(ways: _Ways, group: list[State]) -> str | None:
    """A text that leads from a state back to it in two ways."""
    inside = set(group)
    for p in group:
        todo, seen = [(p, p, False, frozenset((p,)), ())], set()
        while todo:
            a, b, apart, tried, text = todo.pop()
            for kind in ways.next[a].keys() & ways.next[b].keys():
                if (now := ways.on(tried, kind)) is None:
                    continue
                for x, y in product(ways.next[a][kind], ways.next[b][kind]):
                    if x not in inside or y not in inside:
                        continue
                    two = apart or x != y
                    if two and x == p and y == p and ways.goes_on(now, (*text, kind)):
                        return ways.said((*text, kind))
                    if (x, y, two, now) not in seen:
                        seen.add((x, y, two, now))
                        todo.append((x, y, two, now, (*text, kind)))
    return None


def _slides(ways: _Ways, first: list[State], second: list[State]) -> str | None:
    """A text that leads from p to p, from p to q, and from q to q, where p is in the first loop and q in the second."""
    of_first, of_second = set(first), set(second)
    for p, q in product(first, second):
        if p[0] == q[0] or p[1] != q[1]:  # the same place of the pattern; behind one text stands one character
            continue
        if not _may_slide(ways, p, q, of_first, of_second):
            continue
        starts = p in ways.starts  # then p is no place of the pattern, but before it
        tried: frozenset[State] = frozenset() if starts else frozenset((p, q))
        todo, seen = [(p, p, q, tried, ())], {(p, p, q, tried)}
        while todo:
            a, b, c, tried, text = todo.pop()
            for kind in ways.next[a].keys() & ways.next[b].keys() & ways.next[c].keys():
                if (now := ways.on(tried, kind)) is None:
                    continue
                for x, y, z in product(ways.next[a][kind], ways.next[b][kind], ways.next[c][kind]):
                    if x not in of_first or z not in of_second:
                        continue
                    if (x, y, z) == (p, q, q) and ways.goes_on(now, (*text, kind)):
                        return ways.said((*text, kind))
                    also = now
                    if starts and b in ways.starts and y not in ways.starts:  # all ways of what begins here
                        also = now | (set(ways.next[b][kind]) - ways.starts)
                    if (x, y, z, also) not in seen:
                        seen.add((x, y, z, also))
                        todo.append((x, y, z, also, (*text, kind)))
    return None


def _may_slide(ways: _Ways, p: State, q: State, of_first: set[State], of_second: set[State]) -> bool:
    """Whether there is such a text, ways that reach the pattern's end aside: a quick look."""
    todo, seen = [(p, p, q)], {(p, p, q)}
    while todo:
        a, b, c = todo.pop()
        for x, of_a in ways.edges[a].items():
            if x not in of_first:
                continue
            for z, of_c in ways.edges[c].items():
                both = of_a & of_c
                if not both or z not in of_second:
                    continue
                for y, of_b in ways.edges[b].items():
                    if both & of_b and (x, y, z) not in seen:
                        if (x, y, z) == (p, q, q):
                            return True
                        seen.add((x, y, z))
                        todo.append((x, y, z))
    return False

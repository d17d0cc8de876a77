"""The frames of a traceback with their source, and what the user's own file gives: what all ways to an origin start from."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.source.classes import Attribute
from troubleshooter.explaining.source.names import NameContext, enclosing
from troubleshooter.explaining.source.own_code import Given, OwnCode
from troubleshooter.explaining.source.sources import SourceFile, Sources
from troubleshooter.observe.model import Frame


class TraceFrames(ABC):
    """The frames of one traceback, the outermost first, with their source where it is here."""

    def __init__(self, frames: Sequence[Frame], sources: Sources) -> None:
        self.frames = frames
        self.sources = sources
        self.own = [n for n, frame in enumerate(frames) if is_own(frame)]
        self.own_code = OwnCode(frames, sources, self.own)
        self._contexts: dict[int, NameContext | None] = {}

    @abstractmethod
    def origins_of_value(self, value: ast.expr, context: NameContext, left: int) -> list[Origin]:
        """The origins of what was assigned or passed; ``left``: steps that may still be made."""

    def context(self, at: int) -> NameContext | None:
        if at not in self._contexts:
            source, line = self.sources.of(self.frames[at]), self.frames[at].line
            self._contexts[at] = NameContext(source, *source.around(line), line, at) if source is not None else None
        return self._contexts[at]

    def around(self, context: NameContext) -> NameContext | None:
        """The function that a function is written in, at the line where it runs if it still does; None where there is none."""
        outer = enclosing(context.source, context.function) if context.function is not None else None
        if outer is None:
            return None
        for at in range(context.at if context.at is not None else -1, -1, -1):
            here = self.context(at)
            if here is not None and here.function is outer:
                return here
        return NameContext(
            context.source, context.source.around(outer.lineno)[0], outer, outer.end_lineno or outer.lineno, None
        )

    @cached_property
    def own_sources(self) -> list[SourceFile]:
        """The user's own files, those that are here, the innermost first."""
        found = [self.sources.of(self.frames[at]) for at in reversed(self.own)]
        return list(dict.fromkeys(one for one in found if one is not None))

    @property
    def own_calls(self) -> list[ast.Call]:
        """The calls in the user's own lines, the innermost line first."""
        return self.own_code.calls

    def given(self, origin: Origin, given: Given) -> Origin:
        """An origin with the value that the user's file gives it, and with the line if the traceback does not show that."""
        place = self.own_code.run_place(given.value)
        place = place or ("" if self.own_code.is_in_line(given) else given.place)
        return origin._replace(value=given.text, passed=True, place=place)

    def told_by_run(self, origin: Origin) -> Origin:
        """An origin with the value that the run's command line or its configuration gives it, where no code shows one."""
        is_open = origin.value is None and origin.passed is None and not origin.lost
        told = self.sources.options.one(origin.name) if is_open and origin.kind in ("argument", "option") else None
        return origin._replace(value=told.source, passed=True, place=told.place) if told is not None else origin

    def frame_of(self, found: Attribute, context: NameContext) -> int | None:
        """The frame in which the attribute was set, if that function is still running."""
        if found.function is None:
            return None
        for at in range(context.at if context.at is not None else -1, -1, -1):
            frame = self.frames[at]
            inside = found.function.lineno <= frame.line <= (found.function.end_lineno or 0)
            if inside and frame.path.endswith(found.source.below or found.source.path):
                return at
        return None

"""The description of one place in a library's source that prints a message."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["raise", "assert", "check", "exit", "warn", "log", "print", "compiled"]
"""What the place does with its message.

``raise`` makes an exception, ``assert`` asserts, ``check`` calls a function that raises when its condition is false
(``torch._check``), ``exit`` ends the program with a message, ``warn`` calls ``warnings.warn`` or a function like it,
``log`` calls a logger ``print`` writes to the standard streams, and ``compiled`` is text of a compiled library, of which
neither function nor guards are known.
"""

GuardKind = Literal["if", "else", "early", "assert", "check", "while", "for", "try", "except", "case"]
"""Where a guard comes from.

``if``      the place is inside a branch; the branch's own condition
``else``    the place is inside a later branch; the condition of an earlier branch, which did not hold
``early``   a statement above the place left the function or the loop, or asserted; what holds because it did not
``assert``, ``check``  the place's own condition, which was false
``while``   the condition of a loop around the place
``for``     a loop around the place, as ``target in iterable``
``try``     the place is inside a ``try`` body; the text is the exceptions that its handlers catch
``except``  the place is inside a handler; the text is what the handler catches
``case``    a branch of ``match``, as ``subject matches pattern``
"""


class Hole(NamedTuple):
    """A part of a message that is filled in when it is printed."""

    expression: str
    """The source expression that fills it, as ``ast.unparse`` writes it; "" if it is not known.

    Holes side by side cannot be told apart in a printed message: they are one, with ``, `` between the expressions.
    """


Piece = str | Hole


class Guard(NamedTuple):
    """One condition on the way to a place."""

    kind: GuardKind
    condition: str
    """The condition as it is written in the source (``ast.unparse``), never negated; at most `MAX_TEXT` characters."""
    holds: bool
    """Whether the condition was true (False: it was false) when the place was reached."""
    line: int
    """Line of the condition, counted from 1."""
    stale: bool = False
    """Whether a name in the condition was assigned again before the place. The condition was then true of an older value."""


class Parameter(NamedTuple):
    """One parameter of a function, or one field of a dataclass."""

    name: str
    """The name, with ``*`` or ``**`` in front if the parameter takes all further arguments."""
    default: str | None
    """The source of the default; None if the argument is required."""
    annotation: str | None


class Binding(NamedTuple):
    """The last assignment, above a place, to a name that its guards or its message use."""

    name: str
    """A name or a dotted name (``self.rank``)."""
    expression: str
    """Its value; ``each of …`` for the target of a loop, ``part of …`` for one of several targets."""
    line: int


class MessagePlace(NamedTuple):
    """One message of one place. A place that can print several texts has one of these for each (see `kb.index.places`)."""

    kind: Kind
    exception: str | None
    """The exception or warning class as written (``ValueError``, ``errors.HubError``); None if nothing is raised."""
    level: str | None
    """Only for ``log``: ``debug``, ``info``, ``warning``, ``error`` or ``critical``."""
    template: tuple[Piece, ...]
    """The message: literal text and holes in turn, never two texts in a row. Empty if the place has no message."""
    path: str
    """The path that was passed to `kb.index.places.places`."""
    function: str
    """Qualified name without ``<locals>`` (``Trainer.train``); "" for the module itself."""
    line: int
    """The line in which the call begins, counted from 1."""
    end_line: int
    guards: tuple[Guard, ...]
    """The conditions around the place, from the outermost to the nearest; at most `MAX_GUARDS`, the nearest ones."""
    parameters: tuple[Parameter, ...]
    """The parameters of the innermost function around the place, without ``self`` and ``cls``. In a dataclass's
    ``__post_init__``, or its ``__init__`` without parameters: the fields of the class."""
    bindings: tuple[Binding, ...]
    """The assignments to names in guards and holes, nearest first; at most `MAX_BINDINGS`."""

    @property
    def weight(self) -> int:
        """The number of literal characters of the message, without white space."""
        return weight(self.template)

    @property
    def text(self) -> str:
        """The message for people: holes as ``{expression}``."""
        return shown(self.template)


def weight(template: tuple[Piece, ...]) -> int:
    """The number of literal characters of a template, without white space."""
    return sum(len("".join(piece.split())) for piece in template if isinstance(piece, str))


def shown(template: tuple[Piece, ...]) -> str:
    """A template for people: holes as ``{expression}``."""
    return "".join(piece if isinstance(piece, str) else f"{{{piece.expression}}}" for piece in template)


MAX_TEXT = 300
"""A condition, default, annotation or expression is cut to this many characters; a cut one ends in ``…``."""
MAX_GUARDS = 24
MAX_BINDINGS = 8

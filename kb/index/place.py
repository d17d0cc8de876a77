"""What is known of one place in a library's source that prints a message."""

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
    """The source expression that fills it, as ``ast.unparse`` writes it; "" where it is not known.

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
    """Whether a name in the condition was assigned again between the condition and the place: it held for an older value."""


class Parameter(NamedTuple):
    """One parameter of a function, or one field of a dataclass."""

    name: str
    """With ``*`` or ``**`` in front where it takes the rest."""
    default: str | None
    """Source of the default; None where it must be given."""
    annotation: str | None


class Binding(NamedTuple):
    """The last assignment above a place to a name that its guards or its message speak of."""

    name: str
    """A name or a dotted name (``self.rank``)."""
    expression: str
    """Its value; ``each of …`` for the target of a loop, ``part of …`` for one of several targets."""
    line: int


class MessagePlace(NamedTuple):
    """One message of one place. A place that can print several texts is given once for each (see `kb.index.places`)."""

    kind: Kind
    exception: str | None
    """The exception or warning class as written (``ValueError``, ``errors.HubError``); None where none is raised."""
    level: str | None
    """Of ``log`` alone: ``debug``, ``info``, ``warning``, ``error`` or ``critical``."""
    template: tuple[Piece, ...]
    """The message: literal text and holes in turn, never two texts in a row. Empty where the place gives no message."""
    path: str
    """As it was given to `kb.index.places.places`."""
    function: str
    """Qualified name without ``<locals>`` (``Trainer.train``); "" on the level of the module."""
    line: int
    """First line of the statement's call, counted from 1."""
    end_line: int
    guards: tuple[Guard, ...]
    """From the outside in; the last one is the nearest. At most `MAX_GUARDS`, the nearest ones."""
    parameters: tuple[Parameter, ...]
    """Of the innermost function around the place, without ``self`` and ``cls``. In ``__post_init__`` and ``__init__``
    without parameters of a dataclass: its fields."""
    bindings: tuple[Binding, ...]
    """Of names in guards and holes, nearest first; at most `MAX_BINDINGS`."""

    @property
    def weight(self) -> int:
        """How many characters of the message are literal and not white space."""
        return weight(self.template)

    @property
    def text(self) -> str:
        """The message for people: holes as ``{expression}``."""
        return shown(self.template)


def weight(template: tuple[Piece, ...]) -> int:
    """How many characters of a template are literal and not white space."""
    return sum(len("".join(piece.split())) for piece in template if isinstance(piece, str))


def shown(template: tuple[Piece, ...]) -> str:
    """A template for people: holes as ``{expression}``."""
    return "".join(piece if isinstance(piece, str) else f"{{{piece.expression}}}" for piece in template)


MAX_TEXT = 300
"""Characters that are kept of one condition, default, annotation or expression; a longer one ends in ``…``."""
MAX_GUARDS = 24
MAX_BINDINGS = 8

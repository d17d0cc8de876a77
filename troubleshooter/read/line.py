"""A line as a person saw it: text without prefix and decoration, and where it stands in the raw input."""

from __future__ import annotations

from troubleshooter.lean import dataclass, field
from troubleshooter.read.prefix import strip
from troubleshooter.read.text import LINE_LIMIT, texts
from troubleshooter.read.unfold import parts

Suspect = tuple[int, bytes]
"""A literal's number, and its text in lower case."""


class Shape:
    """What is known of lines that differ in their digits alone (`read.shapes`)."""

    __slots__ = (
        "kind",
        "named",
        "numbers",
        "plain",
        "readers",
        "record",
        "sights",
        "stamped",
        "start",
        "step",
        "suspects",
    )

    def __init__(self) -> None:
        self.start = -1
        """Where the text begins behind its prefix; -1: such lines are read one by one."""
        self.named = False
        """Whether the prefix names a stream or rank, which it may do with digits."""
        self.stamped = False
        self.sights = 0
        """How often such a line was searched for literals."""
        self.numbers: list[int] | None = None
        """The literals without digits that such a line holds, once it was met several times; from then on:"""
        self.readers = 0
        """The readers that literals without digits call (`observe.marks`)."""
        self.suspects: tuple[Suspect, ...] = ()
        """The literals with digits that it may hold too, as its own digits have it: numbers and texts in lower case."""
        self.plain = False
        """Whether the text is what patterns see."""
        self.kind = ""
        """The text without its digits."""
        self.record: list[tuple[str, int, int]] | None = None
        """Metrics and where their values stand in the text; none where its digits may tell that, too."""
        self.step: int | None = None
        """Which of them is the training step."""


@dataclass(slots=True)
class Line:
    """``number`` counts raw lines from 1 in ``file`` (an index into the report's inputs); ``stream`` takes
    interleaved writers apart and is "" where nothing on the line names one."""

    text: str
    number: int
    stream: str = ""
    rank: int | None = None
    file: int = 0
    stamped: bool = False
    folded: str = ""
    """The text as patterns see it (`read.text.fold`), once it was observed; left empty where it holds no literal."""
    shape: Shape | None = field(default=None, repr=False, compare=False)
    """Shared by lines alike for as long as it is kept (`read.shapes`), so no part of what this line is."""


GAP = Line("", 0)
"""Stands between lines that do not follow each other: a part of a large log was passed over."""


def lines(raw: bytes, number: int, file: int = 0, stream: str = "", rank: int | None = None) -> list[Line]:
    """The lines that a person saw on one raw line; ``stream`` and ``rank`` hold where the line itself names none."""
    found = []
    for text in texts(raw[:LINE_LIMIT]):
        if "&" in text and any(name in text for name, _ in _ENTITIES):
            for name, character in _ENTITIES:
                text = text.replace(name, character)
        for part in parts(text):
            rest, own, own_rank, stamped = strip(part)
            rank_ = own_rank if own_rank is not None else rank
            found.append(Line(rest.rstrip(), number, own or stream, rank_, file, stamped))
    return found


# What a page's source shows; "&amp;" last, so that nothing is taken twice.
_ENTITIES = (
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
)

"""What the index of messages says of one symptom, as it is kept in ``kb/data/words.tsv``."""

from __future__ import annotations

from typing import Literal, NamedTuple

State = Literal[
    "printed", "python", "elsewhere", "not-indexed", "no-file", "no-message", "thread", "threads", "page", "run", "no-words"
]  # fmt: skip
"""What the index says of a symptom's words.

``printed``      a message of a package has them (of the cited package, if one is cited)
``python``       Python itself prints them about code of the cited file ("has no attribute", "unexpected keyword argument")
``elsewhere``    another package than the cited one prints them: the cited file calls it
``not-indexed``  the cited package is not in the index
``no-file``      the index has no message of the cited file: compiled code, a template, a script
``no-message``   the cited file has messages, but none has these words: the program composes them at run time
``thread``       only one thread shows the failure, and no package prints these words
``threads``, ``page``, ``run``  no message of the index has these words; two or more threads, a page that is no thread
                 (documentation, source), or a run shows them
``no-words``     the symptom asks for no words, or for words of everyday use
"""


class PrintingPackage(NamedTuple):
    """A package that prints a symptom's words, with the first and the last release of each run, and the files."""

    package: str
    releases: tuple[tuple[str, str], ...]
    files: tuple[str, ...]


class SymptomProof(NamedTuple):
    """What the index says of one symptom."""

    entry: str
    symptom: str
    digest: str
    """A digest of the symptom, the samples and the index, on which the answer depends."""
    state: State
    printed: tuple[PrintingPackage, ...]
    wrong: str
    """A sentence that says what is wrong with the citation; "" if it holds or cannot be checked."""
    rivals: tuple[str, ...]
    """Other places that print these words, as ``package: file: function``."""

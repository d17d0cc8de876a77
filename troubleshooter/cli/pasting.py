"""Read keys from a terminal, and distinguish pasted text from typed text."""

from __future__ import annotations

import select
import sys

from prompt_toolkit.input import Input, create_input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

PENDING_SECONDS = 0.05
"""How long to wait for the rest of a paste after a part of it has arrived."""
_LINE_END = (Keys.ControlM, Keys.ControlJ)
_COMMANDS = (Keys.ControlC, Keys.ControlD, Keys.BracketedPaste)


def terminal() -> Input:
    """Standard input. On Windows the library's own class, which recognises pastes by itself."""
    if sys.platform == "win32":
        return create_input()
    from prompt_toolkit.input.vt100 import Vt100Input

    class PastingInput(Vt100Input):
        """An input that recognises pastes without marks.

        Some terminals and multiplexers put no marks around pasted text (bracketed paste). The text then arrives like typed
        keys, but many of them at once. They are read to their end and returned as one paste.
        """

        def read_keys(self) -> list[KeyPress]:
            keys = super().read_keys()
            while is_pasted(keys) and not self.closed and select.select([self.fileno()], [], [], PENDING_SECONDS)[0]:
                keys += super().read_keys()
            return joined(keys) if is_pasted(keys) else keys

    return PastingInput(sys.stdin)


def is_pasted(keys: list[KeyPress]) -> bool:
    """True if keys that arrived at once are a paste without marks: text with a line end in it or after it."""
    texts = sum(len(key.data) for key in keys if not isinstance(key.key, Keys))
    return texts > 0 and any(key.key in _LINE_END for key in keys) and not any(key.key in _COMMANDS for key in keys)


def joined(keys: list[KeyPress]) -> list[KeyPress]:
    """The keys as one paste. What the terminal itself reports (the position of the cursor) is not part of it."""
    reports = [key for key in keys if key.key is Keys.CPRResponse]
    text = "".join("\n" if key.key in _LINE_END else key.data for key in keys if key.key is not Keys.CPRResponse)
    return [*reports, KeyPress(Keys.BracketedPaste, text)]

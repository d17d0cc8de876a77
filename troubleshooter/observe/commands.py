"""The commands that a log shows: how the run was started, with which options."""

from __future__ import annotations

from typing import ClassVar

from kb import lazy
from troubleshooter.observe.model import ShownCommand
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line

MAX_COMMANDS, MAX_CHARACTERS = 20, 8_000
"""At most this many commands are kept, and this much of one."""
_STARTS = ("python ", "python3 ", "torchrun ", "accelerate launch ", "deepspeed ", "llamafactory-cli ", "trl ", "swift ",
           "axolotl ", "tune run ")  # fmt: skip
_COMMAND = lazy.compile(
    r"^(?:\([\w.-]{1,40}\) ?)?(?:[\w.@:~/\[\] -]{0,80}[$#%>] ?|\+{1,2} |! ?|(?:[Rr]unning|[Ee]xecuting|[Cc]ommand|cmd|CMD)(?: command)?: ?)?"
    r"(?P<c>(?:[A-Z_][A-Z0-9_]{0,60}=[^\s]{0,200} ){0,12}(?:nohup |time |exec |uv run |srun (?:-[^\s]{1,60} ){0,10}){0,3}(?:/[\w./-]{1,200}/)?"
    r"(?:python3?(?:\.\d{1,2})?|torchrun|accelerate launch|deepspeed|llamafactory-cli|trl|swift|axolotl|tune run) [^\n]{1,8000})$"
)
_OPTION = lazy.compile(r"(?:^|\s)(?:--?[A-Za-z]|[\w.]{1,80}=\S|\S{1,300}\.(?:ya?ml|json)(?:\s|$))")

_PROMPT = lazy.compile(r"^(?:\([\w.-]{1,40}\) ?)?(?:[\w.-]{1,40}@[\w.-]{1,60}:[^\s$#]{1,80}[$#]|\$) ?\S")
"""A shell's prompt: what stands behind it was typed, also without options. A ``#`` alone begins a comment."""


class CommandReader:
    """Keeps the commands, each with the lines that it goes on with behind a backslash."""

    keywords: ClassVar[tuple[str, ...]] = (*_STARTS, "--", " \\")
    reads_metric_lines: ClassVar[bool] = True  # `--lr 1` looks like one

    def __init__(self, observations: Observations) -> None:
        self._commands = observations.commands
        self._open: Line | None = None

    def read(self, line: Line) -> None:
        """Take the command that a line shows, or the rest of one that began above it."""
        text = line.text
        if self._open is not None:
            last = self._open
            self._open = None
            if line.number == last.number + 1 and line.file == last.file:
                self._go_on(line, text)
                return
        if not any(start in text for start in _STARTS) or len(self._commands) >= MAX_COMMANDS:
            return
        found = _COMMAND.match(text[:MAX_CHARACTERS].rstrip())
        if found is not None and (
            _OPTION.search(found["c"]) or found["c"].endswith("\\") or _PROMPT.match(text) is not None
        ):
            self._commands.append(ShownCommand(found["c"].removesuffix("\\").strip(), line))
            self._open = line if found["c"].endswith("\\") else None

    def _go_on(self, line: Line, text: str) -> None:
        began = self._commands.pop()
        whole = f"{began.text} {text.strip().removesuffix(chr(92)).strip()}"[:MAX_CHARACTERS]
        self._commands.append(ShownCommand(whole, began.line))
        self._open = line if text.rstrip().endswith("\\") else None

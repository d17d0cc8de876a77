"""The paste prompt: paste a traceback, read the answer, act on it."""

from __future__ import annotations

import sys
from copy import copy as copied
from dataclasses import dataclass, field
from typing import Literal

from prompt_toolkit import PromptSession
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from kb.errors import TroubleshootError
from kb.text.catalog import Section
from troubleshooter.cli import clipboard
from troubleshooter.cli.pasting import terminal
from troubleshooter.cli.why import why
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.report.model import Diagnosis, FixStep, Report
from troubleshooter.report.terminal import show

_say = Section("prompt")

Key = Literal["copy", "why", "next", "verify", "paste", "quit", "help"]
KEYS: dict[str, Key] = {
    "c": "copy", "w": "why", "n": "next", "v": "verify", "p": "paste", "q": "quit", "h": "help", "?": "help",
    "copy": "copy", "why": "why", "next": "next", "verify": "verify", "paste": "paste", "quit": "quit", "exit": "quit",
    "help": "help",
}  # fmt: skip
TAKE_MORE = ("copy", "verify")
"""Keys that may be followed by a word: the number of a fix, or a Python."""


class Pasted(str):
    """A new log was pasted when a key was expected."""

    __slots__ = ()


def paste(diagnoser: Diagnoser, lang: str, top: int) -> int:
    """Ask for pastes and answer them until the user quits. Returns the exit status of the last answer."""
    print(_say("ask", lang))
    keyboard = terminal()
    code = 0
    begun = ""
    while True:
        keys = _paste_keys(pasted=bool(begun))
        session: PromptSession[str] = PromptSession(key_bindings=keys, multiline=True, input=keyboard)
        try:
            text = session.prompt("> ", prompt_continuation="  ", default=begun)
        except KeyboardInterrupt:
            begun = ""
            continue
        except EOFError:
            return code
        if not text.strip():
            continue
        report = diagnoser.report([from_text(text, "text")], lang=lang, top=max(top, 5), whole=False)
        show(report)
        code = report.exit_code
        more = Menu(diagnoser, report, text, lang, keyboard).run()
        if more is None:
            return code
        begun = more


def _paste_keys(pasted: bool) -> KeyBindings:
    """Keys of the paste prompt: a paste is taken as a whole, and Enter after it or on an empty line ends the input,
    as Ctrl-D does. ``pasted``: a paste has arrived."""
    keys = KeyBindings()

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        nonlocal pasted
        pasted = True
        event.current_buffer.insert_text(_lines(event.data))

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.text.strip() and (pasted or not buffer.document.current_line.strip() or "\n" in buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    @keys.add("c-d")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.text.strip():
            buffer.validate_and_handle()
        else:
            event.app.exit(exception=EOFError)

    return keys


def _menu_keys() -> KeyBindings:
    """Keys of the menu: a paste is a new log, unless it is only keys that were typed too early."""
    keys = KeyBindings()

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        text = _lines(event.data)
        lines = [line for line in text.splitlines() if line.strip()]
        if not all(understood(line) for line in lines):
            event.app.exit(result=Pasted(text))
            return
        event.current_buffer.insert_text("\n".join(lines))
        if text.endswith("\n"):
            event.current_buffer.validate_and_handle()

    return keys


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def understood(typed: str) -> tuple[Key, str] | None:
    """The key for a typed letter or word, and the text after it; None if there is no such key."""
    word, _, rest = typed.strip().partition(" ")
    key = KEYS.get(word.lower())
    return (key, rest.strip()) if key is not None and (not rest.strip() or key in TAKE_MORE) else None


@dataclass
class Menu:
    """The menu below an answer."""

    diagnoser: Diagnoser
    report: Report
    text: str
    lang: str
    keyboard: Input
    at: int = 0
    """The candidate that is shown."""
    _waiting: list[str] = field(default_factory=list)

    def run(self) -> str | None:
        """Show the menu until the user pastes again (returns the beginning of the paste, maybe "") or quits (returns None)."""
        session: PromptSession[str] = PromptSession(key_bindings=_menu_keys(), input=self.keyboard)
        while True:
            if not self._waiting:
                try:
                    typed = session.prompt("\n" + self.say("menu" if self.report.diagnoses else "menu-short"))
                except (EOFError, KeyboardInterrupt):
                    return None
                if isinstance(typed, Pasted):
                    return typed
                self._waiting = typed.splitlines() or [""]
            line = self._waiting.pop(0)
            if not line.strip():
                continue
            wish = understood(line)
            if wish is None:
                print(self.say("unknown", typed=line.strip()[:40]))
                print(self.say("keys"))
            elif wish[0] == "quit":
                return None
            elif wish[0] == "paste":
                return ""
            else:
                self.act(*wish)

    def say(self, key: str, **values: object) -> str:
        return _say(key, self.lang, **values)

    def act(self, key: Key, more: str) -> None:
        """Do what a key stands for, and say what was done."""
        if key == "help":
            print(self.say("keys"))
        elif not self.report.diagnoses:
            print(self.say("no-answer"))
        elif key == "copy":
            self.copy(self.report.diagnoses[self.at], more)
        elif key == "next":
            self.next()
        elif key == "why":
            observations = self.diagnoser.observe([from_text(self.text)])
            print("\n".join(why(self.diagnoser, self.report.diagnoses[self.at].id, observations, self.lang)))
        elif key == "verify":
            from troubleshooter.verify.command import verify

            try:
                verify(self.report.diagnoses[self.at].id, python=more or None, lang=self.lang)
            except TroubleshootError as error:
                print(error)

    def next(self) -> None:
        """Show the next candidate; after the last one comes the first."""
        if len(self.report.diagnoses) == 1:
            print(self.say("no-other"))
            return
        self.at = (self.at + 1) % len(self.report.diagnoses)
        alone = copied(self.report)
        alone.diagnoses = [self.report.diagnoses[self.at]]
        show(alone)

    def copy(self, chosen: Diagnosis, asked: str) -> None:
        """Copy a fix: the one with the number that was asked for, else the first one with code."""
        if not chosen.fixes:
            print(self.say("no-fixes"))
            return
        usual = next((number for number, fix in enumerate(chosen.fixes, 1) if fix.code or fix.shell), 1)
        number = int(asked) if asked.isdecimal() else usual if not asked else 0
        if not 0 < number <= len(chosen.fixes):
            print(self.say("no-fix", number=asked, count=len(chosen.fixes)))
            return
        text = _text(chosen.fixes[number - 1])
        way = clipboard.copy(text, sys.stdout)
        print(self.say(f"copied-{way}", number=number))
        if way != "desktop":
            print(text)


def _text(fix: FixStep) -> str:
    """The part of a fix to copy: its code, its command, or the sentence that says what to do."""
    return "\n".join(part for part in (fix.code, fix.shell) if part) or fix.do

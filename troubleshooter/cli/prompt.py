"""The paste prompt: paste a traceback, read the answer, act on it."""

from __future__ import annotations

import base64
import sys

from prompt_toolkit import PromptSession
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.report.model import Report
from troubleshooter.report.terminal import show

_ASK = {
    "en": "Paste a traceback or log; Enter on an empty line answers, Ctrl-D quits.",
    "zh": "粘贴 traceback 或日志；在空行按 Enter 得到答案，Ctrl-D 退出。",
}
_ACT = {
    "en": "[c]opy fix · [w]hy this entry · [n]ext candidate · [v]erify · [p]aste another · [q]uit > ",
    "zh": "[c] 复制修复 · [w] 为何是它 · [n] 下一个候选 · [v] 验证 · [p] 再粘贴 · [q] 退出 > ",
}


def paste(tool: Diagnoser, lang: str, top: int) -> int:
    """Ask, answer, act, until the user quits; the last answer's exit status."""
    print(_ASK[lang])
    code = 0
    session: PromptSession[str] = PromptSession(key_bindings=_keys(), multiline=True)
    while True:
        try:
            text = session.prompt("> ", prompt_continuation="  ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return code
        if not text.strip():
            continue
        report = tool.report([from_text(text, "text")], lang=lang, top=max(top, 5), whole=False)
        show(report)
        code = report.exit_code
        if not _act(report, tool, text, lang):
            return code


def _keys() -> KeyBindings:
    """A paste comes as a whole (bracketed paste); Enter after it, or on an empty line, ends the input."""
    keys = KeyBindings()

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(event.data.replace("\r\n", "\n").replace("\r", "\n"))

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.text.strip() and (not buffer.document.current_line.strip() or "\n" in buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys


def _act(report: Report, tool: Diagnoser, text: str, lang: str) -> bool:
    """What the user wants to do with the answer; False to quit, True for another paste."""
    at = 0
    actions: PromptSession[str] = PromptSession()
    while True:
        try:
            wish = actions.prompt("\n" + _ACT[lang]).strip().lower()[:1]
        except (EOFError, KeyboardInterrupt):
            return False
        if wish == "q":
            return False
        if wish == "p":
            return True
        if not report.diagnoses:
            continue
        chosen = report.diagnoses[at]
        if wish == "c":
            fix = next((f for f in chosen.fixes if f.code or f.shell), None)
            print(_copy((fix.shell or fix.code or "") if fix else ""))
        elif wish == "n":
            at = (at + 1) % len(report.diagnoses)
            rest = report.diagnoses[at:] + report.diagnoses[:at]
            show(Report(**{**{f: getattr(report, f) for f in report.__slots__}, "diagnoses": rest[:1]}))
        elif wish == "w":
            _why(tool, chosen.id, text)
        elif wish == "v":
            from troubleshooter.verify.command import verify

            verify(chosen.id, lang=lang)


def _copy(text: str) -> str:
    """Put the text on the clipboard by the terminal's own sequence (OSC 52), and show it for terminals without."""
    if not text:
        return "nothing to copy: the fix is no code"
    sys.stdout.write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
    return text


def _why(tool: Diagnoser, id_: str, text: str) -> None:
    from troubleshooter.explain import explain

    found = tool.knowledge.find(id_)
    if found is None:
        return
    observations = tool.observe([from_text(text)])
    for one in explain(*found, observations, tool.knowledge):
        print(f"symptom {one.symptom}: {'holds' if one.holds else 'fails'}")
        for outcome in (*one.trial.require, *one.trial.support, *one.trial.exclude):
            print(f"  {outcome.state:12} {outcome.said}")

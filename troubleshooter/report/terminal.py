"""The report on a terminal: wrapped to the window's width (double-width characters count twice), coloured if wanted."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from rich.text import Text

from kb.text.catalog import language
from troubleshooter.report.console import Plain, new_console
from troubleshooter.report.fill import safe
from troubleshooter.report.model import Diagnosis, FixStep, Report
from troubleshooter.report.stopped import advice, headline, lines, silence
from troubleshooter.report.way import steps
from troubleshooter.report.words import first_rank, health, left_out, say

if TYPE_CHECKING:
    from rich.console import Console

    from troubleshooter.report.parts import Explained, Stopped

_STYLE = {"certain": "bold red", "likely": "bold yellow", "possible": "bold cyan"}
_BOLD = re.compile(r"\*\*(.+?)\*\*|`([^`\n]+)`")
WIDEST = 110
"""Text is wrapped at this many characters even in a wider window: longer lines are hard to read."""


def show(
    report: Report, *, several: bool = False, first: bool = True, console: Console | Plain | None = None,
    watched: bool = False,
) -> None:  # fmt: skip
    """Print the report. ``watched``: of a run that was watched for its end and for hangs, which its caller tells."""
    console = console or new_console()
    if several:
        if not first:
            console.print()
        console.rule(Text(safe(", ".join(report.input["files"][:3]))), align="left", style="dim")
    Page(report, console, watched).show()


def separate() -> None:
    """Draw a line between the log that was passed through and the report. The log may lack its last line break."""
    console = new_console()
    console.print()
    console.rule(Text("troubleshoot"), align="left", style="dim")


def text(report: Report) -> str:
    """The report without colours, as wide as the terminal, or 80 characters."""
    import shutil  # slow to import, and the command line does without it (docs/decisions/0003)

    out = StringIO()
    show(report, console=Plain(shutil.get_terminal_size((80, 24)).columns, out))
    return out.getvalue().rstrip("\n")


class Page:
    """Prints one report, part by part."""

    def __init__(self, report: Report, console: Console | Plain, watched: bool = False) -> None:
        self.report = report
        self.watched = watched
        self.console = console
        self.lang = report.lang
        self.width = min(console.width, WIDEST)

    def say(self, key: str, **values: object) -> str:
        return say(key, self.lang, **values)

    def told(self, key: str, text: str) -> str:
        return self.say(key) + self.say("colon") + text

    def show(self) -> None:
        report = self.report
        if report.stopped is not None:
            self.stopped(report.stopped)
        if report.diagnoses:
            main, *others = report.diagnoses
            before = bool(report.explained) and _comes_first(report)
            if before:
                self.second_view(report)
                self.console.print()
            self.diagnosis(main)
            for key, kind in (("also", "failure"), ("also-harmless", "harmless")):
                if some := [other for other in others if other.kind == kind]:
                    self.head(key)
                for other in some:
                    word = self.say(other.confidence) + self.say("colon") if kind == "failure" else ""
                    self.item(word + other.title, other.id)
            self.values()
            self.console.print()
            if main.probe:
                self.print(self.told("verify", f"troubleshoot verify {main.id}"), "dim")
            self.print(self.told("page", f"troubleshoot show {main.id}"), "dim")
            if report.explained and not before:
                self.console.print()
                self.second_view(report)
        elif report.unexplained is not None:
            self.unexplained()
        elif report.stopped is None and not self.watched:
            self.print(_marked(health(report)), "bold green" if report.ending["state"] == "ended" else "bold")
        if report.dated:
            from troubleshooter.report.explanation import releases_by_messages

            for sentence in releases_by_messages(report):
                self.print(sentence, "dim")
        for package, checked in report.facts.get("newer_than_checked", {}).items():
            shown = report.facts["versions"][package]
            self.print(self.say("newer", package=package, shown=shown, checked=checked), "dim")
        for problem in report.input["problems"]:
            if problem["problem"] in ("damaged", "no-facts"):
                self.print(
                    self.say(problem["problem"], file=safe(problem["file"]), detail=safe(problem["detail"], 200)),
                    "yellow",
                )
        for item in report.ignored:
            self.print(self.told("ignored", item["id"] + self.say("aside", text=item["reason"])), "dim")

    def diagnosis(self, item: Diagnosis) -> None:
        word = self.say("harmless") if item.kind == "harmless" else self.say(item.confidence)
        style = "bold green" if item.kind == "harmless" else _STYLE[item.confidence]
        self.print(Text.assemble((word + self.say("colon"), style), (item.title, "bold")))
        parts = [item.id]
        if item.kind == "failure":
            parts += [self.say(item.severity), self.say(f"retry-{item.retry}")]
        self.print(" · ".join(parts), "dim", indent=2)
        if (first := self.report.first_failure) is not None and first["rank"] is not None:
            self.print(first_rank(first, self.report.lang), indent=2)
        self.head("shows")
        many = len(self.report.input["files"]) > 1
        for shown in item.evidence:
            place = shown.where or f"{shown.line}"
            place = f"{safe(shown.file)}:{place}" if many and shown.line else place
            self.evidence(place, shown.text)
        if item.severity in ("wrong-results", "degraded", "none") and self.report.metrics:
            from troubleshooter.report.sparkline import sparklines

            for curve in sparklines(self.report):
                self.print(curve, "cyan", indent=9, hanging=2)
        self.head("why")
        if item.summary:
            self.paragraphs(item.summary)
        self.paragraphs(item.cause)
        if item.versions["affected"]:
            ranges = ", ".join(f"{package} {range_}" for package, range_ in item.versions["affected"].items())
            state = item.versions["state"]
            whose = "installed" if item.versions.get("from") == "environment" else "versions"
            note = self.say("aside", text=self.say(f"{whose}-{state}")) if state != "unknown" else ""
            self.print(self.told("affected", f"{ranges}{note}"), indent=2)
        if item.fixes:
            self.head("do")
            for number, fix in enumerate(item.fixes, 1):
                self.fix(number, fix)
        for one in left_out(item, self.lang):
            self.print(one, "dim", indent=2)
        if item.advice:
            self.head("ignore-advice")
            for advice in item.advice:
                self.item(f"{advice['printed']!r}: {advice['because']}")

    def fix(self, number: int, fix: FixStep) -> None:
        risk = "" if fix.risk == "safe" else f"  [{self.say(fix.risk)}]"
        self.print(Text.assemble((f"{number}. ", "bold"), _marked(fix.do), (risk, "yellow")), indent=2, hanging=3)
        if fix.why:
            self.print(_marked(fix.why), "dim", indent=5)
        for code in (fix.code, fix.shell):
            for line in (code or "").splitlines():
                # Never wrapped, so that the reader can paste it.
                self.console.print(Text("       " + line, style="cyan"), soft_wrap=True)

    def stopped(self, told: Stopped) -> None:
        """A run that was stopped: one sentence above a diagnosis, else everything that is known about the stop."""
        short = self.report.exit_code == 1
        head = headline(told, self.lang) + self.say("stop")
        if short:
            self.print(head + silence(told, self.lang), "dim")
        else:
            self.print(head, "bold yellow")
            for line in lines(told, self.lang):
                self.print(line, indent=2, hanging=2)
            if do := advice(told, self.lang, watched=self.watched):
                self.head("do")
            for line in do:
                self.item(line)
        if self.report.diagnoses or self.report.unexplained is not None:
            self.console.print()

    def unexplained(self) -> None:
        unknown = self.report.unexplained
        assert unknown is not None
        if self.report.explained:
            from troubleshooter.report.explanation import say as told

            self.print(told("explained", self.lang) + self.say("stop"), "bold magenta")
        else:
            self.print(self.say("unknown") + self.say("stop"), "bold yellow")
        text = f"{unknown['exception']}: {unknown['message']}" if unknown["message"] else unknown["exception"]
        self.evidence(str(unknown["line"]), text)
        for step in steps(unknown["way"], self.lang):
            self.print(step, indent=9, hanging=2)
        if self.report.explained:
            self.explained(self.report.explained[0])
        self.values()
        if self.report.crash or self.report.explained:
            self.console.print()
        read = self.say("read", count=unknown["read"]["lines"]) + self.say("stop")
        self.print(read[:1].upper() + read[1:], "dim", indent=0 if self.report.explained else 2)
        if unknown["nearest"]:
            self.head("nearest")
            for near in unknown["nearest"]:
                self.item(near["title"], near["id"])
        self.console.print()
        self.command("draft", f"troubleshoot new {self.log_word()}")

    def values(self) -> None:
        """The values of variables, if there are crash facts."""
        if self.report.crash:
            from troubleshooter.report.crash import lines as lines_of_values

            self.console.print()
            for line in lines_of_values(self.report):
                is_value = line.startswith("- ")
                self.print(_marked(line), "" if is_value else "bold", indent=2 * is_value, hanging=2 * is_value)

    def second_view(self, report: Report) -> None:
        """The explanation beside a diagnosis that is only possible."""
        from troubleshooter.report.explanation import say as told

        self.print(told("second-view", self.lang), "bold magenta")
        self.explained(report.explained[0])

    def explained(self, found: Explained) -> None:
        """The explanation from the code that raised a failure. It is not a diagnosis, and says so."""
        from troubleshooter.report.explanation import changes_heading, dependencies, sentences
        from troubleshooter.report.explanation import say as told

        self.head("why")
        for sentence in sentences(found, self.lang):
            self.print(_marked(sentence), indent=2, hanging=2)
        if found["arguments"]:
            self.console.print()
            self.print(told("depends", self.lang), "bold")
            for one in dependencies(found, self.lang):
                self.item(one)
        if found["suggestions"]:
            self.console.print()
            self.print(changes_heading(found, self.lang), "bold")
            for number, step in enumerate(found["suggestions"], 1):
                self.print(Text.assemble((f"{number}. ", "bold"), _marked(step["do"])), indent=2, hanging=3)
                if step["code"] and f"`{step['code']}`" not in step["do"]:
                    self.console.print(Text("       " + step["code"], style="cyan"), soft_wrap=True)

    # --- pieces ---

    def log_word(self) -> str:
        """The log's name as a word for a shell."""
        name = self.report.input["files"][0]
        if name in ("standard input", "text", "exception"):
            return "LOG"
        from troubleshooter.printable import shell_word

        return shell_word(f"./{name}" if name.startswith("-") else name)

    def command(self, key: str, command: str) -> None:
        """A command to paste, so it is never wrapped: it stands on its own line where the window is too narrow."""
        text = Text(self.told(key, command), "dim")
        if text.cell_len <= self.width:
            self.console.print(text, soft_wrap=True)
            return
        self.print(self.say(key) + self.say("colon").rstrip(), "dim")
        self.console.print(Text("  " + command, "dim"), soft_wrap=True)

    def head(self, key: str) -> None:
        self.console.print()
        self.print(self.say(key), "bold")

    def item(self, text: str, id_: str = "") -> None:
        line = Text.assemble("- ", _marked(text))
        if id_:
            line.append(f"  ({id_})", "dim")
        self.print(line, indent=2, hanging=2)

    def evidence(self, place: str, text: str) -> None:
        limit = max(40, 3 * self.width)
        text = text if len(text) <= limit else text[: limit - 1] + "…"
        label = f"{place:>6}  "
        if cell_len(label) > self.width // 3:  # the path of a run's folder would leave no room for the text
            self.console.print(Text(" " + place, style="dim"), soft_wrap=True)
            self.print(text, indent=9, hanging=2)
            return
        self.print(Text.assemble((label, "dim"), text), indent=1, hanging=cell_len(label))

    def paragraphs(self, text: str) -> None:
        for block in text.strip().split("\n\n"):
            joined = language(self.lang).between
            self.print(_marked(joined.join(line.strip() for line in block.splitlines())), indent=2)

    def print(self, text: str | Text, style: str = "", *, indent: int = 0, hanging: int = 0) -> None:
        """Wrapped to the page, continued lines under the text."""
        body = text if isinstance(text, Text) else Text(text)
        if style:
            body.stylize(style)
        pad = " " * indent
        console = cast(
            "Console", self.console
        )  # `Text.wrap` needs a console only for justified text, which this is not
        wrapped = body.wrap(console, max(20, self.width - indent - hanging))
        for number, line in enumerate(wrapped):
            line.rstrip()
            self.console.print(Text.assemble(pad + (" " * hanging if number else ""), line), soft_wrap=True)


def _comes_first(report: Report) -> bool:
    from troubleshooter.report.explanation import comes_first

    return comes_first(report)


def _marked(text: str) -> Text:
    """The little Markdown that entries use in running text: bold and code."""
    out = Text()
    at = 0
    for found in _BOLD.finditer(text):
        out.append(text[at : found.start()])
        out.append(found[1] or found[2], "bold" if found[1] else "cyan")
        at = found.end()
    out.append(text[at:])
    return out

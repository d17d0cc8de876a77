"""The commands beside a diagnosis: what each is for, what it takes, and the function that does it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from troubleshooter.cli.options import DIAGNOSE, ENTRIES, HISTORY, IGNORE, LANG, PROBES, SHORT_FORMAT, Option
from troubleshooter.cli.settings import entry_folders, language, probe_folders


class Command:
    """A command. ``work`` is its function as ``module:name``; it takes the options by name and returns the exit status.

    The catalogue holds what the command is for, in the section ``commands`` under its name. ``own_exits``: its exit statuses
    differ from those of a diagnosis; the section ``exits`` explains them.
    """

    __slots__ = ("name", "options", "own_exits", "work")

    def __init__(self, name: str, options: tuple[Option, ...], work: str, own_exits: bool = False) -> None:
        self.name = name
        self.options = options
        self.work = work
        self.own_exits = own_exits

    def run(self, values: dict[str, Any]) -> int:
        """Call the function with these values of the options, and return the exit status."""
        if "lang" in values:
            values["lang"] = language(values["lang"])
        if (
            "entries" in values and self.name != "check"
        ):  # `check` checks only what it is given, whatever folders the settings name
            values["entries"] = entry_folders(values["entries"])
        if "probes" in values:
            values["probes"] = probe_folders(values["probes"])
        module, _, name = self.work.partition(":")
        status: int = getattr(import_module(module), name)(**values)
        return status


QUESTIONS = ("failures", "new", "versions", "hosts", "gpus", "upgrade", "fix", "unknown", "runs")
"""What a history can be asked (`history.questions`, which costs more to import than a start may take)."""
ENTRY = Option("entry", completes="entry", metavar="ENTRY", required=True, help="entry")
FOLDER_OF_ENTRIES = Option(
    "to", "--to", kind="path", metavar="DIR", default=Path("entries"),
    help="to",
)  # fmt: skip
REDACT = Option(
    "redacted", "--redact/--no-redact", kind="flag", default=True,
    help="redact",
)  # fmt: skip
AREA = Option("area", "--area", completes="area", help="area")

COMMANDS = (
    Command(
        "diagnose",
        DIAGNOSE,
        "troubleshooter.cli.calls:diagnose",
    ),
    Command(
        "run",
        (
            Option("command", many=True, required=True, rest=True, metavar="COMMAND", help="run.command"),
            Option("log", "--log", kind="path", metavar="DIR", help="run.log"),
            Option("stop_early", "--stop-early", kind="flag", help="run.stop-early"),
            Option("on_failure", "--on-failure", metavar="CMD", help="run.on-failure"),
            Option(
                "hang_after", "--hang-after", kind="number", metavar="SECONDS", least=1,
                help="run.hang-after",
            ),
            Option("hook", "--hook/--no-hook", kind="flag", default=True, help="run.hook"),
            Option("retry", "--retry", kind="whole", metavar="N", default=0, least=0, most=100, help="run.retry"),
            HISTORY, ENTRIES, LANG,
        ),
        "troubleshooter.supervise.command:run",
        own_exits=True,
    ),
    Command(
        "hang",
        (
            Option("targets", many=True, required=True, metavar="PID|DUMP", help="hang.targets"),
            LANG, SHORT_FORMAT,
        ),
        "troubleshooter.hang.command:hang",
        own_exits=True,
    ),
    Command(
        "explain",
        (
            ENTRY,
            Option("log", kind="path", help="explain.log"),
            Option("reading", "--reading", kind="flag", help="explain.reading"),
            ENTRIES, LANG,
        ),
        "troubleshooter.cli.calls:explain",
        own_exits=True,
    ),
    Command(
        "list",
        (
            AREA,
            Option("kind", "--kind", choices=("failure", "harmless"), help="list.kind"),
            Option("status", "--status", choices=("draft", "unread", "reviewed", "proven", "retired"), help="list.status"),
            Option("sources", "--sources", kind="flag", help="list.sources"),
            ENTRIES, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.cli.knowledge:list_",
    ),
    Command(
        "show",
        (ENTRY, ENTRIES, LANG, SHORT_FORMAT),
        "troubleshooter.cli.knowledge:show",
    ),
    Command(
        "search",
        (
            Option(
                "words", many=True, required=True, metavar="WORD",
                help="search.words",
            ),
            ENTRIES, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.cli.knowledge:search",
        own_exits=True,
    ),
    Command(
        "check",
        (
            Option(
                "folders", kind="path", many=True, metavar="FOLDER",
                help="check.folder",
            ),
            Option(
                "healthy", "--healthy", kind="path", metavar="DIR",
                help="check.healthy",
            ),
            Option("stamp", "--stamp", kind="flag", help="check.stamp"),
            Option("mark", "--mark", kind="flag", help="check.mark"),
            Option("schema", "--schema", kind="flag", help="check.schema"),
            Option("report_schema", "--report-schema", kind="flag", help="check.report-schema"),
            Option(
                "rerun", "--rerun", kind="whole", metavar="N", default=0,
                help="check.rerun",
            ),
            Option("claims", "--notes", kind="flag", help="check.claims"),
            Option("changed", "--changed", kind="flag", help="check.changed"),
            Option("proof", "--proof", kind="flag", help="check.proof"),
            ENTRIES, PROBES,
        ),
        "troubleshooter.cli.calls:check",
        own_exits=True,
    ),
    Command(
        "new",
        (
            Option(
                "log", required=True,
                help="new.log",
            ),
            FOLDER_OF_ENTRIES,
            Option("area", "--area", completes="area", default="training", help="new.area"),
            Option("id_", "--id", metavar="ID", help="new.id"),
            REDACT,
        ),
        "troubleshooter.cli.drafts:new",
    ),
    Command(
        "wrong",
        (
            Option(
                "entry", completes="entry", required=True, metavar="ENTRY",
                help="wrong.entry",
            ),
            Option("log", required=True, help="wrong.log"),
            FOLDER_OF_ENTRIES,
            REDACT,
        ),
        "troubleshooter.cli.drafts:wrong",
    ),
    Command(
        "verify",
        (
            Option(
                "target", completes="entry or file", metavar="ENTRY|LOG",
                help="verify.target",
            ),
            Option("python", "--python", metavar="PYTHON", help="verify.python"),
            Option(
                "device", "--device", metavar="DEVICE", default="auto", suggested=("auto", "cpu", "cuda"),
                help="verify.device",
            ),
            Option(
                "timeout", "--timeout", kind="number", metavar="SECONDS", default=60.0, least=1,
                help="verify.timeout",
            ),
            Option(
                "model", "--model", kind="path", metavar="PATH",
                help="verify.model",
            ),
            Option("record", "--record", kind="flag", help="verify.record"),
            Option("record_to", "--record-to", kind="path", metavar="DIR", help="verify.record-to"),
            Option("show_code", "--show-code", kind="flag", help="verify.show-code"),
            Option("script", "--script", kind="path", metavar="FILE", help="verify.script"),
            ENTRIES, PROBES, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.cli.calls:verify",
        own_exits=True,
    ),
    Command(
        "bisect",
        (
            Option("target", completes="entry or file", metavar="ENTRY|LOG", help="bisect.target"),
            Option("command", rest=True, metavar="-- COMMAND", help="bisect.command"),
            Option("packages", "--package", many=True, metavar="NAME", help="bisect.package"),
            Option("good", "--good", many=True, metavar="VERSION", help="bisect.good"),
            Option("bad", "--bad", many=True, metavar="VERSION", help="bisect.bad"),
            Option("before", "--from", kind="path", metavar="LOCK", help="bisect.from"),
            Option("after", "--to", kind="path", metavar="LOCK", help="bisect.to"),
            Option("same", "--same", metavar="TEXT", help="bisect.same"),
            Option("python", "--python", metavar="PYTHON", help="bisect.python"),
            Option(
                "timeout", "--timeout", kind="number", metavar="SECONDS", default=600.0, least=1, help="bisect.timeout"
            ),
            Option("again", "--again", kind="flag", help="bisect.again"),
            Option("record", "--record", kind="flag", help="bisect.record"),
            ENTRIES, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.bisect.command:bisect",
        own_exits=True,
    ),
    Command(
        "scan",
        (
            Option(
                "paths", many=True, required=True, metavar="PATH",
                help="scan.paths",
            ),
            Option("kept", "--record", kind="path", metavar="FILE", help="scan.kept"),
            Option(
                "summary_only", "--summary", kind="flag",
                help="scan.summary-only",
            ),
            Option(
                "workers", "--jobs", "-j", kind="whole", metavar="N", least=1,
                help="scan.workers",
            ),
            Option("on", "--on", metavar="RAY", help="scan.on"),
            Option(
                "stalled", "--stalled-after", kind="number", metavar="SECONDS", default=600.0, least=1,
                help="scan.stalled",
            ),
            Option("listed", "--list", kind="flag", help="scan.listed"),
            HISTORY, ENTRIES, IGNORE, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.scan.command:run",
    ),
    Command(
        "history",
        (
            Option("question", choices=QUESTIONS, default=QUESTIONS[0], help="history.question"),
            Option("history", "--history", kind="path", metavar="FILE", help="history.file"),
            Option("cause", "--cause", completes="entry", metavar="ID", help="history.cause"),
            Option("since", "--since", metavar="DATE", help="history.since"),
            Option("at", "--at", metavar="DATE", help="history.at"),
            Option("days", "--days", kind="whole", metavar="N", default=14, least=1, most=36500, help="history.days"),
            Option("package", "--package", metavar="NAME", help="history.package"),
            Option("host", "--host", metavar="NAME", help="history.host"),
            Option("job", "--job", metavar="NAME", help="history.job"),
            Option("limit", "--limit", kind="whole", metavar="N", default=20, least=1, most=1000000, help="history.limit"),
            Option("format", "--format", choices=("table", "json", "csv"), default="table", help="history.format"),
            LANG,
        ),
        "troubleshooter.history.command:history",
        own_exits=True,
    ),
    Command(
        "watch",
        (
            Option("paths", many=True, required=True, metavar="FOLDER|URL", help="watch.paths"),
            Option("to", "--to", kind="path", metavar="FILE", help="watch.to"),
            Option("webhook", "--webhook", metavar="URL", help="watch.webhook"),
            Option("state_file", "--state", kind="path", metavar="FILE", help="watch.state"),
            Option("every", "--every", kind="number", metavar="SECONDS", default=10.0, least=0, help="watch.every"),
            Option("once", "--once", kind="flag", help="watch.once"),
            Option("from_now", "--from-now", kind="flag", help="watch.from-now"),
            Option("workers", "--jobs", "-j", kind="whole", metavar="N", least=1, help="scan.workers"),
            ENTRIES, IGNORE, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.scan.watch.command:watch",
        own_exits=True,
    ),
    Command(
        "browse",
        (
            Option(
                "entry", completes="entry", metavar="ENTRY",
                help="browse.entry",
            ),
            Option("port", "--port", kind="whole", metavar="N", least=0, most=65535, help="browse.port"),
            Option("next_port", "--next-port", kind="flag", help="browse.next-port"),
            Option("host", "--host", help="browse.host"),
            Option("history", "--history", kind="path", metavar="FILE", help="browse.history"),
            Option("open_browser", "--open/--no-open", kind="flag", default=True, help="browse.open-browser"),
            ENTRIES, LANG,
        ),
        "troubleshooter.browse.command:browse",
    ),
    Command(
        "build-site",
        (
            Option(
                "folder", kind="path", required=True, metavar="DIR",
                help="build-site.folder",
            ),
            Option(
                "base_url", "--base-url", metavar="URL", default="",
                help="build-site.base-url",
            ),
            ENTRIES,
        ),
        "troubleshooter.browse.command:build_site",
    ),
)  # fmt: skip

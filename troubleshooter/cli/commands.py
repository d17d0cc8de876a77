"""The commands beside a diagnosis: what each is for, what it takes, and the function that does it."""

from __future__ import annotations

import gc
from importlib import import_module
from pathlib import Path
from typing import Any

from troubleshooter.cli.options import DIAGNOSE, ENTRIES, IGNORE, LANG, SHORT_FORMAT, Help, Option, Options
from troubleshooter.cli.settings import language

SELDOM = 100_000
"""Garbage is collected after this many new objects: nearly all that is made from one log is kept until the end
(docs/decisions/0003)."""


class Command:
    """``work`` is the function as ``module:name``: it takes the options by name and returns the exit status. ``exits`` says
    what the statuses mean where they are not those of a diagnosis."""

    __slots__ = ("exits", "help", "name", "options", "work")

    def __init__(
        self, name: str, help: Help, options: tuple[Option, ...], work: str, exits: Help | None = None
    ) -> None:
        self.name = name
        self.help = help
        self.options = options
        self.work = work
        self.exits = exits

    def run(self, values: dict[str, Any]) -> int:
        """Do the work with these values of the options; the exit status."""
        if "lang" in values:
            values["lang"] = language(values["lang"])
        module, _, name = self.work.partition(":")
        status: int = getattr(import_module(module), name)(**values)
        return status


ENTRY = Option("entry", completes="entry", metavar="ENTRY", required=True, help=("The entry's id.", "条目的 id。"))
FOLDER_OF_ENTRIES = Option(
    "to", "--to", kind="path", metavar="DIR", default=Path("entries"),
    help=("The folder of entries to write to.", "写入的条目目录。"),
)  # fmt: skip
REDACT = Option(
    "redacted", "--redact/--no-redact", kind="flag", default=True,
    help=("Take keys, names and addresses out of all that is written.", "从写出的内容中去掉密钥、姓名和地址。"),
)  # fmt: skip
AREA = Option("area", "--area", completes="area", help=("Only this area.", "只列出这个领域。"))

COMMANDS = (
    Command(
        "diagnose",
        ("Diagnose logs (the same as no command).", "诊断日志（与不写命令相同）。"),
        DIAGNOSE,
        "troubleshooter.cli.commands:diagnose",
    ),
    Command(
        "explain",
        ("Condition by condition: why an entry fits a log or not.", "逐条说明一个条目为何符合或不符合一份日志。"),
        (
            ENTRY,
            Option("log", required=True, kind="path", help=("A log, or - for standard input.", "日志，或 -（标准输入）。")),
            ENTRIES, LANG,
        ),
        "troubleshooter.cli.knowledge:explain",
        ("0 the entry fits, 3 it does not, 2 unusable.", "0 符合，3 不符合，2 无法使用。"),
    ),
    Command(
        "list",
        ("All entries, by area.", "按领域列出所有条目。"),
        (
            AREA,
            Option("kind", "--kind", choices=("failure", "harmless"), help=("Only this kind.", "只列出这一类。")),
            ENTRIES, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.cli.knowledge:list_",
    ),
    Command(
        "show",
        ("One entry: symptoms, cause, fixes, sources.", "显示一个条目：症状、原因、修复、来源。"),
        (ENTRY, ENTRIES, LANG, SHORT_FORMAT),
        "troubleshooter.cli.knowledge:show",
    ),
    Command(
        "search",
        ("Search entries in both languages.", "用两种语言搜索条目。"),
        (
            Option(
                "words", many=True, required=True, metavar="WORD",
                help=("Words of a title, message or cause; typing errors are fine.", "标题、报错或原因中的词；允许拼写错误。"),
            ),
            ENTRIES, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.cli.knowledge:search",
        ("0 found, 3 nothing similar, 2 unusable.", "0 找到，3 没有相近的，2 无法使用。"),
    ),
    Command(
        "check",
        ("Check entries: form, samples, near misses, sources.", "检查条目：格式、样例、近似反例、来源。"),
        (
            Option(
                "folder", kind="path", metavar="FOLDER",
                help=("Entries to check: all, an area or one (default: the shipped ones).", "要检查的条目：全部、一个领域或一个（默认：内置条目）。"),
            ),
            Option(
                "healthy", "--healthy", kind="path", metavar="DIR",
                help=("Logs on which no failure may be diagnosed.", "不应诊断出任何故障的日志。"),
            ),
            Option("stamp", "--stamp", kind="flag", help=("Mark the translations as fitting the English text.", "把译文标记为与英文一致。")),
            Option("mark", "--mark", kind="flag", help=("Mark in samples.log the lines that are evidence now.", "在 samples.log 中标出当前作为证据的行。")),
            Option("schema", "--schema", kind="flag", help=("Print the JSON Schema of the entry form.", "打印条目格式的 JSON Schema。")),
            Option("report_schema", "--report-schema", kind="flag", help=("Print the JSON Schema of the report.", "打印报告的 JSON Schema。")),
            Option(
                "rerun", "--rerun", kind="whole", metavar="N", default=0,
                help=("Run the probes of this many recorded claims again.", "重跑这么多条已记录结论的探针。"),
            ),
            Option("claims", "--notes", kind="flag", help=("List claims without a recorded run, too.", "同时列出没有运行记录的结论。")),
            Option("changed", "--changed", kind="flag", help=("Only what differs from the main branch.", "只检查与主分支不同的条目。")),
            ENTRIES,
        ),
        "troubleshooter.cli.commands:check",
        ("0 no problems, 2 problems (each on its line).", "0 没有问题，2 有问题（每行一个）。"),
    ),
    Command(
        "new",
        ("Start an entry from a log that no entry explains.", "从没有条目能解释的日志起草一个条目。"),
        (
            Option(
                "log", required=True,
                help=("A log that no entry explains, or - for standard input.", "没有条目能解释的日志，或 -（标准输入）。"),
            ),
            FOLDER_OF_ENTRIES,
            Option("area", "--area", completes="area", default="training", help=("The entry's area.", "条目所属的领域。")),
            Option("id_", "--id", metavar="ID", help=("The entry's id (default: from the message).", "条目的 id（默认取自报错）。")),
            REDACT,
        ),
        "troubleshooter.cli.drafts:new",
    ),
    Command(
        "wrong",
        ("Keep the log of a wrong diagnosis as a near miss.", "把误诊的日志保存为近似反例。"),
        (
            Option(
                "entry", completes="entry", required=True, metavar="ENTRY",
                help=("The id of the diagnosis that was wrong.", "误诊的条目 id。"),
            ),
            Option("log", required=True, help=("The log that it was given for.", "被误诊的日志。")),
            FOLDER_OF_ENTRIES,
            REDACT,
        ),
        "troubleshooter.cli.drafts:wrong",
    ),
    Command(
        "verify",
        ("Prove a diagnosis in your environment by a small probe.", "用小探针在你的环境里验证诊断。"),
        (
            Option(
                "target", completes="entry or file", metavar="ENTRY|LOG",
                help=("An entry's id, or a log (- for standard input).", "条目 id，或日志（- 为标准输入）。"),
            ),
            Option("python", "--python", metavar="PYTHON", help=("Training environment: its folder (venv, conda) or Python.", "训练环境：其目录（venv、conda）或 Python。")),
            Option(
                "device", "--device", metavar="DEVICE", default="auto", suggested=("auto", "cpu", "cuda"),
                help=("auto, cpu, cuda or cuda:N.", "auto、cpu、cuda 或 cuda:N。"),
            ),
            Option(
                "timeout", "--timeout", kind="number", metavar="SECONDS", default=60.0, least=1,
                help=("Seconds that the probe may take.", "探针最多可用的秒数。"),
            ),
            Option(
                "model", "--model", kind="path", metavar="PATH",
                help=("Your own local weights or config, where a probe can use them.", "你自己的本地权重或配置（探针能用时）。"),
            ),
            Option("record", "--record", kind="flag", help=("Keep the result beside the entry (or in your data folder).", "把结果保存在条目旁（或你的数据目录）。")),
            Option("record_to", "--record-to", kind="path", metavar="DIR", help=("Keep the result in this folder.", "把结果保存在这个目录。")),
            Option("show_code", "--show-code", kind="flag", help=("Show the few lines that a person could run by hand.", "显示可以手动运行的几行代码。")),
            ENTRIES, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.cli.commands:verify",
        (
            "0 not here, 1 confirmed here, 3 not proven (cannot tell, or only this kind of failure was seen), 2 unusable. "
            "Without a target: 3 when installed versions are in the affected range of an entry, else 0.",
            "0 此处没有，1 在此确认，3 未证实（无法判断，或只看到同类故障），2 无法使用。"
            "不带目标：已装版本在某条目的受影响范围内为 3，否则为 0。",
        ),
    ),
    Command(
        "scan",
        ("Diagnose thousands of job logs and sum them up.", "诊断成千上万份作业日志并汇总。"),
        (
            Option(
                "paths", many=True, required=True, metavar="PATH",
                help=("Logs, folders or patterns; with --summary: records of scans.", "日志、目录或通配；配合 --summary 时为扫描记录。"),
            ),
            Option("kept", "--record", kind="path", metavar="FILE", help=("Where done jobs are kept (JSON Lines).", "已完成作业的记录文件（JSON Lines）。")),
            Option(
                "summary_only", "--summary", kind="flag",
                help=("Only sum up records: cat them together as you like.", "只汇总记录（可用 cat 任意拼接）。"),
            ),
            Option(
                "workers", "--jobs", "-j", kind="whole", metavar="N", least=1,
                help=("Processes (default: all cores).", "进程数（默认：所有核）。"),
            ),
            ENTRIES, IGNORE, LANG, SHORT_FORMAT,
        ),
        "troubleshooter.scan.command:run",
    ),
    Command(
        "browse",
        ("The fix pages in your browser, with a box for a log.", "在浏览器里看修复页面，可粘贴日志。"),
        (
            Option(
                "entry", completes="entry", metavar="ENTRY",
                help=("The id of the entry to open (default: the start page).", "要打开的条目 id（默认：首页）。"),
            ),
            Option("port", "--port", kind="whole", metavar="N", least=0, most=65535, help=("The port (default: 8765).", "端口（默认 8765）。")),
            Option("next_port", "--next-port", kind="flag", help=("Take the next free port if it is in use.", "端口被占用时取下一个空闲端口。")),
            Option("host", "--host", help=("Another address than this machine's loopback.", "本机回环以外的地址。")),
            Option("open_browser", "--open/--no-open", kind="flag", default=True, help=("Open the browser.", "打开浏览器。")),
            ENTRIES, LANG,
        ),
        "troubleshooter.browse.command:browse",
    ),
    Command(
        "build-site",
        ("Write the fix pages as static files.", "把修复页面写成静态文件。"),
        (
            Option(
                "folder", kind="path", required=True, metavar="DIR",
                help=("A new folder, or one that an earlier run wrote.", "新目录，或以前生成的目录。"),
            ),
            Option(
                "base_url", "--base-url", metavar="URL", default="",
                help=("The site's address, for sitemap.xml and canonical links.", "站点地址，用于 sitemap.xml 和规范链接。"),
            ),
            ENTRIES,
        ),
        "troubleshooter.browse.command:build_site",
    ),
)  # fmt: skip


def diagnose(**given: Any) -> int:
    """The diagnosis. What is imported for it is no garbage, and nearly all that it makes is kept until the end."""
    gc.disable()
    from troubleshooter.cli.run import run

    gc.freeze()
    gc.set_threshold(SELDOM)
    gc.enable()
    return run(Options(**given))


def check(schema: bool, report_schema: bool, **given: Any) -> int:
    """`author.check`, or a schema printed."""
    from troubleshooter.cli import author

    return author.schema(report_schema) if schema or report_schema else author.check(**given)


def verify(record: bool, record_to: Path | None, **given: Any) -> int:
    """`troubleshooter.verify.command.verify`, whose one ``record`` is a flag or a folder."""
    from troubleshooter.verify.command import verify as prove

    return prove(record=record_to or record, **given)

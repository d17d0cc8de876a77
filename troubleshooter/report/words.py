"""What the program itself says, in English and Chinese. Entries bring their own translations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.phrases import Phrases, phrase

if TYPE_CHECKING:
    from troubleshooter.report.model import Report

WORDS: Phrases = {
    "shows": ("What the log shows", "日志证据"),
    "do": ("What to do", "怎么办"),
    "ignore-advice": ("Printed advice that does not apply here", "日志中不适用的建议"),
    "retry-useless": ("running it again as it is will fail the same way", "原样重跑会以同样方式失败"),
    "retry-after-fix": ("run it again after the fix", "修复后再重跑"),
    "retry-may-help": ("running it again may help", "重跑可能有用"),
    "verify": ("Prove it on this machine", "在本机验证"),
    "page": ("Read more", "更多"),
    "also": ("Also possible", "其他可能"),
    "newer": (
        "The log shows {package} {shown}; what is known here was checked up to {checked}",
        "日志显示 {package} {shown}；这里的知识核对到 {checked}",
    ),
    "also-harmless": ("Seen too, and harmless", "同时出现，但无害"),
    "versions-inside": ("the log's versions are in the affected range", "日志中的版本在受影响范围内"),
    "versions-outside": (
        "the log shows versions outside the affected range: is it the environment that ran?",
        "日志显示的版本不在受影响范围内：运行的真是这个环境吗？",
    ),
    "installed-inside": (
        "the versions installed in --env are in the affected range",
        "--env 中安装的版本在受影响范围内",
    ),
    "installed-outside": (
        "the versions installed in --env are outside the affected range: is it the environment that ran?",
        "--env 中安装的版本不在受影响范围内：运行的真是这个环境吗？",
    ),
    "affected": ("Affected", "受影响版本"),
    "apart": ("Not this? Told apart by", "不是这个？区别在于"),
    "first-rank": ("Rank {rank} failed first (line {line})", "rank {rank} 最先失败（第 {line} 行）"),
    "followed": ("; {count} other ranks followed", "；随后 {count} 个 rank 失败"),
    "followed-one": ("; 1 other rank followed", "；随后 1 个 rank 失败"),
    "stop": (".", "。"),
    "colon": (": ", "："),
    "half": ("; ", "；"),
    "aside": (" ({text})", "（{text}）"),
    "nothing": ("Nothing wrong found", "未发现问题"),
    "nothing-read": ("No failure in what was read", "已读部分未发现失败"),
    "end-unknown": ("the log does not show how the run ended", "日志没有显示运行如何结束"),
    "end-piped": (
        "whether the process ended well cannot be seen from a pipe: with `set -o pipefail` the shell keeps its exit status",
        "管道看不到进程是否正常结束：用 `set -o pipefail` 让 shell 保留它的退出码",
    ),
    "end-written": (
        "the log was written to a few minutes ago: the run may be going on",
        "日志几分钟前还在写入：运行可能仍在继续",
    ),
    "read": ("read {count} lines", "已读 {count} 行"),
    "read-one": ("read 1 line", "已读 1 行"),
    "lines": ("{count} lines", "{count} 行"),
    "lines-one": ("1 line", "1 行"),
    "unknown": ("A failure was seen that no entry explains", "发现了失败，但知识库中没有条目能解释"),
    "raised": ("raised in {place}", "抛出位置 {place}"),
    "called": ("called from {place}", "调用自 {place}"),
    "called-own": ("called from your code: {place}", "调用自你的代码：{place}"),
    "raised-own": ("raised in your code: {place}", "抛出位置在你的代码：{place}"),
    "stopped": ("The run was stopped by {signal}", "运行被 {signal} 终止"),
    "SIGINT": ("Ctrl-C (SIGINT)", "Ctrl-C（SIGINT）"),
    "SIGTERM": ("SIGTERM (a time limit, scancel or kill)", "SIGTERM（时限、scancel 或 kill）"),
    "SIGHUP": ("SIGHUP (its terminal was closed)", "SIGHUP（终端已关闭）"),
    "silent": ("Its last output came {time} before that", "最后一次输出在此之前 {time}"),
    "seconds": ("{s} s", "{s} 秒"),
    "minutes": ("{m} min {s} s", "{m} 分 {s} 秒"),
    "hours": ("{h} h {m} min", "{h} 小时 {m} 分"),
    "stood": ("It was in {place}", "当时位于 {place}"),
    "stood-own": ("It was in your code: {place}", "当时位于你的代码：{place}"),
    "stood-nowhere": ("The log does not show where it was", "日志没有显示当时运行到哪里"),
    "stopped-hung": (
        "If you stopped it because it hung: run it again, and while it hangs look where each of its processes is: "
        "`py-spy dump --pid PID` (`pip install py-spy`)",
        "如果因为卡住才终止：重新运行，在卡住时查看每个进程停在哪里：`py-spy dump --pid PID`（`pip install py-spy`）",
    ),
    "stopped-asked": (
        "If you did not stop it: ask the scheduler, such as `sacct -j JOB --format=State,Elapsed,Timelimit,MaxRSS`",
        "如果不是你终止的：查询调度器，例如 `sacct -j JOB --format=State,Elapsed,Timelimit,MaxRSS`",
    ),
    "nearest": ("Similar, not matched", "相近但不匹配的条目"),
    "draft": ("Start an entry from this log", "从这份日志起草一个条目"),
    "not-found": (
        "nothing similar; try fewer words, or the exception's message",
        "没有相近的条目；请减少词语，或用异常的报错文字",
    ),
    "line": ("line {line}", "第 {line} 行"),
    "ignored": ("Ignored by your settings", "按你的设置忽略"),
    "ranks": ("on {count} ranks", "共 {count} 个 rank"),
    "repeated": ("{count} times", "共 {count} 次"),
    "damaged": (
        "{file} is cut or damaged: only the part before that place was read ({detail})",
        "{file} 不完整或已损坏：只读取了损坏处之前的内容（{detail}）",
    ),
    "partly": (
        "a large log: its start, its end and everything that stands out were read",
        "日志很大：读取了开头、结尾以及所有显著之处",
    ),
}


def is_well(report: Report) -> bool:
    """Whether a report without a failure may say that nothing is wrong: the end was read, and so was all before it."""
    return report.ending["state"] == "ended" and not report.input["problems"]


def health(report: Report) -> str:
    """What is said where no failure was seen: that nothing is wrong only where the log shows its end."""
    lang, state, lines = report.lang, report.ending["state"], report.input["lines"]
    if is_well(report):
        return say("nothing", lang) + say("aside", lang, text=say("read", lang, count=lines)) + say("stop", lang)
    key = "end-written" if state == "written" else "end-piped" if report.input["piped"] else "end-unknown"
    read = say("nothing-read", lang) + say("aside", lang, text=say("lines", lang, count=lines))
    if report.input["problems"]:  # which part could not be read is said beside it
        return read + say("stop", lang)
    return read + say("half", lang) + say(key, lang) + say("stop", lang)


def say(key: str, lang: str, **values: object) -> str:
    """A phrase in a language, with its values filled in. A phrase about a ``count`` may have a form of its own for one."""
    if values.get("count") == 1 and f"{key}-one" in WORDS:
        key = f"{key}-one"
    return phrase(WORDS, key, lang, **values)

"""The sentences of ``troubleshoot verify``, in English and Chinese."""

from __future__ import annotations

from typing import Final

__all__ = ["LANGUAGES", "say"]

LANGUAGES: Final = ("en", "zh")

SENTENCES: Final[dict[str, tuple[str, str]]] = {
    "confirmed": ("confirmed", "已确认"),
    "kind-confirmed": ("this kind of failure exists here", "此类故障在此环境中存在"),
    "not-here": ("not here", "此环境没有"),
    "cannot-tell": ("cannot tell", "无法判断"),
    "occurred": ("It happens in this environment: {what}", "在此环境中会发生：{what}"),
    "kind-occurred": (
        "The usual case of this failure happens in this environment: {what}. Whether it stopped the run of the log is not"
        " proven: the log does not hold all that decides it",
        "此类故障的典型情形在此环境中会发生：{what}。但这并不证明日志中的运行就因此失败：日志中没有决定它所需的全部信息",
    ),
    "kind-other-environment": (
        "It happens in this environment, which is not the one that wrote the log: {what}",
        "在此环境中会发生，但此环境并不是写出日志的环境：{what}",
    ),
    "kind-did-not-occur": (
        "The usual case of this failure did not fail here, and the log does not hold all that decides its own. {cases}",
        "此类故障的典型情形在此没有出错，而日志中没有决定其自身情形所需的全部信息。{cases}",
    ),
    "model-settles": (
        "With --model DIR (your model's folder; its config.json is enough) the question is asked of your own model",
        "用 --model DIR（模型的文件夹，有 config.json 即可）可以针对你自己的模型来验证",
    ),
    "did-not-occur": ("The same code ran here and did not fail ({cases})", "同样的代码在此运行，没有出错（{cases}）"),
    "outside": (
        "{package} {version} is installed here; affected is {range}",
        "此处安装的是 {package} {version}；受影响的是 {range}",
    ),
    "inside": (
        "The installed versions are affected ({versions}), but nothing was run: {why}",
        "已安装的版本受影响（{versions}），但没有运行任何测试：{why}",
    ),
    "no-probe": ("this entry has no probe", "此条目没有探针"),
    "no-range": (
        "This entry states no version range and has no probe: nothing can be checked here",
        "此条目没有版本范围，也没有探针：此处无法检查",
    ),
    "missing": ("{packages} not installed in {python}", "{python} 中没有安装 {packages}"),
    "other-failure": ("Something else failed instead ({what})", "出现的是另一个错误（{what}）"),
    "refused": (
        "The probe reached for the network ({what}); its answer does not count",
        "探针试图访问网络（{what}），结果不算数",
    ),
    "silent": ("The probe ended without an answer", "探针结束时没有给出结论"),
    "mechanism-only": (
        "Only the mechanism was shown, with staged numbers; that confirms nothing about this run",
        "只用人为的数值演示了机理，并不能证实这次运行",
    ),
    "contradiction": (
        "The entry's version range ({range}) says that this environment is affected; the run says it is not",
        "条目的版本范围（{range}）说此环境受影响，但运行结果说没有",
    ),
    "contradiction-outside": (
        "The entry's version range ({range}) says that this environment is not affected; the run says it is",
        "条目的版本范围（{range}）说此环境不受影响，但运行结果说受影响",
    ),
    "other-environment": (
        "The log was written by another environment: this answer says nothing about it",
        "日志来自另一个环境：此结论与它无关",
    ),
    "leaves-range": (
        "{package} {version} lies outside of the affected range{recorded}",
        "{package} {version} 在受影响范围之外{recorded}",
    ),
    "stays-in-range": (
        "{package} {version} still lies in the affected range",
        "{package} {version} 仍在受影响范围之内",
    ),
    "recorded": (
        "; a recorded run did not show it with {package} {version} ({date})",
        "；{date} 的记录：{package} {version} 运行后没有此问题",
    ),
    "removed": ("removes the failure", "消除了故障"),
    "not-removed": ("DOES NOT HELP: the failure is still there", "无效：故障仍在"),
    "not-tried": ("not tried here", "此处未试"),
    "fix-other": ("tried, but ended in another error: {what}", "试过，但以另一个错误结束：{what}"),
    "measured-here": ("measured here ({on})", "在此测得（{on}）"),
    "asked": ("Asked {python} ({why})", "询问的是 {python}（{why}）"),
    "run-it": (
        "The log names {python}, which other users may change. Run it? [y/N]",
        "日志提到 {python}，而其他用户可以改动它。要运行它吗？[y/N]",
    ),
    "not-run": (
        "The log names {python}; it was not run, as other users may change it: name it with --python if you trust it",
        "日志提到 {python}；其他用户可以改动它，因此没有运行。如果信任它，请用 --python 指定",
    ),
    "why-named": ("named with --python", "由 --python 指定"),
    "why-log": ("its site-packages stand in the log", "日志中出现了它的 site-packages"),
    "why-active": ("the active environment", "当前激活的环境"),
    "why-path": ("the first Python on PATH that has torch", "PATH 上第一个装有 torch 的 Python"),
    "why-own": ("the tool's own environment", "本工具自己的环境"),
    "same-yes": ("the environment of the log", "就是日志的环境"),
    "same-no": ("not the environment of the log", "不是日志的环境"),
    "same-unknown": ("the log does not say whether it came from here", "日志没有说明是否来自此环境"),
    "by-hand": ("To run it by hand", "手动运行"),
    "fixes": ("Fixes", "解决办法"),
    "notes": ("Notes", "说明"),
    "demonstration": ("Demonstration of the mechanism, not a confirmation", "机理演示，不是证实"),
    "steps": ("{without:.3g} s → {with_fix:.3g} s a step", "每步 {without:.3g} 秒 → {with_fix:.3g} 秒"),
    "memory": ("{without:.3g} MB → {with_fix:.3g} MB at the peak", "峰值 {without:.3g} MB → {with_fix:.3g} MB"),
    "model-unused": ("This probe has no use for --model", "此探针用不到 --model"),
    "recorded-in": ("Recorded in {path}", "已记录到 {path}"),
    "reach": (
        "{checkable} of the {failures} known failures ({share} %) can be checked in an environment: {probes} by a probe that runs,"
        " {ranges} by their version range",
        "已知的 {failures} 种故障中有 {checkable} 种（{share} %）可在环境中检查：{probes} 种有可运行的探针，{ranges} 种有版本范围",
    ),
    "by-versions": ("nothing was run", "没有运行任何探针"),
    "affected-list": (
        "{count} of {total} entries with version ranges match this environment",
        "{total} 个带版本范围的条目中有 {count} 个与此环境相符",
    ),
}


def say(language: str, key: str, **fields: object) -> str:
    """A sentence in the language (``en`` or ``zh``), filled in."""
    english, chinese = SENTENCES[key]
    return (chinese if language.startswith("zh") else english).format(**fields)

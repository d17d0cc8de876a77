"""What the pages themselves say, in English and Chinese. Entries bring their own translations."""

from __future__ import annotations

from kb.phrases import Phrases, phrase

LANGUAGES = ("en", "zh")

WORDS: Phrases = {
    "name": ("Troubleshoot", "Troubleshoot"),
    "tagline": ("Fix pages for failed LLM fine-tuning runs", "LLM 微调故障修复手册"),
    "skip": ("Skip to the content", "跳到正文"),
    "home": ("All entries", "全部条目"),
    "question": ("What went wrong with your run?", "训练出了什么问题？"),
    "intro": (
        "{count} entries on failures of fine-tuning runs: the messages they print, their causes, and fixes that were "
        "run or have a source.",
        "共 {count} 个微调故障条目：打印的报错、原因，以及经过实测或有出处的修复方法。",
    ),
    "search": ("Search", "搜索"),
    "search-label": ("Search titles, messages and causes", "搜索标题、报错信息与原因"),
    "search-hint": ("A message, a symptom, a library… typing errors are fine", "报错信息、现象、库名……拼错也没关系"),
    "filters": ("Filters", "筛选"),
    "area": ("Area", "领域"),
    "library": ("Library", "库"),
    "severity": ("Severity", "严重程度"),
    "kind": ("Kind", "类型"),
    "any": ("any", "不限"),
    "reset": ("Clear", "清除"),
    "found": ("{count} entries", "{count} 个条目"),
    "found-one": ("1 entry", "1 个条目"),
    "found-none": (
        "Nothing fits. Try fewer words, or only the last line of the traceback.",
        "没有匹配的条目。请减少关键词，或只输入 traceback 的最后一行。",
    ),
    "loading": ("Loading the entries…", "正在加载条目……"),
    "areas": ("Areas", "领域"),
    "area-intro": (
        "{count} entries on {area}, the most common first.",
        "{area}：共 {count} 个条目，最常见的在前。",
    ),
    "common": ("Common failures", "常见故障"),
    "common-how": (
        "Common here means: many other entries refer to the failure, and many public threads are among its sources.",
        "“常见”的依据：有多少其他条目提到该故障，以及其来源中有多少公开讨论。",
    ),
    "more": ("Show more", "显示更多"),
    "theme": ("Light or dark", "明暗主题"),
    "language": ("中文", "English"),
    "language-label": ("这个页面的中文版", "This page in English"),
    "copy": ("Copy", "复制"),
    "copied": ("Copied", "已复制"),
    "copy-failed": ("Press Ctrl+C", "请按 Ctrl+C"),
    "see": ("What you see", "你会看到"),
    "see-any": ("Any one of these in the log:", "日志中出现以下任意一条："),
    "fixes": ("How to fix it", "如何修复"),
    "nothing-to-fix": ("Nothing to fix: this is harmless.", "无需修复：这是无害的。"),
    "versions": ("Versions", "版本"),
    "package": ("Package", "包"),
    "affected": ("Affected", "受影响"),
    "repaired": ("Repaired in", "修复于"),
    "not-repaired": ("no repaired release known", "尚无已知的修复版本"),
    "after": ("after {version}", "{version} 之后"),
    "not-tied": (
        "No range of versions: as far as known, the cause is not tied to a release.",
        "没有版本范围：就目前所知，原因与具体版本无关。",
    ),
    "verify": ("How to verify", "如何验证"),
    "verify-probe": (
        "A small probe reproduces the failure in your training environment and shows which fix removes it. It builds a "
        "tiny random model and downloads nothing.",
        "一个小探针会在你的训练环境里复现这个故障，并显示哪个修复有效。它只构建很小的随机模型，不下载任何东西。",
    ),
    "verify-log": (
        "No probe stands behind this entry. Condition by condition, this shows what of it holds on your log:",
        "该条目没有探针。下面的命令逐条显示它的判断条件在你的日志上是否成立：",
    ),
    "advice": ("Printed advice that does not apply here", "日志里不适用的建议"),
    "lookalikes": ("Not this? Lookalikes", "不是这个？相似的故障"),
    "runs": ("Recorded runs", "实测记录"),
    "runs-text": (
        "Written by a run of the probe, newest first; never by hand.",
        "由探针实际运行写入，最新在前，从不手工填写。",
    ),
    "date": ("Date", "日期"),
    "result": ("Result", "结果"),
    "with-versions": ("Versions", "版本"),
    "device": ("Device", "设备"),
    "fixes-that-helped": ("Fixes that removed it", "有效的修复"),
    "confirmed": ("confirmed", "已复现"),
    "not-here": ("not affected", "不受影响"),
    "cannot-tell": ("cannot tell", "无法判断"),
    "more-runs": ("{count} older runs", "另有 {count} 条较早的记录"),
    "shows-symptom": ("symptom", "现象"),
    "shows-cause": ("cause", "原因"),
    "shows-fix": ("fix", "修复"),
    "shows-versions": ("versions", "版本"),
    "read-in": ("read in {package} {versions}", "读自 {package} {versions}"),
    "run-of": ("run: {what}", "实测：{what}"),
    "facts": ("At a glance", "概览"),
    "contents": ("On this page", "本页内容"),
    "id": ("Entry", "条目"),
    "retry": ("Run it again?", "能否重跑"),
    "retry-useless": ("fails the same way again", "原样重跑会同样失败"),
    "retry-after-fix": ("after the fix", "修复之后"),
    "retry-may-help": ("may help", "可能有用"),
    "libraries": ("Libraries", "相关库"),
    "variant-of": ("A variant of {link} for one framework", "{link} 在某个框架下的变体"),
    "fallback-for": ("The general answer when none of these fits", "以下都不匹配时的通用答案"),
    "cascade-note": (
        "An after-effect: look in the log for the failure that came first.",
        "这是连带后果：请在日志中寻找最先出现的故障。",
    ),
    "untranslated": ("This entry has no Chinese text yet.", "这个条目还没有中文译文，以下为英文。"),
    "failure": ("failure", "故障"),
    "when-package": ("with {what}", "使用 {what} 时"),
    "shell": ("shell", "命令行"),
    "paste": ("Paste or drop a log", "粘贴或拖入日志"),
    "paste-text": (
        "The same diagnosis as on the command line, with the log beside it. It stays on this machine and is not written "
        "to disk.",
        "与命令行相同的诊断，日志显示在旁边。内容不会离开本机，也不会写入磁盘。",
    ),
    "paste-label": ("The log", "日志"),
    "paste-hint": (
        "Traceback (most recent call last): …  or a whole training log; a file can be dropped here",
        "Traceback (most recent call last): …  或整份训练日志；也可以把文件拖到这里",
    ),
    "diagnose": ("Diagnose", "诊断"),
    "working": ("Reading the log…", "正在读取日志……"),
    "starting": (
        "The entries are being compiled, once after an installation or a change (about half a minute)…",
        "正在编译条目，安装或更改后只需一次（约半分钟）……",
    ),
    "choose": ("Choose a file", "选择文件"),
    "static-paste": ("Have a log? Diagnose it on your machine:", "手上有日志？在本机诊断："),
    "unreachable": ("The server did not answer; is it still running?", "服务器没有响应；它还在运行吗？"),
    "footer": (
        "Every claim names its source; recorded runs are written by probes.",
        "每条结论都注明来源；实测记录由探针写入。",
    ),
}  # fmt: skip

AREAS: dict[str, tuple[str, str]] = {
    "precision": ("Precision", "精度"),
    "training": ("Training", "训练"),
    "harmless": ("Harmless", "无害"),
    "adapters": ("Adapters", "适配器"),
    "quantization": ("Quantization", "量化"),
    "checkpoints": ("Checkpoints", "检查点"),
    "memory": ("Memory", "内存与显存"),
    "cuda": ("CUDA", "CUDA"),
    "kernels": ("Kernels", "算子内核"),
    "distributed": ("Distributed", "分布式"),
    "models": ("Models", "模型"),
    "tokenizers": ("Tokenizers", "分词器"),
    "data": ("Data", "数据"),
    "trainers": ("Trainers", "训练器"),
    "rl": ("Reinforcement learning", "强化学习"),
    "hub": ("Hub", "Hub"),
    "environment": ("Environment", "环境"),
}


def say(key: str, lang: str, **values: object) -> str:
    """A phrase in a language, with its values filled in."""
    return phrase(WORDS, key, lang, **values)


def area_name(area: str, lang: str) -> str:
    """An area as people read it; a team's own area keeps its folder's name."""
    english, chinese = AREAS.get(area, (area, area))
    return chinese if lang == "zh" else english

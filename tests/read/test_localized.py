"""A Chinese message of an operating system is matched like its English form, and shown as it was printed."""

from __future__ import annotations

import pytest

from kb.localized import PHRASES, english
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.read.text import fold, plain


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("bash: deepspeed：未找到命令", "launcher-command-not-found"),
        ("fatal error: cusparse.h: 没有那个文件或目录\ncompilation terminated.", "cuda-headers-missing"),
        ('OSError: [WinError 1455] 页面文件太小，无法完成操作。 Error loading "D:\\torch\\lib\\x.dll"', "windows-paging-file-too-small"),
        ("OSError: [Errno 28] 设备上没有空间: './out/checkpoint-500/optimizer.pt'", "disk-full"),
        ("run.sh: 行 3: 12345 已杀死               python train.py", "host-ram-oom-sigkill"),
        ("run.sh: 第 3 行：12345 已杀死               python train.py", "host-ram-oom-sigkill"),
        ("run.sh: 行 3: 12345 段错误               （核心已转储）python train.py", "segmentation-fault"),
    ],
)  # fmt: skip
def test_the_answer_is_that_of_the_english_message(tool: Diagnoser, said: str, expected: str) -> None:
    report = tool.report([from_text(said)])
    assert report.diagnoses
    assert report.diagnoses[0].id == expected
    shown = [line.text for line in report.diagnoses[0].evidence]
    assert any(text in {plain(line) for line in said.split("\n")} for text in shown)
    assert not any(phrase in text for text in shown for phrase in PHRASES.values())


def test_a_phrase_holds_no_other_that_says_less() -> None:
    for phrase, meant in PHRASES.items():
        assert english(phrase) == meant
        assert fold(f" “ {phrase}”") == f'" {meant.strip()}"' or meant.endswith(" ")


def test_no_entry_asks_for_what_is_never_seen(tool: Diagnoser) -> None:
    """Patterns see the English message; a Chinese one in an entry would find nothing."""
    dead = [text for text in tool.knowledge.literals if english(text) != text]
    assert not dead

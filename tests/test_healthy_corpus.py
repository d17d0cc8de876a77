"""The healthy corpus keeps its own rules: real breadth, few logs a program and version, every file in the index."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

CORPUS = Path(__file__).parent / "healthy"
LOGS = sorted(CORPUS.rglob("*.log"))
MAX_BYTES = 60_000
CONFUSING = re.compile(
    r"Error|\bnan\b|Traceback|failed|killed|CUDA|out of memory|newly initialized|requires_grad|OVERFLOW"
    r"|sequence length is longer than|trainable params: 0|'learning_rate': '?0(\.0)?'?[,}]|TOKENIZERS_PARALLELISM|use_cache=",
    re.IGNORECASE,
)
STRONG = re.compile(r"Error|\bnan\b|\bNaN\b|Traceback|\b[Ff]ailed\b|FAILED|\b[Kk]illed\b|CUDA|[Oo]ut of memory")


def rows() -> list[list[str]]:
    """The cells of the table in INDEX.md, one list a log."""
    text = (CORPUS / "INDEX.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ") and ".log |" in line]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def place(log: Path) -> str:
    """A log's path below the corpus, as the index writes it."""
    return log.relative_to(CORPUS).as_posix()


def test_enough_logs_and_programs() -> None:
    healthy = [log for log in LOGS if "unrelated" not in log.relative_to(CORPUS).parts]
    programs = {row[1] for row in rows() if not row[0].startswith("unrelated/")}
    assert len(healthy) >= 150
    assert len(programs) >= 30


def test_few_unrelated_failures() -> None:
    assert 1 <= len([log for log in LOGS if place(log).startswith("unrelated/")]) <= 10


def test_at_most_five_logs_per_program_and_version() -> None:
    counts = Counter((row[1], row[2]) for row in rows())
    assert not {pair: count for pair, count in counts.items() if count > 5}


def test_sixty_logs_hold_confusing_words() -> None:
    texts = [log.read_text(encoding="utf-8") for log in LOGS if not place(log).startswith("unrelated/")]
    assert sum(bool(STRONG.search(text)) for text in texts) >= 60
    assert sum(bool(CONFUSING.search(text)) for text in texts) >= 60


def test_index_names_every_file_once() -> None:
    named = [row[0] for row in rows()]
    assert named == sorted(set(named))
    assert set(named) == {place(log) for log in LOGS}


def test_index_rows_agree_with_their_folders() -> None:
    wrong = []
    for file, program, version, script, command, _ in rows():
        folder = file.removeprefix("unrelated/").split("/")[0]
        made_by = script == "(copied)" or (CORPUS / "make" / script).is_file()
        if folder != f"{program}-{version}" or not re.match(r"\d", version) or not made_by or len(command) < 4:
            wrong.append(file)
    assert not wrong


def test_no_two_logs_are_equal() -> None:
    texts = Counter(log.read_bytes() for log in LOGS)
    assert max(texts.values()) == 1


@pytest.mark.parametrize("log", LOGS, ids=place)
def test_log_is_small_and_neutral(log: Path) -> None:
    raw = log.read_bytes()
    assert 60 <= len(raw) <= MAX_BYTES
    text = raw.decode("utf-8")
    assert not re.search(
        r"/root/|/work/|[\w.+-]+@[\w-]+\.[a-z]{2,}\b|pypi\.org|npmjs\.org|deb\.debian\.org|crates\.io", text
    )

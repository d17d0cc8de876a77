"""``--history`` of a diagnosis, a scan and a supervised run, and ``troubleshoot history``, as the command line has them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE_SECONDS
from troubleshooter.history.store import History

KNOWN = (
    "2026-01-02 10:00:00 hostname: node7\n2026-01-02 10:00:00 torchrun --nproc_per_node=8 train.py --learning_rate 2e-5\n"
    "transformers==4.50.3\n2026-01-02 13:00:00 end\nAttributeError: 'HybridCache' object has no attribute 'float'\n"
)
UNKNOWN = 'Traceback (most recent call last):\n  File "/x/site-packages/quux/core.py", line 3, in fill\n    go()\nQuuxError: tank 3 of /data/3 empty\n'


def tool(folder: Path, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "TROUBLESHOOT_LANG": "en"}
    return subprocess.run(
        [sys.executable, "-m", "troubleshooter", *arguments], cwd=folder, input=given or "", capture_output=True, encoding="utf-8",
        timeout=PATIENCE_SECONDS, check=False, env=environment,
    )  # fmt: skip


def asked(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    done = tool(folder, "history", *arguments, "--history", "h.sqlite", "--format", "json")
    assert done.returncode in (0, 3), done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return rows


def test_a_diagnosis_is_recorded_with_what_the_log_tells(tmp_path: Path) -> None:
    (tmp_path / "train-17.log").write_text(KNOWN)
    assert tool(tmp_path, "train-17.log", "--history", "h.sqlite").returncode == 1
    assert tool(tmp_path, "train-17.log", "--history", "h.sqlite", "--format", "json").returncode == 1
    (row,) = asked(tmp_path, "runs")
    assert row["log"] == str(tmp_path / "train-17.log")
    assert {key: row[key] for key in ("ended", "host", "cause", "lost_gpu_hours")} == {
        "ended": "2026-01-02 13:00", "host": "node7", "cause": "cache-object-float", "lost_gpu_hours": 24.0,
    }  # fmt: skip
    assert {(row["package"], row["version"]) for row in asked(tmp_path, "versions")} == {("transformers", "4.50.3")}


def test_each_piped_log_is_a_run_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        assert tool(tmp_path, "--history", "h.sqlite", given=UNKNOWN).returncode == 3
    assert len(asked(tmp_path, "runs")) == 2
    (row,) = asked(tmp_path)
    assert (row["known"], row["runs"], row["title"]) == (False, 2, "QuuxError: tank # of # empty")


def test_a_history_that_cannot_be_used_is_said_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "h.sqlite").write_text("no database at all")
    (tmp_path / "a.log").write_text(KNOWN)
    for arguments in (("a.log",), ("scan", "a.log"), ("run", "--", "true")):
        done = tool(tmp_path, *arguments, "--history", "h.sqlite") if arguments[0] != "run" else tool(tmp_path, "run", "--history", "h.sqlite", "--", "true")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "troubleshoot: h.sqlite: no history; name another file\n"
    assert not (tmp_path / "troubleshoot-runs").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_on_a_full_disk_an_answer_is_shown_as_always(tmp_path: Path) -> None:
    """Nothing can be written, not even what SQLite needs to open the file: the answer comes first, then a sentence."""
    (tmp_path / "a.log").write_text(KNOWN)
    assert tool(tmp_path, "a.log", "--history", "h.sqlite").returncode == 1
    (tmp_path / "b.log").write_text(KNOWN)
    full = "ulimit -f 0; exec \"$@\""
    for arguments, status in ((("b.log", "--history", "h.sqlite"), 1), (("run", "--history", "h.sqlite", "--", sys.executable, "-c", "print('step 1')"), 0)):
        done = subprocess.run(
            ["sh", "-c", full, "sh", sys.executable, "-m", "troubleshooter", *arguments], cwd=tmp_path, capture_output=True, text=True,
            timeout=PATIENCE_SECONDS, check=False, env={**os.environ, "TROUBLESHOOT_LANG": "en", "PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        assert ("HybridCache" if status else "step 1") in done.stdout
        assert "h.sqlite: cannot be read or written" in done.stderr
        assert "Traceback" not in done.stderr
    assert "the log cannot be written: File too large; the run goes on" in done.stderr
    assert len(asked(tmp_path, "runs")) == 1


def test_the_number_of_all_runs_is_told_beside_the_last_ones(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.log").write_text(KNOWN)
    tool(tmp_path, "scan", ".", "--history", "h.sqlite")
    told = json.loads(tool(tmp_path, "history", "runs", "--history", "h.sqlite", "--format", "json", "--limit", "2").stdout)
    assert (len(told["rows"]), told["total"]) == (2, 5)


def test_a_scan_records_every_job_once_however_often_it_is_begun(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for n in range(30):
        (logs / f"job-{n}.log").write_text((KNOWN, UNKNOWN, "all fine\n")[n % 3])
    (logs / "odd\nname\x1b[2J'.log").write_text(KNOWN)
    for _ in range(2):
        assert tool(tmp_path, "scan", "logs", "--history", "h.sqlite").returncode == 1
    by_cause = {row["title"]: row["runs"] for row in asked(tmp_path)}
    assert sorted(by_cause.values()) == [10, 11]
    rows = asked(tmp_path, "runs", "--limit", "100")
    assert len(rows) == 31
    assert sum(row["host"] == "node7" for row in rows) == 11
    assert all(row["log"].isprintable() for row in rows)
    (logs / "job-2.log").write_text("all fine\n" + UNKNOWN)  # it has grown
    tool(tmp_path, "scan", "logs", "--history", "h.sqlite")
    assert len(asked(tmp_path, "runs", "--limit", "100")) == 31
    with History(tmp_path / "h.sqlite") as history:
        assert history.check() == "ok"


def test_what_a_record_holds_already_comes_into_a_history_that_is_named_later(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(KNOWN)
    (tmp_path / "b.log").write_text(UNKNOWN)
    tool(tmp_path, "scan", "a.log", "b.log")
    tool(tmp_path, "scan", "a.log", "b.log", "--history", "h.sqlite")
    assert {row["cause"] for row in asked(tmp_path, "runs")} >= {"cache-object-float"}
    assert len(asked(tmp_path, "runs")) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="troubleshoot run needs Linux or macOS")
def test_a_supervised_run_is_recorded_whether_it_fails_or_not(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import sys\nif sys.argv[1:2] == ['x']:\n    raise RuntimeError('flux of 12 is gone')\nprint('done')\n")
    for words in (("x", "--lora_alpha", "16"), ()):
        tool(tmp_path, "run", "--history", "h.sqlite", "--", sys.executable, "train.py", *words)
    rows = asked(tmp_path, "runs", "--job", "train")
    assert sorted((row["title"] or "") for row in rows) == ["", "RuntimeError: flux of # is gone"]
    assert all(row["host"] for row in rows)


def test_tables_and_csv_hold_what_the_json_holds(tmp_path: Path) -> None:
    for name in ("=cmd()", "plain"):
        (tmp_path / f"{name}.log").write_text(KNOWN)
        tool(tmp_path, f"{name}.log", "--history", "h.sqlite")
    rows = asked(tmp_path, "runs")
    done = tool(tmp_path, "history", "runs", "--history", "h.sqlite", "--format", "csv")
    assert [row["log"] for row in csv.DictReader(done.stdout.splitlines())] == [row["log"] for row in rows]
    table = tool(tmp_path, "history", "hosts", "--history", "h.sqlite").stdout
    assert table.splitlines()[0].split() == ["host", "runs", "failed", "share", "of", "others", "p", "significant", "GPU", "hours", "lost", "most", "often"]
    assert table.splitlines()[1].split()[:2] == ["node7", "2"]
    assert "Fisher" in table
    assert "Fisher 精确检验" in tool(tmp_path, "history", "hosts", "--history", "h.sqlite", "--lang", "zh").stdout


def test_the_file_of_the_environment_is_asked_where_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.log").write_text(KNOWN)
    tool(tmp_path, "a.log", "--history", "other.sqlite")
    assert tool(tmp_path, "history").returncode == 2
    monkeypatch.setenv("TROUBLESHOOT_HISTORY", "other.sqlite")
    assert tool(tmp_path, "history").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("fix",), "history fix: needs --cause ID"), (("--since", "soon"), "soon: no date"), (("upgrade", "--cause", "nope"), "nope: no run of this history")],
)
def test_a_question_that_cannot_be_answered_is_a_sentence(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    History(tmp_path / "h.sqlite").close()
    done = tool(tmp_path, "history", *arguments, "--history", "h.sqlite")
    assert done.returncode == 2
    assert done.stderr.startswith(f"troubleshoot: {says}")

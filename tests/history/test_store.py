"""The file of a history: its versions, what is one run, several writers, and every way in which it cannot be used."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.history.runs import cause, made
from tests.waiting import PATIENCE_SECONDS
from troubleshooter.history.asking import Narrowed
from troubleshooter.history.questions import ask
from troubleshooter.history.schema import APPLICATION_ID, MIGRATIONS, VERSION
from troubleshooter.history.store import History, HistoryError, NotNow

SUMMARIES = ("cause", "host", "gpu", "environment")
WRITER = """
import sys
from pathlib import Path
from tests.history.runs import cause, made
from troubleshooter.history.store import History
print("started", flush=True)
name, count = sys.argv[2], int(sys.argv[3])
for number in range(count):
    with History(Path(sys.argv[1])) as history:
        for part in range(4):
            history.add([made(number, log=f"/{name}/{number}/{part}", host=name, cause=cause("flux"), lost=1.0)])
            print(number * 4 + part + 1, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, str(count)], stdout=subprocess.PIPE, text=True)


def counts(history: History) -> set[int]:
    """The number of runs, as the table and as each summary has it."""
    return {history.rows("SELECT count(*) FROM runs")[0][0]} | {
        history.rows(f"SELECT sum(runs) FROM {span}_{of}")[0][0] for of in SUMMARIES for span in ("daily", "total")
    }


def test_a_run_is_kept_once(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        assert history.add([made(1, cause=cause("flux")), made(2)]) == 2
        assert history.add([made(1, cause=cause("flux"))]) == 0
        assert counts(history) == {2}


def test_a_log_that_grew_is_the_same_run_and_one_that_was_written_anew_is_another(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        history.add([made(1)])
        assert history.add([made(1, stamp="2", bytes=200, cause=cause("flux"), lost=3.0)]) == 0
        assert counts(history) == {1}
        assert [row["cause"] for row in ask(history, "failures", Narrowed()).rows] == ["flux"]
        assert history.add([made(1, stamp="3", bytes=150)]) == 1
        assert history.add([made(1, head="other", stamp="4", bytes=900)]) == 1
        assert counts(history) == {3}
        assert history.add([made(1, stamp="3", bytes=150)]) == 0


def test_the_summaries_are_those_of_the_runs_whatever_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    with History(path) as history:
        history.add(made(n, cause=cause("flux"), host=f"n{n % 2}", versions={"torch": f"2.{n}"}, lost=1.5) for n in range(6))
    with sqlite3.connect(path) as other:
        other.execute("DELETE FROM runs WHERE id = 2")
        other.execute("UPDATE runs SET lost = 4, failed = 0 WHERE id = 3")
    with History(path) as history:
        assert counts(history) == {5}
        assert history.rows("SELECT sum(lost), sum(failed) FROM daily_host")[0] == (1.5 * 4 + 4, 4)


def test_a_history_of_the_first_version_is_brought_to_that_of_today(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    with sqlite3.connect(path) as old:
        old.executescript(MIGRATIONS[0])
        old.execute("INSERT INTO jobs (name) VALUES ('train')")
        old.execute("INSERT INTO causes (fingerprint, title, kind) VALUES ('flux', 'The flux', 'failure')")
        old.execute(
            "INSERT INTO runs (key, ended, day, status, failed, cause, job, lost, bytes, head, stamp, log) VALUES (x'01', 86400, 1, 1, 1, 1, 1, 2.5, 9, '', '1', '/a')"
        )
        old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        old.execute("PRAGMA user_version = 1")
    with History(path) as history:
        assert history.rows("PRAGMA user_version") == [(VERSION,)]
        (row,) = ask(history, "failures", Narrowed()).rows
        assert (row["cause"], row["runs"], row["lost_gpu_hours"], row["first_seen"]) == ("flux", 1, 2.5, "1970-01-02")
        history.add([made(1)])
        assert counts(history) == {2}


def test_a_history_of_a_newer_version_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    History(path).close()
    with sqlite3.connect(path) as newer:
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(HistoryError, match=rf"h\.sqlite: a newer troubleshoot wrote this history \(version {VERSION + 1}.*upgrade"):
        History(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database, but a long text " * 200, b"x", b"SQLite format 3\0" + b"damaged" * 200])
def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "h.sqlite"
    path.write_bytes(content)
    with pytest.raises(HistoryError, match=r"h\.sqlite: no history"):
        History(path)
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(HistoryError, match="a database of another program"):
        History(path)
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


def test_a_folder_that_does_not_exist_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="in a folder that exists"):
        History(tmp_path / "none" / "h.sqlite")
    with pytest.raises(HistoryError, match="no such history"):
        History(tmp_path / "h.sqlite", create=False)
    assert not (tmp_path / "h.sqlite").exists()


def test_a_history_that_another_holds_locked_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    with History(path, wait_s=0.01) as history:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(NotNow, match="another process has held this history locked"):
            history.add([made(1)])
        other.execute("ROLLBACK")
        other.close()
        assert history.add([made(1)]) == 1


FULL = """
import resource, sys
from pathlib import Path
from tests.history.runs import cause, made
from troubleshooter.history.store import History, NotNow
path = Path(sys.argv[1])
with History(path) as history:
    history.add([made(1, cause=cause("flux"))])
    size = path.with_name(path.name + "-wal").stat().st_size + 8192
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        history.add(made(n, log="/x" * 400 + str(n)) for n in range(3000))
    except NotNow as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_where_nothing_more_can_be_written_it_is_said_and_what_was_kept_stays(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True)
    assert "is the disk full" in done.stdout or "the disk is full" in done.stdout
    with History(path) as history:
        assert history.check() == "ok"
        assert counts(history) == {1}


def test_a_run_that_fails_on_the_way_takes_back_all_that_came_with_it(tmp_path: Path) -> None:
    with History(tmp_path / "h.sqlite") as history:
        with pytest.raises(HistoryError):
            history.add([made(1, host="a", cause=cause("flux")), made(2, ended=float(2**40), stamp=None)])
        assert history.rows("SELECT count(*) FROM runs") == [(0,)]
        assert history.add([made(1, host="a", cause=cause("flux"))]) == 1
        assert counts(history) == {1}


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    running = [writer(path, f"w{n}", 10) for n in range(4)]
    assert [process.communicate(timeout=PATIENCE_SECONDS)[0].split()[-1] for process in running] == ["40"] * 4
    with History(path) as history:
        assert counts(history) == {160}
        assert history.check() == "ok"


def test_writers_that_are_killed_lose_no_run_that_was_committed(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    for attempt in range(6):
        name = f"k{attempt}"
        process = writer(path, name, 1000)
        assert process.stdout is not None
        for _ in range(1 + 3 * attempt):
            process.stdout.readline()
        process.kill()
        told = [line for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n") and line.strip().isdigit()]
        process.wait()
        process.stdout.close()
        promised = max([3 * attempt, *map(int, told)])
        with History(path) as history:
            assert history.rows("SELECT count(*) FROM runs WHERE log GLOB ?", (f"/{name}/*",))[0][0] >= promised
            assert history.check() == "ok"
            if promised:
                assert len(counts(history)) == 1

"""Each question, on made histories whose answer is known."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from kb.errors import UsageError
from tests.history.runs import DAY, START, cause, made
from troubleshooter.history.asking import Narrowed, when
from troubleshooter.history.questions import ask
from troubleshooter.history.run_record import RunRecord
from troubleshooter.history.runs import run
from troubleshooter.history.store import History


def history(folder: Path, runs: Iterable[RunRecord]) -> History:
    found = History(folder / "h.sqlite")
    found.add([run._replace(log=f"{run.log}-{number}") for number, run in enumerate(runs)])
    return found


def test_what_fails_most_and_what_it_costs(tmp_path: Path) -> None:
    runs = [made(n, cause=cause("often"), lost=1.0) for n in range(6)] + [made(n, cause=cause("dear"), lost=50.0) for n in (1, 3)]
    with history(tmp_path, [*runs, *map(made, range(8))]) as known:
        answer = ask(known, "failures", Narrowed())
        assert [(row["cause"], row["runs"], row["lost_gpu_hours"]) for row in answer.rows] == [("often", 6, 6.0), ("dear", 2, 100.0)]
        assert answer.rows[0]["share"] == 6 / 16
        later = ask(known, "failures", Narrowed(since=START + 4 * DAY)).rows
        assert [(row["cause"], row["runs"], row["first_seen"]) for row in later] == [("often", 2, "2025-06-16")]
        assert [len(ask(known, "failures", Narrowed(limit=1)).rows), ask(known, "failures", Narrowed(limit=1)).total] == [1, 2]


def test_what_is_new_since_a_day(tmp_path: Path) -> None:
    runs = [made(n, cause=cause("old")) for n in range(9)] + [made(7, cause=cause("young", known=False))]
    with history(tmp_path, runs) as known:
        assert [row["cause"] for row in ask(known, "new", Narrowed(since=START + 5 * DAY)).rows] == ["young"]
        assert [row["cause"] for row in ask(known, "new", Narrowed(since=START)).rows] == ["old", "young"]
        assert [row["cause"] for row in ask(known, "new", Narrowed(days=3, now=START + 9.0 * DAY)).rows] == ["young"]


def test_a_host_that_fails_more_often_stands_out_and_chance_does_not(tmp_path: Path) -> None:
    runs = []
    for host in range(40):
        bad = 18 if host == 13 else 4 + host % 3
        runs += [made(n, host=f"node{host}", cause=cause("ecc") if n < bad else None, lost=2.0) for n in range(30)]
    with history(tmp_path, runs) as known:
        rows = ask(known, "hosts", Narrowed(limit=100)).rows
        assert [row["host"] for row in rows if row["significant"]] == ["node13"]
        assert (rows[0]["runs"], rows[0]["failed"], rows[0]["most_often"]) == (30, 18, "ecc")
        assert rows[0]["probability"] < 1e-4
        assert len(rows) == 40
        assert not any(row["significant"] for row in ask(known, "hosts", Narrowed(cause="ecc", since=START + 19 * DAY)).rows)


def test_of_many_hosts_by_chance_none_is_named(tmp_path: Path) -> None:
    """Without the correction several would be."""
    runs = [
        made(n, host=f"node{host}", cause=cause("any") if (host * 7919 + n * 104_729) % 97 < 20 else None) for host in range(200) for n in range(15)
    ]
    with history(tmp_path, runs) as known:
        rows = ask(known, "hosts", Narrowed(limit=1000)).rows
        assert len(rows) == 200
        assert not any(row["significant"] for row in rows)


def test_failures_by_version_of_a_library(tmp_path: Path) -> None:
    runs = [
        made(n, versions={"trl": f"0.{minor}", "torch": "2.6.0"}, cause=cause("flux") if minor == 9 and n % 2 else None)
        for minor in (8, 9) for n in range(20)
    ]  # fmt: skip
    with history(tmp_path, runs) as known:
        rows = ask(known, "versions", Narrowed()).rows
        assert [(row["package"], row["version"], row["failed"], row["significant"]) for row in rows if row["failed"] and row["significant"]] == [("trl", "0.9", 10, True)]
        only = ask(known, "versions", Narrowed(package="trl", cause="flux")).rows
        assert {(row["version"], row["share"], row["share_of_others"]) for row in only} == {("0.9", 0.5, 0.0), ("0.8", 0.0, 0.5)}


def test_failures_by_gpu(tmp_path: Path) -> None:
    runs = [made(n, gpu=gpu, cause=cause("oom") if gpu == "A10" else None) for gpu in ("A10", "H100") for n in range(10)]
    with history(tmp_path, runs) as known:
        assert [(row["gpu"], row["significant"]) for row in ask(known, "gpus", Narrowed()).rows] == [("A10", True), ("H100", False)]


def test_after_which_upgrade_a_failure_came_and_what_came_with_it(tmp_path: Path) -> None:
    runs = []
    for job in range(6):
        for n in range(10):
            new = n >= 5
            versions = {"trl": "0.9" if new else "0.8", "peft": "0.15" if n >= 2 else "0.14", "torch": "2.6"}
            settings = {"packing": "true" if new else "false"}
            runs.append(made(n, job=f"job{job}", versions=versions, settings=settings, cause=cause("flux") if new else None))
    with history(tmp_path, runs) as known:
        rows = ask(known, "upgrade", Narrowed(cause="flux")).rows
        assert [(row["kind"], row["name"], row["before"], row["after"], row["jobs"], row["of_jobs"]) for row in rows] == [
            ("version", "trl", "0.8", "0.9", 6, 6), ("setting", "packing", "false", "true", 6, 6),
        ]  # fmt: skip
        assert (rows[0]["share_before"], rows[0]["share_after"], rows[0]["significant"]) == (0.0, 1.0, True)
        assert rows[0]["first"] == "2025-06-21 00:00"
        assert rows[1]["probability"] is None


@pytest.mark.parametrize(("after", "verdict"), [(0, "helped"), (9, "not-shown"), (19, "worse")])
def test_whether_a_fix_helped(tmp_path: Path, after: int, verdict: str) -> None:
    runs = [made(n % 10, cause=cause("flux") if n < 10 else None) for n in range(20)]
    runs += [made(10 + n % 10, cause=cause("flux") if n < after else None) for n in range(20)]
    with history(tmp_path, runs) as known:
        (row,) = ask(known, "fix", Narrowed(cause="flux", at=START + 10.0 * DAY)).rows
        assert (row["runs_before"], row["failed_before"], row["runs_after"], row["failed_after"]) == (20, 10, 20, after)
        assert row["verdict"] == verdict
        assert row["interval_before"][0] < 0.5 < row["interval_before"][1]


def test_which_unknown_failures_grow(tmp_path: Path) -> None:
    runs = [made(n, cause=cause(name, known=False)) for name in ("steady",) for n in range(20)]
    runs += [made(10 + n % 10, cause=cause("grows", known=False)) for n in range(15)]
    runs += [made(n % 20) for n in range(100)] + [made(15, cause=cause("known-one")) for _ in range(10)]
    with history(tmp_path, runs) as known:
        rows = ask(known, "unknown", Narrowed(days=10, now=START + 19.5 * DAY)).rows
        assert [(row["cause"], row["before"], row["recent"], row["significant"]) for row in rows] == [("grows", 0, 15, True), ("steady", 10, 10, False)]


def test_the_runs_themselves(tmp_path: Path) -> None:
    runs = [made(n, host=f"n{n % 2}", cause=cause("flux") if n % 3 == 0 else None, versions={"torch": "2.6"}, settings={"bf16": "true"}) for n in range(9)]
    with history(tmp_path, runs) as known:
        rows = ask(known, "runs", Narrowed(cause="flux", host="n0")).rows
        assert [row["ended"] for row in rows] == ["2025-06-22 00:00", "2025-06-16 00:00"]
        one = run(known, rows[0]["run"])
        assert one is not None
        assert (one["entry"], one["versions"], one["settings"]) == ("flux", {"torch": "2.6"}, {"bf16": "true"})
        assert run(known, 10**6) is None


@pytest.mark.parametrize(
    ("question", "asked", "says"),
    [("fix", Narrowed(), "--cause"), ("fix", Narrowed(cause="flux"), "--at"), ("upgrade", Narrowed(), "--cause"), ("upgrade", Narrowed(cause="none"), "none: no run"),
     ("runs", Narrowed(host="nowhere"), "nowhere")],
)  # fmt: skip
def test_what_a_question_lacks_is_said(tmp_path: Path, question: str, asked: Narrowed, says: str) -> None:
    with history(tmp_path, [made(1, cause=cause("flux"))]) as known, pytest.raises(UsageError, match=says):
        ask(known, question, asked)  # type: ignore[arg-type]


def test_questions_to_an_empty_history_have_no_rows(tmp_path: Path) -> None:
    with history(tmp_path, []) as known:
        for question in ("failures", "new", "versions", "hosts", "gpus", "unknown", "runs"):
            assert ask(known, question, Narrowed()).rows == []  # type: ignore[arg-type]


def test_times() -> None:
    assert when("2025-06-16") == START
    assert when("2025-06-16T01:00+01:00") == START
    assert when("3d", now=START + 3.0 * DAY) == START
    with pytest.raises(UsageError, match="no date"):
        when("soon")

"""Fingerprints of unknown failures: frozen ones, which no change may move, and what must not change one."""

from __future__ import annotations

import pytest

from troubleshooter.outcome import outcome
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

FROZEN = [
    ('QuuxError: tank 3 of /data/3 empty\n', "8de46769f8bb"),
    ('Traceback (most recent call last):\n  File "/x/lib/python3.11/site-packages/quux/core.py", line 3, in fill\n    go()\nquux.errors.QuuxError: tank 3 of /data/3 empty\n', "44697e2bb84b"),
    ('Traceback (most recent call last):\n  File "C:\\env\\Lib\\site-packages\\quux\\core.py", line 3, in fill\n    go()\nquux.errors.QuuxError: tank 3 of C:\\data\\3 empty\n', "44697e2bb84b"),
    ('Traceback (most recent call last):\n  File "/home/me/train.py", line 12, in <module>\n    main()\n  File "/home/me/train.py", line 7, in main\n    raise ValueError("17 of 20 flux at 0x7f00aa")\nValueError: 17 of 20 flux at 0x7f00aa\n', "d38bf8061c81"),
    ('Traceback (most recent call last):\n  File "/a/site-packages/quux/core.py", line 3, in fill\n    assert go\nAssertionError\n', "3e841da79179"),
    ('Traceback (most recent call last):\n  File "/a/site-packages/quux/a.py", line 3, in one\n    go()\nKeyError: \'flux\'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "/a/site-packages/quux/b.py", line 9, in two\n    stop()\nquux.QuuxError: no flux for job 17\n', "db3416d2f7d2"),
]
"""Logs and the fingerprints that histories and records of 2026-11 hold for them. A new value means that every failure which people have counted
looks new: change the program instead."""


@pytest.fixture(scope="module")
def without_entries() -> Diagnoser:
    return Diagnoser.of([])


def fingerprint(tool: Diagnoser, log: str) -> str:
    told: str = outcome(tool.report([from_text(log)], brief=True))["unknown"]["fingerprint"]
    return told


@pytest.mark.parametrize(("log", "frozen"), FROZEN)
def test_a_fingerprint_stays_what_it_was(without_entries: Diagnoser, log: str, frozen: str) -> None:
    assert fingerprint(without_entries, log) == frozen


def test_another_run_user_machine_and_rank_have_the_same_fingerprint(without_entries: Diagnoser) -> None:
    log = FROZEN[1][0]
    other = log.replace("/x/lib/python3.11", "/home/you/env/lib/python3.12").replace("line 3,", "line 9,").replace("tank 3 of /data/3", "tank 88 of /mnt/b/7")
    ranked = "".join(f"[rank5]: {line}\n" for line in other.splitlines())
    assert fingerprint(without_entries, other) == fingerprint(without_entries, ranked) == FROZEN[1][1]


def test_another_message_place_or_exception_has_another_fingerprint(without_entries: Diagnoser) -> None:
    log = FROZEN[1][0]
    others = [log.replace("empty", "full"), log.replace("in fill", "in drain"), log.replace("QuuxError", "FluxError"), log.replace("quux/core", "quux/rim")]
    found = {fingerprint(without_entries, one) for one in (log, *others)}
    assert len(found) == 5

"""Scans of an SFTP server whose connection breaks and whose files vanish."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from kb.errors import UsageError
from tests.scan.conftest import KNOWN, scan
from tests.scan.places.conftest import Remote
from troubleshooter.scan import jobs
from troubleshooter.scan.places.opening import LogPlaces
from troubleshooter.scan.places.patience import Gone, Patience

pytestmark = pytest.mark.slow  # a server is started and made to fail

QUICK = Patience(attempts=3, first_wait_s=0.001, most_wait_s=0.001, timeout_s=20.0)


def fill(remote: Remote) -> None:
    for name, text in (
        ("logs/r1/rank0.log", KNOWN), ("logs/r1/rank1.log", "fine\n"), ("logs/r2/o\ndd #?%41 日志.log", KNOWN),
        ("logs/r3/empty.log", ""), ("logs/r3/model.bin", "x"), ("logs/.hidden/a.log", KNOWN),
    ):  # fmt: skip
        path = remote.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (remote.folder / "logs" / "r3" / "link.log").symlink_to(remote.folder / "logs" / "r3" / "empty.log")
    (remote.folder / "logs" / "loop").symlink_to(remote.folder / "logs")


def test_a_server_is_scanned_and_gone_on_with(remote: Remote, tmp_path: Path) -> None:
    fill(remote)
    done = scan(remote.url("logs"), cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert (told["jobs"], told["files"], told["skipped"], told["unreadable"]) == (4, 5, [], [])
    assert [(group["id"], group["jobs"]) for group in told["failures"]] == [("cache-object-float", 2)]
    reads = remote.reads
    assert scan(remote.url("logs"), cwd=tmp_path).stdout == done.stdout
    assert remote.reads == reads


def test_a_broken_connection_is_made_anew(remote: Remote) -> None:
    body = os.urandom(1_500_000).hex().encode()
    (remote.folder / "a.log").write_bytes(body)
    places = LogPlaces(QUICK)
    assert [job.name for job in jobs.find([remote.url("a.log")], places).jobs] == [remote.url("a.log")]
    remote.broken = 2
    (source,) = places.sources([remote.url("a.log")], 0.0)
    assert b"".join(source.chunks()) == body
    assert remote.connections == 3


def test_a_file_that_vanishes_is_told(remote: Remote) -> None:
    (source,) = LogPlaces(QUICK).sources([remote.url("gone.log")], 0.0)
    with pytest.raises(Gone, match=r"gone.log: gone since it was listed, or never there"):
        b"".join(source.chunks())


def test_an_unknown_host_is_refused(remote: Remote, tmp_path: Path) -> None:
    fill(remote)
    (tmp_path / "home" / ".ssh" / "known_hosts").write_text("")
    done = scan(remote.url("logs"), cwd=tmp_path)
    assert done.returncode == 2
    assert "the host is unknown to ~/.ssh/known_hosts; log in once with ssh 127.0.0.1 and check its key" in done.stderr


def test_a_foreign_key_is_refused_at_once(remote: Remote, tmp_path: Path) -> None:
    import paramiko

    paramiko.RSAKey.generate(2048).write_private_key_file(str(tmp_path / "home" / ".ssh" / "key"))
    (skip,) = jobs.find([remote.url("logs")], LogPlaces(QUICK)).skipped
    assert "check the credentials" in skip.reason
    assert remote.connections == 1


def test_a_password_in_a_url_is_refused() -> None:
    with pytest.raises(UsageError, match="a password in a URL would be kept in the record"):
        jobs.find(["sftp://me:secret@host/logs"], LogPlaces(QUICK))


def test_a_name_that_is_no_utf8_costs_only_its_folder(remote: Remote) -> None:
    fill(remote)
    with open(os.fsencode(remote.folder / "logs" / "r1") + b"/\xff.log", "w"):
        pass
    found, skipped = jobs.find([remote.url("logs")], LogPlaces(QUICK))
    assert [job.name for job in found if "/r1/" in job.name] == []
    assert len(found) == 3
    assert "a file name in it is not UTF-8; rename that file" in skipped[0].reason

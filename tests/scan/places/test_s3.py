"""Scans of a bucket on a real S3 server, which is slow, fails, and loses objects."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.scan.conftest import KNOWN, UNKNOWN, scan
from tests.scan.places.conftest import BUCKET, Store
from troubleshooter.read.sources import Unreadable
from troubleshooter.scan import jobs
from troubleshooter.scan.places import objects
from troubleshooter.scan.places.opening import LogPlaces
from troubleshooter.scan.places.patience import Gone, Patience, Unreachable

pytestmark = pytest.mark.slow  # a server is started and made to fail

QUICK = Patience(attempts=3, first_wait_s=0.001, most_wait_s=0.001, timeout_s=2.0)


def fill(store: Store) -> None:
    store.put("logs/r1/rank0.log", KNOWN)
    store.put("logs/r1/rank1.log", "fine\n")
    store.put("logs/r2/train.log.gz", gzip.compress(UNKNOWN.format(n=1).encode()))
    store.put("logs/r3/train.log", "fine\n")
    store.put("logs/r3/empty.log", "")
    store.put("logs/r3/model.safetensors", "x")
    store.put("logs/.hidden/a.log", KNOWN)
    store.put("logs/o\x1bdd 'na\"me' 日志?x=1#y%41+z.log", KNOWN)
    store.put("logs-of-others/a.log", KNOWN)


def read(store_: Store, key: str) -> bytes:
    (source,) = LogPlaces(QUICK).sources([f"s3://{BUCKET}/{key}"], 0.0)
    return b"".join(source.chunks())


def found(*urls: str) -> jobs.FoundJobs:
    return jobs.find(urls, LogPlaces(QUICK))


def test_a_bucket_is_scanned_and_gone_on_with(store: Store, tmp_path: Path) -> None:
    fill(store)
    done = scan("s3://runs/logs", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert (told["jobs"], told["files"], told["healthy"], told["skipped"]) == (5, 6, 2, [])
    assert [(group["id"], group["jobs"]) for group in told["failures"]] == [("cache-object-float", 2)]
    assert "s3://runs/logs/r1/rank0.log:1" in told["failures"][0]["examples"]
    assert [group["title"] for group in told["unknown"]] == ["QuuxError: tank # of # empty"]
    store.asked.clear()
    assert scan("s3://runs/logs/", cwd=tmp_path).stdout == done.stdout
    assert set(store.asked) == {"LISTING"}
    store.put("logs/r3/train.log", KNOWN)
    assert json.loads(scan("s3://runs/logs", cwd=tmp_path).stdout)["failures"][0]["jobs"] == 3
    assert (tmp_path / "troubleshoot-scan.jsonl").read_bytes().count(b"\n") == 6


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("s3://runs/logs/r1", ["logs/r1/rank.log"]),
        ("s3://runs/logs/r3/train.log", ["logs/r3/train.log"]),
        ("s3://runs/logs/r?/train*", ["logs/r2/train.log", "logs/r3/train.log"]),
        ("s3://runs/log*-others", ["logs-of-others/a.log"]),
        ("s3://runs/logs/r3/model.safetensors", ["logs/r3/model.safetensors"]),
    ],
)
def test_what_a_url_names(store: Store, url: str, names: list[str]) -> None:
    fill(store)
    assert [job.name for job in found(url).jobs] == [f"s3://runs/{name}" for name in names]


def test_what_is_not_there_or_not_allowed_is_told(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = scan("s3://runs/none", "s3://no-such-bucket/x", "ftp://host/x", cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "ftp:// is none of the places that can be scanned: s3://, gs://, hf://, sftp://" in done.stderr
    done = scan("s3://runs/none", "s3://no-such-bucket/x", cwd=tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "s3://no-such-bucket/x: gone since it was listed, or never there" in done.stderr
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert "check the credentials" in found("s3://runs/none").skipped[0].reason


def test_what_fails_is_tried_again(store: Store) -> None:
    body = ("step\n" * 2000 + KNOWN).encode()
    store.put("a.log", body)
    store.refused, store.cut = {"a.log": 1, "LISTING": 2}, {"a.log": 1}
    assert [job.name for job in found("s3://runs").jobs] == ["s3://runs/a.log"]
    assert read(store, "a.log") == body
    assert store.asked.count("/runs/a.log") >= 3


def test_a_stalled_answer_is_asked_for_again(store: Store) -> None:
    store.put("a.log", KNOWN)
    store.stalled = {"a.log": 1}
    (source,) = LogPlaces(QUICK._replace(timeout_s=0.2)).sources(["s3://runs/a.log"], 0.0)
    assert b"".join(source.chunks()) == KNOWN.encode()


def test_what_keeps_failing_is_told_and_left_for_the_next_scan(store: Store) -> None:
    store.put("a.log", KNOWN)
    store.refused = {"a.log": 100}
    with pytest.raises(Unreachable, match=r"s3://runs/a.log: could not be read after 3 attempts: .*; the next scan tries it again"):
        read(store, "a.log")


def test_a_listing_that_keeps_failing_is_told(store: Store) -> None:
    store.refused = {"LISTING": 100}
    jobs_found, skipped = found("s3://runs/logs")
    assert not jobs_found
    assert skipped[0].reason.startswith("listed in part only: s3://runs/logs")


def test_an_object_that_vanishes_costs_only_itself(store: Store, tmp_path: Path) -> None:
    fill(store)
    store.vanishing = {"r3/train.log"}
    told = json.loads(scan("s3://runs/logs", cwd=tmp_path).stdout)
    assert (told["jobs"], told["healthy"]) == (5, 1), told
    assert told["unreadable"] == [
        {"job": "s3://runs/logs/r3/train.log", "error": "s3://runs/logs/r3/train.log: gone since it was listed, or never there"}
    ]
    assert json.loads(scan("s3://runs/logs", cwd=tmp_path).stdout)["unreadable"] == []
    with pytest.raises(Gone):
        read(store, "logs/r3/train.log")


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 200, 250])
def test_blocks_join_to_the_object(store: Store, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "BLOCK_BYTES", 100)
    body = bytes(range(65, 90)) * 10
    store.put("a.log", body[:size])
    assert read(store, "a.log") == body[:size]


def test_an_unreachable_log_is_tried_by_the_next_scan(store: Store, tmp_path: Path) -> None:
    """The record says so; a log that is merely broken is not read again."""
    store.put("a.log", KNOWN)
    store.put("b.gz", b"\x1f\x8bno gzip")
    row = {
        "schema_version": 1, "job": "s3://runs/a.log", "files": ["s3://runs/a.log"], "modified": 5.0, "status": 2,
        "error": "s3://runs/a.log: could not be read", "again": True,
        "stamp": next(job.stamp for job in found("s3://runs/a.log").jobs),
    }  # fmt: skip
    (tmp_path / "troubleshoot-scan.jsonl").write_text(json.dumps(row) + "\n")
    told = json.loads(scan("s3://runs", cwd=tmp_path).stdout)
    assert (told["failures"][0]["jobs"], len(told["unreadable"])) == (1, 1)
    store.asked.clear()
    scan("s3://runs", cwd=tmp_path)
    assert set(store.asked) == {"LISTING"}


def test_an_archive_in_a_bucket(store: Store, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as file:
        for name, text in (("r1/a.log", KNOWN), ("r2/b.log", "fine\n")):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            file.addfile(info, io.BytesIO(text.encode()))
    store.put("logs.tar.gz", packed.getvalue())
    done = scan("s3://runs/logs.tar.gz", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert (told["jobs"], told["healthy"], told["failures"][0]["examples"]) == (2, 1, ["s3://runs/logs.tar.gz!/r1/a.log:1"])


class ManyKeys:
    """Stands for a bucket of very many keys: each page is made when it is asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pages = 0

    def call_s3(self, method: str, *, Bucket: str, Prefix: str, StartAfter: str, MaxKeys: int) -> dict[str, Any]:
        self.pages += 1
        first = int(StartAfter[-11:-4]) + 1 if StartAfter else 0
        last = min(first + MaxKeys, self.count)
        keys = [
            {"Key": f"{Prefix}run-{n:07}.log", "Size": n, "ETag": f'"{n:032x}"', "StorageClass": "STANDARD", "LastModified": 5.0}
            for n in range(first, last)
        ]
        return {"Contents": keys, "IsTruncated": last < self.count}


def test_a_listing_of_very_many_keys_holds_one_page() -> None:
    keys = ManyKeys(20_000)
    place = objects.BucketStore("s3", keys, QUICK)
    tracemalloc.start()
    try:
        count = sum(1 for _ in place.listing("s3://runs", lambda path, reason: None))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (count, keys.pages) == (20_000, 20)
    assert peak < 4_000_000, peak


def test_no_rights_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def cat_file(self, name: str, **_: Any) -> bytes:
            raise PermissionError("Access Denied")

    with pytest.raises(Unreadable, match="no access: Access Denied; check the credentials"):
        objects.ObjectStore("gs", Refusing(), QUICK).opened("gs://b/a.log").read(1)


def test_any_file_system_of_fsspec_is_listed_folder_by_folder() -> None:
    """What ``gs://`` and ``hf://`` go through."""
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    for name, text in (("/b/r1/a.log", KNOWN), ("/b/r1/.cache/x.log", "x"), ("/b/r2/b.log", "fine\n"), ("/b/r2/c.bin", "x")):
        files.pipe_file(name, text.encode())
    place = objects.ObjectStore("memory", files, QUICK)
    listed = list(place.listing("memory://b", lambda path, reason: None))
    assert [one.path for one in listed] == ["memory://b/r1/a.log", "memory://b/r2/b.log"]
    assert place.opened(listed[0].path).read(1000) == KNOWN.encode()
    assert [one.path for one in place.listing("memory://b/r?/b*", lambda path, reason: None)] == ["memory://b/r2/b.log"]

"""Logs in tar and zip archives, on this machine."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.scan.conftest import KNOWN, UNKNOWN, command, scan
from tests.waiting import PATIENCE_SECONDS

NAMES = {
    "r1/rank0.log": KNOWN, "r1/rank1.log": "all fine\n", "r2/train.log": UNKNOWN.format(n=1), "r3/train.log": "all fine\n",
    "r3/model.safetensors": "x", ".hidden/a.log": KNOWN, "o\ndd \x1b'name.log": KNOWN,
}  # fmt: skip


def pack(path: Path, names: dict[str, str] = NAMES) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, text in names.items():
                file.writestr(zipfile.ZipInfo(name, (2026, 11, 23, 10, 0, 0)), text)
        return
    with tarfile.open(path, "w:" + {".tar": ""}.get(path.suffix, path.suffix[1:].replace("tgz", "gz"))) as file:
        for name, text in names.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(text.encode()), 1_790_000_000
            file.addfile(info, io.BytesIO(text.encode()))


@pytest.mark.parametrize("name", ["logs.zip", "logs.tar", "logs.tar.gz", "logs.tgz", "logs.tar.xz", "logs.tar.bz2"])
def test_an_archive_is_scanned_like_its_folder(tmp_path: Path, name: str) -> None:
    pack(tmp_path / name)
    done = scan(name, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert (told["jobs"], told["files"], told["healthy"], told["skipped"]) == (4, 5, 1, [])
    assert [(group["id"], group["jobs"]) for group in told["failures"]] == [("cache-object-float", 2)]
    assert f"{name}!/r1/rank0.log:1" in told["failures"][0]["examples"]
    again = scan(name, cwd=tmp_path)
    assert again.stdout == done.stdout
    assert (tmp_path / "troubleshoot-scan.jsonl").read_bytes().count(b"\n") == 4


def test_no_copy_is_left_behind(tmp_path: Path) -> None:
    pack(tmp_path / "logs.tar.gz")
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    subprocess.run(command("logs.tar.gz"), cwd=tmp_path, env=environment, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    assert (tmp_path / "troubleshoot-scan.jsonl").exists()
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_no_room_for_a_copy_is_told(tmp_path: Path) -> None:
    import resource

    pack(tmp_path / "logs.tar.gz", {f"{i}.log": "fine\n" * 100 for i in range(50)})
    done = subprocess.run(
        command("logs.tar.gz"), cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "logs.tar.gz: its copy in " in done.stderr
    assert "set TMPDIR to a disk with more room" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["logs.zip", "logs.tar", "logs.tar.gz"])
def test_a_cut_archive_is_told(tmp_path: Path, name: str) -> None:
    """A tar gives the logs before the cut; a zip has its table at the end."""
    pack(tmp_path / name, {f"r{i}/train.log": f"{i}\n" * 2000 + KNOWN for i in range(9)})
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) * 2 // 3])
    done = scan(name, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    if name == "logs.zip":
        assert done.returncode == 2
        assert "logs.zip: a damaged archive" in done.stderr
    else:
        told = json.loads(done.stdout)
        assert 0 < told["failures"][0]["jobs"] < 9
        assert [skip["path"] for skip in told["skipped"]] == [name] or told["unreadable"]


def test_a_damaged_or_encrypted_file_in_an_archive_is_told(tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    pack(path, {"a.log": KNOWN * 50, "b.log": KNOWN})
    raw = bytearray(path.read_bytes())
    raw[60:70] = b"\xff" * 10
    path.write_bytes(raw)
    told = json.loads(scan("logs.zip", cwd=tmp_path).stdout)
    assert [bad["job"] for bad in told["unreadable"]] == ["logs.zip!/a.log"]
    assert "damaged in the archive" in told["unreadable"][0]["error"]
    assert told["failures"][0]["jobs"] == 1


def test_a_compressed_log_in_an_archive_is_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as file:
        file.writestr("train.log.gz", gzip.compress(KNOWN.encode()))
    told = json.loads(scan("logs.zip", cwd=tmp_path).stdout)
    assert [group["id"] for group in told["failures"]] == ["cache-object-float"]


def test_a_folder_may_be_named_like_an_archive(tmp_path: Path) -> None:
    (tmp_path / "logs.zip!").mkdir()
    (tmp_path / "logs.tar").mkdir()
    (tmp_path / "logs.zip!" / "a.log").write_text(KNOWN)
    (tmp_path / "logs.tar" / "a.log").write_text(KNOWN)
    told = json.loads(scan("logs.zip!", "logs.tar", cwd=tmp_path).stdout)
    assert told["failures"][0]["jobs"] == 2


def test_local_logs_import_no_place(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("fine\n")
    program = (
        "import sys\nfrom troubleshooter.scan import command\n"
        "command.run(['a.log'], kept=None, summary_only=False, workers=1, entries=[], ignore=[], lang='en', format='json')\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('fsspec', 's3fs', 'paramiko', 'tarfile')], sys.modules\n"
        "assert 'troubleshooter.scan.places.opening' not in sys.modules\n"
    )
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

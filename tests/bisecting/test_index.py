"""A package index that is lost, comes back, or takes a release back: a small one, served on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.bisecting.conftest import PROBLEM, wheel
from tests.bisecting.test_command import HERE, bisected, command, real

__all__ = ["repro"]
from tests.bisecting.test_command import repro


class SmallIndex:
    """Serves the wheels of a folder. ``yanked`` releases are marked as taken back; while ``lost`` no wheel is sent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.yanked: dict[str, str] = {}
        self.lost = False

    def page(self) -> str:
        links = []
        for path in sorted(self.folder.glob("*.whl")):
            reason = self.yanked.get(path.name.split("-")[1])
            links.append(f'<a href="/{path.name}"{f" data-yanked={reason!r}" if reason else ""}>{path.name}</a>')
        return "<!DOCTYPE html><html><body>" + "\n".join(links) + "</body></html>"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallIndex]:
    folder = tmp_path / "index"
    folder.mkdir()
    served = SmallIndex(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.endswith(".whl"):
                if served.lost:
                    self.connection.close()
                    return
                body, kind = (folder / self.path[1:]).read_bytes(), "application/zip"
            else:
                body, kind = served.page().encode(), "text/html"
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the test reads what the tool prints."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    only_this(monkeypatch, f"http://127.0.0.1:{server.server_port}/simple")
    monkeypatch.chdir(tmp_path)
    yield served
    server.shutdown()
    server.server_close()


def only_this(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """No other index, and no long waiting for this one."""
    for name, value in {"CONFIG_FILE": "/dev/null", "INDEX_URL": url, "EXTRA_INDEX_URL": "", "FIND_LINKS": "", "RETRIES": "1",
                        "NO_CACHE_DIR": "1"}.items():  # fmt: skip
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_NO_INDEX", raising=False)


def test_an_index_that_does_not_answer(repro: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    only_this(monkeypatch, "http://127.0.0.1:9/simple")
    status, told = bisected(capsys, "--package", "madeup", *HERE, *command(repro))
    assert status == 2
    assert "does not list 'madeup'; is there a network?" in told
    assert "Traceback" not in told


@real
def test_an_index_that_is_lost_says_nothing_about_releases(
    index: SmallIndex, repro: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(4):
        wheel(index.folder, "madeup", f"1.{number}", PROBLEM if number >= 2 else "")
    asked = ["--package", "madeup", *HERE, "--format", "json", *command(repro)]
    index.lost = True
    status, told = bisected(capsys, *asked)
    assert status == 2
    assert "the package index does not answer for madeup==1.3; is there a network?" in told
    index.lost = False
    status, told = bisected(capsys, *asked)
    assert (status, told["last_good"], told["first_bad"]) == (0, "1.1", "1.2"), "no release was held for one that gives no answer"


@real
def test_a_release_that_was_taken_back(index: SmallIndex, repro: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(4):
        wheel(index.folder, "madeup", f"1.{number}", PROBLEM if number >= 1 else "")
    index.yanked["1.1"] = "broken"
    asked = ["--package", "madeup", *HERE]
    status, told = bisected(capsys, *asked, "--format", "json", *command(repro))
    assert (status, told["last_good"], told["first_bad"]) == (0, "1.0", "1.2")
    status, told = bisected(capsys, *asked, "--bad", "1.1", *command(repro))
    assert status == 2
    assert "madeup 1.1 is not among the 3 releases" in told
    assert "releases that were taken back, are left out" in told
    before, after = tmp_path / "before.txt", tmp_path / "after.txt"
    before.write_text("madeup==1.0\n")
    after.write_text("madeup==1.1\n")
    status, told = bisected(capsys, "--from", str(before), "--to", str(after), *HERE, "--format", "json", *command(repro))
    assert (status, told["first_bad"]) == (0, "1.1"), "a lock file may pin a release that was taken back since"

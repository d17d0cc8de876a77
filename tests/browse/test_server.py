"""The commands: loopback, ports in use, what is missing said in one sentence; and the routes."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from kb.errors import UsageError
from kb.pages.site import SiteError
from tests.waiting import wait_for
from troubleshooter.browse import patient
from troubleshooter.browse.command import browse, build_site
from troubleshooter.browse.server import Unbound, bind, loopback

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def taken() -> socket.socket:
    made = socket.socket()
    made.bind(("127.0.0.1", 0))
    made.listen()
    return made


def test_a_port_in_use_gets_a_clear_sentence(taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    with taken, pytest.raises(Unbound, match=rf"port {port} is in use.*--next-port"):
        browse(None, port=port, host=None, open_browser=False, entries=[], lang="en")


def test_the_next_free_port_on_request(taken: socket.socket) -> None:
    port = taken.getsockname()[1]
    with taken, bind("127.0.0.1", port, next_port=True) as found:
        assert port < found.getsockname()[1] <= port + 20


def test_only_loopback_without_a_request() -> None:
    with bind("127.0.0.1", 0, next_port=False) as found:
        assert found.getsockname()[0] == "127.0.0.1"
    assert loopback("127.0.0.1")
    assert loopback("::1")
    assert loopback("localhost")
    assert not loopback("0.0.0.0")
    assert not loopback("192.168.0.2")
    with pytest.raises(Unbound, match="cannot listen on"):
        bind("192.0.2.1", 0, next_port=False)


def test_an_unknown_entry_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean cache-object-float"):
        browse("cache-object-flaot", port=0, host=None, open_browser=False, entries=[], lang="en")


def test_without_the_extra_one_sentence_says_so() -> None:
    script = (
        "import sys; sys.modules['starlette'] = None\n"
        "from troubleshooter.__main__ import main\n"
        "sys.argv = ['troubleshoot', 'browse']; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"pip install '{ROOT}[browse]'" in done.stderr
    assert "'llm-troubleshooter" not in done.stderr  # no such package on the index


def test_the_command_serves_and_stops_with_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "troubleshooter", "browse", "cache-object-float", "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/precision/cache-object-float\.html", line)
        assert found, line
        port = int(found[1])
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        link.request("GET", "/precision/cache-object-float.html")
        reply = link.getresponse()
        assert reply.status == 200
        assert reply.headers["server"] is None
        assert b"HybridCache" in reply.read()
        link.request("GET", "/", headers={"Host": "evil.example"})
        assert link.getresponse().status == 421
        link.close()
        with pytest.raises(OSError, match=r".*"), socket.create_connection((_address(), port), timeout=2):
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


def _address() -> str:
    """An address of this machine that is not loopback (one that nobody has where there is none)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found = str(probe.getsockname()[0])
        except OSError:
            found = ""
    return found if found and not found.startswith("127.") else "192.0.2.1"


def test_the_browser_is_opened_at_the_entry_unless_told_not_to(small_checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    opened: list[str] = []

    def waits_for_the_browser(server: object, sockets: object) -> None:
        """As long as something is still to be opened, and it is opened only while the pages are served."""
        wait_for(lambda: not [one for one in threading.enumerate() if isinstance(one, threading.Timer)])

    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(uvicorn.Server, "run", waits_for_the_browser)
    for wanted in (True, False):
        code = browse("cache-object-float", port=0, host=None, open_browser=wanted, entries=[], lang="zh")
        assert code == 0
    (url,) = opened
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/zh/precision/cache-object-float\.html", url)


def test_build_site_says_what_it_wrote(tmp_path: Path, small_checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build_site(tmp_path / "site", entries=[]) == 0
    said = capsys.readouterr()
    assert re.match(r"\d+ entries, \d+ files, [\d.]+ MB in [\d.]+ s", said.out)
    assert "--base-url" in said.err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    with pytest.raises(SiteError, match="not empty"):
        build_site(tmp_path / "mine", entries=[])
    if os.getuid():
        with pytest.raises(SiteError):
            build_site(Path("/proc/site"), entries=[])


def test_routes(client: TestClient) -> None:
    assert client.get("/zh", follow_redirects=False).headers["location"] == "/zh/"
    moved = client.get("/cache-object-float", follow_redirects=False)
    assert moved.headers["location"] == "/precision/cache-object-float.html"
    flat = client.get("/zh/cache-object-float.html", follow_redirects=False)
    assert flat.headers["location"] == "/zh/precision/cache-object-float.html"
    assert "cache-object-float" in client.get("/zh/cache-object-float.html").text
    for path in ("/precision/", "/precision/index.html", "/precision", "/zh/precision"):
        assert "cache-object-float.html" in client.get(path).text
    missing = client.get("/zh/cache-object-flot.html")
    assert missing.status_code == 404
    assert "/zh/precision/cache-object-float.html" in missing.text
    assert '"../static/style.css' in missing.text
    for path in ("/nope.html", "/precision/nope.html", "/nope/", "/a/b/c"):
        far = client.get(path)
        assert far.status_code == 404
        assert "Did you mean" not in far.text
    evil = client.get("/<script>alert(1)</script>.html")
    assert evil.status_code == 404
    assert "<script>alert" not in evil.text
    for path in ("/static/../app.py", "/static/%2e%2e/render.py", "/static//etc/passwd", "/..%2f..%2fpyproject.toml"):
        assert client.get(path).status_code == 404
    assert client.get("/static/style.css").headers["content-type"].startswith("text/css")
    assert "javascript" in client.get("/static/page.js").headers["content-type"]
    assert client.head("/").status_code == 200


def test_pages_are_packed_and_kept(client: TestClient) -> None:
    start = client.get("/")
    assert start.headers["content-encoding"] == "gzip"
    assert start.headers["cache-control"] == "no-cache"
    again = client.get("/", headers={"if-none-match": start.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    style = re.search(r'href="(static/style\.css\?v=\w+)"', start.text)
    assert style is not None
    assert "immutable" in client.get(f"/{style[1]}").headers["cache-control"]
    assert client.get("/static/style.css").headers["cache-control"] == "no-cache"
    data = client.get("/search-index.js")
    assert data.headers["content-encoding"] == "gzip"
    assert client.get("/search-index.js", headers={"if-none-match": data.headers["etag"]}).status_code == 304
    assert client.post("/diagnose.html", content=b"x").headers["cache-control"] == "no-store"


def test_the_first_view_is_small(client: TestClient) -> None:
    loaded = set(re.findall(r'(?:src|href)="(static/[^"]+)"', client.get("/").text))
    sizes = {path: int(client.get(f"/{path}").headers["content-length"]) for path in ("", *loaded)}
    assert len(loaded) >= 5
    assert sum(sizes.values()) < 60_000


async def _hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


@contextmanager
def serving(**limits: float) -> Iterator[int]:
    """A server on a free port, in a thread; ``limits``: other limits for its connections."""
    with bind("127.0.0.1", 0, next_port=False) as listening:
        made = patient.server(_hello, type("Limited", (patient.Patient,), limits))
        thread = threading.Thread(target=made.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            made.should_exit = True
            thread.join()


def asked(port: int) -> bytes:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    link.request("GET", "/")
    body = link.getresponse().read()
    link.close()
    return body


def test_half_open_connections_shut_nobody_out() -> None:
    with serving(header_seconds=600.0, most=40) as port:
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        for one in silent[50:]:
            with suppress(OSError):
                one.sendall(b"GET / HTTP/1.1\r\nHost: x")
        assert asked(port) == b"hello"
        for one in silent:
            one.close()


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT"])
def test_half_a_request_is_closed_in_time(sent: bytes) -> None:
    with serving(header_seconds=0.2) as port, socket.create_connection(("127.0.0.1", port), timeout=60) as link:
        link.sendall(sent)
        while link.recv(1000):
            pass
        assert asked(port) == b"hello"

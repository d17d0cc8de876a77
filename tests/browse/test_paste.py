"""Pasting a log: the command line's diagnosis, the log folded beside it, hostile input bounded and harmless."""

from __future__ import annotations

import asyncio
import gzip
import os
import re
import shutil
import signal
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from kb.search import SearchIndex
from troubleshooter.browse.app import WebSite
from troubleshooter.browse.paste import PasteBlock, log_view, source
from troubleshooter.browse.worker import Failed, Overrun, Worker
from troubleshooter.pipeline import Diagnoser

from .conftest import HOST, LIMIT

CACHE = "AttributeError: 'HybridCache' object has no attribute 'float'"
LOG = "\n".join([f"{{'loss': {2 - i / 500}, 'epoch': {i}}}" for i in range(700)] + [CACHE, "done"])


def ask(client: TestClient, log: bytes | str, place: str = "") -> str:
    reply = client.post(f"{place}/diagnose.html", content=log, headers={"x-part": "answer"})
    assert reply.status_code == 200, reply.text[:300]
    return reply.text


class Seen(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")


def test_the_answer_is_the_command_lines(client: TestClient, tool: Diagnoser) -> None:
    from troubleshooter.read.sources import from_text

    expected = tool.report([from_text(LOG)]).diagnoses
    text = ask(client, LOG)
    assert expected
    assert [d.id in text for d in expected] == [True] * len(expected)
    assert text.index(expected[0].id) == min(text.index(d.id) for d in expected)
    assert f"{expected[0].id}.html" in Seen(text).links


def test_evidence_is_marked_and_linked(client: TestClient) -> None:
    text = ask(client, LOG)
    seen = Seen(text)
    assert "#L701" in seen.links
    assert "L701" in seen.ids
    assert re.search(r'class="ln ev" id="L701"', text)
    assert len(seen.ids) == len(set(seen.ids))
    assert {link for link in seen.links if link.startswith("#L")} <= {f"#{i}" for i in seen.ids}
    assert "<svg" not in text, "the curve of the loss is no evidence of a crash"
    assert {"script", "style"}.isdisjoint(seen.tags)
    assert "style" not in seen.attributes


def test_chinese(client: TestClient) -> None:
    text = ask(client, LOG, "/zh")
    assert "日志证据" in text
    assert "怎么办" in text


def test_a_page_without_script_gets_a_whole_page(client: TestClient) -> None:
    reply = client.post("/zh/diagnose.html", content=f"log={LOG}\r\n", headers={"content-type": "text/plain"})
    assert reply.status_code == 200
    assert "cache-object-float" in reply.text
    assert 'href="../diagnose.html"' in reply.text
    assert "&#39;HybridCache&#39; object has no attribute &#39;float&#39;\ndone</textarea>" in reply.text
    assert client.get("/diagnose.html", follow_redirects=False).status_code == 303


@pytest.mark.parametrize("log", ["", "  \n\n"])
def test_nothing_pasted(client: TestClient, log: str) -> None:
    reply = client.post("/diagnose.html", content=log, headers={"x-part": "answer"})
    assert reply.status_code == 422
    assert "Nothing was pasted" in reply.text


def shown(blocks: list[PasteBlock]) -> list[int]:
    return [row.number for block in blocks if not block.folded for row in block.rows]


def test_long_logs_are_folded_around_the_evidence(tool: Diagnoser) -> None:
    text = "\n".join([*(f"line {i}" for i in range(1, 20001)), CACHE, *(f"after {i}" for i in range(5000))])
    pasted = source(text.encode(), LIMIT)
    view = log_view(pasted, tool.report([pasted]))
    numbers = shown(view.blocks)
    assert view.lines == 25001
    assert 20001 in numbers
    assert {1, 19990, 20004, 25001} <= set(numbers)
    assert len(numbers) < 60
    assert len(numbers) + sum(b.count for b in view.blocks if b.folded) == 25001
    assert all(not b.rows for b in view.blocks if b.folded)


def test_short_logs_can_be_unfolded(tool: Diagnoser) -> None:
    pasted = source(LOG.encode(), LIMIT)
    view = log_view(pasted, tool.report([pasted]))
    everything = [row.number for block in view.blocks for row in block.rows]
    assert everything == list(range(1, 703))
    assert [b.count for b in view.blocks if b.folded] == [len(b.rows) for b in view.blocks if b.folded]
    assert any(b.folded for b in view.blocks)


def test_ranks_are_told_apart(client: TestClient) -> None:
    log = (
        "[rank1]: ValueError: a row of rank 1 is empty\n"
        "[rank0]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.\n"
    )
    text = ask(client, log)
    assert '<span class="rank r1">rank 1</span>' in text
    assert '<span class="rank r0">rank 0</span>' in text
    assert "rank 1 failed first" in text


HOSTILE = {
    "script": "<script>alert(1)</script><img src=x onerror=alert(2)>\nKeyError: '<svg onload=alert(3)>'\n",
    "ansi": "\x1b[2J\x1b]0;title\x07\x1b[31mRuntimeError\x1b[0m: \x1b[1mbad\x1b[0m\x9b31m\n",
    "bidi": "ValueError: \u202etxt.exe\u2066 \u200b\u061c\n",
    "nul": "\x00\x01\x02RuntimeError: \x00CUDA out of memory\x00\n",
    "not utf-8": b"\xff\xfe\xfaRuntimeError: \xc3\x28\n",
    "template": "RuntimeError: {{ 7 * 7 }} {% raw %} <<name:text>> ${x}\n",
    "names": "{'loss<script>': 1.0, 'rewards/<b onclick=x>': nan, 'loss': 2.0}\n" * 3,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_logs_are_shown_harmlessly(client: TestClient, name: str) -> None:
    text = ask(client, HOSTILE[name])
    seen = Seen(text)
    assert {"script", "img", "iframe", "style"}.isdisjoint(seen.tags)
    assert not [attribute for attribute in seen.attributes if attribute.startswith("on") or attribute == "style"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]", text)
    assert "49" not in text.split("RuntimeError")[-1] if name == "template" else True


def test_a_line_of_100_mb_is_shown_cut(client: TestClient) -> None:
    log = b"x" * (100 << 20) + b"\n" + CACHE.encode() + b"\n"
    text = ask(client, log)
    assert "cache-object-float" in text
    assert len(text) < 100_000


def test_too_large_a_log_is_refused_with_a_sentence(worker: Worker, tool: Diagnoser) -> None:
    small = WebSite(tool.knowledge.bodies(), worker, limit=1 << 20, index=SearchIndex.of(tool.knowledge))
    client = TestClient(small.app([HOST]), base_url=f"http://{HOST}", headers={"origin": f"http://{HOST}"})
    reply = client.post("/diagnose.html", content=b"x\n" * (1 << 20), headers={"x-part": "answer"})
    assert reply.status_code == 413
    assert "larger than 1 MiB" in reply.text
    assert "troubleshoot FILE" in reply.text


def test_a_log_that_does_not_arrive_is_given_up(site: WebSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("troubleshooter.browse.app.ARRIVE", 0.2)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b"a line\n", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"origin", f"http://{HOST}".encode()), (b"x-part", b"answer")]
    scope = {
        "type": "http", "method": "POST", "path": "/diagnose.html", "raw_path": b"/diagnose.html", "query_string": b"",
        "headers": headers, "http_version": "1.1", "scheme": "http", "root_path": "", "client": None, "server": None,
    }  # fmt: skip
    asyncio.run(asyncio.wait_for(site.app([HOST])(scope, receive, send), 10))
    assert sent[0]["status"] == 408
    assert b"did not arrive in time" in sent[1]["body"]


def test_a_packed_log_is_unpacked_within_bounds(client: TestClient, tool: Diagnoser) -> None:
    assert "cache-object-float" in ask(client, gzip.compress(LOG.encode()))
    bomb = gzip.compress(b"\0" * (LIMIT + 10))
    reply = client.post("/diagnose.html", content=bomb, headers={"x-part": "answer"})
    assert reply.status_code == 422
    assert "unpacks to more than" in reply.text
    reply = client.post("/diagnose.html", content=b"\x1f\x8bnothing", headers={"x-part": "answer"})
    assert reply.status_code == 422


def test_a_notebook_is_read(client: TestClient) -> None:
    book = (
        '{\n "cells": [\n  {\n   "cell_type": "code",\n   "outputs": [\n    {\n     "text": [\n'
        f'      "{CACHE}\\n"\n     ]\n    }}\n   ]\n  }}\n ],\n "nbformat": 4\n}}\n'
    )
    text = ask(client, book)
    assert "cache-object-float" in text
    assert "L8" in Seen(text).ids


def test_a_log_that_takes_too_long_is_stopped_and_the_next_is_answered() -> None:
    slow = Worker([], {}, LIMIT, seconds=0.001, patience=600)
    try:
        with pytest.raises(Overrun):
            slow.ask(b"line of a log\n" * 3_000_000, "en")
        slow.seconds = 30
        assert "cache-object-float" in slow.ask(LOG.encode(), "en")
    finally:
        slow.stop()


def test_the_reader_is_told_that_it_took_too_long(tool: Diagnoser) -> None:
    slow = Worker([], {}, LIMIT, seconds=0.001, patience=600)
    made = WebSite(tool.knowledge.bodies(), slow, index=SearchIndex.of(tool.knowledge))
    client = TestClient(made.app([HOST]), base_url=f"http://{HOST}", headers={"origin": f"http://{HOST}"})
    try:
        reply = client.post("/diagnose.html", content=b"line of a log\n" * 3_000_000, headers={"x-part": "answer"})
    finally:
        slow.stop()
    assert reply.status_code == 503
    assert "was stopped" in reply.text


def test_a_worker_that_dies_is_replaced(worker: Worker) -> None:
    worker.ask(b"x", "en")
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    assert "cache-object-float" in worker.ask(LOG.encode(), "en")


def test_a_worker_that_cannot_load_says_so(tmp_path: Path) -> None:
    with pytest.raises(Failed, match="could not be loaded"):
        Worker([tmp_path / "missing"], {}, LIMIT).wait()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal that stops a process")
def test_a_stopped_worker_is_given_up_though_it_takes_no_bytes(tool: Diagnoser) -> None:
    stopped = Worker([], {}, LIMIT, seconds=1)
    try:
        stopped.wait()
        assert stopped.pid is not None
        os.kill(stopped.pid, signal.SIGSTOP)
        with pytest.raises(Overrun):
            stopped.ask(b"line of a log\n" * 500_000, "en")
        stopped.seconds = 30
        stopped.patience = 600
        assert "cache-object-float" in stopped.ask(LOG.encode(), "en")
    finally:
        stopped.stop()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal that stops a process")
def test_a_worker_that_still_loads_is_not_ended_and_the_page_is_told(tool: Diagnoser) -> None:
    loading = Worker([], {}, LIMIT, patience=0.01)
    made = WebSite(tool.knowledge.bodies(), loading, index=SearchIndex.of(tool.knowledge))
    client = TestClient(made.app([HOST]), base_url=f"http://{HOST}", headers={"origin": f"http://{HOST}"})
    try:
        loading.start()
        pid = loading.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        reply = client.post("/diagnose.html", content=LOG, headers={"x-part": "answer"})
        assert reply.status_code == 503
        assert reply.headers["retry-after"] == "1"
        assert "being compiled" in reply.text
        os.kill(pid, signal.SIGCONT)
        loading.wait()
        assert loading.pid == pid
        assert "cache-object-float" in ask(client, LOG)
    finally:
        loading.stop()


def test_too_many_logs_at_once_are_turned_away(site: WebSite, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "waiting", 4)
    reply = client.post("/diagnose.html", content=b"x", headers={"x-part": "answer"})
    assert reply.status_code == 503
    assert "try again" in reply.text
    assert site.held == 0


def test_the_bytes_of_all_logs_together_are_bounded(worker: Worker, tool: Diagnoser) -> None:
    made = WebSite(tool.knowledge.bodies(), worker, limit=1 << 20, index=SearchIndex.of(tool.knowledge))
    client = TestClient(made.app([HOST]), base_url=f"http://{HOST}", headers={"origin": f"http://{HOST}"})
    made.held = 3 << 19  # other logs are held: half of the room for two is left
    reply = client.post("/diagnose.html", content=b"x\n" * (3 << 17), headers={"x-part": "answer"})
    assert reply.status_code == 503
    assert "try again" in reply.text
    assert made.held == 3 << 19, "nothing of it is kept"
    assert "cache-object-float" in ask(client, LOG)
    assert made.held == 3 << 19, "what is answered is let go"


def test_nothing_pasted_is_written_to_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: Diagnoser) -> None:
    for name in ("TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TROUBLESHOOT_CACHE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    shutil.copy(tool.knowledge.packs[0].path, tmp_path)  # the cache, so that the worker need not compile
    own = Worker([], {}, LIMIT, patience=600)
    made = WebSite(tool.knowledge.bodies(), own, index=SearchIndex.of(tool.knowledge))
    client = TestClient(made.app([HOST]), base_url=f"http://{HOST}", headers={"origin": f"http://{HOST}"})
    secret = "purple-elephant-4711"
    log = f"{secret}\n" * 400_000 + CACHE
    seen: set[str] = set()
    stop = threading.Event()

    def watch() -> None:
        # A file that is unlinked while it is open shows in the child's descriptors only.
        while not stop.wait(0.01):
            child = own.pid
            for pid in [os.getpid(), *([child] if child is not None else [])]:
                try:
                    for number in os.listdir(f"/proc/{pid}/fd"):
                        seen.add(os.readlink(f"/proc/{pid}/fd/{number}"))
                except OSError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for headers in ({"x-part": "answer"}, {"content-type": "text/plain"}):
            assert client.post("/diagnose.html", content=log, headers=headers).status_code == 200
    finally:
        stop.set()
        watcher.join()
        own.stop()
    assert not [path for path in seen if path.startswith(str(tmp_path)) and "(deleted)" in path]
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def test_a_broken_log_does_not_break_the_worker(worker: Worker) -> None:
    with pytest.raises(Failed):
        worker.ask(b"", "en")
    assert "cache-object-float" in worker.ask(LOG.encode(), "en")

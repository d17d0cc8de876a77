"""The pages of a history, as a browser asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.history.runs import cause, made
from troubleshooter.browse.app import WebSite
from troubleshooter.browse.worker import Worker
from troubleshooter.history.store import History

HOST = "127.0.0.1:8765"


@pytest.fixture
def client(tmp_path: Path, worker: Worker) -> TestClient:
    path = tmp_path / "h.sqlite"
    with History(path) as history:
        for n in range(12):
            told = cause("<b>flux") if n % 2 else cause("0123456789ab", known=False)
            history.add([made(n, host=f"node{n % 3}", cause=told, versions={"torch": "2.6"}, log=f"/logs/<i>{n}.log", line=7, lost=2.0)])
    site = WebSite([], worker, history=path)
    return TestClient(site.app([HOST]), base_url=f"http://{HOST}")


def test_the_page_shows_failures_hosts_a_time_line_and_runs(client: TestClient) -> None:
    page = client.get("/history/").text
    assert page.count("<rect ") == 24
    assert "&lt;b&gt;flux" in page
    assert "<b>flux" not in page
    assert 'href="index.html?host=node1"' in page
    assert 'href="run-12.html"' in page
    assert "<script src" in page or "<script" in page  # the layout's own
    assert "运行历史" in client.get("/zh/history/").text
    assert 'href="history/index.html"' in client.get("/").text


def test_filters_narrow_the_runs(client: TestClient) -> None:
    assert client.get("/history/?cause=0123456789ab").text.count('href="run-') == 6
    assert client.get("/history/?host=node0&cause=0123456789ab").text.count('href="run-') == 2
    assert client.get("/history/?since=2025-06-26").text.count('href="run-') == 2


@pytest.mark.parametrize("query", ["cause=nope", "host=%3Cscript%3E", "since=soon", "since=9999-99-99", "cause=%00"])
def test_a_filter_that_fits_nothing_is_said(client: TestClient, query: str) -> None:
    answer = client.get(f"/history/?{query}")
    assert answer.status_code == 200
    assert 'class="note"' in answer.text
    assert "<script>" not in answer.text


def test_a_run_has_its_page(client: TestClient) -> None:
    page = client.get("/history/run-3.html").text
    assert "/logs/&lt;i&gt;2.log:7" in page
    assert "<th>torch</th><td>2.6</td>" in page
    assert client.get("/history/run-99.html").status_code == 404
    assert client.get("/history/run-99999999999999999999999.html").status_code == 404


def test_without_a_history_there_is_no_page(worker: Worker) -> None:
    plain = TestClient(WebSite([], worker).app([HOST]), base_url=f"http://{HOST}")
    assert plain.get("/history/").status_code == 404
    assert "history/index.html" not in plain.get("/").text


def test_a_history_that_is_gone_is_said(client: TestClient, tmp_path: Path) -> None:
    for path in tmp_path.iterdir():
        path.unlink()
    answer = client.get("/history/")
    assert answer.status_code == 404
    assert "no such history" in answer.text

"""A live site for the tests of this folder: the shipped entries, one worker, no port."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from kb.search import SearchIndex
from troubleshooter.browse.app import WebSite
from troubleshooter.browse.worker import Worker
from troubleshooter.pipeline import Diagnoser

from .browser import chromium, files, opened, server

__all__ = ["chromium", "files", "opened", "server"]

HOST = "127.0.0.1:8765"
LIMIT = 128 << 20


@pytest.fixture(scope="session")
def worker() -> Iterator[Worker]:
    made = Worker([], {}, LIMIT, patience=600)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def site(worker: Worker) -> WebSite:
    tool = Diagnoser.load()
    return WebSite(tool.knowledge.bodies(), worker, index=SearchIndex.of(tool.knowledge))


@pytest.fixture
def client(site: WebSite) -> TestClient:
    """A client that speaks as our own page does."""
    made = TestClient(site.app([HOST, "localhost:8765"]), base_url=f"http://{HOST}")
    made.headers["origin"] = f"http://{HOST}"
    return made

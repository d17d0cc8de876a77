"""Who may ask: our own address only, our own pages only; and what every answer tells the browser."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from troubleshooter.browse.app import WebSite
from troubleshooter.browse.guard import RequestGuard
from troubleshooter.browse.server import own_hosts

from .conftest import HOST


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:8765", ""]
)
def test_another_host_name_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/search-index.js", "/static/style.css"):
        reply = client.get(path, headers={"host": host})
        assert reply.status_code == 421
        assert "own address" in reply.text
    assert client.post("/diagnose.html", headers={"host": host, "origin": f"http://{host}"}).status_code == 421


def test_two_host_headers_are_refused(client: TestClient) -> None:
    headers = [("host", HOST), ("host", "evil.example")]
    assert client.get("/", headers=headers).status_code == 421


@pytest.mark.parametrize("host", [HOST, "localhost:8765", "LOCALHOST:8765"])
def test_our_own_names_are_served(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8765"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {},
    ],
)
def test_a_post_of_another_site_is_refused(site: WebSite, headers: dict[str, str]) -> None:
    client = TestClient(site.app([HOST]), base_url=f"http://{HOST}")
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "application/octet-stream"):
        reply = client.post("/diagnose.html", content=b"log=x", headers=headers | {"content-type": content_type})
        assert reply.status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(client: TestClient, method: str) -> None:
    assert client.request(method, "/").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/", "/zh/", "/cache-object-float.html", "/static/page.js", "/no-such-page.html", "/static/../pyproject.toml"],
)
def test_every_answer_has_the_strict_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] in ("no-cache", "no-store")
    assert "access-control-allow-origin" not in headers


def test_refusals_have_them_too(client: TestClient) -> None:
    assert "content-security-policy" in client.get("/", headers={"host": "evil.example"}).headers


def test_a_server_on_all_addresses_takes_addresses_and_no_strange_names() -> None:
    async def nothing(*_: object) -> None: ...

    hosts, everywhere = own_hosts("0.0.0.0", 80)
    guard = RequestGuard(nothing, hosts, everywhere)
    assert guard.refusal("GET", Headers({"host": "192.168.1.7:80"})) is None
    assert guard.refusal("GET", Headers({"host": "[fe80::1]:80"})) is None
    assert guard.refusal("GET", Headers({"host": "[::1]"})) is None
    assert guard.refusal("GET", Headers({"host": "evil.example"}))
    assert guard.refusal("GET", Headers({"host": "1.evil.example:80"}))
    hosts, everywhere = own_hosts("127.0.0.1", 8765)
    assert not everywhere
    assert set(hosts) >= {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"}

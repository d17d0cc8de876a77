"""The pages about the index of messages: statistics, search, one package."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize(("home", "word"), [("/", "Reworded"), ("/zh/", "改写")])
def test_the_page_of_statistics_counts_every_package(client: TestClient, home: str, word: str) -> None:
    page = client.get(f"{home}messages/index.html")
    assert page.status_code == 200
    assert word in page.text
    for name in ("transformers", "trl", "peft", "torch"):
        assert f'<a href="{name}.html">{name}</a>' in page.text


def test_a_search_finds_messages_of_all_packages(client: TestClient) -> None:
    page = client.get("/messages/", params={"q": "boft_block_size divisible"})
    assert "peft/tuners/boft/layer.py, BOFTLayer.update_layer" in page.text
    assert "since 0.11.0" in page.text
    nothing = client.get("/messages/", params={"q": "zzqqxx"})
    assert "Nothing" in nothing.text or "nothing" in nothing.text


def test_a_package_shows_message_place_conditions_releases_and_how_they_change(client: TestClient) -> None:
    page = client.get("/messages/peft.html", params={"q": "boft_block_size in_features divisible"}).text
    assert "must be divisible by boft_block_size" in page
    assert "self.in_features % boft_block_size != 0" in page
    assert "How messages come and go" in page
    assert "0.21.2" in page


def test_pages_of_a_package_follow_each_other_and_stay_inside(client: TestClient) -> None:
    first = client.get("/messages/einops.html").text
    assert "page 1 of" in first
    assert client.get("/messages/einops.html", params={"page": "999999"}).status_code == 200
    assert client.get("/messages/einops.html", params={"page": "-1"}).text.count("page 1 of") == first.count("page 1 of")


def test_an_unknown_package_is_missing_and_a_query_is_shown_as_text(client: TestClient) -> None:
    assert client.get("/messages/nonsense.html").status_code == 404
    hostile = client.get("/messages/", params={"q": "<script>alert(1)</script>"}).text
    assert "<script>alert(1)" not in hostile


def test_the_start_page_leads_there(client: TestClient) -> None:
    assert 'href="messages/index.html"' in client.get("/").text

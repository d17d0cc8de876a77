"""What has no source here is explained by the shipped index of messages, which also knows the releases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import troubleshooter.dating  # noqa: F401  # it takes the shipped index when it is imported: that must not be the fixture's
from kb.index import store
from kb.index.make.link import LinkedRelease, link
from kb.index.make.write import Linked, write
from kb.index.places import places
from tests.explaining.conftest import LIBRARY
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

OLD = LIBRARY.replace("nothing to learn from", "there is no data to learn from")
FILE = "gadget/core.py"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[store.MessageIndex]:
    """An index of three releases of the library; the oldest of them lacks one of the messages."""
    texts = {"a": OLD, "b": LIBRARY}
    messages = link(
        [
            LinkedRelease("1.0.0", [(FILE, "a")]),
            LinkedRelease("1.1.0", [(FILE, "b")]),
            LinkedRelease("1.2.0", [(FILE, "b")]),
        ],
        lambda *at: places(texts[at[-1]], FILE),
    )
    path = tmp_path / "messages.sqlite"
    write(path, [Linked("gadget", "", ("gadget",), ["1.0.0", "1.1.0", "1.2.0"], messages)])
    made = store.MessageIndex(path)
    monkeypatch.setattr(store, "shipped", lambda: made)
    yield made
    made.close()


def report(own: str, function: str, message: str) -> Report:
    log = (
        f'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in <module>\n    {own}\n'
        f'  File "/opt/venv/lib/python3.11/site-packages/gadget/core.py", line 99, in {function}\n    raise ValueError(\n'
        f"ValueError: {message}\n"
    )
    return Diagnoser.of([]).diagnose(log)


@pytest.mark.usefixtures("index")
def test_condition_and_argument_come_from_the_index():
    [found] = report("Gadget(config).train()", "train", "packing is impossible as it is").explained
    assert (found["package"], found["function"], found["basis"]) == ("gadget", "train", "index")
    assert "length" in {one["name"] for one in found["arguments"]}
    assert "length=..." in [one["code"] for one in found["suggestions"]]


@pytest.mark.usefixtures("index")
def test_fields_of_a_dataclass_get_the_values_of_the_message():
    [found] = report(
        "config = GadgetConfig(steps=6)", "__post_init__", "steps (6) and group (4) do not go together"
    ).explained
    assert [one["code"] for one in found["suggestions"]] == ["group=3", "steps=8"]


@pytest.mark.usefixtures("index")
def test_the_releases_of_the_message_are_told():
    [found] = report("Gadget(config).train()", "train", "nothing to learn from").explained
    assert found["releases"] == {"first": "1.1.0", "last": None}
    assert "1.1.0" in str(report("Gadget(config).train()", "train", "nothing to learn from"))


@pytest.mark.usefixtures("index")
def test_another_function_is_not_its_place():
    assert report("Gadget(config).save()", "save", "nothing to learn from").explained == []


def test_without_an_index_nothing_is_explained_and_nothing_breaks(monkeypatch: pytest.MonkeyPatch):
    def missing() -> store.MessageIndex:
        raise store.IndexUnreadable("no index")

    monkeypatch.setattr(store, "shipped", missing)
    assert report("Gadget(config).train()", "train", "nothing to learn from").explained == []


def test_a_check_of_torchs_cuda_code_is_explained_by_its_condition() -> None:
    report = Diagnoser.of([]).diagnose("RuntimeError: current_scale must be a float tensor.\n")
    [found] = report.explained
    assert "current_scale.scalar_type() == at::ScalarType::Float" in found["condition"]
    assert "aten/src/ATen/native/cuda" in found["condition"]
    assert found["basis"] == "rule"


def test_a_short_template_without_a_frame_is_no_explanation() -> None:
    assert not Diagnoser.of([]).diagnose("AssertionError: Expected 8 balance layers, got 1\n").explained


CLONED = (
    'Traceback (most recent call last):\n  File "/work/gadget-main/src/gadget/core.py", line 99, in train\n'
    "    raise ValueError(\nValueError: packing is impossible as it is\n"
)


@pytest.mark.usefixtures("index")
def test_a_clone_of_a_package_is_looked_up_as_the_package():
    [found] = Diagnoser.of([]).diagnose(CLONED).explained
    assert (found["package"], found["file"], found["basis"]) == ("gadget", "gadget/core.py", "index")
    assert "length" in {one["name"] for one in found["arguments"]}


@pytest.mark.usefixtures("index")
def test_what_the_users_own_code_raised_is_not_looked_up():
    [found] = Diagnoser.of([]).diagnose(CLONED.replace("src/gadget/core.py", "wheel/core.py")).explained
    assert (found["package"], found["basis"]) == ("", "rule")


@pytest.mark.usefixtures("index")
def test_a_message_without_values_is_known_by_fewer_letters():
    [found] = Diagnoser.of([]).diagnose("ValueError: lengths do not add up\n").explained
    assert found["function"] == "share"


@pytest.mark.parametrize(
    "message", ["RuntimeError: Missing key in checkpoint state_dict:", "OSError: Could not load this library:"]
)
def test_a_message_that_ends_before_its_value_is_known(message: str):
    [found] = Diagnoser.of([]).diagnose(f"{message}\n").explained
    assert (found["package"], found["basis"]) == ("torch", "index")


def test_places_of_several_packages_with_the_same_words_are_counted():
    [found] = Diagnoser.of([]).diagnose("RuntimeError: Missing key in checkpoint state_dict: {'a'}.\n").explained
    assert found["places"] > 1

"""A failure is explained by the source of the library that raised it, read as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.explaining.told import codes
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

Explained = Callable[..., Report]


def values(report: Report) -> dict[str, str | None]:
    return {one["name"]: one["value"] for one in report.explained[0]["arguments"]}


def test_a_failure_that_no_entry_knows_is_explained_and_not_diagnosed(explained: Explained):
    report = explained(
        "Gadget(config).train()", [("nothing to learn from", "train")], "ValueError: nothing to learn from"
    )
    assert report.exit_code == 3
    assert not report.diagnoses
    assert report.unexplained is not None
    [found] = report.explained
    assert (found["package"], found["file"], found["function"]) == ("gadget", "gadget/core.py", "train")
    assert found["exception"] == "ValueError"
    assert found["own"] is not None
    assert found["own"]["line"] == 7
    assert "explained, not diagnosed" in str(report).lower().replace("\n", " ")


def test_a_condition_leads_through_an_attribute_to_the_argument_of_the_constructor(explained: Explained):
    report = explained(
        "Gadget(config).train()", [("nothing to learn from", "train")], "ValueError: nothing to learn from"
    )
    assert "data" in values(report)
    assert codes(report)[0] == "data=..."
    assert "None" in report.explained[0]["condition"]


def test_an_option_is_named_with_the_class_that_takes_it(explained: Explained):
    report = explained(
        "trainer.train()", [("packing is impossible", "train")], "ValueError: packing is impossible as it is"
    )
    assert {"length", "pack"} <= set(values(report))
    assert "length=..." in codes(report)
    assert any("GadgetConfig" in one["why"] for one in report.explained[0]["arguments"])


def test_numbers_of_the_message_give_the_numbers_that_would_do(explained: Explained):
    report = explained(
        "config = GadgetConfig(steps=6)",
        [("do not go together", "__post_init__")],
        "ValueError: steps (6) and group (4) do not go together",
    )
    assert values(report) == {"steps": "6", "group": "4"}
    assert codes(report) == ["group=3", "steps=8"]


def test_of_the_allowed_values_the_nearest_is_suggested(explained: Explained):
    report = explained(
        'config = GadgetConfig(mode="fats")', [("bad mode", "__post_init__")], "ValueError: bad mode fats"
    )
    assert values(report)["mode"] == "'fats'"
    assert codes(report)[0] == "mode='fast'"


def test_a_parameter_is_followed_through_a_call_to_the_users_line(explained: Explained):
    report = explained(
        "Gadget(config, data=rows).train(resume=True)",
        [("self._check(resume)", "train"), ("cannot resume from", "_check")],
        "TypeError: cannot resume from bool",
    )
    assert values(report)["resume"] == "True"
    assert "checkpoint" not in values(report)
    assert codes(report)[0] == "resume=str(True)"


def test_a_keyword_of_the_rest_is_an_argument(explained: Explained):
    report = explained("gadget.paint()", [("no paint left", "paint")], "ValueError: no paint left")
    assert "colour" in values(report)


def test_an_attribute_that_a_base_class_sets_is_found_there(explained: Explained):
    report = explained("gadget.weigh()", [('"too heavy"', "weigh")], "AssertionError: too heavy")
    assert "limit" in values(report)
    assert codes(report)[0] == "limit=..."


def test_both_languages_name_the_same(explained: Explained):
    args = ("trainer.train()", [("packing is impossible", "train")], "ValueError: packing is impossible as it is")
    english, chinese = explained(*args), explained(*args, lang="zh")
    assert codes(english) == codes(chinese)
    assert list(values(english)) == list(values(chinese))
    assert "并且" in chinese.explained[0]["condition"]


def test_source_that_does_not_hold_the_shown_line_is_not_used(site: Path):
    """The log is of another release, so the line of that number in this file explains nothing."""
    log = (
        'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in <module>\n    gadget.paint()\n'
        f'  File "{site}/gadget/core.py", line 31, in paint\n    raise ValueError("something else")\n'
        "ValueError: something else\n"
    )
    assert Diagnoser.of([], folders=[str(site)]).diagnose(log).explained == []


def test_only_python_files_are_read(tmp_path: Path):
    secret = tmp_path / "secret.txt"
    secret.write_text("token = 'abc'\n", encoding="utf-8")
    log = (
        f"Traceback (most recent call last):\n  File \"{secret}\", line 1, in <module>\n    token = 'abc'\n"
        "ValueError: nothing\n"
    )
    report = Diagnoser.of([]).diagnose(log)
    assert report.explained == []


def test_nothing_of_the_library_is_run(site: Path, tmp_path: Path, explained: Explained):
    mark = tmp_path / "imported"
    core = site / "gadget" / "core.py"
    core.write_text(core.read_text(encoding="utf-8") + f"\nopen({str(mark)!r}, 'w')\n", encoding="utf-8")
    assert explained("gadget.paint()", [("no paint left", "paint")], "ValueError: no paint left").explained
    assert not mark.exists()


@pytest.mark.parametrize(
    ("own", "frames", "message", "code"),
    [
        ("g.resize(size=-3)", [("no such size", "resize")], "ValueError: no such size: -3", "size=3"),
        (
            "g.resize(size=3, depth=4)",
            [("one of both", "resize")],
            "ValueError: size or depth, one of both",
            None,
        ),
        (
            'g.name_it("stats.mean")',
            [("without points", "name_it")],
            "KeyError: 'a title without points, please'",
            "title='stats_mean'",
        ),
        (
            'g.choose(parts=["a", "b"], wholes=["b", "c"])',
            [("not parts of", "choose")],
            "ValueError: parts are not parts of wholes",
            "wholes=['b', 'c', 'a']",
        ),
        (
            "g.weigh_words(words=banned)",
            [("lists of lists", "weigh_words")],
            "ValueError: words have to be lists of lists",
            "words=[banned]",
        ),
        (
            "g.weigh_words([3])",
            [("lists of lists", "weigh_words")],
            "ValueError: words have to be lists of lists",
            "words=[[3]]",
        ),
        ("g.share([8, 3], 10)", [("add up", "share")], "ValueError: lengths do not add up", "lengths=..."),
        (
            "g.blocks(16, 5, 0)",
            [("must be a multiple", "blocks")],
            "ValueError: width (16) must be a multiple of size (5)",
            "size=4",
        ),
        ('g.store("out")', [("is a file", "store")], "ValueError: out is a file", "path=..."),
        ('g["lengths"]', [("no part {key}", "__getitem__")], "KeyError: 'no part lengths'", "key=..."),
        (
            "g.resize(size=-3)",
            [("func(owner", "wrapper"), ("no such size", "resize")],
            "ValueError: no such size: -3",
            "size=3",
        ),
    ],
)
def test_a_condition_gives_what_would_have_kept_it_from_holding(
    explained: Explained, own: str, frames: list[tuple[str, str]], message: str, code: str
):
    found = explained(own, frames, message)
    assert codes(found)[0] == code


def test_what_the_library_passes_to_itself_is_not_suggested(explained: Explained):
    report = explained(
        'g.outer("wheel")',
        [("self.inner(part)", "outer"), ("no part of this", "inner")],
        "ValueError: no part of this kind",
    )
    assert codes(report) == []


def test_the_part_in_brackets_is_what_the_user_gave(explained: Explained):
    report = explained('g["lengths"]', [("no part {key}", "__getitem__")], "KeyError: 'no part lengths'")
    assert values(report)["key"] == "'lengths'"

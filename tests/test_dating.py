"""Which releases could have printed a log's messages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import troubleshooter
from kb.index.store import MessageIndex, shipped
from tests.index.made import made
from tests.programs.program import load, releases
from troubleshooter.dating import Dating, PrintedMessage, dates, packages_by_messages, said_in
from troubleshooter.match.conditions.version import version_state
from troubleshooter.observe.model import DatedPackage, Fact
from troubleshooter.observe.observations import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.given import given
from troubleshooter.read.line import Line
from troubleshooter.report.html import html
from troubleshooter.report.markdown import markdown

OLD_ONLY = "beta should not be negative but is -1"
NEW_ONLY = "train() will be renamed to fit()"
BOTH = "evaluation wants a dataset, strategy is steps"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MessageIndex]:
    index, _ = made(tmp_path_factory.mktemp("dating"))
    yield index
    index.close()


def dated(index: MessageIndex, *texts: str, printed: str | None = None) -> list[Dating]:
    return dates([PrintedMessage(text) for text in texts], {"made-up": printed} if printed else {}, index)


def test_message_of_some_releases_gives_an_interval(index: MessageIndex) -> None:
    [old] = dated(index, OLD_ONLY, BOTH)
    assert (old.package, old.first, old.last, old.after, old.before) == ("made-up", "0.9", "0.9", None, "1.0")
    assert old.because == (OLD_ONLY,)
    [new] = dated(index, NEW_ONLY)
    assert (new.first, new.last, new.after, new.before) == ("1.0", "1.1", "0.9", None)


def test_message_of_every_release_and_other_text_date_nothing(index: MessageIndex) -> None:
    assert dated(index, BOTH) == []
    assert dated(index, "some text of nobody", "") == []


def test_messages_that_no_release_holds_together_date_nothing(index: MessageIndex) -> None:
    assert dated(index, OLD_ONLY, NEW_ONLY) == []


@pytest.mark.parametrize(("printed", "contradicted"), [("0.9.3", False), ("1.0", True), ("1.1.dev0", True), ("odd", False)])
def test_printed_version_outside_the_interval_contradicts(index: MessageIndex, printed: str, contradicted: bool) -> None:
    [old] = dated(index, OLD_ONLY, printed=printed)
    assert old.printed == printed
    assert old.contradicted is contradicted


def test_version_between_two_releases_that_were_read_is_no_contradiction(index: MessageIndex) -> None:
    [new] = dated(index, NEW_ONLY, printed="0.9.9")
    assert not new.contradicted


def test_warnings_and_sentences_of_a_log_are_looked_up_once() -> None:
    warning = "/x/site-packages/madeup/trainer.py:9: FutureWarning: train() will be renamed to fit()"
    found = said_in([warning, "  warnings.warn(", warning, "{'loss': 0.1, 'epoch': 1.0}", " 10%|#   | 1/10", f"[2024-01-01] {BOTH}"])
    assert found == [PrintedMessage(NEW_ONLY, "FutureWarning", "madeup/trainer.py"), PrintedMessage(BOTH)]


def test_a_message_of_python_itself_dates_no_library() -> None:
    printed = said_in(["TypeError: 'NoneType' object is not callable", "ValueError: beta is wrong, see there"])
    assert printed == [
        PrintedMessage("'NoneType' object is not callable", "TypeError"),
        PrintedMessage("beta is wrong, see there", "ValueError"),
    ]
    assert dates(printed[:1], {}, shipped()) == []


def test_a_text_that_the_class_of_an_exception_makes_dates_no_release() -> None:
    """NumPy's AxisError makes it in `__init__` up to 1.21, and in `__str__` since 1.22."""
    text = "axis 2 is out of bounds for array of dimension 2"
    found = shipped().find(text, "numpy.exceptions.AxisError", None, None)
    assert any(site.function == "AxisError.__init__" for one in found for site in one.sites)
    assert dates([PrintedMessage(text, "numpy.exceptions.AxisError")], {}, shipped()) == []


def test_recorded_messages_of_transformers_are_dated_rightly() -> None:
    # Printed by 4.51.3 and by 4.57.6.
    old = "No label_names provided for model class `PeftModelForCausalLM`. Since `PeftModel` hides base models input arguments, if label_names is not given, label_names can't be set automatically within `Trainer`. Note that empty label_names list will be used instead."
    new = "`torch_dtype` is deprecated! Use `dtype` instead!"
    index = shipped()
    for text, version, other in ((old, "4.51.3", "4.40.2"), (new, "4.57.6", "4.51.3")):
        [right] = dates([PrintedMessage(text)], {"transformers": version}, index)
        [wrong] = dates([PrintedMessage(text)], {"transformers": other}, index)
        assert (right.contradicted, wrong.contradicted) == (False, True)


def test_recorded_failures_with_known_releases_are_dated_rightly() -> None:
    held = wrong = 0
    tool = Diagnoser.of([])
    for program in load():
        seen = tool.observe(given(program.log))
        for package, release in releases(program.environment).items():
            seen.facts.append(Fact("version", package, release, Line(f"{package}=={release}", 0)))
        found = packages_by_messages(seen).values()
        wrong += sum(one.contradicted for one in found)
        held += sum(one.printed is not None and not one.contradicted for one in found)
    assert held > 50
    assert wrong == 0


def test_a_log_without_a_version_says_which_releases_its_messages_are_of() -> None:
    log = next(one for one in load() if one.id == "drawn-kasa-mix").log
    report = troubleshooter.diagnose(log)
    [peft] = [one for one in report.dated if one["package"] == "peft"]
    assert (peft["first"], peft["last"], peft["printed"], peft["contradicted"]) == ("0.21.0", None, None, False)
    for lang, words in (("en", "by its messages"), ("zh", "从它的信息")):
        told = troubleshooter.diagnose(log, lang=lang)
        for text in (str(told), markdown(told), html(told)):
            assert words in " ".join(text.split())


def test_a_printed_version_that_the_messages_contradict_is_told() -> None:
    log = next(one for one in load() if one.id == "drawn-kasa-mix").log
    said = " ".join(str(troubleshooter.diagnose(f"peft==0.15.2\n{log}")).split())
    assert "shows peft 0.15.2, but a message in line" in said
    agreed = str(troubleshooter.diagnose(f"peft==0.21.2\n{log}"))
    assert "two environments" not in agreed


@pytest.mark.parametrize(
    ("range_", "state"),
    [(">=4.49", "held"), (">=4.55.4", "contradicted"), (">=4.51", "unseen"), ("<4.48", "contradicted"), ("<4.49", "unseen")],
)
def test_a_range_is_compared_with_the_releases_of_the_messages(range_: str, state: str) -> None:
    line = Line("a message", 3)
    seen = Observations()
    seen.dated["transformers"] = DatedPackage("transformers", ("4.49.0", "4.54.1"), "4.48.3", "4.55.2", line)
    assert version_state("transformers", range_, seen)[0] == state
    seen.facts.append(Fact("version", "transformers", "4.56.0", Line("transformers==4.56.0", 1)))
    assert version_state("transformers", ">=4.56", seen)[0] == "held"


def test_an_answer_that_is_sure_asks_no_messages() -> None:
    report = troubleshooter.diagnose_file("tests/logs/gemma3-eval.log")
    assert report.diagnoses[0].confidence != "possible"
    assert report.dated == []

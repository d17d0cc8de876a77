"""An entry in any number of languages: ``ko.yaml`` beside ``zh.yaml`` is read, checked, stamped, searched and shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kb.check import check
from kb.load import Library, Loaded, load
from kb.pages.render import Pages
from kb.search import search
from kb.stamp import stamp
from troubleshooter.cli import knowledge
from troubleshooter.pipeline import Diagnoser

ENTRY = """\
id: flux-gone
kind: failure
severity: crash
retry: after-fix
title: The flux is gone
symptoms:
  - require: [{message: the flux capacitor is gone}]
    source: {url: "https://github.com/quux/quuxlib/issues/1", shows: symptom}
cause: The pump stops early.
fixes:
  - {do: Upgrade quuxlib, why: The pump runs on.}
not_to_confuse_with: [{entry: flux-returns, because: That one comes back.}]
sources: [{url: "https://github.com/quux/quuxlib/issues/1", shows: cause}]
"""
OTHER = ENTRY.replace("flux-gone", "flux-returns").replace("gone", "returning").split("not_to")[0] + ENTRY[ENTRY.index("sources:") :]
KOREAN = """\
of: ""
title: 플럭스가 사라짐
cause: 펌프가 너무 일찍 멈춥니다.
fixes: [{do: quuxlib 업그레이드, why: 펌프가 계속 돕니다.}]
not_to_confuse_with: [{because: 그것은 저절로 돌아옵니다.}]
"""
CHINESE = """\
of: ""
title: 磁通消失
cause: 泵过早停止。
fixes: [{do: 升级 quuxlib, why: 泵会继续运行。}]
not_to_confuse_with: [{because: 那个会自己恢复。}]
"""
LOG = "RuntimeError: the flux capacitor is gone\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two entries, the first of which is translated into two languages."""
    for name, text in (("flux-gone", ENTRY), ("flux-returns", OTHER)):
        (tmp_path / "training" / name).mkdir(parents=True)
        (tmp_path / "training" / name / "entry.yaml").write_text(text, encoding="utf-8")
    for name, text in (("ko.yaml", KOREAN), ("zh.yaml", CHINESE)):
        (tmp_path / "training" / "flux-gone" / name).write_text(text, encoding="utf-8")
    return tmp_path


def loaded(folder: Path) -> tuple[Library, Loaded]:
    library = load(folder)
    assert not library.problems, library.problems
    return library, library.entries["flux-gone"]


def test_every_two_letter_file_is_a_translation(folder: Path) -> None:
    assert sorted(loaded(folder)[1].translations) == ["ko", "zh"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("title:", "titel:", "unknown key"),
        (", why: 펌프가 계속 돕니다.", "", "`why` is written in one language only"),
        ("fixes: [", "fixes: [{do: 또 하나}, ", "has 2 items, the English 1"),
    ],
)
def test_a_translation_is_checked_for_its_form(folder: Path, before: str, after: str, said: str) -> None:
    path = folder / "training" / "flux-gone" / "ko.yaml"
    path.write_text(KOREAN.replace(before, after), encoding="utf-8")
    found = [str(problem) for problem in load(folder).problems]
    assert any(f"{path}:" in text and said in text for text in found), found


def test_stale_translations_are_named_and_stamped(folder: Path) -> None:
    def stale() -> list[str]:
        library, item = loaded(folder)
        return [problem.path.name for problem in check(library, {item.entry.id}) if "hash of the English" in str(problem)]

    assert stale() == ["ko.yaml", "zh.yaml"]
    assert stamp(loaded(folder)[1])
    assert stale() == []
    assert not stamp(loaded(folder)[1])


@pytest.mark.parametrize(
    ("english", "korean", "said"),
    [
        ("Since 4.43 the pump stops early.", "펌프가 너무 일찍 멈춥니다.", "lacks 4.43, other than the English text"),
        ("The pump stops early with --pump.", "2.1 이후 펌프가 멈춥니다.", "lacks --pump, names 2.1, other than"),
        ("Since 4.43 the pump stops at 1.6 million drops.", "4.43부터 펌프가 멈춥니다.", ""),
        ("Pump 2 stops early.", "펌프가 너무 일찍 멈춥니다.", ""),
        ("The pump stops at 1.25 million drops.", "펌프가 너무 일찍 멈춥니다.", ""),
        ("Since v4.43 the pump stops early.", "버전4.43부터 펌프가 멈춥니다.", ""),
        ("Since v4.43 the pump stops early.", "버전4.44부터 펌프가 멈춥니다.", "lacks 4.43, names 4.44, other than"),
    ],
)
def test_versions_and_options_are_the_same_in_both_languages(folder: Path, english: str, korean: str, said: str) -> None:
    path = folder / "training" / "flux-gone"
    (path / "entry.yaml").write_text(ENTRY.replace("The pump stops early.", english), encoding="utf-8")
    (path / "ko.yaml").write_text(KOREAN.replace("펌프가 너무 일찍 멈춥니다.", korean), encoding="utf-8")
    assert stamp(loaded(folder)[1])
    library, item = loaded(folder)
    found = [str(one) for one in check(library, {item.entry.id}) if one.path.name == "ko.yaml"]
    assert bool(found) == bool(said)
    assert all(f"{path / 'ko.yaml'}:" in one and "cause: " in one and said in one for one in found), found


def test_an_answer_is_given_in_the_language_of_the_entry(folder: Path) -> None:
    diagnoser = Diagnoser.load([folder])
    for lang, title, do, reason in (
        ("ko", "플럭스가 사라짐", "quuxlib 업그레이드", "그것은 저절로 돌아옵니다."),
        ("zh", "磁通消失", "升级 quuxlib", "那个会自己恢复。"),
        ("fr", "The flux is gone", "Upgrade quuxlib", "That one comes back."),
    ):
        found = diagnoser.diagnose(LOG, lang=lang).diagnoses[0]
        assert (found.id, found.title, found.fixes[0].do) == ("flux-gone", title, do)
        assert found.lookalikes == [{"entry": "flux-returns", "because": reason}]


def test_lists_search_and_pages_take_the_language(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    knowledge.list_(None, None, False, [folder], "ko", "terminal")
    listed = capsys.readouterr().out
    assert "플럭스가 사라짐" in listed
    assert "The flux is returning" in listed, "what is not translated is listed in English"
    found = Diagnoser.load([folder]).knowledge
    assert search(found, "플럭스")[0][1]["id"] == "flux-gone"
    page = Pages([found.need("flux-gone")[0]]).entry("flux-gone", "ko")
    assert "펌프가 너무 일찍 멈춥니다." in page


def test_the_json_of_an_entry_keeps_its_keys(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    knowledge.show("flux-gone", [folder], "en", "json")
    shown = json.loads(capsys.readouterr().out)
    assert shown["zh"]["title"] == "磁通消失"
    assert shown["translations"]["ko"]["title"] == "플럭스가 사라짐"
    assert shown["lookalikes"]["confused"][0]["zh"] == "那个会自己恢复。"
    knowledge.show("flux-returns", [folder], "en", "json")
    shown = json.loads(capsys.readouterr().out)
    assert shown["zh"] is None

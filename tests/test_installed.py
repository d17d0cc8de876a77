"""A fix is not shown if the log shows that its releases are installed; an answer without any fix comes after the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.compile.installs import required_releases
from kb.form import EntryFix
from kb.text.catalog import languages
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.html import html
from troubleshooter.report.markdown import markdown
from troubleshooter.report.model import Diagnosis
from troubleshooter.report.notebook import notebook

ENTRY = """
id: {id}
kind: failure
severity: crash
retry: after-fix
title: The gadget of {id} is full
symptoms:
  - require:
      - exception: ValueError
        message: "{message}"
    decisive: {decisive}
    source: {{run: "made for this test"}}
cause: |
  The gadget holds no more.
fixes:
{fixes}
{versions}
sources:
  - {{run: "made for this test", shows: [cause, fix]}}
"""
LOG = """Name: transformers
Version: {transformers}
Traceback (most recent call last):
  File "/home/me/train.py", line 7, in <module>
    gadget.fill()
ValueError: no room is left in this gadget
"""
UPGRADE = '  - do: Upgrade transformers\n    shell: pip install -U "transformers>=4.50"'
EMPTY = "  - do: Empty the gadget\n    code: gadget.empty()"


def tool(folder: Path, **entries: tuple[str, str, bool]) -> Diagnoser:
    """The tool with entries of a test: fixes, versions and whether the symptom is decisive, by id."""
    for id_, (fixes, versions, decisive) in entries.items():
        path = folder / "entries" / "data" / id_
        path.mkdir(parents=True)
        words = "no room is left in this gadget" if decisive else "room is left in this gadget"
        text = ENTRY.format(id=id_, fixes=fixes, versions=versions, decisive=str(decisive).lower(), message=words)
        (path / "entry.yaml").write_text(text, encoding="utf-8")
        (path / "samples.log").write_text(f"=== match fill\n>>> ValueError: {words}\n", encoding="utf-8")
    return Diagnoser.load([folder / "entries"])


def answers(made: Diagnoser, transformers: str, log: str = LOG) -> list[Diagnosis]:
    return made.diagnose(log.format(transformers=transformers)).diagnoses


@pytest.mark.parametrize(
    ("installed", "shown"), [("4.49.0", True), ("4.50.0", False), ("4.50.0.dev0", False), ("5.1.2", False)]
)
def test_an_upgrade_to_what_is_installed_is_not_shown(tmp_path: Path, installed: str, shown: bool):
    [found] = answers(tool(tmp_path, full=(f"{UPGRADE}\n{EMPTY}", "", True)), installed)
    assert [fix.do for fix in found.fixes] == (["Upgrade transformers"] if shown else []) + ["Empty the gadget"]
    left_out = [] if shown else [{"do": "Upgrade transformers", "installed": {"transformers": installed}}]
    assert found.fixes_left_out == left_out
    assert found.confidence == "certain"  # the other fix is left


def test_a_log_without_the_version_shows_the_fix(tmp_path: Path):
    [found] = answers(tool(tmp_path, full=(UPGRADE, "", True)), "", LOG.partition("\n")[2].partition("\n")[2])
    assert [fix.do for fix in found.fixes] == ["Upgrade transformers"]


def test_the_version_in_a_models_configuration_is_not_what_is_installed(tmp_path: Path):
    log = LOG.replace("Name: transformers\nVersion: {transformers}", '  "transformers_version": "{transformers}",')
    [found] = answers(tool(tmp_path, full=(UPGRADE, "", True)), "4.51.0", log)
    assert [fix.do for fix in found.fixes] == ["Upgrade transformers"]


def test_a_release_that_the_message_speaks_of_is_not_what_is_installed(tmp_path: Path):
    log = LOG.partition("\n")[2].partition("\n")[2].rstrip() + " (written by transformers 4.51.0)\n"
    [found] = answers(tool(tmp_path, full=(UPGRADE, "", True)), "", log)
    assert [fix.do for fix in found.fixes] == ["Upgrade transformers"]


def test_every_version_that_the_log_shows_must_be_enough(tmp_path: Path):
    log = LOG.replace("Traceback", "transformers==4.46.1\nTraceback")
    [found] = answers(tool(tmp_path, full=(UPGRADE, "", True)), "4.51.0", log)
    assert [fix.do for fix in found.fixes] == ["Upgrade transformers"]


def test_an_answer_without_a_fix_stands_behind_the_next(tmp_path: Path):
    made = tool(tmp_path, full=(UPGRADE, "", True), other=(EMPTY, "", False))
    assert [found.id for found in answers(made, "4.49.0")] == ["full", "other"]
    assert [found.id for found in answers(made, "4.51.0")] == ["other", "full"]
    assert answers(made, "4.51.0")[1].confidence == "possible"


@pytest.mark.parametrize(
    ("when", "shown"),
    [
        ("{message: no room is left}", True),
        ("{message: the gadget burns}", False),
        ("{line: gadget.fill}", True),
        ("{line: gadget.drain}", False),
        ("{any: [{line: gadget.drain}, {line: gadget.fill}]}", True),
        ("{any: [{line: gadget.drain}, {message: the gadget burns}]}", False),
        ("{any: [{line: gadget.drain}, {package: deepspeed}]}", True),
        ("{all: [{line: gadget.drain}, {package: deepspeed}]}", False),
        ("{all: [{line: gadget.fill}, {package: deepspeed}]}", True),
        ("{package: deepspeed}", True),
        ("{frame: me/train.py}", True),
        ("{frame: me/other.py}", False),
        ("{version: {transformers: '<4.40'}}", False),
        ("{version: {torch: '<2.4'}}", True),
        ("{not: {message: the gadget burns}}", True),
        ("{not: {message: no room is left}}", False),
    ],
)
def test_a_fix_for_other_words_is_not_shown_and_one_for_what_a_paste_may_lack_is(
    tmp_path: Path, when: str, shown: bool
):
    one = f"{EMPTY}\n    when: {when}"
    made = tool(tmp_path, full=(f"{one}\n  - do: Wait\n    code: gadget.wait()", "", True))
    [found] = answers(made, "4.49.0")
    assert sorted(fix.do for fix in found.fixes) == ["Empty the gadget"] * shown + ["Wait"]


def test_alone_it_stays_the_answer_and_says_why_no_fix_is_shown(tmp_path: Path):
    made = tool(tmp_path, full=(UPGRADE, "", True))
    for lang in languages():
        report = made.diagnose(LOG.format(transformers="4.51.0"), lang=lang)
        assert [found.confidence for found in report.diagnoses] == ["possible"]
        for text in (str(report), markdown(report), html(report), notebook(report)):
            assert "transformers 4.51.0" in text.replace("\n", " ")
            assert "pip install" not in text


def test_a_downgrade_that_the_versions_contradict_is_not_shown(tmp_path: Path):
    down = '  - do: Go back\n    shell: pip install "transformers==4.49.0"'
    made = tool(tmp_path, full=(f"{down}\n{EMPTY}", 'versions: {transformers: ">=4.50.0,<4.52.0"}', True))
    assert [fix.do for fix in answers(made, "4.51.0")[0].fixes] == ["Go back", "Empty the gadget"]
    assert [fix.do for fix in answers(made, "4.46.0")[0].fixes] == ["Empty the gadget"]


@pytest.mark.parametrize(
    ("shell", "affected", "expected"),
    [
        ('pip install "transformers>=4.50"', {}, {"transformers": ">=4.50"}),
        ('python -m pip install -U "Flash_Attn>=2.6"  # newer', {}, {"flash-attn": ">=2.6"}),
        ("pip install trl==0.9 peft==0.11", {}, {"trl": "==0.9", "peft": "==0.11"}),
        ("pip install -U transformers", {}, None),
        ("pip install -U transformers", {"transformers": ">=4.40,<4.50"}, {"transformers": ">=4.50"}),
        ("pip install -U transformers", {"transformers": "<=4.49.3"}, {"transformers": ">4.49.3"}),
        ("pip install -U transformers", {"transformers": ">=4.40"}, None),
        ("pip install transformers", {"transformers": "<4.50"}, None),
        ("pip install 'transformers>=4.50' peft", {}, None),
        ("pip install -U transformers==4.50.3", {}, {"transformers": ">=4.50.3"}),
        ("pip install transformers==4.50.3", {"transformers": "<4.50"}, {"transformers": ">=4.50.3"}),
        ("pip install 'torch>=<<wanted:version|2.4>>'", {}, {"torch": ">=<<wanted:version|2.4>>"}),
        ("pip install -U <<package:word>>", {}, None),
        ("pip install --force-reinstall 'torch>=2.4'", {}, None),
        ("pip install torch==2.4.0 --index-url https://example.org/cu121", {}, None),
        ("pip install torch==2.4.0+cu121", {}, None),
        ("pip uninstall -y trl && pip install 'trl>=0.9'", {}, None),
        ("pip install 'trl>=0.9' && rm -r cache", {}, None),
        ("pip install 'trl>=0.9'; rm -r cache", {}, None),
        ("pip install git+https://example.org/trl", {}, None),
        ("export A=1\npip install 'trl>=0.9'", {}, None),
    ],
)
def test_what_a_command_asks_for(shell: str, affected: dict[str, str], expected: dict[str, str] | None):
    assert required_releases(EntryFix(do="Install it", shell=shell), affected) == expected


def test_a_fix_with_code_does_more_than_install():
    fix = EntryFix(do="Install it", shell="pip install 'trl>=0.9'", code="import trl")
    assert required_releases(fix, {}) is None


BARE = "ValueError: no room is left in this gadget\n"
FRAME = 'Traceback (most recent call last):\n  File "/venv/site-packages/gizmo/{}.py", line 7, in fill\n    gadget.fill()\n' + BARE


@pytest.mark.parametrize(
    ("condition", "log", "first"),
    [
        ("{frame: /gizmo/}", BARE, "Empty the gadget"),  # nothing shows whether gizmo is there
        ("{frame: /gizmo/}", FRAME.format("a"), "Ask gizmo"),
        ("{all: [{frame: /gizmo/}, {message: no room}]}", BARE, "Empty the gadget"),
        ("{any: [{frame: /gizmo/}, {message: no room}]}", BARE, "Ask gizmo"),
        ("{any: [{frame: /gizmo/}, {message: no light}]}", BARE, "Empty the gadget"),  # the second part is out
        ("{not: {frame: /gizmo/}}", BARE, "Ask gizmo"),
        ("{version: {transformers: '<5'}}", BARE, "Ask gizmo"),  # a release is only ruled out
    ],
)
def test_a_fix_for_some_of_the_runs_comes_behind_those_for_all(tmp_path: Path, condition: str, log: str, first: str):
    fixes = f"  - do: Ask gizmo\n    when: {condition}\n{EMPTY}"
    [found] = answers(tool(tmp_path, full=(fixes, "", True)), "", log)
    assert [fix.do for fix in found.fixes] == [first, *({"Empty the gadget", "Ask gizmo"} - {first})]

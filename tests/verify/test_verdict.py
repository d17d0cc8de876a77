"""What a run means: every combination of what a probe can say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from troubleshooter.verify.entry import asked_probe, asks_the_log
from troubleshooter.verify.judge import by_run, by_versions
from troubleshooter.verify.outcome import ProbeOutcome

from .helpers import Entry, Fix, environment

AFFECTED = {"transformers": ">=4.50.0,<4.51.0"}
SEEN = {"kind": "symptom", "case": "a case", "occurred": True, "observed": {"exception": "E", "message": "m"}}
NOT_SEEN = {"kind": "symptom", "case": "a case", "occurred": False, "observed": {"exception": None}}
OTHER = {"kind": "symptom", "case": "a case", "occurred": None, "observed": {"exception": "Other", "message": "else"}}
UNDECIDED = {"kind": "undecided", "reason": "no weights"}
MECHANISM = {"kind": "mechanism", "case": "staged", "text": "nan"}


def outcome(*rows: dict[str, Any], status: str = "ended", detail: str = "") -> ProbeOutcome:
    return ProbeOutcome(status, detail, rows, 1.0, 100, "")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (outcome(SEEN), "confirmed"),
        (outcome(NOT_SEEN, SEEN), "confirmed"),
        (outcome(SEEN, UNDECIDED), "confirmed"),
        (outcome(NOT_SEEN), "not-here"),
        (outcome(NOT_SEEN, MECHANISM), "not-here"),
        (outcome(OTHER), "cannot-tell"),
        (outcome(NOT_SEEN, OTHER), "cannot-tell"),
        (outcome(NOT_SEEN, UNDECIDED), "cannot-tell"),
        (outcome(UNDECIDED), "cannot-tell"),
        (outcome(MECHANISM), "cannot-tell"),
        (outcome(), "cannot-tell"),
        (outcome(SEEN, status="timeout", detail="too slow"), "cannot-tell"),
        (outcome(SEEN, status="crashed", detail="SIGSEGV"), "cannot-tell"),
        (outcome(SEEN, {"kind": "refused", "what": "a host"}), "cannot-tell"),
    ],
)
def test_rows_to_verdict(found: ProbeOutcome, expected: str) -> None:
    said = by_run(Entry(), environment(), found, "cpu")
    assert said.verdict == expected
    assert said.basis == "run"
    assert said.reason
    assert said.exit_code == {"not-here": 0, "confirmed": 1, "cannot-tell": 3}[expected]


@pytest.mark.parametrize(
    ("installed", "expected", "told"),
    [
        ({"transformers": "4.51.3"}, "not-here", "affected is >=4.50.0,<4.51.0"),
        ({"transformers": "4.51.0.dev0"}, "not-here", "4.51.0.dev0"),
        ({"transformers": "4.50.3"}, "cannot-tell", "nothing was run"),
        ({"transformers": "main"}, "cannot-tell", "not installed"),
        ({}, "cannot-tell", "transformers not installed"),
    ],
)
def test_versions_to_verdict(installed: dict[str, str], expected: str, told: str) -> None:
    said = by_versions(Entry(versions=AFFECTED), environment(**installed))
    assert (said.verdict, said.basis) == (expected, "versions")
    assert told in said.reason


def test_all_ranges_must_hold() -> None:
    both = Entry(versions={"transformers": ">=4.52", "accelerate": "<1.3"})
    assert by_versions(both, environment(transformers="4.57.6", accelerate="1.10.1")).verdict == "not-here"
    assert by_versions(both, environment(transformers="4.57.6", accelerate="1.2.1")).verdict == "cannot-tell"
    assert by_versions(both, environment(accelerate="1.10.1")).verdict == "not-here"


def test_a_run_against_the_range_is_said_loudly() -> None:
    entry = Entry(versions=AFFECTED)
    inside = by_run(entry, environment(transformers="4.50.3"), outcome(NOT_SEEN), "cpu")
    assert any("range" in note for note in inside.notes)
    outside = by_run(entry, environment(transformers="4.57.6"), outcome(SEEN), "cpu")
    assert any("range" in note for note in outside.notes)


def fix_row(name: str, removed: bool | None, words: str, **more: Any) -> dict[str, Any]:
    return {"kind": "fix", "name": name, "do": name, "removed": removed, "words": words, **more}


def test_fixes_are_those_of_the_entry_then_what_was_tried_besides() -> None:
    entry = Entry(
        versions=AFFECTED,
        fixes=[
            Fix("Upgrade", shell='pip install -U "transformers>=4.51"'),
            Fix("Half an upgrade", shell="pip install transformers==4.50.2"),
            Fix("Cache off after loading", code="model.config.text_config.use_cache = False"),
            Fix("Cache off before", code="config.text_config.use_cache = False"),
            Fix("Pray"),
        ],
    )
    rows = (
        SEEN,
        fix_row("before", True, r"text_config\.use_cache"),
        fix_row("after", False, r"model\.config\.text_config\.use_cache"),
        fix_row("float32", True, r"float32", cost={"peak_mb": {"without": 1, "with": 2}}),
    )
    said = by_run(entry, environment(transformers="4.50.3"), outcome(*rows), "cpu")
    assert [fix.removes_symptom for fix in said.fixes] == [None, None, False, True, None, True]
    assert "outside" in (said.fixes[0].text or "")
    assert "still" in (said.fixes[1].text or "")
    assert said.fixes[-1].in_entry is False
    assert said.as_json()["fixes"][-1]["cost"] == {"peak_mb": {"without": 1, "with": 2}}


def test_recorded_runs_speak_for_an_upgrade() -> None:
    entry = Entry(versions=AFFECTED, fixes=[Fix("Upgrade", shell="pip install 'transformers>=4.51.0'")])
    known = [({"transformers": "4.49.0"}, "2026-01-01"), ({"transformers": "4.51.3"}, "2026-02-03")]
    said = by_run(entry, environment(transformers="4.50.3"), outcome(SEEN), "cpu", "en", known)
    assert (said.fixes[0].text or "").endswith("did not show it with transformers 4.51.3 (2026-02-03)")


def test_a_fix_that_helps_in_one_case_only_does_not_help() -> None:
    entry = Entry(fixes=[Fix("Off", code="use_cache = False")])
    rows = (SEEN, fix_row("text", True, r"use_cache"), fix_row("multimodal", False, r"use_cache"))
    said = by_run(entry, environment(), outcome(*rows), "cpu")
    assert said.fixes[0].removes_symptom is False
    assert "multimodal" in (said.fixes[0].text or "")


def test_the_json_contract() -> None:
    shown = by_run(Entry(), environment(torch="2.13.0"), outcome(SEEN), "cpu").as_json()
    keys = [
        "schema_version",
        "entry",
        "verdict",
        "basis",
        "reason",
        "same_environment",
        "symptom",
        "fixes",
        "environment",
        "seconds",
        "peak_mb",
    ]
    assert list(shown)[: len(keys)] == keys
    assert shown["environment"]["versions"] == {"torch": "2.13.0"}
    assert shown["environment"]["device"] == "cpu"
    assert shown["symptom"]["exception"] == "E"


@pytest.mark.parametrize(
    "probe",
    [
        ("removed-arguments", {"callable": "<<owner>>", "argument": "x"}),
        {"name": "removed-arguments", "with": {"callable": "<<owner>>", "argument": "x"}},
        SimpleNamespace(name="removed-arguments", with_={"callable": "<<owner>>", "argument": "x"}),
    ],
)
def test_what_no_log_filled_in_is_left_out(probe: Any) -> None:
    entry = Entry(probe=probe)
    assert asked_probe(entry) == ("removed-arguments", {"argument": "x"})
    assert asks_the_log(entry)
    assert not asks_the_log(Entry(probe=("shm-size", {"workers": 2})))
    assert asked_probe(Entry()) is None

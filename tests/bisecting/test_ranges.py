"""Ranges that entries claim, compared with what a judge says of the releases."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from kb import versions as ranges
from troubleshooter.bisect.ranges import Elsewhere, RangeRow, compared, kept, known_already, main, searched, write
from troubleshooter.bisect.trials import Judge, Judged, Versions
from troubleshooter.verify import subject

OFFERED = [f"1.{number}" for number in range(20)]
BESIDE = {"partner": "2.0"}


def failing(releases: Collection[str], untold: Collection[str] = ()) -> Judge:
    def judge(versions: Versions) -> Judged:
        assert versions["partner"] == "2.0"
        one = versions["madeup"]
        return Judged("skip" if one in untold else "bad" if one in releases else "good", "")

    return judge


def row(claimed: str, judge: Judge) -> RangeRow:
    return searched("own", "madeup", claimed, judge, OFFERED, BESIDE, [], "2026-11-23")


@pytest.mark.parametrize(
    ("claimed", "agreement"),
    [
        (">=1.7,<1.12", "agrees"),
        (">=1.6,<1.12", "wrong"),
        (">=1.8,<1.12", "wrong"),
        (">=1.7,<1.13", "wrong"),
        (">=1.7", "wrong"),
        ("<1.12", "wrong"),
    ],
)
def test_a_claim_is_compared_with_what_fails(claimed: str, agreement: str) -> None:
    said = row(claimed, failing([f"1.{number}" for number in range(7, 12)]))
    assert said.agreement == agreement
    assert said.edge == "1.6 1.7 1.11 1.12"
    assert said.beside == "partner==2.0"


def test_both_sides_of_each_claimed_end_are_tried() -> None:
    said = row("<1.16,!=1.4,!=1.5", failing([one for one in OFFERED[:16] if one not in ("1.4", "1.5")]))
    tried = {*said.works.split(), *said.fails.split()}
    assert {"1.3", "1.4", "1.5", "1.6", "1.15", "1.16"} <= tried
    assert said.agreement == "agrees", "a range with a hole is held against each of its ends"


def test_releases_without_an_answer_prove_nothing() -> None:
    said = row(">=1.7", failing(OFFERED[7:], untold=OFFERED[:7]))
    assert said.agreement == "open"
    assert said.works == ""


def test_a_release_that_does_not_run_beside_one_partner_is_tried_beside_another() -> None:
    """Old releases of one package need an old partner, and the newest a new one."""

    def judge(versions: Versions) -> Judged:
        at = OFFERED.index(versions["madeup"])
        if (at < 10) != (versions["partner"] == "1.0"):
            return Judged("skip", "it does not import")
        return Judged("bad" if at < 5 else "good", "")

    elsewhere = Elsewhere(judge, "madeup", [{"partner": "0.5"}, {"partner": "1.0"}])
    said = searched("own", "madeup", "<1.5", elsewhere, OFFERED, BESIDE, [], "2026-11-23")
    assert (said.agreement, said.untold) == ("agrees", "")
    assert elsewhere.used == [{"partner": "1.0"}]


def test_rows_are_replaced_and_others_stay(tmp_path: Path) -> None:
    file = tmp_path / "ranges.tsv"
    first, second = row(">=1.7", failing(OFFERED[7:])), row(">=1.6", failing(OFFERED[7:]))
    other = first._replace(entry="another")
    write([first, other], file)
    write([second], file)
    assert kept(file) == [other, second]


def test_the_kept_rows_are_of_todays_claims() -> None:
    """A claim that was changed since is searched again: ``python -m troubleshooter.bisect.ranges --only ENTRY``."""
    for one in kept():
        assert one.agreement != "wrong", one
        assert subject.of_entry(one.entry, [], "en").versions.get(one.package) == one.claimed, one
        assert all(not ranges.contains(one.claimed, version) for version in one.works.split()), one
        assert all(ranges.contains(one.claimed, version) for version in one.fails.split()), one


def test_a_changed_claim_is_compared_with_what_was_tried() -> None:
    said = row(">=1.8,<1.12", failing(OFFERED[7:12]))
    assert said.agreement == "wrong"
    mended = compared(said, ">=1.7,<1.12")
    assert mended is not None
    assert (mended.claimed, mended.agreement, mended.edge) == (">=1.7,<1.12", "agrees", said.edge)
    still = compared(said, ">=1.7")
    assert still is not None
    assert still.agreement == "wrong"
    assert compared(row(">=1.7", failing(OFFERED[9:], untold=OFFERED[7:9])), ">=1.9") is None, "an end was not found"


def test_a_claim_that_was_searched_is_not_searched_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ranges.tsv"
    write([row(">=1.6", failing(OFFERED[7:]))], file)
    assert known_already("own", "madeup", ">=1.7", file)
    assert "agrees" in capsys.readouterr().out
    assert kept(file)[0].claimed == ">=1.7"
    assert not known_already("other", "madeup", ">=1.7", file)


def test_claims_without_a_search_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, probe in (("own-probed", "probe: {name: no-loss}\n"), ("own-plain", "")):
        folder = tmp_path / "entries" / name
        folder.mkdir(parents=True)
        (folder / "entry.yaml").write_text(
            f"id: {name}\nkind: failure\nseverity: crash\nretry: after-fix\ntitle: Ours fails\n"
            "symptoms:\n  - name: one\n    decisive: true\n    require:\n      - message: ours is broken here\n"
            "    source: {package: ours, file: a.py, versions: '1.0'}\n"
            f"cause: It breaks.\nfixes:\n  - do: Mend it\n{probe}versions: {{trl: '<0.9'}}\n"
            "sources: [{url: 'https://example.com/1', shows: [symptom, cause, fix]}]\n",
            encoding="utf-8",
        )
    asked = ["--list", "--file", str(tmp_path / "ranges.tsv"), "--entries", str(tmp_path / "entries")]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert "not searched             own-probed: trl <0.9" in told
    assert "no probe                 own-plain: trl <0.9" in told
    assert "0 of 2 claimed ranges" in told
    write([row("<1.9", failing(OFFERED[:9]))._replace(entry="own-probed", package="trl", claimed="<0.8")], tmp_path / "ranges.tsv")
    main(asked)
    assert "searched as <0.8 (2026-11-23); search it again own-probed" in capsys.readouterr().out


def test_a_search_without_an_answer_is_repeated(tmp_path: Path) -> None:
    file = tmp_path / "ranges.tsv"
    untold = row(">=1.6", failing([], untold=OFFERED))
    assert (untold.agreement, untold.works, untold.fails) == ("open", "", "")
    write([untold], file)
    assert not known_already("own", "madeup", ">=1.6", file)
    assert not known_already("own", "madeup", ">=1.7", file)

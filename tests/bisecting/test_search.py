"""The searches alone, over outcomes that are made up."""

from __future__ import annotations

import random

import pytest

from troubleshooter.bisect.bisector import one_package
from troubleshooter.bisect.search import between, minimal
from troubleshooter.bisect.trials import Judged, Outcome, Trials, Versions


def releases(count: int) -> list[str]:
    return [f"1.{number}" for number in range(count)]


def of(package: str, bad: set[int], skipped: set[int] = frozenset()) -> Trials:  # type: ignore[assignment]
    def judge(versions: Versions) -> Judged:
        at = int(versions[package].split(".")[1])
        return Judged("skip" if at in skipped else "bad" if at in bad else "good", f"at {at}")

    return Trials(judge)


@pytest.mark.parametrize("seed", range(40))
def test_first_bad_and_first_repaired_are_exact(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(3, 90)
    first = draw.randint(1, count - 1)
    repaired = draw.randint(first + 1, count)
    trials = of("p", set(range(first, repaired)))
    likely = [f"1.{draw.randrange(first, repaired)}"]
    found = one_package("p", releases(count), trials, likely_bad=likely)
    assert (found.verdict, found.last_good, found.first_bad) == ("found", f"1.{first - 1}", f"1.{first}")
    assert (found.first_repaired, found.last_bad) == ((f"1.{repaired}", f"1.{repaired - 1}") if repaired < count else ("", ""))


@pytest.mark.parametrize("seed", range(40))
def test_what_cannot_be_judged_is_said_and_never_named(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(5, 60)
    first = draw.randint(1, count - 1)
    skipped = {at for at in range(1, count - 1) if draw.random() < 0.4}
    trials = of("p", set(range(first, count)), skipped)
    found = one_package("p", releases(count), trials, good="1.0", bad=f"1.{count - 1}")
    low, high = int(found.last_good.split(".")[1]), int(found.first_bad.split(".")[1])
    assert low < first <= high
    assert not {low, high} & skipped
    assert {int(version.split(".")[1]) for version in found.untold} == set(range(low + 1, high))
    assert found.verdict == ("between" if found.untold else "found")


def test_a_hint_saves_trials() -> None:
    asked: list[int] = []

    def ask(at: int) -> Outcome:
        asked.append(at)
        return "bad" if at >= 77 else "good"

    assert between(0, 99, ask, "bad", hints=[77])[:2] == (76, 77)
    assert len(asked) == 3
    asked.clear()
    assert between(0, 99, ask, "bad", hints=[12])[:2] == (76, 77)  # a wrong hint costs little
    assert len(asked) <= 9


@pytest.mark.parametrize("seed", range(40))
def test_the_needed_changes_are_found(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(2, 80)
    culprits = frozenset(draw.sample(range(count), draw.randint(1, min(3, count))))
    asked: list[frozenset[int]] = []

    def ask(chosen: frozenset[int]) -> Outcome:
        asked.append(chosen)
        return "bad" if culprits <= chosen else "good"

    assert minimal(count, ask) == (culprits, frozenset())
    assert len(asked) <= len(culprits) * 9


def test_changes_that_only_go_together_are_not_told_apart() -> None:
    def ask(chosen: frozenset[int]) -> Outcome:
        if len({2, 3} & chosen) == 1:
            return "skip"
        return "bad" if 3 in chosen else "good"

    needed, together = minimal(8, ask)
    assert needed == frozenset()
    assert together >= {2, 3}


@pytest.mark.parametrize("seed", range(20))
def test_a_failure_that_comes_and_goes(seed: int) -> None:
    draw = random.Random(seed)

    def judge(versions: Versions) -> Judged:
        fails = int(versions["p"].split(".")[1]) >= 20 and draw.random() < 0.6
        return Judged("bad" if fails else "good", "")

    trials = Trials(judge)
    found = one_package("p", releases(30), trials, good="1.0", bad="1.29")
    assert (found.verdict, found.first_bad) in (("found", "1.20"), ("unstable", ""))

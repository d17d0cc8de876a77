"""Do fingerprints group unknown failures as a person would? ``python -m benchmarks.fingerprints``: precision and recall over pairs.

Every report of ``benchmarks/reports`` is read as if no entry existed. *Same* pairs: a report and the same report as another run, user and machine
print it (numbers, addresses, paths, ids, ranks, line numbers and quoted file names changed by rule). *Different* pairs: all pairs of two reports,
but for those that a person judged to be one failure (`ONE_FAILURE`); these count as same.

Then the same for real runs (``reports/reruns.jsonl``): scripts that were run under several versions of the libraries, in several ways and settings. A
person judged by the message and the script which runs are one failure, before anything was measured.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from pathlib import Path

from benchmarks.intervals import share
from troubleshooter.outcome import outcome
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

REPORTS = Path(__file__).with_name("reports") / "reports.jsonl"
RERUNS = REPORTS.with_name("reruns.jsonl")
ONE_FAILURE = (("a106", "a202", "a381"),)
"""Ids of reports that print the same failure, judged by hand before anything was measured."""
VARIANTS = 4


def other_run(text: str, pick: random.Random) -> str:
    """The text as another run prints it."""
    text = re.sub(r"0x[0-9a-f]+", lambda _: hex(pick.randrange(2**40, 2**47)), text)
    text = re.sub(r"(?<![\w.])/(?:home|root|usr|opt|data|workspace|mnt)/[\w.@+-]+(?=/)", lambda _: f"/home/user{pick.randrange(99)}", text)
    text = re.sub(r"(?<=line )\d+", lambda found: str(int(found[0]) + pick.randrange(1, 30)), text)
    # Sizes, counts and indices of two digits or more; not those of names (bf16, sm_90) and versions.
    text = re.sub(r"(?<![\w.`'\"/-])\d{2,}(?![\w.`'\"/%-])", lambda found: str(int(found[0]) + pick.randrange(1, 50)), text)
    rank = pick.randrange(1, 8)
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines()) if pick.random() < 0.5 else text


def fingerprint_of(tool: Diagnoser, text: str) -> str | None:
    """The fingerprint of an unknown failure; None where none is seen."""
    told = outcome(tool.report([from_text(text)], brief=True))
    return told["unknown"]["fingerprint"] if "unknown" in told else None


def main() -> None:
    tool = Diagnoser.of([])
    pick = random.Random(5)
    rows = [json.loads(line) for line in REPORTS.read_text(encoding="utf-8").splitlines()]
    own = {row["id"]: found for row in rows if (found := fingerprint_of(tool, row["text"])) is not None}
    print(f"{len(own)} of {len(rows)} reports show a failure without entries")
    texts = {row["id"]: row["text"] for row in rows}
    together = apart = 0  # same pairs with one fingerprint, and with two
    for id_, found in own.items():
        for _ in range(VARIANTS):
            variant = other_run(texts[id_], pick)
            if variant == texts[id_]:
                continue
            if fingerprint_of(tool, variant) == found:
                together += 1
            else:
                apart += 1
                print(f"{id_} is another: {variant.strip().splitlines()[-1][:140]}")
    one = {frozenset(pair) for group in ONE_FAILURE for pair in itertools.combinations(group, 2)}
    wrong = 0
    for left, right in itertools.combinations(own, 2):
        equal, same = own[left] == own[right], frozenset((left, right)) in one
        together += equal and same
        apart += same and not equal
        wrong += equal and not same
        if equal and not same:
            print(f"{left} and {right} are one: {texts[left].splitlines()[-1][:100]} / {texts[right].splitlines()[-1][:100]}")
    print(f"precision {share(together, together + wrong)}, recall {share(together, together + apart)}; {together + apart} same pairs, {len(own) * (len(own) - 1) // 2} of two reports")
    score_reruns(tool)


def score_reruns(tool: Diagnoser) -> None:
    """Pairs of real runs: which of them have one fingerprint, beside the person's judgement."""
    rows = [json.loads(line) for line in RERUNS.read_text(encoding="utf-8").splitlines()]
    own = {row["id"]: fingerprint_of(tool, row["text"]) for row in rows}
    failure = {row["id"]: row["failure"] for row in rows}
    together = apart = wrong = 0
    for left, right in itertools.combinations(own, 2):
        equal, same = own[left] is not None and own[left] == own[right], failure[left] == failure[right]
        together += equal and same
        apart += same and not equal
        wrong += equal and not same
        if equal and not same:
            print(f"{left} and {right} are one")
    kinds = {kind: {own[id_] for id_, of in failure.items() if of == kind} for kind in set(failure.values()) if list(failure.values()).count(kind) > 1}
    whole = 0
    for kind, prints in sorted(kinds.items()):
        whole += len(prints) == 1 and None not in prints
        if len(prints) > 1 or None in prints:
            print(f"{kind} has {len(prints)} fingerprints: {sorted(map(str, prints))}")
    print(
        f"real runs: precision {share(together, together + wrong)}, recall {share(together, together + apart)}; {together + apart} same pairs of "
        f"{len(own)} runs; {whole} of {len(kinds)} failures with several runs have one fingerprint"
    )


if __name__ == "__main__":
    main()

"""Do the decisions to run again agree with a person? ``python -m benchmarks.score_retry``.

``benchmarks/reports/retry.tsv`` holds the judgements of the first 200 reports, made before anything was measured. As nearly all of these
reports are defects of code, agreement alone says little: how many of the failures that may pass are found is shown apart.

``benchmarks/reports/passing.jsonl`` holds 42 further public reports of kinds that often pass: their printed lines, a class, and the judgement by these
lines alone, also made before. A port in use counts as may-help (its holder ends sooner or later), a full disk and a time limit as useless.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from benchmarks.intervals import share
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

REPORTS = Path(__file__).with_name("reports")


def judgements() -> dict[str, str]:
    """The person's judgement by the report's id."""
    lines = (REPORTS / "retry.tsv").read_text(encoding="utf-8").splitlines()
    return {id_: label for id_, label, _ in (line.split("\t") for line in lines if not line.startswith("#"))}


def main() -> None:
    judged = judgements()
    texts = {row["id"]: row["text"] for row in map(json.loads, (REPORTS / "reports.jsonl").read_text(encoding="utf-8").splitlines())}
    tool = Diagnoser.load()
    counts: Counter[tuple[str, str]] = Counter()
    for id_, label in judged.items():
        told = tool.report([from_text(texts[id_])], brief=True).retry
        counts[label, told["decision"] or "none"] += 1
        if told["decision"] != label:
            print(f"{id_}: judged {label}, decided {told['decision']} ({told['reason']}, {told['entry']}): {texts[id_].splitlines()[-1][:100]}")
    right = sum(count for (label, decision), count in counts.items() if label == decision)
    decided = sum(count for (_, decision), count in counts.items() if decision != "none")
    print(f"agree: {right} of {len(judged)}, {share(right, len(judged))}; of {decided} decided: {share(right, decided)}")
    passing = {decision: count for (label, decision), count in counts.items() if label == "may-help"}
    print(f"may help, as the person judges: {passing}")
    print(f"decided may-help: { {label: count for (label, decision), count in counts.items() if decision == 'may-help'} }")
    score_passing(tool)


def score_passing(tool: Diagnoser) -> None:
    """Agreement on the reports of kinds that often pass, by class."""
    agree: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for row in map(json.loads, (REPORTS / "passing.jsonl").read_text(encoding="utf-8").splitlines()):
        told = tool.report([from_text(row["text"])], brief=True).retry
        seen[row["class"]] += 1
        agree[row["class"]] += told["decision"] == row["retry"]
        if told["decision"] != row["retry"]:
            print(f"{row['source']}: judged {row['retry']}, decided {told['decision']} ({told['reason']}, {told['entry']})")
    for name, count in seen.items():
        print(f"{name}: {share(agree[name], count)}")
    print(f"agree on reports that often pass: {agree.total()} of {seen.total()}, {share(agree.total(), seen.total())}")


if __name__ == "__main__":
    main()

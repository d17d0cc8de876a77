"""``docs/ranges.md``: the ranges that entries claim, and what a search over the releases said of each."""

from __future__ import annotations

from pathlib import Path

from troubleshooter.bisect.ranges import claims, kept, state

ROOT = Path(__file__).parent.parent
HEAD = """# Ranges that entries claim

*Made by `python -m docs.make`; do not edit.* An entry may claim that a failure occurs with certain releases of a package only. Where the entry has a
probe, `python -m troubleshooter.bisect.ranges` runs it over the releases and keeps what it found; [bisect.md](bisect.md) says how. A release that
was not tried is taken to behave as its nearest tried neighbours do.
"""


def claimed_ranges() -> str:
    """The page: first the claims that were searched, then the others with the reason."""
    from kb.load import load

    entries = [one.entry for _, one in sorted(load(ROOT / "entries").usable().entries.items())]
    known = {(row.entry, row.package): row for row in kept()}
    tried, others = [], []
    for entry, package, claimed in claims(entries):
        row = known.get((entry.id, package))
        said = state(entry, package, claimed, row)
        cell = f"`{entry.id}` | {package} | `{claimed}`"
        if row is None:
            others.append(f"| {cell} | {said} |")
        else:
            good, bad, last, repaired = row.edge.rpartition(": ")[2].split(" ")
            tried.append(f"| {cell} | {said} | {good} | {bad} | {last} | {repaired} |")
    head = "| entry | package | claimed |"
    return "\n".join(
        [
            HEAD,
            f"## Searched: {len(tried)} of {len(tried) + len(others)}",
            "",
            f"{head} agreement | last that works | first that fails | last that fails | first repaired |",
            "| --- " * 8 + "|",
            *tried,
            "",
            f"## Not searched: {len(others)}",
            "",
            f"{head} why |",
            "| --- " * 4 + "|",
            *others,
            "",
        ]
    )

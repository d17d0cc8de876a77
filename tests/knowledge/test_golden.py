"""No answer moves unseen: every sample, healthy log and generated log answers as the golden file keeps it."""

from __future__ import annotations

from tests import golden


def test_every_log_answers_as_the_golden_file_keeps_it() -> None:
    made = {line.split("\t", 1)[0]: line for line in golden.rows(golden.log_names())}
    kept = golden.kept()
    moved = [f"{kept.get(name)!r} -> {made.get(name)!r}" for name in sorted({*made, *kept}) if made.get(name) != kept.get(name)]
    assert not moved, f"{len(moved)} moved; look at them: python -m tests.golden (--update keeps them)\n" + "\n".join(moved[:20])

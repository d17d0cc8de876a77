"""The golden file: what the tool answers on every sample, healthy log and generated log, one row a log.

``python -m tests.golden`` prints the rows that differ from ``tests/knowledge/golden.tsv`` (a change of the engine or of an
entry shows there as a diff); ``--update`` keeps the new answers. A row holds the log's name, the exit status, then the
answers in order, each as ``entry-id word line``: the confidence word and the line of the first evidence.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

from benchmarks import logs
from kb.samples import FILE, EntrySample, parse
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_path
from troubleshooter.tried import sources_of

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "knowledge" / "golden.tsv"
GENERATED_BYTES = 300_000
"""Size of a generated log: small enough that every line of it is read."""
LARGE_BYTES = 3_000_000
"""Size of a generated log of which only excerpts are read."""
SEED = 7
ABOUT_THE_END = ("training-log-breaks-off",)
"""Entries whose samples are whole logs. Samples of all other entries are excerpts, whose end means nothing."""
_tool: Diagnoser | None = None


@cache
def _samples(id_: str) -> dict[str, EntrySample]:
    """The samples of an entry: by kind and name."""
    (path,) = (ROOT / "entries").glob(f"*/{id_}/{FILE}")
    return {f"{sample.kind} {sample.name}": sample for sample in parse(path.read_text(encoding="utf-8"))}


def log_names() -> list[str]:
    """The names of all logs that have a row, in order."""
    entries = sorted(path.parent.name for path in (ROOT / "entries").glob(f"*/*/{FILE}"))
    names = [f"entries/{id_}/{name}" for id_ in entries for name in _samples(id_)]
    names += [p.relative_to(ROOT).as_posix() for p in (ROOT / "tests" / "healthy").rglob("*.log")]
    names += [p.relative_to(ROOT).as_posix() for p in (ROOT / "tests" / "logs").glob("*.log")]
    names += [f"generated/{kind}/{size}" for kind in logs.KINDS for size in (GENERATED_BYTES, LARGE_BYTES)]
    return sorted(names)


def row(name: str, tool: Diagnoser | None = None) -> str:
    """The row of one log, by the given tool or one that is loaded once."""
    global _tool
    if tool is None:
        tool = _tool = _tool or Diagnoser.load()
    first, *rest = name.split("/")
    if first == "entries":
        report = tool.report(sources_of(_samples(rest[0])[rest[1]]), whole=rest[0] in ABOUT_THE_END)
    elif first == "generated":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "generated.log"
            logs.write(path, rest[0], int(rest[1]), SEED, ["'HybridCache' object has no attribute 'float'", "CUDA out of memory"])
            report = tool.report(from_path(path), whole=True)
    else:
        report = tool.report(from_path(ROOT / name), whole=True)
    answers = [f"{d.id} {d.confidence} {d.evidence[0].line if d.evidence else 0}" for d in report.diagnoses]
    return "\t".join([name, str(report.exit_code), *answers])


def rows(names: list[str], processes: int = 2) -> Iterator[str]:
    """The rows of the logs, in the order of the names."""
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(row, names, chunksize=100)


def kept() -> dict[str, str]:
    """The rows of the golden file by the log's name."""
    lines = GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.exists() else []
    return {line.split("\t", 1)[0]: line for line in lines}


def main() -> int:
    """Print what moved; exit status 1 when something did and it is not kept."""
    made = {line.split("\t", 1)[0]: line for line in rows(log_names())}
    before = kept()
    moved = [name for name in sorted({*made, *before}) if made.get(name) != before.get(name)]
    for name in moved:
        print(f"- {before[name]}" if name in before else f"- {name} (no row)")
        print(f"+ {made[name]}" if name in made else f"+ {name} (no log)")
    print(f"{len(moved)} of {len(made)} rows differ", file=sys.stderr)
    if "--update" in sys.argv[1:]:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text("".join(f"{line}\n" for line in made.values()), encoding="utf-8")
        return 0
    return 1 if moved else 0


if __name__ == "__main__":
    raise SystemExit(main())

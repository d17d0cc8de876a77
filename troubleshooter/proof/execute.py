"""Executes the Python of the fixes in real releases: ``python -m troubleshooter.proof.execute [ENTRY…] [--envs FOLDER] [--again]``.

Each Python block runs with its placeholders filled in, in a process without a network that can write in one empty folder only
(`bench`), once in each of two sets of releases (`SETS`). What a fix calls ``model``, ``tokenizer`` or ``args`` is a tiny real object
(`stand_ins`); what one fix needs beyond that stands in ``given.yaml``. The answers are kept in ``tests/knowledge/executed.tsv``, a row
a fix. Only fixes whose text has changed are run, so an edit costs seconds. Exit status: 1 where a fix fails and nobody said why.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import yaml

from kb.load import Library, load
from kb.proof.parsing import filled
from troubleshooter.proof.__main__ import RELEASES, ROOT, says_a_bound
from troubleshooter.verify.overlays import Overlays, default_folder

KEPT = ROOT / "tests" / "knowledge" / "executed.tsv"
GIVEN = Path(__file__).with_name("given.yaml")
CHUNK = 400
"""Fixes that one process of an environment runs; the answers are kept after each."""
BESIDE = {
    "bitsandbytes": "0.49.0", "deepspeed": "0.19.8", "evaluate": "0.4.6", "gymnasium": "1.4.0", "lightning": "2.6.6",
    "omegaconf": "2.4.0", "onnxscript": "0.7.2", "opacus": "1.6.0", "optimum": "2.3.0", "pillow": "13.0.0", "scikit-learn": "1.7.2",
    "sentencepiece": "0.2.1", "soundfile": "0.14.0", "webdataset": "1.0.2",
}  # fmt: skip
"""Packages that fixes name beside the libraries of the sets, the same in both. Another one here leaves the kept answers as they are:
run the fixes that need it anew (``--again``)."""
OF_ITS_YEAR = {
    "2026": {"diffusers": "0.42.1", "sentence-transformers": "6.2.0", "torchao": "0.18.0"},
    "2025": {"diffusers": "0.36.0", "sentence-transformers": "5.1.2"},
}
"""Packages beside the libraries that each set has in a release of its own."""
SETS = {name: {**RELEASES[name], **BESIDE, **beside} for name, beside in OF_ITS_YEAR.items()}
"""The newest releases, and the oldest that most fixes speak of (transformers 4.57), by name."""
EXECUTED = ("ran", "defined")
"""Outcomes that count as executed; ``defined`` is a function or class that was made and not called."""


class PythonFix(NamedTuple):
    """A Python block: its entry's id, the fix's number from 1, the text as a reader gets it, what the fix says in all, what is given."""

    entry: str
    number: int
    code: str
    said: str
    given: str
    reason: str

    @property
    def digest(self) -> str:
        """Changes with the text and with what is given to it."""
        return hashlib.sha256(f"{self.code}\0{self.given}".encode()).hexdigest()[:12]


class Execution(NamedTuple):
    """What came of a fix: the digest of what ran, and an answer for each of `SETS` such as ``ran`` or ``failed: line 2: …``."""

    digest: str
    answers: tuple[str, ...]

    @property
    def executed(self) -> bool:
        """Whether it ran in one of the sets."""
        return any(answer in EXECUTED for answer in self.answers)


Executions = dict[tuple[str, int], Execution]


def python_fixes(
    library: Library, given: Mapping[str, Mapping[int, Mapping[str, str]]] | None = None
) -> Iterator[PythonFix]:
    """The Python blocks of all fixes, sorted by entry. ``given``: what `notes` read."""
    known = notes() if given is None else given
    for id_ in sorted(library.entries):
        for number, fix in enumerate(library.entries[id_].entry.fixes, 1):
            if fix.code is not None and fix.language == "python":
                note = _note(known, id_, number)
                said = f"{fix.do}\n{fix.why or ''}\n{fix.code}"
                yield PythonFix(id_, number, filled(fix.code), said, note.get("given", ""), note.get("reason", ""))


def _note(known: Mapping[str, Mapping[int, Mapping[str, str]]], id_: str, number: int) -> Mapping[str, str]:
    if number in known.get(id_, {}):
        return known[id_][number]
    return next((given[0] for pattern, given in known.items() if 0 in given and fnmatchcase(id_, pattern)), {})


def notes(path: Path = GIVEN) -> dict[str, dict[int, dict[str, str]]]:
    """What is known of single fixes, by entry (or a pattern of entries) and number (0: each): ``given``, Python that runs before; ``reason``, why it may fail here."""
    found: dict[str, dict[int, dict[str, str]]] = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return found


def execute(fixes: Sequence[PythonFix], name: str, overlays: Overlays) -> Iterator[dict[PythonFix, str]]:
    """Run fixes in one of `SETS`; gives the answers in parts, so that they can be kept in between."""
    path = overlays.path(SETS[name])
    for at in range(0, len(fixes), CHUNK):
        part = fixes[at : at + CHUNK]
        yield dict(zip(part, _asked(part, overlays.python, path), strict=True))


def _asked(fixes: Sequence[PythonFix], python: Path, path: str) -> list[str]:
    probes = Path(__file__).parent.parent / "probes"  # holds the cage
    environment = {
        **{
            name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_", "WANDB_"))
        },
        "PYTHONPATH": os.pathsep.join([path, str(probes)]),
        "HF_HUB_OFFLINE": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "WANDB_MODE": "disabled",
    }
    question = json.dumps([{"code": fix.code, "given": fix.given} for fix in fixes])
    script = str(Path(__file__).with_name("bench.py"))
    done = subprocess.run(
        [str(python), script], input=question, capture_output=True, text=True, env=environment, check=False
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    if len(told) != len(fixes):
        raise RuntimeError(f"{script} ended after {len(told)} of {len(fixes)} fixes:\n{done.stderr[-2000:]}")
    return [_cell(one["outcome"], one["said"]) for one in told]


_CHANGING = re.compile(r"0x[0-9a-f]{6,}|/tmp/\S+|\d+\.\d{3,}")


def _cell(outcome: str, said: str) -> str:
    """An answer as it is kept: on one line, without what differs from run to run."""
    text = _CHANGING.sub("…", " ".join(said.split()))
    return f"{outcome}: {text}"[:200].strip() if text else outcome


def kept(path: Path = KEPT) -> Executions:
    """The kept answers; none where there is no such file yet, or where it is of other releases."""
    if not path.is_file():
        return {}
    first, *rows = path.read_text(encoding="utf-8").splitlines()
    if first.split("\t")[1:] != _head().split("\t")[1:]:
        return {}
    cells = (row.split("\t") for row in rows)
    return {(entry, int(number)): Execution(digest, tuple(answers)) for entry, number, digest, *answers in cells}


def write(found: Executions, path: Path = KEPT) -> None:
    """Keep answers, sorted. The first row, with the day, changes only where an answer has."""
    if found == kept(path):
        return
    rows = ["\t".join([entry, str(number), one.digest, *one.answers]) for (entry, number), one in sorted(found.items())]
    path.write_text("\n".join([_head(), *rows]) + "\n", encoding="utf-8")


def _head() -> str:
    releases = (" ".join(f"{name} {version}" for name, version in RELEASES[one].items()) for one in SETS)
    return "\t".join([f"# executed on {date.today()}", "fix", "digest", *releases])


def outdated(fixes: Iterable[PythonFix], known: Executions, name: str) -> list[PythonFix]:
    """The fixes that were not run in one of `SETS` as they are now."""
    at = list(SETS).index(name)
    return [
        fix
        for fix in fixes
        if (row := known.get((fix.entry, fix.number))) is None or row.digest != fix.digest or not row.answers[at]
    ]


def joined(known: Executions, name: str, part: Mapping[PythonFix, str]) -> Executions:
    """The known answers and new ones of one of `SETS`; answers to an older text are dropped."""
    at = list(SETS).index(name)
    found = dict(known)
    for fix, answer in part.items():
        row = found.get((fix.entry, fix.number))
        answers = list(row.answers) if row is not None and row.digest == fix.digest else [""] * len(SETS)
        answers[at] = answer
        found[fix.entry, fix.number] = Execution(fix.digest, tuple(answers))
    return found


def problems(fixes: Iterable[PythonFix], found: Executions) -> Iterator[str]:
    """Fixes that fail, unless the fix says for which releases it is and runs in another set (or was not run in it yet), or a reason is given."""
    for fix in fixes:
        row = found[fix.entry, fix.number]
        failed = [answer for answer in row.answers if answer.startswith("failed")]
        if failed and not fix.reason and not ((row.executed or "" in row.answers) and says_a_bound(fix.said)):
            place = (
                "in every set"
                if len(failed) == len(list(filter(None, row.answers)))
                else "in one set: say for which releases it is"
            )
            yield f"{fix.entry}, fix {fix.number}: {failed[0]} ({place})"


def summary(found: Executions) -> str:
    """How many ran, and why the others did not, in lines."""
    ran = sum(row.executed for row in found.values())
    why = Counter(
        row.answers[0].split(": ")[1]
        for row in found.values()
        if not row.executed and ": " in row.answers[0] and not row.answers[0].startswith("failed")
    )
    failed = sum(
        not row.executed and any(answer.startswith("failed") for answer in row.answers) for row in found.values()
    )
    only = sum(row.executed and "ran" not in row.answers for row in found.values())
    said = ", ".join(f"{count} {reason}" for reason, count in why.most_common(8))
    return f"{len(found)} Python fixes: {ran} executed ({ran / max(len(found), 1):.0%}; {only} of them only defined), {failed} failed; not run: {said}"


def main(arguments: list[str] | None = None) -> int:
    """Run what is not kept, keep it, and print the problems."""
    parser = argparse.ArgumentParser(
        prog="python -m troubleshooter.proof.execute", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("entries", nargs="*", metavar="ENTRY", help="ids of entries (default: all)")
    parser.add_argument("--envs", type=Path, default=default_folder(), help="the folder of environments")
    parser.add_argument("--again", action="store_true", help="run the named entries' fixes (default: all) anew")
    parser.add_argument(
        "--set", action="append", dest="sets", choices=list(SETS), help="run in this set of releases only"
    )
    asked = parser.parse_args(arguments)
    library = load(ROOT / "entries")
    if unknown := [id_ for id_ in asked.entries if id_ not in library.entries]:
        print(f"no entry {unknown[0]}; see: troubleshoot list", file=sys.stderr)
        return 2
    whole = list(python_fixes(library))
    named = [fix for fix in whole if not asked.entries or fix.entry in asked.entries]
    known = kept()
    here = {(fix.entry, fix.number) for fix in whole}
    overlays = Overlays(asked.envs)
    for name in asked.sets or SETS:
        todo = named if asked.again else outdated(named, known, name)
        print(f"{name}: running {len(todo)} of {len(named)} fixes", file=sys.stderr)
        for part in execute(todo, name, overlays):
            known = joined(known, name, part)
            write({key: row for key, row in known.items() if key in here})
    faults = list(problems((fix for fix in named if (fix.entry, fix.number) in known), known))
    print(
        "\n".join([*faults, summary({key: known[key] for fix in named if (key := (fix.entry, fix.number)) in known})])
    )
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

"""Asks real releases for what the Python of the fixes uses: ``python -m troubleshooter.proof [ENTRY…] [--envs FOLDER]``.

Each import, and each call of a library's class or function with its arguments, is asked of three sets of releases (`RELEASES`).
The answers stand in ``tests/knowledge/uses.tsv``, a row a use: the releases that have it, those that have not and why. Only uses
without a row are asked, so an edit costs seconds; ``--again`` asks all of them. Exit status: 1 where a fix uses what no release
has, or what only older ones have without saying so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kb import lazy
from kb.form import EntryFix
from kb.load import Library, load
from kb.proof.parsing import filled
from troubleshooter.proof.uses import Use, uses
from troubleshooter.verify.overlays import Overlays, default_folder

ROOT = Path(__file__).parent.parent.parent
KEPT = ROOT / "tests" / "knowledge" / "uses.tsv"
RELEASES: dict[str, dict[str, str]] = {
    "2026": {"transformers": "5.23.0", "trl": "1.16.0", "peft": "0.21.2", "accelerate": "1.15.0", "datasets": "3.6.0"},
    "2025": {"transformers": "4.57.6", "trl": "0.24.0", "peft": "0.18.1", "accelerate": "1.10.1", "datasets": "3.6.0"},
    "2024": {"transformers": "4.46.3", "trl": "0.16.1", "peft": "0.12.0", "accelerate": "1.2.1", "datasets": "3.6.0"},
}
"""Sets of releases, the newest first, by the year that most of them are of. All of them run on one torch."""
ELSEWHERE = lazy.compile(
    r"lightning|vllm|setfit|diffusers|unsloth|^fsdp-inference|^sharded-checkpoint|^npu-|^dll-|^file-name-too-long|^grey-image|torchvision"
    r"|^scheduler-on-dummy|^ds-optimizer-config"
)
"""Ids of entries whose fixes mean a thing of another library (Lightning's ``Trainer``, Pillow's ``Image``), or one that is there
only with a device or a package that is not here (DeepSpeed's ``DummyOptim``)."""
_BOUND = lazy.compile(
    r"(?i)(?:transformers|trl|peft|accelerate|datasets|torch|releases?|versions?)[^\n]{0,12}\d"
    r"|\b(?:before|until|below|older|up to|since|newer|old)\b|[<>]=?\s?\d"
)
"""How a fix says that it is for some releases only."""


def says_a_bound(said: str) -> bool:
    """Whether a fix says that it is for some releases only. ``said``: all its words and its code."""
    return _BOUND.search(said) is not None


class Asked(NamedTuple):
    """A use of one fix: the entry's id, the fix's number from 1, what it uses, and what the fix says."""

    entry: str
    fix: int
    use: Use
    said: str

    @property
    def key(self) -> str:
        """The use without its place: what a row of the kept answers begins with."""
        keywords = "" if self.use.keywords is None else f"({', '.join(self.use.keywords)})"
        return ".".join(part for part in (self.use.module or "?", self.use.name) if part) + keywords


def asked_by(library: Library, wanted: Iterable[str] = ()) -> Iterator[Asked]:
    """What the Python of the wanted entries' fixes uses (default: of all entries)."""
    for id_ in sorted(wanted or library.entries):
        for number, fix in enumerate(library.entries[id_].entry.fixes, 1):
            if fix.code is not None and fix.language == "python":
                yield from (Asked(id_, number, use, _said(fix)) for use in uses(filled(fix.code)))


def _said(fix: EntryFix) -> str:
    return f"{fix.do}\n{fix.why or ''}\n{fix.code or ''}"


def answers(keys: list[Asked], overlays: Overlays) -> dict[str, dict[str, str]]:
    """What each set of releases says to each use, by its key: "" for yes, "?" where it cannot be told, else what is missing."""
    found: dict[str, dict[str, str]] = {asked.key: {} for asked in keys}
    question = json.dumps([(asked.use.module, asked.use.name, asked.use.keywords) for asked in keys])
    for name, versions in RELEASES.items():
        path = overlays.path(versions)
        environment = {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
        script = Path(__file__).with_name("asked.py")
        done = subprocess.run(
            [str(overlays.python), str(script)],
            input=question,
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        for asked, said in zip(keys, json.loads(done.stdout.splitlines()[-1]), strict=True):
            found[asked.key][name] = said
    return found


def kept_answers(path: Path = KEPT) -> dict[str, dict[str, str]]:
    """The kept answers by key; none where there is no such file yet, or where it is of other releases."""
    if not path.is_file():
        return {}
    first, *rows = path.read_text(encoding="utf-8").splitlines()
    if first != _head():
        return {}
    return {cells[0]: dict(zip(RELEASES, cells[1:], strict=True)) for cells in (row.split("\t") for row in rows)}


def write(found: dict[str, dict[str, str]], path: Path = KEPT) -> None:
    """Keep answers: a row a use, sorted; the first row names the releases."""
    rows = ["\t".join([key, *(found[key][name] for name in RELEASES)]) for key in sorted(found)]
    path.write_text("\n".join([_head(), *rows]) + "\n", encoding="utf-8")


def _head() -> str:
    return "\t".join(
        ["use", *(" ".join(f"{name} {v}" for name, v in versions.items()) for versions in RELEASES.values())]
    )


def problems(asked: Iterable[Asked], found: dict[str, dict[str, str]]) -> Iterator[str]:
    """Uses that no release has, and uses that the newest has no more while the fix does not say for which releases it is."""
    for one in asked:
        said = list(found[one.key].values())
        if "" not in said and "?" not in said:
            if not ELSEWHERE.search(one.entry) and not says_a_bound(one.said):
                yield f"{one.entry}, fix {one.fix}: {one.key}: {said[0]} (in no release that was asked)"
        elif said[0] not in ("", "?") and not says_a_bound(one.said):
            yield f"{one.entry}, fix {one.fix}: {one.key}: {said[0]} (older releases have it: say until which)"


def main(arguments: list[str] | None = None) -> int:
    """Ask what is not kept, keep it, and print the problems."""
    parser = argparse.ArgumentParser(prog="python -m troubleshooter.proof", description=__doc__.split("\n", 1)[0])
    parser.add_argument("entries", nargs="*", metavar="ENTRY", help="ids of entries (default: all)")
    parser.add_argument("--envs", type=Path, default=default_folder(), help="the folder of environments")
    parser.add_argument("--again", action="store_true", help="ask for everything anew")
    given = parser.parse_args(arguments)
    library = load(ROOT / "entries")
    if unknown := [id_ for id_ in given.entries if id_ not in library.entries]:
        print(f"no entry {unknown[0]}; see: troubleshoot list", file=sys.stderr)
        return 2
    whole = list(asked_by(library))
    known = {} if given.again else kept_answers()
    missing = {one.key: one for one in whole if one.key not in known}
    if missing:
        print(
            f"asking {len(RELEASES)} sets of releases for {len(missing)} of {len({one.key for one in whole})} uses",
            file=sys.stderr,
        )
        known |= answers(list(missing.values()), Overlays(given.envs))
    write({one.key: known[one.key] for one in whole})
    faults = sorted(set(problems((one for one in whole if not given.entries or one.entry in given.entries), known)))
    print(
        "\n".join(
            [
                *faults,
                f"{len({(one.entry, one.fix) for one in whole})} fixes, {len(known)} uses, {len(faults)} problems",
            ]
        )
    )
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())

"""Runs scripts that really fail under ``troubleshoot run``: is the root cause the first thing that is told?

    python -m benchmarks.induced --python PYTHON [--set first|fresh] [--only NAME...] [--keep FOLDER] [--write FILE] [--again FOLDER]

``PYTHON`` has torch, transformers, accelerate and peft; cases whose package is missing are left out and counted. Each script runs
once. The same output is then diagnosed in three ways: as `run` did with its hook, as it would have without the hook (the output and
how the command ended), and from the log alone. ``--again`` diagnoses the kept runs of FOLDER anew, without running anything.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import induced_cases, induced_fresh
from benchmarks.induced_cases import Induced
from benchmarks.intervals import share
from kb.text.catalog import ENGLISH
from troubleshooter import diagnose_file
from troubleshooter.supervise.ending import diagnosed
from troubleshooter.supervise.folder import RunFolder
from troubleshooter.supervise.supervisor import RunEnd

ROOT = Path(__file__).parents[1]
WAYS = ("hook", "no hook", "log alone")
LIMIT_SECONDS = 300.0
SETS = {"first": induced_cases.CASES, "fresh": induced_fresh.CASES}


def main(words: Sequence[str] | None = None) -> int:
    given = argparse.ArgumentParser(prog="python -m benchmarks.induced", description=__doc__.splitlines()[0])
    given.add_argument("--python", default=sys.executable)
    given.add_argument("--set", choices=SETS, default="first")
    given.add_argument("--only", nargs="*", default=[])
    given.add_argument("--keep", type=Path)
    given.add_argument("--again", type=Path)
    given.add_argument("--write", type=Path)
    options = given.parse_args(words)
    base = options.again or options.keep or Path(tempfile.mkdtemp(prefix="induced-"))
    rows = []
    for case in SETS[options.set]:
        if options.only and case.name not in options.only:
            continue
        folder = base / case.name
        if not options.again:
            if not _has(options.python, case.needs):
                print(f"{case.name}: left out, {case.needs} is not installed")
                continue
            _run(case, options.python, folder)
        row: dict[str, Any] = {"name": case.name, "ranks": case.ranks, **{way: scored(case, told) for way, told in _reports(folder)}}
        rows.append(row)
        print(case.name, *(f"{way}: {_said(row[way])}" for way in WAYS), sep="\n    ", flush=True)
    _sum_up(rows)
    if options.write is not None:
        options.write.write_text(json.dumps(rows, indent=1) + "\n")
    if not (options.again or options.keep):
        shutil.rmtree(base)
    return 0


def scored(case: Induced, report: Mapping[str, Any]) -> dict[str, Any]:
    """Of one report: ``root``: the first answer is about what began it; ``cause``: it names the cause; ``rank``: it tells the rank."""
    kind, message, said = first_answer(report)
    told = [one for one in report["failures"] if re.search(case.root, f"{one['exception']}: {one['message']}")]
    exits = [one for one in report["exits"] if one.get("rank") == case.rank]
    return {
        "answer": kind,
        "root": re.search(case.root, message) is not None,
        "cause": re.search(case.root, message) is not None and re.search(case.says, said) is not None,
        "rank": case.rank is None or any(case.rank in one["ranks"] for one in told) or bool(exits and not told),
        "message": message[:160],
    }


def first_answer(report: Mapping[str, Any]) -> tuple[str, str, str]:
    """The kind of the first answer, the message that it is about, and what it says of the cause in its own words."""
    if report["diagnoses"]:
        first = report["diagnoses"][0]
        shown = " | ".join(one["text"] for one in first["evidence"])
        return first["id"], shown, " ".join(str(first.get(key) or "") for key in ("title", "summary", "cause"))
    if report["explained"]:
        first = report["explained"][0]
        words = {key: value for key, value in first.items() if key not in ("exception", "message", "own")}
        return "explained", f"{first['exception']}: {first['message']}", json.dumps(words)
    first = report["unexplained"] or {}
    return "unexplained" if first else "none", f"{first.get('exception', '')}: {first.get('message', '')}", ""


def _has(python: str, package: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def _run(case: Induced, python: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    script = folder / "train.py"
    script.write_text(case.code.strip() + "\n")
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(case.ranks)] if case.ranks > 1 else []
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    subprocess.run(
        [sys.executable, "-m", "troubleshooter", "run", "--lang", "en", "--log", str(folder / "run"), "--", python, *launcher, str(script)],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(folder / "told.txt").open("wb"),
        timeout=LIMIT_SECONDS, check=False,
    )  # fmt: skip


def _reports(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The reports on a kept run, made anew: with facts, without them, and from the log alone."""
    noted = json.loads((folder / "run/run.json").read_text())
    ended, versions = RunEnd(noted["status"], noted["signal"]), noted.get("versions", {})
    yield "hook", diagnosed(RunFolder(folder / "run", None), b"", ended, versions, [], ENGLISH).to_dict()
    with tempfile.TemporaryDirectory() as bare:
        shutil.copy(folder / "run/output.log", bare)
        yield "no hook", diagnosed(RunFolder(Path(bare), None), b"", ended, versions, [], ENGLISH).to_dict()
    yield "log alone", diagnose_file(folder / "run/output.log").to_dict()


def _said(one: Mapping[str, Any]) -> str:
    marks = "".join(letter if one[key] else "-" for letter, key in (("R", "root"), ("C", "cause"), ("N", "rank")))
    return f"{marks} {one['answer']}: {one['message']}"


def _sum_up(rows: Sequence[Mapping[str, Any]]) -> None:
    for name, some in (("1 rank", [row for row in rows if row["ranks"] == 1]), ("more ranks", [row for row in rows if row["ranks"] > 1])):
        for way in WAYS:
            counts = [sum(row[way][key] for row in some) for key in ("root", "cause", "rank")]
            told = ", ".join(f"{key} {n}/{len(some)} = {share(n, len(some))}" for key, n in zip(("root first", "cause named", "rank"), counts, strict=True))
            print(f"{name}, {way}: {told}")
    for way in WAYS:
        n = sum(row[way]["root"] for row in rows)
        c = sum(row[way]["cause"] for row in rows)
        print(f"all, {way}: root first {n}/{len(rows)} = {share(n, len(rows))}, cause named {c} = {share(c, len(rows))}")


if __name__ == "__main__":
    sys.exit(main())

"""Runs scripts of 2 to 4 ranks that really hang under ``troubleshoot run``: which rank, and which class of cause?

    python -m benchmarks.hangs --python PYTHON [--set first|fresh|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth] [--only NAME...] [--at-once 3] [--write FILE]
    python -m benchmarks.hangs --python PYTHON --set fourth --places      # judges nothing: prints where each rank stands after 25 s

A case is right in its rank if the verdict's late ranks are exactly the culprits, and in its class if the verdict's cause is one of the given.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks import (
    hang_cases,
    hang_eighth,
    hang_eleventh,
    hang_fifth,
    hang_fourth,
    hang_ninth,
    hang_seventh,
    hang_sixth,
    hang_tenth,
    hang_third,
    hang_twelfth,
)
from benchmarks.hang_cases import Hang
from benchmarks.intervals import share

ROOT = Path(__file__).parents[1]
LIMIT_SECONDS = 240.0


SETS = {
    "first": hang_cases.CASES, "fresh": hang_cases.FRESH, "third": hang_third.CASES, "fourth": hang_fourth.CASES, "fifth": hang_fifth.CASES,
    "sixth": hang_sixth.CASES, "seventh": hang_seventh.CASES, "eighth": hang_eighth.CASES, "ninth": hang_ninth.CASES,
    "tenth": hang_tenth.CASES, "eleventh": hang_eleventh.CASES, "twelfth": hang_twelfth.CASES,
}  # fmt: skip
"""The later sets were written, and what is right with them, before their first run: after the rules had been changed on those before."""

PLACES_SECONDS = 25
PACKAGES = Path.home() / ".cache/llm-troubleshooter/envs/overlays"
_PLACES = """\
import os as _os, sys as _sys
_sys.path[:0] = filter(None, _os.environ.get("HANG_PACKAGES", "").split(":"))

def places(rank):
    if "HANG_PLACES" in _os.environ:
        import faulthandler
        file = open(f"{_os.environ['HANG_FOLDER']}/places{rank}", "w")
        faulthandler.dump_traceback_later(int(_os.environ["HANG_PLACES"]), file=file)

"""
_SCRIPT = """\
import ctypes, os, sys, time
import torch
import torch.distributed as dist
ctypes.CDLL(None).prctl(1, 9)
rank, ranks, folder = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["HANG_FOLDER"]
culprit = rank in {culprits}
places(rank)

def stalls():
    if culprit:
        open(folder + "/stalled", "w").close()

def stuck(tensor):
{code}

if culprit:
    {before}
dist.init_process_group("gloo", init_method=f"file://{{folder}}/store", rank=rank, world_size={size})
tensor = torch.ones(4)
for step in range(3):
    dist.all_reduce(tensor)
    print("step", step, "loss 2.3", flush=True)
stuck(tensor)
dist.all_reduce(tensor)
"""
_LAUNCH = """\
import os, subprocess, sys
ranks = int(sys.argv[2])
for one in [
    subprocess.Popen([sys.executable, sys.argv[1]], env=dict(os.environ, RANK=str(at), WORLD_SIZE=str(ranks), HANG_FOLDER=sys.argv[3]))
    for at in range(ranks)
]:
    one.wait()
"""


def main(words: Sequence[str] | None = None) -> int:
    given = argparse.ArgumentParser(prog="python -m benchmarks.hangs", description=__doc__.splitlines()[0])
    given.add_argument("--python", default=sys.executable)
    given.add_argument("--set", choices=SETS, default="first")
    given.add_argument("--only", nargs="*", default=[])
    given.add_argument("--at-once", type=int, default=3)
    given.add_argument("--hang-after", type=float, default=5.0)
    given.add_argument("--write", type=Path)
    given.add_argument("--packages", type=Path, default=PACKAGES)
    given.add_argument("--places", action="store_true")
    options = given.parse_args(words)
    cases = [case for case in SETS[options.set] if not options.only or case.name in options.only]
    if options.places:
        with ThreadPoolExecutor(options.at_once) as pool:
            for told in pool.map(lambda case: _places(case, options), cases):
                print(told, flush=True)
        return 0
    with ThreadPoolExecutor(options.at_once) as pool:
        rows = list(pool.map(lambda case: _run(case, options), cases))
    for row in rows:
        print(json.dumps(row))
    right_rank, right_class = sum(row["rank"] for row in rows), sum(row["class"] for row in rows)
    print(f"rank right {right_rank} of {len(rows)} ({share(right_rank, len(rows))}); class right {right_class} of {len(rows)} ({share(right_class, len(rows))})")  # fmt: skip
    if options.write is not None:
        options.write.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def script(case: Hang) -> str:
    """What each rank of a case runs."""
    if case.whole:
        return _PLACES + case.whole
    code = case.everyone or f"if culprit:\n    stalls()\n{textwrap.indent(case.code.strip(), '    ')}"
    return _PLACES + _SCRIPT.format(
        culprits=case.culprits, code=textwrap.indent(code.strip(), "    "), before=case.before or "pass", size=case.size
    )


def _prepared(case: Hang, folder: Path, options: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """The command of a case and its environment. Its files are put into the folder."""
    (folder / "train.py").write_text(script(case))
    (folder / "launch.py").write_text(_LAUNCH)
    words = {
        "ranks": [options.python, "launch.py", "train.py", str(case.ranks), str(folder)],
        "torchrun": [options.python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(case.ranks), "train.py"],
        "alone": [options.python, "train.py"],
    }[case.launch]  # fmt: skip
    site = []
    for name in case.packages:  # frames of a package show that it is installed
        place = folder / "env" / name / "site-packages"
        place.parent.mkdir(parents=True)
        place.symlink_to(options.packages / name)
        site.append(str(place))
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HANG_FOLDER": str(folder), "HANG_PACKAGES": ":".join(site),
        "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hub"), "TOKENIZERS_PARALLELISM": "false",
    }  # fmt: skip
    return words, environment


def _places(case: Hang, options: argparse.Namespace) -> str:
    """Where each rank stands `PLACES_SECONDS` after it began, without ``troubleshoot run``."""
    with tempfile.TemporaryDirectory(prefix="hang-") as name:
        folder = Path(name)
        words, environment = _prepared(case, folder, options)
        with (folder / "said").open("w") as said:
            running = subprocess.Popen(
                words, cwd=folder, env={**environment, "HANG_PLACES": str(PLACES_SECONDS)}, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True,
            )  # fmt: skip
            ended = None
            with suppress(subprocess.TimeoutExpired):
                ended = running.wait(PLACES_SECONDS + 20)
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
        told = [f"=== {case.name}, culprit {case.culprits}: {'hangs' if ended is None else f'ended with {ended}'}"]
        for file in sorted(folder.glob("places*")):
            lines = file.read_text().splitlines()
            at = max((at for at, line in enumerate(lines) if "most recent call first" in line), default=0)
            own = [line.strip() for line in lines[at + 1 :]]
            told += [
                f"  rank {file.name[6:]}: {' < '.join(_short(line) for line in own[:9]) or 'no stack: it ended before'}"
            ]
        if ended is not None or not (folder / "stalled").exists():
            told.append((folder / "said").read_text()[-1500:])
        return "\n".join(told)


def _short(line: str) -> str:
    found = re.match(r'File "(.*)", line (\d+) in (.*)', line)
    return f"{Path(found[1]).name}:{found[2]} {found[3]}" if found else line


def _run(case: Hang, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="hang-") as name:
        folder = Path(name)
        words, environment = _prepared(case, folder, options)
        words = [
            sys.executable, "-m", "troubleshooter", "run", "--lang", "en", "--log", str(folder / "run"), "--hang-after", str(options.hang_after),
            "--stop-early", "--", *words,
        ]  # fmt: skip
        started = time.monotonic()
        running = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        verdict: dict[str, Any] = {}
        found = folder / "run/hang.json"
        while running.poll() is None and time.monotonic() - started < LIMIT_SECONDS:
            time.sleep(0.2)
        if running.poll() is None:  # the run goes on if its supervisor is killed; SIGTERM is passed on
            running.terminate()
            with suppress(subprocess.TimeoutExpired):
                running.wait(60)
        if found.exists():
            verdict = json.loads(found.read_text())
        stalled = folder / "stalled"
        noticed = (
            round(found.stat().st_mtime - stalled.stat().st_mtime, 1) if found.exists() and stalled.exists() else None
        )
        late = sorted({*verdict.get("late", []), *verdict.get("missing", [])})
        return {
            "name": case.name, "ranks": case.ranks, "culprit": case.culprits, "late": late, "cause": verdict.get("cause"),
            "rank": found.exists() and late == sorted(case.culprits), "class": verdict.get("cause") in case.causes, "noticed_s": noticed,
            "seconds": round(time.monotonic() - started, 1),
        }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

"""Run the failing programs: ``python -m tests.programs check|record|measure [ID …] --new PYTHON --old PYTHON``.

``check`` runs each program and each of its repairs, and says which program no longer fails at its place and which repair no
longer repairs. ``record`` also writes what the program printed. Both take some seconds a run. ``measure``: `tests.programs.measure`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.programs.measure import measure, table
from tests.programs.program import CASES, FOLDER, Program, load

HOME, SITE = "/home/user/run", "/opt/venv/lib/python3.11/site-packages"
"""What the logs have in place of the folders of the machine that ran the programs."""
_SITE = re.compile(r"(?<![\w/])/[^\s\"':]*?/(?:site|dist)-packages(?=/)")
_STANDARD = re.compile(r"(?<![\w/])/[^\s\"':]*?/lib/python3\.\d+(?=/(?!site-packages|dist-packages))")
_FRAME = re.compile(r'^  File "([^"]+)", line \d+, in (\S+)', re.MULTILINE)
_LAST = re.compile(r"^([A-Za-z_][\w.]*)(?:: |$)", re.MULTILINE)


class Environment:
    """An environment in which programs run one after another (`tests.programs.fork`)."""

    def __init__(self, python: str) -> None:
        environ = {
            **os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1",
            "TOKENIZERS_PARALLELISM": "false", "ACCELERATE_USE_CPU": "true", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        self.process = subprocess.Popen(
            [python, str(FOLDER / "fork.py")], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, name: str, source: str) -> tuple[int, str]:
        """The exit status of a program and what it printed. Raises RuntimeError if the environment cannot run any program."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.TemporaryDirectory(prefix="programs-") as folder:
            Path(folder, "tiny.py").write_text((CASES / "tiny.py").read_text(encoding="utf-8"), encoding="utf-8")
            path = Path(folder, f"{name}.py")
            path.write_text(source, encoding="utf-8")
            self.process.stdin.write(json.dumps({"folder": folder, "file": str(path)}) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
            if not answer:
                raise RuntimeError("the environment's Python ended; see what it printed above")
            found = json.loads(answer)
            text = found["err"].replace(folder, HOME)
        return found["status"], _STANDARD.sub("/usr/lib/python3.11", _SITE.sub(SITE, text))


def place(log: str) -> dict[str, str]:
    """Where the last traceback of a log was raised, in the form of `Program.place`; empty if there is none."""
    frames = _FRAME.findall(log.rpartition("Traceback (most recent call last)")[2])
    if not frames:
        return {}
    file, function = frames[-1]
    below = file.removeprefix(SITE + "/") if file.startswith(SITE + "/") else ""
    raised = _LAST.findall(log.rpartition(f'"{file}"')[2])
    return {
        "package": below.partition("/")[0],
        "file": below or Path(file).name,
        "function": function,
        "exception": raised[0] if raised else "",
    }


def check(program: Program, environment: Environment, *, record: bool) -> list[str]:
    """What is not as it is written down."""
    wrong = []
    status, log = environment.run(program.id, program.source)
    if record:
        (CASES / f"{program.id}.log").write_text(log, encoding="utf-8")
    if status == 0:
        wrong.append("does not fail")
    elif program.place and place(log) != program.place:
        wrong.append(f"fails at {place(log)}; expected {program.place}")
    for number, source in enumerate(program.repaired(), 1):
        status, log = environment.run(program.id, source)
        if status:
            wrong.append(f"repair {number} does not repair: {log.strip().splitlines()[-1][:200]}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.programs", description=__doc__)
    parser.add_argument("what", choices=("check", "record", "measure"))
    parser.add_argument("--held", action="store_true", help="measure: the programs that were kept back, not the others")
    parser.add_argument("ids", nargs="*", help="measure: how the names of the programs begin")
    parser.add_argument("--new", required=True, help="Python of the environment `new` of programs.yaml")
    parser.add_argument("--old", required=True, help="Python of the environment `old` of programs.yaml")
    given = parser.parse_args()
    if given.what == "measure":
        begins = tuple(given.ids) or ("",)
        chosen = [one for one in load() if one.held == given.held and one.id.startswith(begins)]
        print(table(measure(chosen, {"new": given.new, "old": given.old})))
        return 0
    failed = 0
    environments = {name: Environment(getattr(given, name)) for name in ("new", "old")}
    for program in load():
        if given.ids and program.id not in given.ids:
            continue
        wrong = check(program, environments[program.environment], record=given.what == "record")
        failed += bool(wrong)
        print(f"{program.id}: {'; '.join(wrong) or 'as written'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Record what real programs print, as logs of the healthy corpus.

A script of this folder describes runs; this module executes them, makes machine-specific words neutral, and keeps the
table in INDEX.md in step with the files. A run whose exit status is not the expected one is refused: a healthy log
comes from a program that ended well.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

MAX_BYTES = 60_000
HERE = Path(__file__).resolve().parent
PROJECT = "/home/user/project"
SITE = "/home/user/venv/lib/python3.11/site-packages"
TABLE_HEAD = "| file | program | version | script | command | confusing words |"

# Words that make a naive matcher shout; the index names those that each log holds.
CONFUSING: Mapping[str, str] = {
    "Error": r"[A-Za-z]*Error\b",
    "nan": r"(?i)\bnan\b",
    "inf": r"(?i)(?<![\w-])-?inf\b",
    "Traceback": r"Traceback",
    "failed": r"(?i)\bfail(ed|ure|ures|s)?\b",
    "killed": r"(?i)\b(killed|sigkill|kill)\b",
    "CUDA": r"(?i)\bcuda\b|nvidia",
    "out of memory": r"(?i)out of memory|can't allocate memory|\bOOM\b",
    "loss 0": r"'loss': '?-?0(\.0)?'?[,}]",
    "grad_norm 0": r"'grad_norm': '?0(\.0)?'?[,}]",
    "lr 0.0": r"'learning_rate': '?0(\.0)?'?[,}]",
    "newly initialized": r"newly initialized|\bMISSING\b",
    "requires_grad": r"requires_grad",
    "longer than": r"sequence length is longer than",
    "use_cache": r"use_cache",
    "forked": r"TOKENIZERS_PARALLELISM",
    "OMP_NUM_THREADS": r"OMP_NUM_THREADS",
    "trainable params": r"trainable params",
    "Warning": r"[A-Za-z]*Warning\b|(?i:\bwarning:)",
    "Exception": r"[A-Za-z]*Exception\b",
    "timeout": r"(?i)time[d]?[ -]?out",
    "refused": r"(?i)connection refused",
    "retry": r"(?i)\bretry",
    "overflow": r"(?i)overflow",
}

# A log counts as confusing when it holds one of these.
STRONG = ("Error", "nan", "Traceback", "failed", "killed", "CUDA", "out of memory")


@dataclass(frozen=True)
class Run:
    """One program run: `shown` is the short command of the index, `status` the exit statuses that are expected."""

    program: str
    version: str
    what: str
    command: Sequence[str]
    shown: str
    status: tuple[int, ...] = (0,)
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    unrelated: bool = False
    timeout: float = 560.0
    neutral: Mapping[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The log's path below tests/healthy."""
        return f"{'unrelated/' if self.unrelated else ''}{self.program}-{self.version}/{self.what}.log"


def neutralise(text: str, extra: Mapping[str, str] | None = None) -> str:
    """Replace this machine's paths, host name, registries and addresses by neutral ones."""
    pairs = dict(extra or {})
    pairs.setdefault(str(HERE), PROJECT)
    for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if entry:
            pairs.setdefault(entry, SITE)
    for prefix in dict.fromkeys((sys.prefix, *os.environ.get("HEALTHY_PREFIXES", "").split(os.pathsep))):
        if prefix and not prefix.startswith("/usr"):
            pairs.setdefault(prefix, "/home/user/venv")
    pairs.setdefault(tempfile.gettempdir(), "/tmp")
    pairs.setdefault("/root", "/home/user")
    pairs.setdefault(platform.release(), "6.1.0-generic")
    for old in sorted(pairs, key=len, reverse=True):
        text = text.replace(old, pairs[old])
    host = socket.gethostname()
    if host != "localhost":
        text = re.sub(rf"\b{re.escape(host)}\b", "host", text)
    text = re.sub(r"Looking in (indexes|links):.*\n", "", text)
    text = re.sub(
        r"https?://(pypi\.org|files\.pythonhosted\.org|registry\.npmjs\.org|deb\.debian\.org|"
        r"(static\.|index\.)?crates\.io)",
        "https://mirror.example",
        text,
    )
    text = re.sub(
        r"\b(pypi\.org|files\.pythonhosted\.org|registry\.npmjs\.org|deb\.debian\.org)", "mirror.example", text
    )
    return re.sub(r"[\w.+-]+@[\w-]+(\.[\w-]+)*\.[A-Za-z]{2,}\b", "<address>", text)


def confusing_words(text: str) -> list[str]:
    """The names of the confusing words that a log holds."""
    return [name for name, pattern in CONFUSING.items() if re.search(pattern, text)]


def write(out: Path, run: Run, text: str) -> None:
    """Write a log and its line of the index; refuse one that breaks the corpus' rules."""
    text = neutralise(text, run.neutral)
    if not text.endswith("\n"):
        text += "\n"
    size = len(text.encode())
    if size > MAX_BYTES:
        raise SystemExit(f"{run.file}: {size} bytes, expected at most {MAX_BYTES}; make the run shorter")
    if size < 60:
        raise SystemExit(f"{run.file}: only {size} bytes; the run printed nothing worth keeping")
    target = out / run.file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    words = ", ".join(confusing_words(text))
    shown = neutralise(run.shown).replace("|", "\\|")
    script = Path(sys.argv[0]).name
    upsert(out, f"| {run.file} | {run.program} | {run.version} | {script} | `{shown}` | {words} |")
    print(f"{run.file}: {size} bytes [{words}]")


def upsert(out: Path, row: str) -> None:
    """Put a row into the table of INDEX.md, in place of the one for the same file; rows stay sorted."""
    index = out / "INDEX.md"
    with (out / ".index.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = index.read_text(encoding="utf-8") if index.exists() else ""
        head, _, table = before.partition(TABLE_HEAD)
        rows = {
            line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ") and ".log" in line
        }
        rows[row.split("|")[1].strip()] = row
        body = "\n".join(rows[key] for key in sorted(rows))
        index.write_text(f"{head}{TABLE_HEAD}\n| --- | --- | --- | --- | --- | --- |\n{body}\n", encoding="utf-8")
    (out / ".index.lock").unlink(missing_ok=True)


def execute(run: Run) -> str:
    """Run the command with both streams in one pipe and give its output; refuse an unexpected exit status."""
    env = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "120", **run.env}
    env = {key: value for key, value in env.items() if value}  # an empty value takes a variable away
    try:
        done = subprocess.run(
            run.command,
            cwd=run.cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=run.timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as slow:
        tail = (slow.stdout or b"").decode("utf-8", "replace")[-2000:]
        raise SystemExit(f"{run.file}: no end after {run.timeout} s\n{tail}") from slow
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode not in run.status:
        raise SystemExit(f"{run.file}: exit status {done.returncode}, expected {run.status}\n{text[-4000:]}")
    return text


def record(out: Path, run: Run) -> None:
    """Execute a run and keep its output in the corpus."""
    write(out, run, execute(run))


def record_all(out: Path, runs: Iterable[Run], only: Sequence[str] = ()) -> None:
    """Record several runs; one that fails is reported and does not stop the others."""
    refused = 0
    for run in runs:
        if only and run.what not in only:
            continue
        try:
            record(out, run)
        except SystemExit as why:
            refused += 1
            print(why, file=sys.stderr)
    if refused:
        raise SystemExit(f"{refused} runs were refused")


@contextmanager
def project(files: Mapping[str, str] | None = None) -> Iterator[Path]:
    """A fresh folder holding the given files, gone afterwards; logs call it /home/user/project."""
    folder = Path(tempfile.mkdtemp(prefix="healthy-"))
    try:
        for name, text in (files or {}).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def version_of(package: str) -> str:
    """The installed version of a Python package, without a local part such as +cpu."""
    return metadata.version(package).partition("+")[0]


def family(package: str, cases: Mapping[str, Callable[[], None]], env: Mapping[str, str] | None = None) -> None:
    """The command line of a script whose runs are its own functions and show one package."""
    families({package: cases}, env)


def families(
    groups: Mapping[str, Mapping[str, Callable[[], None]]],
    env: Mapping[str, str] | None = None,
    unrelated: bool = False,
    versions: Mapping[str, str] | None = None,
) -> None:
    """`SCRIPT OUT [WHAT...]` records the runs of every package, `SCRIPT --case WHAT` is one run.

    Each function runs in a fresh interpreter and in an empty folder, as a user's own training script would.
    """
    every = {what: case for cases in groups.values() for what, case in cases.items()}
    if sys.argv[1:2] == ["--case"]:
        every[sys.argv[2]]()
        return
    if len(sys.argv) < 2:
        raise SystemExit(f"usage: {sys.argv[0]} OUT [{'|'.join(every)}]...")
    script = Path(sys.argv[0]).resolve()
    with project() as folder:
        runs = []
        for package, cases in groups.items():
            for what in cases:
                if sys.argv[2:] and what not in sys.argv[2:]:
                    continue
                place = folder / what
                place.mkdir()
                command = [sys.executable, str(script), "--case", what]
                version = (versions or {}).get(package) or version_of(package)
                runs.append(
                    Run(
                        package,
                        version,
                        what,
                        command,
                        f"python {script.name} --case {what}",
                        cwd=place,
                        status=(1,) if unrelated else (0,),
                        env=env or {},
                        unrelated=unrelated,
                        neutral={str(place): PROJECT},
                    )
                )
        record_all(Path(sys.argv[1]), runs)

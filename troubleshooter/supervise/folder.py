"""The folder of one run: its log, what was started, the state of its processes, and at the end its diagnosis."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from kb.errors import UsageError

RUNS = "troubleshoot-runs"
OUTPUT, RUN, STATE, REPORT_JSON, REPORT_HTML = "output.log", "run.json", "state.jsonl", "report.json", "report.html"
FACTS, HANG = "facts", "hang.json"
_PROGRAMS = frozenset(
    ("python", "python3", "torchrun", "accelerate", "deepspeed", "bash", "sh", "env", "uv", "launch", "run", "srun")
)
_NAME_CHARACTERS = 40


class RunFolder:
    """``path`` is None if nothing can be written. Then only the last part of the output is kept, in memory.

    ``log`` is the open log, ``warning`` what the user must be told about the place.
    """

    def __init__(self, path: Path | None, log: int | None, warning: tuple[str, str] | None = None) -> None:
        self.path = path
        self.log = log
        self.warning = warning
        self.run: dict[str, object] = {}

    def file(self, name: str) -> Path | None:
        return None if self.path is None else self.path / name

    def note(self, **facts: object) -> None:
        """Add facts to ``run.json``. An error of the disk is ignored."""
        self.run.update(facts)
        write(self.file(RUN), json.dumps(self.run, indent=1, ensure_ascii=False, default=str) + "\n")


def write(path: Path | None, text: str) -> bool:
    """Write a file completely or not at all. Returns whether it was written."""
    if path is None:
        return False
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", errors="replace")
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        return False
    return True


def append(path: Path | None, line: Mapping[str, object]) -> None:
    """Add a line of JSON to a file. An error of the disk is ignored."""
    if path is None:
        return
    try:
        with path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
    except OSError:
        return


def new_folder(asked: Path | None, command: Sequence[str], attempt: int = 1) -> RunFolder:
    """The folder for a run, with an empty log in it. Raises `UsageError` if the folder that was asked for cannot be used.

    Where the usual one cannot be had the run still starts: its folder is then in the folder for temporary files.
    """
    if asked is not None:
        place = asked if attempt == 1 else asked / f"attempt-{attempt}"
        try:
            return _made(place)
        except FileExistsError:
            raise UsageError(f"--log {place}: holds the log of a run already; name a new folder") from None
        except OSError as error:
            raise UsageError(f"--log {place}: {error.strerror}; name a folder that can be written") from error
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{name_of(command)}"
    problem = ""
    for base in _bases():
        for number in range(1, 100):
            try:
                made = _made(base / (name if number == 1 else f"{name}-{number}"))
            except FileExistsError:
                continue
            except OSError as error:
                problem = problem or f"{base}: {error.strerror}"
                break
            made.warning = ("log-elsewhere", problem) if problem else None
            return made
    return RunFolder(None, None, ("no-log", problem))


def _bases() -> Iterator[Path]:
    """The folders for runs, the usual one first."""
    yield Path(RUNS)
    import tempfile  # not needed by a usual start

    yield Path(tempfile.gettempdir()) / f"{RUNS}-{os.getuid()}"


def _made(place: Path) -> RunFolder:
    place.mkdir(parents=True, exist_ok=True)
    log = os.open(place / OUTPUT, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    return RunFolder(place, log)


def name_of(command: Sequence[str]) -> str:
    """The name of a run, taken from its script: ``train`` for ``torchrun --nproc-per-node 2 train.py``."""
    words = [word.rstrip("/").rpartition("/")[2] for word in command]
    scripts = [word for word in words if word.endswith((".py", ".sh", ".ipynb"))]
    plain = [word for word in words if word and word[0] != "-" and word not in _PROGRAMS]
    found = (scripts or plain or words)[0].rpartition(".")[0] if scripts else (plain or words)[0]
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in found)[:_NAME_CHARACTERS].strip("-") or "run"

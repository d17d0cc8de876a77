"""``python -m troubleshooter.verify.matrix --device cuda --all``: the whole trial on a GPU, recorded as it goes."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final, Literal

from kb.errors import UsageError
from troubleshooter.verify.gpu.bench import Bench
from troubleshooter.verify.gpu.steps import STEPS, TOTAL_SECONDS, as_row, run_steps

__all__ = ["carried", "try_all"]

FILE: Final = "gpu.jsonl"
MAX_WORKERS: Final = 6


def try_all(
    device: Literal["cpu", "cuda"], python: str | None, wheels: Path | None, record: Path | None, dry_run: bool, only: list[str]
) -> int:  # fmt: skip
    """Do all steps and print a line for each. Returns 0, or 1 when one failed. Raises UsageError for wheels that cannot be used."""
    if dry_run:
        for step in STEPS:
            print(f"{step.name:<14} at most {step.seconds:3g} s  {step.shows}")
        print(f"at most {TOTAL_SECONDS:g} s in all; a step for which the time no longer suffices is left out")
        return 0
    workers = max(1, min(MAX_WORKERS, (os.cpu_count() or 2) // 2))
    failed = 0
    if record is not None:
        record.mkdir(parents=True, exist_ok=True)
        (record / FILE).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="troubleshoot-gpu-") as folder:
        path = carried(wheels, Path(folder)) if wheels is not None else os.environ.get("PYTHONPATH", "")
        bench = Bench(python or sys.executable, device, path, workers)
        if only:
            bench = Bench(bench.python, device, path, workers, only)
        for result in run_steps(bench):
            failed += result.status == "failed"
            print(
                f"{result.status:<8} {result.seconds:6.1f} s  {result.step}"
                + (f": {result.why}" if result.why else ""),
                flush=True,
            )
            if record is not None:
                with (record / FILE).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(as_row(result), ensure_ascii=False) + "\n")
    return 1 if failed else 0


def carried(wheels: Path, place: Path) -> str:
    """A PYTHONPATH with what the wheels of a folder hold, unpacked below ``place``. Raises UsageError."""
    files = sorted(wheels.glob("*.whl"))
    if not files:
        raise UsageError(f"{wheels}: no wheels there; expected files such as bitsandbytes-0.49.2-py3-none-….whl")
    for file in files:
        try:
            with zipfile.ZipFile(file) as archive:
                archive.extractall(place / "wheels")
        except (zipfile.BadZipFile, OSError) as problem:
            raise UsageError(f"{file} cannot be unpacked: {problem}; download it again") from problem
    before = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(place / "wheels"), *([before] if before else [])])

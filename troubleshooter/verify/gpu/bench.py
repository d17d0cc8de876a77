"""What the steps work with: an interpreter, a device, and processes that measure, probe or work beside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from troubleshooter.verify import device as devices
from troubleshooter.verify import probe as probes
from troubleshooter.verify import runner
from troubleshooter.verify.bounded import hear
from troubleshooter.verify.device import Gpu
from troubleshooter.verify.outcome import ProbeOutcome
from troubleshooter.verify.probe import Probe

__all__ = ["Bench", "JobSample"]

MEASURES: Final = Path(__file__).with_name("measures.py")
MEASURE_SECONDS: Final = 60.0
PROBE_SECONDS: Final = 40.0
START_SECONDS: Final = 60.0


class JobSample(NamedTuple):
    """One step of the other job: when (Unix time), how long, and what was free of the GPU then (None on a processor)."""

    at: float
    seconds: float
    free_mb: int | None


@dataclass(frozen=True)
class Bench:
    """One interpreter and one device. ``path`` is a PYTHONPATH with what was carried along as wheels."""

    python: str
    device: Literal["cpu", "cuda"]
    path: str = ""
    workers: int = 4
    probes: Sequence[str] = field(default_factory=probes.names)

    def environ(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": self.path} if self.path else dict(os.environ)

    def gpus(self) -> list[Gpu]:
        return devices.gpus()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def measure(self, name: str, *arguments: str) -> dict[str, Any]:
        """One measurement in a process of its own. Raises RuntimeError with the last line that it printed."""
        heard = hear(
            [self.python, "-W", "ignore", str(MEASURES), name, self.device, *arguments], MEASURE_SECONDS, self.environ()
        )
        for line in reversed(heard.out.splitlines()):
            if line.startswith("{"):
                found: dict[str, Any] = json.loads(line)
                return found
        said = heard.stopped or (heard.err.strip().splitlines() or ["it printed nothing"])[-1]
        raise RuntimeError(f"measuring {name}: {said}")

    def probe(
        self, shipped: Probe, device: str, seconds: float = PROBE_SECONDS, environ: Mapping[str, str] | None = None
    ) -> ProbeOutcome:
        """Run a probe on one of the two devices."""
        given = {**(environ or os.environ), **({"PYTHONPATH": self.path} if self.path else {})}
        nvidia = [gpu.as_row() for gpu in self.gpus()] if device == "cuda" else []
        limits = runner.Limits(seconds=seconds, resident_mb=4096)
        return runner.run(
            shipped, self.python, shipped.options({}), device=device, nvidia=nvidia, limits=limits, environ=given
        )

    @contextmanager
    def job(self, leave_mb: int) -> Iterator[list[JobSample]]:
        """Another job on the device that leaves so many MB free; the list grows while it runs. Raises RuntimeError."""
        samples: list[JobSample] = []
        command = [self.python, "-W", "ignore", str(MEASURES), "job", self.device, str(leave_mb)]
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ(),
            text=True,
        )
        begun = threading.Event()

        def listen() -> None:
            assert child.stdout is not None
            for line in child.stdout:
                samples.append(JobSample(**json.loads(line)))
                begun.set()
            begun.set()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        try:
            begun.wait(START_SECONDS)
            if not samples:
                raise RuntimeError(f"the job beside the probe did not start: {_last_words(child)}")
            yield samples
        finally:
            child.kill()
            child.wait()
            thread.join(5)
            for stream in (child.stdin, child.stdout, child.stderr):
                if stream is not None:
                    stream.close()

    def verify(self, entry: str) -> tuple[float, int, str]:
        """The command as a user gives it: seconds, exit status, and what it printed."""
        command = [
            sys.executable,
            "-m",
            "troubleshooter",
            "verify",
            entry,
            "--python",
            self.python,
            "--device",
            self.device,
        ]
        started = time.monotonic()
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=MEASURE_SECONDS,
            env=self.environ(),
        )
        return time.monotonic() - started, done.returncode, done.stdout + done.stderr


def _last_words(child: subprocess.Popen[str]) -> str:
    child.kill()
    said = child.stderr.read().strip().splitlines() if child.stderr is not None else []
    return said[-1] if said else f"it printed nothing within {START_SECONDS:g} s"

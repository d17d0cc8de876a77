"""Run one probe in a process of its own, with limits, and leave nothing of it behind.

Only the standard library is used. Whatever the probe does (hang, fork, print rubbish, use up memory, crash), the result is a
`ProbeOutcome`. Its rows come from the probe's private channel, never from what the probe printed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from troubleshooter.verify import supervisor
from troubleshooter.verify.outcome import ProbeOutcome, Row, Status
from troubleshooter.verify.printable import printable
from troubleshooter.verify.probe import COMPANIONS, FOLDER, Options, Probe
from troubleshooter.verify.variables import environment_for

__all__ = ["Limits", "run"]

_RESULTS_CAP: Final = 1 << 20
_TAIL: Final = 8192
_PREFIX: Final = "troubleshoot-probe-"
_OLD_SECONDS: Final = 24 * 3600
"""Folders older than this belong to no running probe, because none runs for longer than an hour."""
_FAREWELL_SECONDS: Final = 15


@dataclass(frozen=True)
class Limits:
    seconds: float = 60.0
    resident_mb: int = 2048
    address_space_mb: int | None = None
    """Only for builds of torch without GPU code. The others reserve far more addresses than they use."""


def run(
    probe: Probe,
    python: str,
    options: Options,
    *,
    device: str = "cpu",
    model: Path | None = None,
    nvidia: list[dict[str, Any]] | None = None,
    limits: Limits = Limits(),
    user_base: str | None = None,
    environ: Mapping[str, str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> ProbeOutcome:
    """Run a probe with an interpreter and wait for its end, at most ``limits.seconds``."""
    _remove_old()
    temporary = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
    try:
        for name in COMPANIONS:
            shutil.copyfile(FOLDER / name, temporary / name)
        shutil.copyfile(probe.path, temporary / probe.path.name)
        request: Row = {
            "module": probe.path.stem,
            "options": options,
            "device": device.partition(":")[0],
            "model": str(model.resolve()) if model else None,
            "nvidia": nvidia,
            "timeout": limits.seconds,
            "address_space": limits.address_space_mb << 20 if limits.address_space_mb else None,
            "loopback": probe.loopback,
            # The GPU driver keeps its own files in shared memory.
            "shared_memory": probe.shared_memory or device.startswith("cuda"),
            "key": secrets.token_hex(8),
        }
        environment = environment_for(temporary, device, user_base, os.environ if environ is None else environ)
        return _Watch(temporary, request, limits, progress).run(python, environment)
    finally:
        if temporary.exists():  # without a supervisor nothing has removed it yet
            supervisor.remove(temporary)


def _remove_old() -> None:
    """Remove the folders of probes whose supervisor was killed too (the end of a batch job, a full machine)."""
    oldest = time.time() - _OLD_SECONDS
    with contextlib.suppress(OSError):
        for item in os.scandir(tempfile.gettempdir()):
            if item.name.startswith(_PREFIX) and item.is_dir(follow_symlinks=False):
                state = item.stat(follow_symlinks=False)
                if state.st_mtime < oldest and state.st_uid == (os.geteuid() if os.name == "posix" else state.st_uid):
                    supervisor.remove(Path(item.path))


class _Watch:
    """Starts the process of a probe, listens to it, and ends it."""

    def __init__(self, folder: Path, request: Row, limits: Limits, progress: Callable[[str], None] | None) -> None:
        self.folder, self.request, self.limits, self.progress = folder, request, limits, progress
        self.rows: list[Row] = []
        self.pending = b""
        self.received = 0
        self.tail = b""
        self.peak = 0.0
        self.notes: list[str] = []
        self.stop: tuple[Status, str] | None = None
        self.said: dict[str, Any] = {}
        """The last message of the supervisor for each key."""
        self._half = b""

    def run(self, python: str, environment: Mapping[str, str]) -> ProbeOutcome:
        started = time.monotonic()
        command = [python, "-W", "ignore", "_boot.py", "request.json"]
        if os.name == "posix":
            return self._supervised(command, environment, started)
        return self._watched(command, environment, started)

    # --- with a supervisor ------------------------------------------------------------------------------------

    def _supervised(self, command: list[str], environment: Mapping[str, str], started: float) -> ProbeOutcome:
        reading, writing = os.pipe()
        output, printing = os.pipe()
        heard, telling = os.pipe()
        controlled, control = os.pipe()
        ours, theirs = [reading, output, heard], [writing, printing, telling, controlled]
        self._request(fd=writing)
        path = str(Path(supervisor.__file__ or "").resolve())
        try:
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", path, str(self.folder), str(controlled), str(telling), *command],
                cwd=self.folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=printing,
                stderr=printing,
                pass_fds=(writing, telling, controlled),
                start_new_session=True,
            )
        except OSError as problem:
            for descriptor in (*ours, *theirs, control):
                os.close(descriptor)
            return ProbeOutcome("unusable", f"{sys.executable} cannot be started: {problem.strerror}", (), 0.0, 0, "")
        try:
            for descriptor in theirs:
                os.close(descriptor)
            self._listen({reading: self._result, output: self._printed, heard: self._told}, started)
        finally:  # also Ctrl-C while a probe runs
            os.close(control)  # the supervisor ends the probe and all that it started
            self._farewell(child, heard)
            for descriptor in ours:
                os.close(descriptor)
        if "failed" in self.said:
            detail = f"{command[0]} cannot be started: {self.said['failed']}"
            return ProbeOutcome("unusable", detail, (), 0.0, 0, "")
        if not self.said.get("clean"):
            self.notes.append("a process of the probe could not be ended")
        if not self.said.get("listed", True):
            self.notes.append("processes cannot be listed on this system: memory was not watched")
        if self.said.get("met"):
            self.notes.append(f"the probe started {self.said['met']} more processes; none is left")
        return self._outcome(self.said.get("exit"), time.monotonic() - started)

    def _request(self, **more: Any) -> None:
        self.request.update(more)
        (self.folder / "request.json").write_text(json.dumps(self.request), "utf-8")

    def _listen(self, handles: Mapping[int, Callable[[bytes], None]], started: float) -> None:
        with selectors.DefaultSelector() as selector:
            for descriptor, handle in handles.items():
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ, handle)
            ended = False
            while selector.get_map():
                events = selector.select(0 if ended else 0.05)
                for key, _ in events:
                    with contextlib.suppress(BlockingIOError):
                        chunk = os.read(key.fd, 65536)
                        key.data(chunk)
                        if not chunk:
                            selector.unregister(key.fd)
                self._judge(time.monotonic() - started)
                if self.stop or (ended and not events):
                    return
                # An orphan may keep the pipes open for ever, so the end of the probe counts, not that of the pipes.
                ended = ended or "exit" in self.said or "failed" in self.said

    def _told(self, chunk: bytes) -> None:
        """Read messages of the supervisor."""
        *lines, self._half = (self._half + chunk).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                self.said.update(json.loads(line))
        self.peak = max(self.peak, self.said.get("mb", 0.0))

    def _farewell(self, child: subprocess.Popen[bytes], heard: int) -> None:
        """Wait until the supervisor has ended everything, and read its last messages."""
        try:
            child.wait(_FAREWELL_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(heard, 65536):
                self._told(chunk)

    # --- without one (Windows) --------------------------------------------------------------------------------

    def _watched(self, command: list[str], environment: Mapping[str, str], started: float) -> ProbeOutcome:
        """Run the probe where descriptors are not inherited: results go to a file, and only the time is limited."""
        results = self.folder / "results.jsonl"
        self._request(fd=None, results=str(results))
        printed = self.folder / "printed"
        self.notes.append("memory and descendants are not watched on this system")
        with printed.open("wb") as printing:
            try:
                child = subprocess.Popen(
                    command, cwd=self.folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=printing, stderr=printing
                )  # fmt: skip
            except OSError as problem:
                return ProbeOutcome("unusable", f"{command[0]} cannot be started: {problem.strerror}", (), 0.0, 0, "")
            try:
                while child.poll() is None and self.stop is None:
                    time.sleep(0.1)
                    self._judge(time.monotonic() - started)
            finally:
                subprocess.run(["taskkill", "/T", "/F", "/PID", str(child.pid)], capture_output=True, check=False)
                child.wait()
        with contextlib.suppress(OSError):
            self._result(results.read_bytes()[:_RESULTS_CAP])
            self._printed(printed.read_bytes()[-_TAIL:])
        return self._outcome(child.returncode, time.monotonic() - started)

    # --- listening --------------------------------------------------------------------------------------------

    def _judge(self, seconds: float) -> None:
        if self.stop is not None:
            return
        if seconds > self.limits.seconds:
            self.stop = "timeout", f"the probe did not end within {self.limits.seconds:g} s and was stopped"
        elif self.peak > self.limits.resident_mb:
            self.stop = "memory", f"the probe took {self.peak:.0f} MB (limit {self.limits.resident_mb}) and was stopped"

    def _result(self, chunk: bytes) -> None:
        self.received += len(chunk)
        if self.received > _RESULTS_CAP:
            self.stop = "output", "the probe said more than 1 MiB and was stopped"
            return
        *lines, self.pending = (self.pending + chunk).split(b"\n")
        for line in lines:
            try:
                row = json.loads(line, parse_constant=str)  # NaN is no JSON: kept as a word
            except ValueError:
                continue
            if not isinstance(row, dict) or row.get("key") != self.request["key"]:
                continue  # not written by `_boot.py`, which alone knows the key
            row.pop("key")
            row = printable(row)
            self.rows.append(row)
            if row.get("kind") == "progress" and self.progress is not None:
                self.progress(str(row.get("text")))

    def _printed(self, chunk: bytes) -> None:
        self.tail = (self.tail + chunk)[-_TAIL:]

    # --- the answer -------------------------------------------------------------------------------------------

    def _outcome(self, code: int | None, seconds: float) -> ProbeOutcome:
        end = next((row for row in self.rows if row.get("kind") == "end"), None)
        own_peak = end.get("peak_mb") if end else None
        peak = max(self.peak, own_peak if isinstance(own_peak, (int, float)) else 0)
        status, detail = self.stop or self._status(code, end)
        rows = tuple(row for row in self.rows if row.get("kind") != "progress")
        tail = printable(self.tail.decode("utf-8", "replace").replace(str(self.folder), "<probe>"))
        return ProbeOutcome(status, detail, rows, round(seconds, 2), round(peak), tail, tuple(self.notes))

    def _status(self, code: int | None, end: Row | None) -> tuple[Status, str]:
        crash = next((row for row in self.rows if row.get("kind") == "crash"), None)
        if crash is not None:
            return "crashed", f"the probe itself failed: {crash.get('type')}: {crash.get('message')}"
        if end is not None and code == 0:
            return "ended", ""
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                return "crashed", f"the probe was ended by {signal.Signals(-code).name}"
        if not self.rows:
            return "unusable", f"the interpreter did not get as far as the probe (exit {code})"
        return "crashed", f"the probe ended without saying so (exit {code})"

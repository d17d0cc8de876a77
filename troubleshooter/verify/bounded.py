"""Run a program that cannot be trusted, with limits on its time and on the amount of its output."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Heard", "hear"]

OUTPUT_CAP: Final = 1 << 20
"""At most this many bytes of each of the two streams are read; a program that prints more is ended."""


@dataclass(frozen=True)
class Heard:
    """The output of a program. ``stopped``: why it was ended early; ``None`` if it ended by itself."""

    out: str
    err: str
    stopped: str | None = None


def hear(command: Sequence[str], seconds: float, environ: Mapping[str, str]) -> Heard:
    """Run a program without input until it ends, then end all that is left of its process group.

    Its own end counts: children that hold its output open are not waited for. Raises OSError when it cannot be started.
    """
    child = subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environ),
        start_new_session=os.name == "posix",
    )
    try:
        if os.name == "nt":
            return _communicated(child, seconds)
        return _listened(child, seconds)
    finally:
        _end(child)


def _listened(child: subprocess.Popen[bytes], seconds: float) -> Heard:
    deadline = time.monotonic() + seconds
    assert child.stdout is not None
    assert child.stderr is not None
    heard = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
    stopped = None
    ended = False
    with selectors.DefaultSelector() as selector:
        for descriptor in heard:
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and stopped is None:
            events = selector.select(0 if ended else 0.02)
            if ended and not events:
                break
            for key, _ in events:
                chunk = os.read(key.fd, 65536)
                heard[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
                elif len(heard[key.fd]) > OUTPUT_CAP:
                    stopped = f"said more than {OUTPUT_CAP >> 20} MiB"
            if time.monotonic() > deadline:
                stopped = f"did not answer within {seconds:g} s"
            ended = ended or child.poll() is not None
    if stopped is None and child.poll() is None:  # it closed its output but still runs
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(max(0.0, deadline - time.monotonic()))
        if child.poll() is None:
            stopped = f"did not answer within {seconds:g} s"
    out, err = (bytes(part[:OUTPUT_CAP]).decode("utf-8", "replace") for part in heard.values())
    return Heard(out, err, stopped)


def _communicated(child: subprocess.Popen[bytes], seconds: float) -> Heard:
    """The same where pipes cannot be watched (Windows): only the time is limited."""
    try:
        out, err = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return Heard("", "", f"did not answer within {seconds:g} s")
    return Heard(*(part[:OUTPUT_CAP].decode("utf-8", "replace") for part in (out, err)))


def _end(child: subprocess.Popen[bytes]) -> None:
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)  # its children too, also when it has ended
    else:
        child.kill()
    child.wait()
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()

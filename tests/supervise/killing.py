"""Kills one process of a supervised run at a moment of its output, and says what is left of the log."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from tests.supervise.running import COMMAND, ENVIRONMENT, OnTerminal, children_of, script
from tests.waiting import wait_for

LINES = 3000
"""The command prints this many numbered lines."""
PRINTS = f"import os, sys\nfor i in range({LINES}): os.write(1, b'line %d\\n' % i)\n"


def killed_once(folder: Path, *, terminal: bool, moment: float, victim: str) -> bytes:
    """The log of a run of which one process was killed when its output had come to about ``moment`` (0 to 1) of all."""
    log = folder / "output.log"
    gate = folder.with_suffix(".gate")
    code = PRINTS + f"open({str(gate)!r}, 'w').close()\n"
    if terminal:
        here = OnTerminal(folder, *script(code))
        pid = here.pid
    else:
        out = folder.with_suffix(".out").open("wb")
        process = subprocess.Popen(
            [*COMMAND, "--log", str(folder), "--", *script(code)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env=ENVIRONMENT,
        )
        pid = process.pid
    wanted = int(moment * 27_000)
    wait_for(lambda: (not terminal or here.read() or True) and log.exists() and log.stat().st_size >= wanted)
    keeper = children_of(pid)[:1]
    for target in {"supervisor": [pid], "keeper": keeper, "command": [one for k in keeper for one in children_of(k)]}[
        victim
    ]:
        try:
            os.kill(target, signal.SIGKILL)
        except ProcessLookupError:
            continue
    if terminal:
        if victim == "supervisor":
            wait_for(
                lambda: (
                    (here.read() or True) and gate.exists() and log.read_bytes().endswith(b"line %d\r\n" % (LINES - 1))
                )
            )
            os.waitpid(pid, 0)
            os.close(here.master)
        else:
            here.end()
    else:
        process.wait(120)
        out.close()
        if victim == "supervisor":
            wait_for(lambda: gate.exists() and log.read_bytes().endswith(b"line %d\n" % (LINES - 1)))
    return log.read_bytes().replace(b"\r\n", b"\n")


def is_whole(log: bytes) -> bool:
    """Whether the log holds each line up to its last one, once, in order."""
    lines = log.splitlines()
    return lines == [b"line %d" % i for i in range(len(lines))]

"""What the supervisor does while a command runs: it records the command and its processes, and reports failing metrics and hangs."""

from __future__ import annotations

import json
import os
import platform
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kb.text.catalog import Section
from troubleshooter.redact import Redactor
from troubleshooter.supervise.folder import FACTS, HANG, STATE, write
from troubleshooter.supervise.state import ProcessState, StateLog, family, process
from troubleshooter.supervise.supervisor import RunEnd, Supervisor
from troubleshooter.supervise.versions import Versions, interpreter_of_command
from troubleshooter.supervise.watch import LOST_RECORDS, Failing, Watch

if TYPE_CHECKING:
    from troubleshooter.hang.judge import HangVerdict
    from troubleshooter.hang.notice import HangWatch
    from troubleshooter.supervise.command import Wishes

say = Section("run")
FIRST_SILENCE_SECONDS = 30.0
"""The watch for hangs is first loaded after a silence of this length."""
GRACE_SECONDS = 30.0
"""The time between SIGTERM and SIGKILL when ``--stop-early`` ends a run."""
LEFT_SECONDS = 5.0
"""How long processes that a stopped run left behind may take to end."""
INTERIM_SECONDS = 10.0
"""If a run does not end after a signal that asks it to, its report is written after this time all the same."""
ANSWER_SECONDS = 60.0


class Beside:
    """Made when the command runs. Call `tick` about once a second."""

    def __init__(self, supervisor: Supervisor, wishes: Wishes) -> None:
        self.supervisor = supervisor
        self.folder = supervisor.folder
        self.stop_early = wishes.stop_early
        self.entries = wishes.entries
        self.lang = wishes.lang
        self._hang_after = wishes.hang_after
        self._hangs: HangWatch | None = None
        self._looks = True
        self.hang: HangVerdict | None = None
        self.versions = Versions(interpreter_of_command(supervisor.command))
        self.state = StateLog(self.folder.file(STATE))
        self._watch = Watch(self.folder.log) if self.folder.log is not None else None
        self._told: Failing | None = None
        self._asks_until = 0.0
        self._kill_at = 0.0
        self._family: list[ProcessState] = []
        self._interim_at = 0.0
        self._noted = False
        redactor = Redactor()
        self.folder.note(
            command=[redactor.redact(word) for word in redacted_words(supervisor.command)],
            directory=redactor.redact(str(Path.cwd())),
            started=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            pid=supervisor.pid,
            system=platform.platform(),
            interpreter=self.versions.interpreter,
        )

    def tick(self) -> None:
        """Do what is due."""
        if not self._noted and self.versions.is_known:
            self._noted = True
            self.folder.note(versions=dict(self.versions.found))
        self.state.tick(self.supervisor.pid)
        now = time.monotonic()
        if self._watch is not None and (failing := self._watch.look()) is not None:
            self._tell(failing, now)
        try:
            self._look_for_hang(now)
        except Exception as error:  # what looks at a run must not end its supervision
            self._hangs, self._looks = None, False
            self.folder.note(no_watch_for_hangs=f"{type(error).__name__}: {error}")
        if self._asks_until and now > self._asks_until:
            self.supervisor.asked, self._asks_until = None, 0.0
        if self._kill_at and now > self._kill_at:
            self._kill_at = 0.0
            self._end_family(signal.SIGKILL)
        self._interim(now)

    def close(self) -> Mapping[str, str]:
        """Finish after the end of the run. Returns the versions that were found."""
        self.state.tick(self.supervisor.pid)  # so that a short run has a line, too
        self.state.close()
        if self._family and self._end_family(signal.SIGTERM):  # a launcher may leave its ranks behind
            deadline = time.monotonic() + LEFT_SECONDS
            while self._end_family(0) and time.monotonic() < deadline:
                time.sleep(0.1)
            self._end_family(signal.SIGKILL)
        found = self.versions.wait()
        self.folder.note(versions=dict(found))
        return found

    def _tell(self, failing: Failing, now: float) -> None:
        if self._told is None:
            self._told = failing
            self.supervisor.tell(failing.told(self.lang))
        if self.stop_early and failing.records >= LOST_RECORDS:
            self.stop_early = False
            window = self.supervisor.window
            if window is None or not window.has_keys:
                self._stop("")
                return
            self.supervisor.tell(say("stop-now", self.lang))
            self.supervisor.asked = lambda key: self._stop(key) if key in ("y", "Y") else None
            self._asks_until = now + ANSWER_SECONDS

    def _look_for_hang(self, now: float) -> None:
        """Look at the ranks after a long silence."""
        if not self._looks:
            return
        silence = now - self.supervisor.last_output
        if self._hangs is None:
            if silence < (self._hang_after or FIRST_SILENCE_SECONDS):
                return
            from troubleshooter.hang.notice import HangWatch

            self._hangs = HangWatch(self.supervisor.pid, self.folder.file(FACTS), self._hang_after)
        verdict = self._hangs.tick(silence)
        if verdict is None:
            return
        from troubleshooter.hang.tell import as_dict, lines

        self.hang = verdict
        end = self.supervisor.window.line_end if self.supervisor.window is not None else "\n"
        told = [say("hangs", self.lang, seconds=round(silence)), *lines(verdict, self.lang)]
        self.supervisor.tell("\n".join(told).replace("\n", end))
        write(self.folder.file(HANG), json.dumps(as_dict(verdict), indent=1) + "\n")
        if self.stop_early:
            self.stop_early = False
            self._stop("")

    def _stop(self, key: str) -> None:
        self._asks_until = 0.0
        self.supervisor.tell(say("stopping", self.lang))
        self._family = family(self.supervisor.pid)
        self.supervisor.send(signal.SIGTERM, group=False)
        self._kill_at = time.monotonic() + GRACE_SECONDS

    def _end_family(self, number: int) -> bool:
        """Send a signal to all processes that the run had when it was stopped. Returns whether any of them was still alive."""
        some = False
        for one in self._family:
            now = process(one.pid)
            if (
                now is not None and now.started == one.started and now.state != "Z"
            ):  # the number may belong to another process by now
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(one.pid, number)
                    some = True
        return some

    def _interim(self, now: float) -> None:
        """Write the report of a run that was asked to end, before the scheduler kills everything."""
        if self.supervisor.signal not in ("SIGTERM", "SIGHUP") or self._interim_at < 0:
            return
        if not self._interim_at:
            self._interim_at = now + INTERIM_SECONDS
        elif now > self._interim_at:
            self._interim_at = -1.0
            from troubleshooter.supervise import ending

            ended = RunEnd(0, self.supervisor.signal, now - self.supervisor.last_output)
            with suppress(Exception):  # no error here may disturb the run
                tail = self.supervisor.shared.tail()
                ending.keep(
                    self.folder,
                    ending.diagnosed(self.folder, tail, ended, self.versions.found, self.entries, self.lang),
                )


_SECRET = ("token", "password", "passwd", "secret", "api-key", "api_key", "apikey", "auth")


def redacted_words(command: object) -> list[str]:
    """The words of a command, without the values of options whose names look like those of secrets."""
    out: list[str] = []
    hides = False
    for word in command if isinstance(command, (list, tuple)) else ():
        name, equals, _ = word.partition("=")
        about = any(secret in name.lower() for secret in _SECRET) and len(name) < 60
        if hides and not word.startswith("-"):
            out.append("<redacted>")
            hides = False
            continue
        hides = about and word.startswith("-") and not equals
        out.append(f"{name}=<redacted>" if about and equals else word)
    return out

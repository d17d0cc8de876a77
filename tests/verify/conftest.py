"""Fixtures of the verify tests: probes written on the spot, entries without files, environments of the matrix."""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_for
from troubleshooter.verify import probe as probes
from troubleshooter.verify.outcome import ProbeOutcome
from troubleshooter.verify.overlays import Overlays, Unbuildable, default_folder
from troubleshooter.verify.probe import Probe
from troubleshooter.verify.runner import Limits, run

HEADER = """
QUESTION = "a test's question"
NEEDS = []
PARAMETERS = {}
SETTLED_BY = []
"""
SHARING = HEADER + "SHARED_MEMORY = True\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Probe]:
    """A probe from the body of its ``run(kit)``."""

    def make(body: str, header: str = HEADER) -> Probe:
        path = tmp_path / "written_probe.py"
        path.write_text(header + "\n\ndef run(kit):\n" + textwrap.indent(textwrap.dedent(body), "    "), "utf-8")
        return probes.read(path)

    return make


@pytest.fixture
def running(write: Callable[..., Probe]) -> Callable[..., ProbeOutcome]:
    """Write and run a probe with this interpreter."""

    def go(body: str, header: str = HEADER, **more: Any) -> ProbeOutcome:
        limits = more.pop("limits", Limits(seconds=20, resident_mb=600))
        return run(write(body, header), sys.executable, {}, limits=limits, **more)

    return go


@pytest.fixture
def nothing_left(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After the test no process of its probes runs, whoever its parent is, and no file of theirs is left."""
    place = tmp_path_factory.mktemp("probes").resolve()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    shared = set(Path("/dev/shm").iterdir())
    yield
    wait_for(lambda: not working_in(place))
    assert list(place.iterdir()) == []
    mine = "test-" + str(place).replace("/", "_")  # tests that run at the same time have files of other names
    new = {path for path in set(Path("/dev/shm").iterdir()) - shared if path.name.startswith(mine)}
    assert not new


def working_in(place: Path) -> set[int]:
    """Living processes whose working folder is (or was) below a place."""
    found = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                cwd = os.readlink(f"/proc/{entry}/cwd")
                state = Path(f"/proc/{entry}/stat").read_text().rpartition(") ")[2][0]
            except OSError:
                continue
            if cwd.startswith(str(place)) and state not in "ZX":
                found.add(int(entry))
    return found


@pytest.fixture(scope="session")
def overlays() -> Overlays:
    """Environments of version pairs, made on demand in ``TROUBLESHOOT_ENVS`` or the user's cache; kept between runs."""
    made = Overlays(default_folder())
    try:
        made.base()
    except Unbuildable as problem:
        pytest.skip(f"no environment can be made here: {problem}")
    return made

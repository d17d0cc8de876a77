"""Shared by all tests: the loaded tool, draws of samples, recorded cases (if they are present) and snapshots."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from kb.cache import CHECKOUT
from kb.trusted import is_own_folder
from troubleshooter.pipeline import Diagnoser

WELL_KNOWN = ("cache-object-float", "all-labels-masked", "matmul-dtype-mismatch", "nccl-watchdog-timeout")
"""Entries that the small folder of entries always contains."""
T = TypeVar("T")

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
SNAPSHOTS = Path(__file__).parent / "snapshots"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-sample", action="store_true", help="the tests marked `entries` try all samples instead of a draw"
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Workers for ``-n auto``: none if only some tests were named; those mostly end before workers would have started."""
    named = config.args_source == pytest.Config.ArgsSource.ARGS or config.option.keyword
    return 0 if named else os.cpu_count() or 1


def pytest_configure(config: pytest.Config) -> None:
    """Compile the entries once before several workers start, which would otherwise all do it at the same time.

    Without workers the first test that needs the entries compiles them, so that a test that needs none answers at once.
    A shell in the background makes its programs ignore SIGINT. Tests send Ctrl-C to programs that would inherit this, so the
    default is restored.

    Hypothesis would fail a test that takes longer than 200 ms, which happens on a loaded machine: this limit is switched off.
    """
    settings.register_profile("no-clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("no-clock")
    os.environ.pop("TROUBLESHOOT_ENTRIES", None)  # a developer's own entries change no test
    if getattr(config.option, "tx", None) and not hasattr(config, "workerinput"):
        Diagnoser.load()
    for name in ("SIGINT", "SIGHUP"):
        if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What draws is marked `entries`."""
    for item in items:
        if "draw" in getattr(item, "fixturenames", ()):
            item.add_marker("entries")


class Draw(Protocol):
    def __call__(self, items: Sequence[T], count: int) -> list[T]: ...


@pytest.fixture(scope="session")
def draw(request: pytest.FixtureRequest) -> Draw:
    """A function that draws some of the items, always the same ones, in their order; with ``--every-sample`` all of them."""

    def drawn(items: Sequence[T], count: int) -> list[T]:
        if request.config.getoption("--every-sample") or count >= len(items):
            return list(items)
        return [items[n] for n in sorted(random.Random(11).sample(range(len(items)), count))]

    return drawn


@pytest.fixture(scope="session")
def tool() -> Diagnoser:
    """The shipped knowledge, loaded once."""
    return Diagnoser.load()


@pytest.fixture(scope="session")
def small_entries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of some shipped entries of all areas, for tests to which it does not matter which entries they use."""
    made = tmp_path_factory.mktemp("small") / "entries"
    for area in sorted(path for path in CHECKOUT.iterdir() if path.is_dir() and path.name != "tables"):
        few = {*sorted(path.name for path in area.iterdir() if (path / "entry.yaml").exists())[:2], *WELL_KNOWN}
        for name in few:
            if (area / name).is_dir():
                shutil.copytree(area / name, made / area.name / name)
    return made


@pytest.fixture
def small_checkout(small_entries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """For one test the tool of this process ships the small entries only, and compiles them into a cache of the test."""
    monkeypatch.setattr("kb.cache.CHECKOUT", small_entries)
    monkeypatch.setenv("TROUBLESHOOT_CACHE", str(tmp_path / "cache-of-the-test"))
    return small_entries


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of recorded cases with its scripts; tests that need it are skipped if it is missing."""
    folder = SHARED / "cases"
    if not (folder / "dev.jsonl").is_file():
        pytest.skip("the recorded cases (../shared/cases) are not at hand")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return folder


@pytest.fixture
def own_place() -> Iterator[Path]:
    """A folder that only the user can write to, with all its parents; temporary folders mostly lie in one that is open to all."""
    with tempfile.TemporaryDirectory(dir=Path.home(), prefix="troubleshoot-test-") as made:
        if not is_own_folder(made):
            pytest.skip(f"others may write above {made}")
        yield Path(made)


@pytest.fixture
def snapshot() -> Callable[[str, str], None]:
    """Compare a whole rendered report with the one kept; ``UPDATE_SNAPSHOTS=1`` keeps the new one."""

    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if os.environ.get("UPDATE_SNAPSHOTS"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no snapshot {path}; look at the report and keep it with UPDATE_SNAPSHOTS=1"
        assert text == path.read_text(encoding="utf-8")

    return compare

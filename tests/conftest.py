"""What the tests share: the loaded tool, the recorded cases where they are at hand, and whole-report snapshots."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kb.trusted import is_own_folder
from troubleshooter.pipeline import Diagnoser

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture(scope="session")
def tool() -> Diagnoser:
    """The shipped knowledge, loaded once."""
    return Diagnoser.load()


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of recorded cases with its scripts; tests that need it are skipped where it is not at hand."""
    folder = SHARED / "cases"
    if not (folder / "dev.jsonl").is_file():
        pytest.skip("the recorded cases (../shared/cases) are not at hand")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return folder


@pytest.fixture
def own_place() -> Iterator[Path]:
    """A folder that only the user may write to, all the way up: temporary folders mostly stand in one that is open to all."""
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

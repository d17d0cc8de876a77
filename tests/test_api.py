"""The Python interface: what a log is, by its type."""

from __future__ import annotations

from pathlib import Path

import pytest

import troubleshooter
from troubleshooter.read.sources import Unreadable

LINE = "AttributeError: 'HybridCache' object has no attribute 'float'"


def test_text_bytes_lines_and_path_are_logs(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text(LINE)
    for log in (LINE, LINE.encode(), [LINE], iter([LINE + "\n"]), path):
        report = troubleshooter.diagnose(log)
        assert report.diagnoses[0].id == "cache-object-float"
        assert isinstance(report, troubleshooter.Report)
    assert troubleshooter.diagnose(LINE, lang="zh").diagnoses[0].title != troubleshooter.diagnose(LINE).diagnoses[0].title


def test_a_missing_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        troubleshooter.diagnose(tmp_path / "missing.log")

"""``%load_ext troubleshooter`` in a real Jupyter kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("ipykernel", reason="pip install 'llm-troubleshooter[test]'")
manager = pytest.importorskip("jupyter_client.manager", reason="pip install 'llm-troubleshooter[test]'")

SECONDS = 120
FAILING = "hidden = [1, 2]\nraise ValueError('Expected input batch_size (10) to match target batch_size (8).')"


class Kernel:
    """A running kernel; `run` gives what a cell showed."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def run(self, code: str) -> tuple[str, list[str], str]:
        """What the cell printed, the HTML that it showed, and the error's name."""
        texts, pages, error = [], [], ""

        def see(message: dict[str, Any]) -> None:
            nonlocal error
            content = message["content"]
            if message["msg_type"] == "stream":
                texts.append(content["text"])
            elif message["msg_type"] in ("display_data", "execute_result"):
                pages.append(content["data"].get("text/html", ""))
            elif message["msg_type"] == "error":
                error = content["ename"]

        self.client.execute_interactive(code, timeout=SECONDS, output_hook=see, store_history=True)
        return "".join(texts), pages, error


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    running, client = manager.start_new_kernel(kernel_name="python3", startup_timeout=SECONDS, cwd=str(ROOT))
    try:
        yield Kernel(client)
    finally:
        client.stop_channels()
        running.shutdown_kernel(now=True)


def test_a_failing_cell_is_diagnosed_below_its_traceback(kernel: Kernel) -> None:
    assert kernel.run("%load_ext troubleshooter") == ("", [], "")
    text, pages, error = kernel.run(FAILING)
    assert (text, error, len(pages)) == ("", "ValueError", 1)
    assert pages[0].startswith('<details class="troubleshoot"><summary>')
    head = pages[0].partition("</summary>")[0]
    assert head.count("<br>") == 2
    assert "loss-batch-size-mismatch" in pages[0]
    assert "<script" not in pages[0]
    assert not re.search(r"(?:src|href)=", pages[0])


def test_the_magic_shows_the_last_exception_again_and_a_cell_that_is_well_shows_nothing(kernel: Kernel) -> None:
    kernel.run("%load_ext troubleshooter")
    kernel.run(FAILING)
    assert kernel.run("1 + 1;") == ("", [], "")
    assert "loss-batch-size-mismatch" in kernel.run("%troubleshoot")[1][0]


def test_the_values_of_the_cell_stand_in_the_diagnosis(kernel: Kernel) -> None:
    kernel.run("%load_ext troubleshooter")
    _, pages, error = kernel.run("rows = [1, 2, 3]\nrows[7]")
    assert error == "IndexError"
    assert "list, len=3" in pages[0]
    assert "Cell:2" in pages[0]
    assert "ipykernel_" not in pages[0]
    assert "interactiveshell" not in pages[0]


def test_the_shell_is_no_part_of_a_failure(kernel: Kernel) -> None:
    """Neither the frames that run a cell, nor what IPython keeps among its variables."""
    kernel.run("%load_ext troubleshooter")
    pages = kernel.run("import os\nos.environ['NOPE_X']")[1]
    assert "NOPE_X" in pages[0]
    pages[0] += kernel.run("steps = 40\nraise AttributeError(\"'HybridCache' object has no attribute 'float'\")")[1][0]
    for word in ("run_code", "code_obj", "interactiveshell", "_ih", "_oh", "_dh", "<code>In</code>", "<code>Out</code>"):
        assert word not in pages[0]
    assert "steps" in pages[0]
    assert "troubleshoot new exception" not in pages[0]


def test_markup_of_an_error_is_text(kernel: Kernel) -> None:
    kernel.run("%load_ext troubleshooter")
    pages = kernel.run("raise RuntimeError('<img src=x onerror=alert(1)>')")[1]
    assert "<img" not in pages[0]


def test_unloading_switches_it_off(kernel: Kernel) -> None:
    kernel.run("%load_ext troubleshooter")
    kernel.run("%unload_ext troubleshooter")
    assert kernel.run(FAILING)[1:] == ([], "ValueError")


def test_a_notebook_has_no_lines_of_a_log() -> None:
    from troubleshooter import diagnose
    from troubleshooter.notebook import folded

    report = diagnose('Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in <module>\n    go()\nQuuxError: no flux\n')
    assert "<br>QuuxError: no flux" in folded(report).partition("</summary>")[0]

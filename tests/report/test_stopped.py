"""A run that was stopped from outside is reported as stopped, not as an unexplained failure."""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Stop, from_text
from troubleshooter.report.html import html
from troubleshooter.report.markdown import markdown
from troubleshooter.report.model import Report
from troubleshooter.report.stopped import duration

STEPS = "{'loss': 2.1, 'epoch': 0.1}\n{'loss': 2.0, 'epoch': 0.2}\n"
INTERRUPT = (
    "Traceback (most recent call last):\n"
    '  File "/home/ann/train.py", line 40, in <module>\n    main()\n'
    '  File "/home/ann/train.py", line 31, in main\n    wait()\n'
    '  File "/usr/lib/python3.11/threading.py", line 320, in wait\n    waiter.acquire()\n'
    "KeyboardInterrupt\n"
)


def told(tool: Diagnoser, text: str, stop: Stop | None = None, lang: str = "en") -> Report:
    source = from_text(text)
    source.stop = stop
    return tool.report([source], lang=lang)


def test_a_keyboard_interrupt_in_a_log_is_a_stop(tool: Diagnoser) -> None:
    report = told(tool, STEPS + INTERRUPT)
    assert report.unexplained is None
    assert report.stopped is not None
    assert (report.stopped["by"], report.stopped["silent_s"], report.stopped["line"]) == ("SIGINT", None, 9 + 1)
    assert [(at["file"], at["line"]) for at in report.stopped["at"]] == [("threading.py", 320), ("/home/ann/train.py", 31)]
    assert report.exit_code == 3
    text = str(report)
    assert "stopped by Ctrl-C" in text
    assert "train.py:31, main" in text
    assert "py-spy dump" in text
    assert "no entry explains" not in text
    assert "troubleshoot new" not in text


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_signal_that_was_seen_says_since_when_it_was_silent(tool: Diagnoser, signal: str, lang: str) -> None:
    report = told(tool, STEPS, Stop(signal, 185.2), lang)  # type: ignore[arg-type]
    assert report.stopped == {"by": signal, "silent_s": 185.2, "line": None, "at": []}
    assert report.exit_code == 3
    for shown in (str(report), markdown(report), html(report), report._repr_html_()):
        assert signal in shown
        assert ("3 min 5 s" if lang == "en" else "3 分 5 秒") in shown
        assert "py-spy dump" in shown
        assert ("Nothing wrong" if lang == "en" else "未发现问题") not in shown


def test_a_failure_before_the_stop_is_the_answer(tool: Diagnoser) -> None:
    failure = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
    report = told(tool, failure + INTERRUPT, Stop("SIGINT", 12.0))
    assert report.diagnoses
    assert report.exit_code == 1
    assert report.stopped is not None
    text = str(report)
    assert "stopped by Ctrl-C" in text
    assert "py-spy" not in text  # a cause is known: nobody has to look where it hangs


def test_an_unexplained_failure_before_the_stop_stays_one(tool: Diagnoser) -> None:
    failure = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nQuuxError: never seen before\n"
    report = told(tool, failure + INTERRUPT)
    assert report.unexplained is not None
    assert report.unexplained["exception"] == "QuuxError"
    assert report.stopped is not None


def test_a_run_that_went_on_was_not_stopped(tool: Diagnoser) -> None:
    assert told(tool, INTERRUPT + STEPS * 10).stopped is None
    assert told(tool, STEPS).stopped is None


def test_where_the_run_itself_stood_is_said_of_several_processes(tool: Diagnoser) -> None:
    worker = INTERRUPT.replace("/home/ann/train.py", "/venv/lib/python3.11/site-packages/torch/utils/data/_utils/worker.py")
    report = told(tool, INTERRUPT + "\n" + worker)
    assert report.stopped is not None
    assert "/home/ann/train.py" in [at["file"] for at in report.stopped["at"]]


def test_durations_are_readable() -> None:
    assert [duration(s, "en") for s in (0.2, 59.4, 60, 3599, 3600, 7801)] == [
        "0 s", "59 s", "1 min 0 s", "59 min 59 s", "1 h 0 min", "2 h 10 min",
    ]  # fmt: skip

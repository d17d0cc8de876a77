"""A log that ends inside a traceback: the paste of its upper part, or a process that was killed while it printed."""

from __future__ import annotations

import pytest

from troubleshooter import diagnose

OPEN = (
    "step 1 loss 0.5\nTraceback (most recent call last):\n"
    '  File "/work/train.py", line 12, in <module>\n    main()\n  File "/work/train.py", line 7, in main\n    spring.wind()\n'
)


@pytest.mark.parametrize(("lang", "told"), [("en", "ends inside"), ("zh", "中间就结束")])
def test_a_failure_is_seen_though_its_name_is_not(lang: str, told: str):
    report = diagnose(OPEN, lang=lang)
    assert report.exit_code == 3
    assert report.unexplained is not None
    assert (report.unexplained["exception"], report.unexplained["line"]) == ("Traceback", 6)
    assert told in report.unexplained["message"]
    assert report.unexplained["way"][0]["function"] == "main"


def test_the_raising_line_names_the_exception():
    report = diagnose(OPEN.replace("spring.wind()", 'raise gadget.SpringError(f"no spring {name}")'))
    assert report.unexplained is not None
    assert report.unexplained["exception"] == "gadget.SpringError"


def test_an_exception_that_is_raised_again_has_no_name():
    report = diagnose(OPEN.replace("spring.wind()", "raise error"))
    assert report.unexplained is not None
    assert report.unexplained["exception"] == "Traceback"


def test_a_run_that_went_on_did_not_fail():
    report = diagnose(OPEN + "step 2 loss 0.4\nstep 3 loss 0.3\nTraining completed.\n")
    assert (report.exit_code, report.unexplained) == (0, None)


def test_a_traceback_with_its_name_below_an_open_one_is_what_is_told():
    report = diagnose(OPEN.partition("\n")[2] + OPEN.partition("\n")[2] + "SpringError: no spring\n")
    assert report.unexplained is not None
    assert report.unexplained["exception"] == "SpringError"


def test_the_raising_line_still_shows_the_words_of_an_entry():
    """The message is missing, so the source of the message is the only sign of the failure."""
    frame = '  File "/opt/conda/lib/python3.7/multiprocessing/context.py", line 242, in set_start_method\n'
    report = diagnose(frame + "    raise RuntimeError('context has already been set')\n")
    assert [one.id for one in report.diagnoses] == ["multiprocessing-context-set-twice"]


def test_the_raising_line_of_a_notebook_shows_them_too():
    report = diagnose(
        "RuntimeError                              Traceback (most recent call last)\n"
        "<ipython-input-2> in <cell line: 0>()\n----> 2 dataset = load_dataset('owner/name')\n\n"
        "/usr/local/lib/python3.11/dist-packages/datasets/load.py in dataset_module_factory(path, revision)\n"
        '--> 989                 raise RuntimeError(f"Dataset scripts are no longer supported, but found {filename}")\n'
    )
    assert [one.id for one in report.diagnoses] == ["dataset-script-unsupported"]

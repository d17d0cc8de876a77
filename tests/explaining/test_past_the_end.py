"""A loop that counts one step too far, and the name of a dtype in place of the dtype."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]


@pytest.mark.parametrize(
    ("loop", "code"),
    [
        ("for n in range(len(rows)):\n    both = rows[n], rows[n + 1]\n", "range(len(rows) - 1)"),
        ("both = [(rows[n], rows[n + 2]) for n in range(1, len(rows))]\n", "range(1, len(rows) - 2)"),
        ("for n, row in enumerate(rows):\n    both = row, rows[n + 1]\n", "enumerate(rows[:-1])"),
        ("for n in range(1, len(rows) + 1):\n    print(rows[n])\n", "range(len(rows))"),
        ("for n in range(len(rows) + 1):\n    print(rows[n])\n", "range(len(rows))"),
    ],
)
def test_a_loop_that_goes_one_step_too_far(of_run: Run, loop: str, code: str):
    report = of_run("", f"rows = [3, 4, 5]\n{loop}")
    assert codes(report)[0] == code
    assert "counts through" in report.explained[0]["condition"]


@pytest.mark.parametrize(
    "loop",
    [
        "for n in range(len(rows)):\n    rows.pop()\n    print(rows[n])\n",  # the list got shorter
        "others = [1]\nfor n in range(len(rows)):\n    print(others[n + 1])\n",  # the length of another one
        "n = len(rows)\nprint(rows[n])\n",  # no loop
        "for n in range(3):\n    print(rows[n + 1])\n",  # nobody knows which of both is meant
        "for n in [2]:\n    print(rows[n + 1])\n",
    ],
)
def test_another_index_is_not_said_to_be_counted_too_far(of_run: Run, loop: str):
    assert "counts through" not in of_run("", f"rows = [3, 4, 5]\n{loop}").explained[0]["condition"]


LIBRARY = "def cast(dtype=None, device=None):\n    raise TypeError(\"cast(): argument 'dtype' (position 2) must be torch.dtype, not str\")\n"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("cast(dtype=options['kind'])", "dtype=getattr(torch, options['kind'])"),
        ("cast(dtype='float16')", "dtype=torch.float16"),
        ("cast(dtype='torch.bfloat16', device='cpu')", "dtype=torch.bfloat16"),
        ("cast('float16')", None),
        ("cast(dtype='fp16')", None),
    ],
)
def test_the_name_of_a_dtype(of_run: Run, call: str, code: str | None):
    report = of_run(LIBRARY, f"from widget import cast\nimport os\noptions = dict(kind=os.sep)\n{call}\n")
    told = [text for text in codes(report) if text and "torch" in text] if report.explained else []
    assert told == ([code] if code else [])

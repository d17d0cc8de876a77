"""Which failures of two runs are the same one."""

from __future__ import annotations

import pytest

from troubleshooter.bisect.failure import RunFailure, same

HERE = "madeup/core.py:run"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RunFailure("ValueError", "got 3 rows in /tmp/a1/x", ""), RunFailure("ValueError", "got 17 rows in /tmp/b2/x", "")),
        (RunFailure("AttributeError", "module 'numpy' has no attribute 'float'"),
         RunFailure("AttributeError", "module 'numpy' has no attribute 'float'. `np.float` was a deprecated alias")),
        (RunFailure("AttributeError", "module 'numpy' has no attribute 'float'. Did you mean: 'cfloat'?"),
         RunFailure("AttributeError", "module 'numpy' has no attribute 'float'. `np.float` was a deprecated alias")),
        (RunFailure("ValueError", "the widget is square", HERE), RunFailure("ValueError", "the widget was square", HERE)),
    ],
)  # fmt: skip
def test_the_same_failure(one: RunFailure, other: RunFailure) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (RunFailure("ValueError", "the widget is square"), RunFailure("TypeError", "the widget is square")),
        (RunFailure("ImportError", "cannot import name 'A'", HERE), RunFailure("ImportError", "No module named 'accelerate'", HERE)),
        (RunFailure("ValueError", "the widget is square", HERE), RunFailure("ValueError", "the widget was square", "other.py:f")),
    ],
)  # fmt: skip
def test_another_failure(one: RunFailure, other: RunFailure) -> None:
    assert not same(one, other)

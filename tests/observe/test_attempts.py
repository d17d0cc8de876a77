"""Several attempts in one log: the last one counts."""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.given import given

STEP = "{'loss': 2.1, 'grad_norm': 1.2, 'learning_rate': 1e-4, 'epoch': 0.1}\n"
PROMPT = "(llm) me@box:~/run$ python train.py\n"


def crash(exception: str, *, script: str = "train.py", function: str = "<module>", line: int = 12) -> str:
    return f'Traceback (most recent call last):\n  File "/home/me/{script}", line {line}, in {function}\n    main()\n{exception}\n'


FIRST, LAST = crash("RuntimeError: first"), crash("KeyError: 'last'", line=14)


def roles(text: str) -> list[str]:
    return [failure.role for failure in Diagnoser.of([]).observe(given(text)).failures]


@pytest.mark.parametrize(
    "text",
    [
        PROMPT + FIRST + PROMPT + LAST,
        FIRST + STEP + LAST,
        FIRST + "$ python other.py --lr 1\n" + crash("KeyError: 'last'", script="other.py"),
        FIRST + PROMPT + LAST + PROMPT + FIRST + PROMPT + LAST,
    ],
)
def test_a_crash_of_an_earlier_attempt_is_passed_over(text: str) -> None:
    assert roles(text) == ["handled", "initiating"]


@pytest.mark.parametrize(
    "text",
    [
        FIRST + LAST,  # nothing tells that another attempt was begun
        FIRST + STEP + crash("KeyError: 'last'", script="other.py"),  # a program that another one started
        FIRST + PROMPT + crash("KeyError: 'last'", function="main"),  # printed by a handler
        "$ torchrun --nproc_per_node 2 train.py\n" + FIRST + STEP + LAST,  # two ranks
        FIRST + STEP + LAST + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n",
        f"[rank0]: {FIRST}{STEP}[rank1]: {LAST}",
    ],
)
def test_crashes_of_one_attempt_all_count(text: str) -> None:
    assert roles(text)[:2] == ["initiating", "initiating"]

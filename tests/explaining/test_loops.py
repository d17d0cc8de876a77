"""Mistakes about loops, loaders and losses that a whole file shows: each program fails, and the first suggestion repairs it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

Run = Callable[..., Report]

BEST = (
    "def run(losses):\n    best = {first}\n    for loss in losses:\n        if {test}:\n            best, state = loss, 'weights'\n"
    "    return state\nrun([0.7, 0.9])\n"
)


@pytest.mark.parametrize(
    ("first", "test", "code"),
    [
        ("0.0", "loss < best", 'best = float("inf")'),
        ("0", "best > loss", 'best = float("inf")'),
        ("1.0", "loss > best", 'best = float("-inf")'),
        ("float('inf')", "best < loss", 'best = float("-inf")'),
    ],
)
def test_a_first_best_that_nothing_beats(of_run: Run, first: str, test: str, code: str) -> None:
    found = of_run("", BEST.format(first=first, test=test))
    assert codes(found)[0] == code
    assert found.explained[0]["arguments"][0]["name"] == "best"


@pytest.mark.parametrize(
    "program",
    [
        "def run(rows):\n    best = 0.0\n    for row in rows:\n        if row < 5:\n            state = row\n    return state\nrun([7])\n",
        "def run(rows):\n    best = 0.0\n    for row in rows:\n        state = row\n    return state\nrun([])\n",
        BEST.format(first="0.95", test="loss > best"),  # the next results may beat it
    ],
)
def test_another_reason_why_a_name_has_no_value(of_run: Run, program: str) -> None:
    assert "inf" not in str(codes(of_run("", program)))


def test_an_iterator_that_the_loop_uses_up(of_run: Run) -> None:
    found = of_run("", "rows = [1, 2]\nreplay = iter(rows)\nfor step in range(3):\n    row = next(replay)\n")
    assert codes(found)[0] == "replay = (row for _ in itertools.count() for row in rows)"


@pytest.mark.parametrize(
    "program",
    [
        "rows = iter([])\nfirst = next(rows)\n",  # in no loop
        "def rows():\n    yield 1\nleft = rows()\nfor step in range(3):\n    row = next(left)\n",  # a generator of one's own
    ],
)
def test_an_iterator_that_is_not_made_again(of_run: Run, program: str) -> None:
    assert "itertools" not in str(codes(of_run("", program)))


TORCH = "class DataLoader:\n    def __init__(self, rows, sampler):\n        self.parts = rows, sampler\n"
FETCH = "def fetch(rows, index):\n    return [rows[one] for one in index]\n"
ROWS = (
    "from widget import DataLoader\nfrom torch.utils.data._utils.fetch import fetch\nclass Rows:\n    def __init__(self):\n"
    "        self.items = [1, 2, 3]\n    def __getitem__(self, i):\n        return self.items[i]\nclass Buckets:\n"
    "    def __iter__(self):\n        yield [0, 1]\nbuckets = Buckets()\nrows = Rows()\n"
)


def _with_torch(program: str) -> str:
    """The program with a stand-in for torch's fetcher, which a loader calls."""
    return (
        "import pathlib, widget\nplace = pathlib.Path(widget.__file__).parents[1] / 'torch' / 'utils' / 'data' / '_utils'\n"
        f"place.mkdir(parents=True, exist_ok=True)\n(place / 'fetch.py').write_text({FETCH!r})\n" + program
    )


def test_batches_of_row_numbers_in_the_place_of_row_numbers(of_run: Run) -> None:
    program = _with_torch(ROWS + "loader = DataLoader(rows, sampler=buckets)\nfetch(rows, buckets)\n")
    found = of_run(TORCH, program)
    assert codes(found) == ["batch_sampler=buckets"]
    assert found.explained[0]["arguments"][0]["name"] == "sampler"


def test_a_list_as_a_row_number_without_a_sampler(of_run: Run) -> None:
    program = _with_torch(ROWS + "fetch(rows, [[0, 1]])\n")
    assert "batch_sampler" not in str(codes(of_run(TORCH, program)))


MODEL = (
    "class Out:\n    loss = None\nclass Model:\n    def __call__(self, input_ids=None, attention_mask=None, labels=None):\n        return Out()\n"
    "model, batch = Model(), {'input_ids': [1], 'labels': [1]}\n"
)


def test_a_loss_without_labels(of_run: Run) -> None:
    found = of_run("", MODEL + "out = model(input_ids=batch['input_ids'])\nout.loss.item()\n")
    assert codes(found)[0] == "labels=batch['labels']"
    assert "called without `labels`" in found.explained[0]["condition"]


@pytest.mark.parametrize(
    "call",
    ["model(**batch)", "model(input_ids=batch['input_ids'], labels=batch['labels'])", "model(attention_mask=[1])"],
)
def test_a_loss_that_is_none_for_another_reason(of_run: Run, call: str) -> None:
    assert "labels=" not in str(codes(of_run("", MODEL + f"out = {call}\nout.loss.item()\n")))


def test_the_last_part_of_a_text(of_run: Run) -> None:
    found = of_run("", "path = 'gpt2-nano/checkpoint-500'\nint(path.split('-')[1])\n")
    assert codes(found)[0] == "path.rsplit('-', 1)[-1]"
    assert "rsplit" not in str(codes(of_run("", "path = 'a-b'\nint(path.split('-')[0])\n")))


def _shapes(line: str, message: str) -> str:
    return f'Traceback (most recent call last):\n  File "/home/u/model.py", line 9, in forward\n    {line}\nRuntimeError: {message}\n'


BROADCAST = "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}"


@pytest.mark.parametrize(
    ("line", "sizes", "code"),
    [
        ("return x * cos", (64, 32, 3), "torch.cat((cos, cos), dim=-1)"),
        ("return freqs * x", (32, 64, 3), "torch.cat((freqs, freqs), dim=-1)"),
        ("return teacher - student", (128, 125, 2), "teacher[..., :125]"),
        (
            "kl = F.kl_div(student, teacher)",
            (128256, 128250, 2),
            "teacher[..., :128250]",
        ),  # torch subtracts the input from the target
    ],
)
def test_sizes_whose_relation_tells(line: str, sizes: tuple[int, int, int], code: str) -> None:
    assert codes(Diagnoser.of([]).diagnose(_shapes(line, BROADCAST.format(*sizes))))[0] == code


@pytest.mark.parametrize(
    ("line", "sizes"),
    [
        ("return x * mask", (64, 32, 3)),
        ("return a - b", (128, 97, 2)),
        ("return a - b", (16, 15, 1)),
        ("return a + b", (512, 500, 1)),
        ("return a + b", (512, 501, 1)),
        ("return a - b", (768, 760, 2)),
    ],
)
def test_sizes_whose_relation_tells_nothing(line: str, sizes: tuple[int, int, int]) -> None:
    assert not any(
        "cat" in str(one) or "..." in str(one)
        for one in codes(Diagnoser.of([]).diagnose(_shapes(line, BROADCAST.format(*sizes))))
    )


def test_a_size_of_data_that_is_one_off_is_no_reason_for_another_divisor(of_run: Run) -> None:
    program = "from widget import Block\nblock = Block(16)\nblock('a' * 63)\n"
    library = (
        "class Block:\n    def __init__(self, block):\n        self.block = block\n    def __call__(self, rows):\n        length = len(rows)\n"
        "        if length % self.block != 0:\n            raise ValueError(f'length {length} is not a multiple of the block {self.block}')\n"
    )
    assert "block=9" not in codes(of_run(library, program))
    assert "block=15" in codes(of_run(library, program.replace("63", "60")))


POOL = (
    "from multiprocessing.pool import ThreadPool\ndef encode(path, vocab=None, *, size):\n    return path\ndef clean(path, vocab):\n    return path\n"
    "rows = [('a', 'b')]\npool = ThreadPool(1)\n"
)


def test_a_pool_that_passes_each_row_whole(of_run: Run) -> None:
    found = of_run("", POOL + "pool.map(clean, rows)\n")
    assert codes(found) == ["pool.starmap"]
    assert found.explained[0]["arguments"][0]["name"] == "pool.map"


@pytest.mark.parametrize("call", ["pool.starmap(clean, [('a',)])", "pool.map(lambda row: clean(row), rows)"])
def test_another_call_in_a_pool(of_run: Run, call: str) -> None:
    assert "starmap" not in str(codes(of_run("", POOL + call + "\n")))

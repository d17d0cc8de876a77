"""Names of another scope, braces of a template, empty keys and batches that nobody returned: each program fails, and the first suggestion repairs it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("best = 9\ndef keep(loss):\n    if loss < best:\n        best = loss\nkeep(1)\n", "global best"),
        ("def run():\n    best = 9\n    def keep(loss):\n        if loss < best:\n            best = loss\n    keep(1)\nrun()\n", "nonlocal best"),
        ("def run(best):\n    def keep(loss):\n        best = min(loss, best)\n    keep(1)\nrun(9)\n", "nonlocal best"),
    ],
)
def test_a_name_of_the_scope_around(of_run: Run, program: str, code: str) -> None:
    assert codes(of_run("", program))[0] == code


@pytest.mark.parametrize(
    "program",
    [
        "def keep(loss):\n    if loss > 5:\n        best = loss\n    return best\nkeep(1)\n",  # no scope around has it
        "def other():\n    best = 1\ndef keep(loss):\n    if loss > 5:\n        best = loss\n    return best\nkeep(1)\n",  # another function's
    ],
)
def test_a_name_without_a_value_that_no_scope_around_has(of_run: Run, program: str) -> None:
    assert not any("global" in str(code) or "nonlocal" in str(code) for code in codes(of_run("", program)))


TEMPLATE = 'ASK = \'Answer as {{"name": "..."}}: {{text}}\'\ndef ask(row):\n    return ASK{call}\nask(dict(text="Ada"))\n'


def test_braces_of_a_template(of_run: Run) -> None:
    found = of_run("", TEMPLATE.format(call='.format(text=row["text"])'))
    assert codes(found) == ["{{ }}", "ASK.replace(\"{text}\", row['text'])"]
    assert found.explained[0]["arguments"][0]["name"] == "ASK"


@pytest.mark.parametrize("text", ["Use {} and {text}", "Close } it, {text}"])
def test_other_braces_of_a_template(of_run: Run, text: str) -> None:
    found = of_run("", f"ASK = {text!r}\ndef ask(row):\n    return ASK.format(text=row)\nask('Ada')\n")
    assert codes(found)[0] == "{{ }}"


@pytest.mark.parametrize(
    "program",
    [
        TEMPLATE.format(call='.format(text=row["answer"])'),  # the row lacks a key
        "ASK = 'Answer {name}: {text}'\nASK.format(text='Ada')\n",  # a field that was forgotten
    ],
)
def test_keys_that_are_no_braces(of_run: Run, program: str) -> None:
    assert "{{ }}" not in str([one.get("suggestions") for one in of_run("", program).explained])


def test_a_row_may_lack_a_key_and_a_configuration_does_not(of_run: Run) -> None:
    program = "def prompt({name}):\n    return {name}['input']\nprompt(dict(text='Ada'))\n"
    assert "row.get('input', '')" in codes(of_run("", program.format(name="row")))
    assert not any(".get(" in str(code) for code in codes(of_run("", program.format(name="config"))))


def test_of_several_names_one_has_no_number(of_run: Run) -> None:
    program = "names = ['checkpoint-10', 'checkpoint-best']\nmax(names, key=lambda name: int(name.split('-')[1]))\n"
    assert codes(of_run("", program))[0] == "if name.split('-')[1].isdigit():"


def test_the_exponential_of_a_sum(of_run: Run) -> None:
    program = "import math\ntotal, batches = 13000.0, 10\nprint(math.exp(total / batches))\n"
    assert codes(of_run("", program))[:2] == ["total / batches", "math.exp(min(total / batches, 700))"]


def test_results_in_another_order_than_that_of_the_own_function(of_run: Run) -> None:
    program = (
        "def prepare(*given):\n    return given\ndef setup():\n    model, rows, optimizer = print, [1], object()\n    return {given}\n"
        "def train():\n    model, optimizer, rows = setup()\n    for row in rows:\n        pass\ntrain()\n"
    )
    for given in ("prepare(model, rows, optimizer)", "model, rows, optimizer"):
        assert codes(of_run("", program.format(given=given)))[0] == "model, rows, optimizer = setup()"
    assert "setup()" not in str(codes(of_run("", program.format(given="prepare(model, optimizer, 3)"))))


@pytest.mark.parametrize(("written", "is_told"), [("{'lora': None}", True), ("{'lora': None, **{}}", True)])
def test_a_key_whose_value_is_empty(of_run: Run, written: str, is_told: bool) -> None:
    found = of_run("", f"def wrap(config):\n    lora = config['lora']\n    return lora['r']\nwrap({written})\n")
    assert ("key is there" in found.explained[0]["condition"]) is is_told


COLLATE = (
    "class Loader:\n    def __init__(self, rows, collate_fn):\n        self.rows, self.collate = rows, collate_fn\n"
    "    def __iter__(self):\n        return (self.collate([row]) for row in self.rows)\n"
    "def collate(rows):\n    batch = dict(rows=rows)\n{end}"
    "def moved(batch):\n    return dict(batch.items())\n"
    "loader = Loader([1], collate_fn=collate)\nfor batch in loader:\n    batch = moved({passed})\n"
)


def test_a_collate_function_that_returns_nothing(of_run: Run) -> None:
    found = of_run("", COLLATE.format(end="", passed="batch"))
    assert codes(found)[0] == "return batch"
    assert found.explained[0]["arguments"][0]["name"] == "collate"


def test_none_that_is_no_batch(of_run: Run) -> None:
    found = of_run("", COLLATE.format(end="    return batch\n", passed="None"))
    assert "return batch" not in str(codes(found))


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("best, least = None, 0.1\nif 0.5 < best - least:\n    pass\n", "best is None or 0.5 < best - least"),
        ("float('loss3.77.pt'.split('loss')[-1])\n", "'loss3.77.pt'.split('loss')[-1].removesuffix('.pt')"),
        ("class P:\n    name = 'loss3.77.pt'\npath = P()\nfloat(path.name.split('loss')[-1])\n", "path.stem.split('loss')[-1]"),
        ("def seed():\n    pass\nlist(map(seed, [1]))\n", "def seed(_):"),
        ("def run(loss):\n    for x in (1, 2):\n        loss = loss(x.real)\nrun(abs)\n", None),
        (
            "import json\nclass History:\n    def __init__(self):\n        self.losses = {}\n    @classmethod\n    def load(cls, text):\n        mine = cls()\n"
            "        mine.losses = json.loads(text)\n        return mine\n    def of(self, step):\n        return self.losses[step]\nHistory.load('{\"3\": 1}').of(3)\n",
            "{int(key): value for key, value in json.loads(text).items()}",
        ),
    ],
)  # fmt: skip
def test_slips_of_the_ninth_set(of_run: Run, program: str, code: str | None) -> None:
    assert codes(of_run("", program))[0] == code


@pytest.mark.parametrize(
    "program",
    [
        "limit, least = None, 0.1\nif 0.5 < limit - least:\n    pass\n",  # a limit that is missing is no first time
        "float('fast.pt')\n",  # not only the suffix is no number
        "import json\nclass Run:\n    def set(self):\n        self.steps = {'3': 1}\n    def of(self, step):\n        return self.steps[step]\nrun = Run()\nrun.set()\nrun.of(4)\n",
    ],
)
def test_what_only_looks_like_them(of_run: Run, program: str) -> None:
    told = str(codes(of_run("", program)))
    for wrong in ("is None or", "suffix", "int(key)"):
        assert wrong not in told


LOADER = (
    "def loader(rows, drop_last):\n    size = 4\n    return [rows[at:at + size] for at in range(0, len(rows) - (size - 1) * drop_last, size)]\n"
    "def evaluate(batches):\n    total, count = 0, 0\n    for batch in batches:\n        {body}\n    return total / count\nevaluate(loader([1, 2], drop_last={drop}))\n"
)


def test_a_loader_that_drops_its_only_batch(of_run: Run) -> None:
    assert codes(of_run("", LOADER.format(body="count += 1", drop="True")))[0] == "drop_last=False"


@pytest.mark.parametrize("program", [LOADER.format(body="total += 1", drop="True"), LOADER.format(body="count += 0", drop="False")])
def test_another_divisor_of_zero(of_run: Run, program: str) -> None:
    assert "drop_last=False" not in codes(of_run("", program))

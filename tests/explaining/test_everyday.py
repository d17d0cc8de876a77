"""Slips that one line, or one file of the user's own, shows whole: each program fails, and the first suggestion repairs it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]


def does(report: Report) -> list[str]:
    return [step["do"] for step in report.explained[0]["suggestions"]]


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("class Loss:\n    def item(self): return 1\ntotal = 0.0\ntotal += Loss().item\n", "Loss().item()"),
        ("class Model:\n    def parts(self): return [1]\nfor part in Model().parts:\n    pass\n", "Model().parts()"),
        ("class Model:\n    def state(self): return {'a': 1}\nstate = Model()\nprint(state.state['a'])\n", "state.state()['a']"),
        ("class Model:\n    def out(self): return self\nm = Model()\nm.out.logits\n", "m.out().logits"),
        ("class Tok:\n    size = 5\ntok = Tok()\ntok.size()\n", "tok.size"),
        ("rows = {'a': 1}\nrows('a')\n", "rows['a']"),
        ("cfg = {'lr': 1}\ncfg.lr\n", 'cfg["lr"]'),
        ("cfg = {'lr': 1}\nfor a, b in cfg.iteritems(): pass\n", "cfg.items"),
        ("class Args:\n    def __init__(self): self.batch_size = 3\nargs = Args()\nargs.batchsize\n", "args.batch_size"),
        ("text = 'abc'\ntext.decode('utf-8')\n", "text"),
        ("ids = (x for x in [1])\nids[0]\n", "list(ids)[0]"),
        ("ids = {'a': 1}\nids.keys()[0]\n", "list(ids.keys())[0]"),
        ("ids = map(int, ['1'])\nlen(ids)\n", "len(list(ids))"),
        ("async def rows(): return [1]\nfor row in rows(): pass\n", "asyncio.run(rows())"),
        ("for n in 3:\n    pass\n", "range(3)"),
        ("loader = [{'x': 1, 'y': 2, 'z': 3}]\nfor step, batch in loader:\n    pass\n", "enumerate(loader)"),
        ("shape = (1, 2)\nshape[0] = 3\n", "shape = list(shape)"),
        ("seen, row = set(), [1, 2]\nseen.add(row)\n", "tuple(row)"),
        ("seen, row = {}, [1, 2]\nseen[row] = 1\n", "tuple(row)"),
        ("names = ['a']\nprint('columns: ' + names)\n", '", ".join(map(str, names))'),
        ("options = {'a': 1}\noptions.pop('b')\n", "options.pop('b', None)"),
        ("with open('/dev/null', 'w') as file:\n    file.read()\n", 'open(..., "r")'),
        ("with open('/dev/null') as file:\n    file.write('a')\n", 'open(..., "w")'),
        ("value = [1]\nfloat(value)\n", "float(value[0])"),
        ("a, b = [1, 2], [1]\nlist(zip(a, b, strict=True))\n", "print(len(a), len(b))"),
        ("class A:\n    def run(x):\n        return x\nA().run(1)\n", "def run(self, x):"),
    ],
)  # fmt: skip
def test_what_the_line_shows(of_run: Run, program: str, code: str):
    assert codes(of_run("", program))[0] == code


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        ("batch = {'x': 1}\nbatch.shape\n", 'batch["shape"]'),  # a tensor was meant
        ("rows = [1]\nrows.push(2)\n", "Perhaps"),
        ("for a, b, c in [{'x': 1, 'y': 2}]:\n    pass\n", "enumerate"),
        ("for left, right in [(1, 2, 3)]:\n    pass\n", "enumerate"),
        ("for n, row in enumerate([1]):\n    x, y = [1, 2, 3]\n", "enumerate"),
        ("def run(x):\n    return x\nrun(1, 2)\n", "self"),
        ("class A:\n    def run(self, x):\n        return x\nA().run(1, 2)\n", "(self, self"),
        ("options = {'a': 1}\noptions['b']\n", "None)"),
        ("text = 'abc'\ntext[0] = 'b'\n", "list("),
    ],
)
def test_what_it_does_not_show(of_run: Run, program: str, unwanted: str):
    assert unwanted not in " ".join(filter(None, codes(of_run("", program))))


# A name that was given to something else


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("def loss(out):\n    return 1.0\nfor step in range(3):\n    loss = loss(step)\n", 4),
        ("def main():\n    list = [1, 2]\n    return list((3, 4))\nmain()\n", 2),
        ("max = 3\ndef main(a):\n    return max(a, 4)\nmain(1)\n", 1),
    ],
)
def test_a_name_that_was_taken(of_run: Run, program: str, line: int):
    report = of_run("", program)
    assert f"line {line} " in report.explained[0]["condition"]
    assert does(report)[0].startswith("Use another name than")
    assert does(report)[0].endswith(f"in line {line}")


@pytest.mark.parametrize(
    "program",
    [
        "def run(task):\n    return task(1)\nrun(3)\n",
        "task = lambda: 3\ntask()()\n",
        "class A:\n    size = 3\nA().size()\n",
    ],
)
def test_no_name_was_taken(of_run: Run, program: str):
    assert not any("another name" in one.lower() for one in does(of_run("", program)))


# Where None came from


@pytest.mark.parametrize(
    ("program", "do"),
    [
        ("config = {'learning_rate': 1}\nrate = config.get('learning_rte')\nrate * 2\n", "Write 'learning_rate' instead of 'learning_rte'"),
        ("config = {'steps': 1}\nrate = config.get('lr')\nrate * 2\n", "Give the key a value, or a default: `config.get('lr', ...)`"),
        ("import os\nsize = os.environ.get('NOBODY_SETS_IT')\nsize * 2\n", "Set the variable in front of the run: `export NOBODY_SETS_IT=...`"),
        ("import os\nsize = os.getenv('NOBODY_SETS_IT')\nsize * 2\n", "Set the variable in front of the run: `export NOBODY_SETS_IT=...`"),
        ("class Run:\n    def __init__(self):\n        self.model = None\n    def setup(self):\n        self.model = [1]\n    def go(self):\n        return self.model.copy()\nRun().go()\n", "Call `setup()` first"),
        ("def train(model, scheduler=None):\n    scheduler.step()\ntrain(1)\n", "Pass it: `scheduler=...`"),
        ("class Run:\n    def __init__(self, model, *, tok=None):\n        self.tok = tok\n    def go(self):\n        return self.tok.encode('a')\nRun(1).go()\n", "Pass it: `tok=...`"),
    ],
)  # fmt: skip
def test_where_none_came_from(of_run: Run, program: str, do: str):
    assert does(of_run("", program))[0] == do


@pytest.mark.parametrize(
    "program",
    [
        "def train(model, scheduler=None):\n    scheduler.step()\ntrain(1, None)\n",  # the call passes it
        "class Run:\n    def __init__(self):\n        self.model = None\n    def a(self):\n        self.model = [1]\n    def b(self):\n"
        "        self.model = [2]\n    def go(self):\n        return self.model.copy()\nRun().go()\n",  # one of two
    ],
)
def test_what_does_not_show_where_none_came_from(of_run: Run, program: str):
    assert does(of_run("", program))[0].startswith(("Allow for", "See what"))


# A row number, a step, and two things to be joined


def test_a_sampler_that_was_made_for_other_rows(of_run: Run):
    library = (
        "class Loader:\n    def __init__(self, rows, sampler=None):\n        for n in sampler:\n            rows[n]\n"
    )
    program = (
        "from widget import Loader\nclass Rows:\n    def __init__(self, rows):\n        self.rows = [one for one in rows if one > 1]\n"
        "    def __len__(self):\n        return len(self.rows)\n    def __getitem__(self, n):\n        return self.rows[n]\n"
        "def order(rows):\n    return range(len(rows))\nrows = [1, 2]\nLoader(Rows(rows), sampler=order(rows))\n"
    )
    found = of_run(library, program)
    assert does(found)[0] == "Make `order(rows)` for these very rows: its numbers must be below `len(self.rows)`"
    assert [one["name"] for one in found.explained[0]["arguments"]] == ["order(rows)", "self.rows"]


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("stride = 3 // 4\nrange(0, 9, stride)\n", "max(1, stride)"),
        ("class Tensor:\n    pass\ntags = Tensor()\ntags + [0]\n", "tags.tolist()"),
        ("limit = 5400\nlimit.split(':')\n", "str(limit)"),
    ],
)
def test_steps_tensors_and_numbers(of_run: Run, program: str, code: str):
    assert codes(of_run("", program))[0] == code


def test_what_is_no_number_may_be_left_out(of_run: Run):
    assert codes(of_run("", "names = ['best']\n[int(one) for one in names]\n"))[0] == "if one.isdigit():"
    assert "isdigit" not in str(codes(of_run("", "rate = 'fast'\nfloat(rate)\n")))


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("import re\nmark = '[INST'\nre.split(mark, 'a')\n", "re.escape(...)"),
        ("import re\nfound = re.search('(a)', 'a')\nfound.group(2)\n", "print(found.re, found.groups())"),
        ("import os\nos.mkdir('/nowhere-at-all/out/run')\n", "os.makedirs('/nowhere-at-all/out/run', exist_ok=True)"),
    ],
)
def test_patterns_and_folders(of_run: Run, program: str, code: str):
    assert code in codes(of_run("", program))


@pytest.mark.parametrize(
    ("line", "code"), [("(3 > 2).lower()", '"no"'), ("(3).strip()", "str(3)"), ("(3 > 2).shape", None), ("(3 > 2).dtype", None)]
)
def test_a_truth_value_in_place_of_a_word(of_run: Run, line: str, code: str | None) -> None:
    told = codes(of_run("", f"{line}\n"))
    assert code in told if code else '"no"' not in told

"""Slips in the user's own lines that a value's way shows: a class for an object, a decorator without ``return``, a loop that changes what it goes through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.explaining.told import codes
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

Run = Callable[..., Report]
TOOL = Diagnoser.of([])
OF_LINE = 'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in run\n    {line}\n{message}\n'
BESIDE = "import os, sys\nsys.path.insert(0, os.path.dirname(sys.argv[0]))\n"
"""Lets a program import the files beside it."""
CLASS = "class Plan:\n    def __init__(self, steps{default}):\n        self.steps = steps\n    def show(self, rows):\n        return rows\n"
PLAN = CLASS.format(default="=3")


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (PLAN + "def plan():\n    return Plan\nfirst = plan()\n[first.show(row) for row in [1]]\n", "return Plan()"),
        (PLAN + "first = Plan\nfirst.show([1])\n", "first = Plan()"),
        (CLASS.format(default="") + "first = Plan\nfirst.show([1])\n", "first = Plan(...)"),
        (PLAN + "class Run:\n    def __init__(self):\n        self.plan = Plan\n    def go(self):\n        self.plan.show(3)\nRun().go()\n", "self.plan = Plan()"),
        (PLAN + "PLANS = {'a': Plan}\nfirst = PLANS['a']\nfirst.show([1])\n", "PLANS['a']()"),
        (PLAN + "def run(plan):\n    plan.show([1])\nrun(Plan)\n", "run(Plan())"),
        (PLAN + "Plan.show([1])\n", "Plan().show([1])"),
        (PLAN + "plan_class = Plan\nplan_class.show([1])\n", "plan_class().show([1])"),
        (PLAN + "first = Plan\nfirst.show(rows=[1])\n", "first = Plan()"),
        (BESIDE + "from plans import Plan\nfirst = Plan\nfirst.show([1])\n", "first = Plan()"),
    ],
)
def test_a_class_in_place_of_an_object(of_run: Run, program: str, code: str) -> None:
    found = of_run("", program, files={"plans.py": PLAN})
    assert codes(found) == [code]
    assert "class `Plan`" in found.explained[0]["condition"] or "`Plan` is the class" in found.explained[0]["condition"]


TWO = "class Plan:\n    {decorator}\n    def show({first}, rows, marks):\n        return rows\n"


@pytest.mark.parametrize(
    "program",
    [
        TWO.format(decorator="", first="self") + "def plan():\n    return Plan()\nfirst = plan()\nfirst.show([1])\n",  # an object
        TWO.format(decorator="@classmethod", first="cls") + "first = Plan\nfirst.show([1])\n",
        TWO.format(decorator="@classmethod", first="cls") + "Plan.show([1])\n",
        TWO.format(decorator="", first="self") + "for plan in [Plan()]:\n    plan.show([1])\n",
        TWO.format(decorator="", first="self") + "plan = Plan()\nplan.show(*[1])\n",
        BESIDE + "from plans import Plan\nPlan.show([1])\n",  # by its own name: a method of the class may be meant
    ],
)
def test_an_argument_that_really_is_missing(of_run: Run, program: str) -> None:
    files = {"plans.py": TWO.format(decorator="@classmethod", first="cls")}
    assert codes(of_run("", program, files=files)) == ["marks=..."]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("ask, answer = 'a: b: c'.split(': ')", "'a: b: c'.split(': ', 1)"),
        ("one, two, three = 'a,b,c,d'.rsplit(',')", "'a,b,c,d'.rsplit(',', 2)"),
        ("MARK = ':'\nask, answer = 'a:b:c'.split(MARK)", "'a:b:c'.split(MARK, 1)"),
        ("name, suffix = 'model.v2.pt'.split('.')", "'model.v2.pt'.rsplit('.', 1)"),
        ("ask, answer = 'a b c'.split()", "'a b c'.split(maxsplit=1)"),
        ("found = {key: value for key, value in (part.split('=') for part in ['a=b=c'])}", "part.split('=', 1)"),
    ],
)
def test_a_text_that_is_split_too_often(of_run: Run, line: str, code: str) -> None:
    assert codes(of_run("", f"{line}\n"))[0] == code


@pytest.mark.parametrize(
    "program",
    [
        "class Rows:\n    def split(self, size):\n        return 1, 2, 3\nfirst, second = Rows().split(2)\n",  # as a tensor is
        "class np:\n    split = str.split\nfirst, second = np.split('a b c', ' ')\n",
        "first, *second, third, last = 'a:b'.split(':')\n",  # too few
        "def parts():\n    return 1, 2, 3\nfirst, second = parts()\n",
        "first, second = 'a:b:c:d'.split(':', 2)\n",  # the number is said
        "folder, name = 'runs/one/model.pt'.split('/')\n",  # the last parts may be meant
    ],
)
def test_parts_that_no_mark_cuts(of_run: Run, program: str) -> None:
    assert not any("split(" in str(code) and not str(code).startswith("print") for code in codes(of_run("", program)))


CHARS = "class Chars:\n    def __init__(self):\n        self.pad = 'a'\n    def pad_id(self):\n        return 0\n    def ids(self, text):\n        return [1]\nchars = Chars()\n"
FULL = "def full(size, fill_value):\n    raise TypeError(\"full(): argument 'fill_value' (position 2) must be Number, not \" + type(fill_value).__name__)\n"


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (CHARS + "from widget.core import full\nfull((len([1]), chars.pad), chars.pad_id)\n", "chars.pad_id()"),
        (CHARS + "range(chars.pad_id)\n", "chars.pad_id()"),
        (CHARS + "len(chars.ids)\n", "chars.ids(...)"),
        (CHARS + "for one in chars.ids:\n    pass\n", "chars.ids()"),
        (CHARS + "print(f'{chars.pad} {chars.pad_id:.2f}')\n", "chars.pad_id()"),
        ("import math\nloss = 'a'\nmath.exp(loss.lower)\n", "loss.lower()"),
        ("def pad():\n    return 0\nrange(pad)\n", "pad()"),
        ("def rows(size):\n    return [size]\nlen(rows)\n", "rows(...)"),
        (CHARS + "from widget.core import take\ntake(chars.pad, chars.pad_id, 3)\n", "chars.pad_id()"),
        (CHARS + "import json\nrows = {'pad': chars.pad, 'id': chars.pad_id}\njson.dumps(rows)\n", "chars.pad_id()"),
        (BESIDE + "import pads\nfrom widget.core import fill\nfill(2, fill_value=pads.Pads().pad_id)\n", "pads.Pads().pad_id()"),
    ],
)
def test_a_method_that_is_not_called(of_run: Run, program: str, code: str) -> None:
    library = FULL + "def take(name, number, times):\n    return [name] * times * number\ndef fill(size, fill_value):\n    raise TypeError(\"fill(): argument 'fill_value' (position 2) must be float, not method\")\n"
    found = of_run(library, program, files={"pads.py": "def pad():\n    return 0\nclass Pads:\n    def pad_id(self):\n        return 0\n"})
    assert codes(found)[0] == code


@pytest.mark.parametrize(
    "program",
    [
        CHARS + "first, second = chars.pad_id, chars.ids\nrange(first)\n",  # a name may be anything
        "import math\nmath.exp(math.log)\n",  # a function of a module needs something
        "rows = list(map(str.lower, 3))\n",
        CHARS + "from widget.core import take\ntake(key=chars.ids)\n",
    ],
)
def test_a_function_that_is_meant_as_such(of_run: Run, program: str) -> None:
    found = of_run("def take(key):\n    raise TypeError('a name must be str, not method')\n", program)
    assert "Call it" not in str([one["suggestions"] for one in found.explained])


DECORATOR = "KNOWN = {{}}\ndef register(name):\n    def wrapper(fn):\n        KNOWN[name] = fn\n{end}    return wrapper\n"
USED = "@register('a')\ndef score(row):\n    return row\n"


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (DECORATOR.format(end="") + USED + "score(1)\n", "return fn"),
        ("def keep(fn):\n    print(fn)\n@keep\ndef score(row):\n    return row\nscore(1)\n", "return fn"),
        ("def timed(fn):\n    def inner(*given):\n        return fn(*given)\n@timed\ndef score(row):\n    return row\nscore(1)\n", "return inner"),
        ("def keep(kind):\n    print(kind)\n@keep\nclass Score:\n    pass\nScore()\n", "return kind"),
        ("def keep(fn):\n    print(fn)\nclass Model:\n    @keep\n    def step(self):\n        return 1\nmodel = Model()\nmodel.step()\n", "return fn"),
        ("def keep(name):\n    def wrapper(fn):\n        return fn\n@keep('a')\ndef score(row):\n    return row\nscore(1)\n", "return wrapper"),
    ],
)
def test_a_decorator_that_gives_nothing_back(of_run: Run, program: str, code: str) -> None:
    found = of_run("", program, files={"scores.py": DECORATOR.format(end="") + USED})
    assert codes(found) == [code]


@pytest.mark.parametrize(
    "program",
    [
        DECORATOR.format(end="        return fn\n") + USED + "score = None\nscore(1)\n",  # it was set to None
        "score = None\ndef run(score):\n    score(1)\nrun(score)\n",
        "def keep(fn):\n    print(fn)\n@keep\ndef score(row):\n    return row\ndef run(score):\n    score(1)\nrun(None)\n",  # a parameter of that name
        BESIDE + "from scores import score\nscore = None\nscore(1)\n",
    ],
)
def test_a_function_that_no_decorator_lost(of_run: Run, program: str) -> None:
    found = of_run("", program, files={"scores.py": DECORATOR.format(end="") + USED})
    assert "return fn" not in str([one["suggestions"] for one in found.explained])


STATE = "from collections import OrderedDict, deque\nstate = OrderedDict(a=1, b=2)\nplain, kinds, last = dict(a=1, b=2), {1, 2}, deque([1, 2])\n"


@pytest.mark.parametrize(
    ("loop", "code"),
    [
        ("for key in state:\n    state[key + 'x'] = state.pop(key)\n", "for key in list(state)"),
        ("for key, value in plain.items():\n    plain[key + 'x'] = value\n", "for key, value in list(plain.items())"),
        ("for key in plain:\n    plain[key + 'x'] = plain.pop(key)\n", "for key in list(plain)"),
        ("for n, key in enumerate(plain):\n    plain.pop(key)\n", "for n, key in enumerate(list(plain))"),
        ("for one in kinds:\n    kinds.add(one + 5)\n", "for one in list(kinds)"),
        ("for one in last:\n    last.append(one)\n", "for one in list(last)"),
        ("[plain.pop(key) for key in plain]\n", "for key in list(plain)"),
    ],
)
def test_a_loop_that_changes_what_it_goes_through(of_run: Run, loop: str, code: str) -> None:
    assert codes(of_run("", STATE + loop)) == [code]


def test_a_loop_that_does_not_show_what_it_changed(of_run: Run) -> None:
    found = of_run("", STATE + "for one, two in zip(plain, state):\n    plain[one + 'x'] = 1\n")
    assert "for one" not in str([one["suggestions"] for one in found.explained])


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("labels[:len(ask)] = -100", "labels[:len(ask)] = [-100] * len(labels[:len(ask)])"),
        ("labels[:n] = -100", "labels[:n] = [-100] * len(labels[:n])"),
        ("labels[-n:] = 0.5", "labels[-n:] = [0.5] * len(labels[-n:])"),
        ("labels[:] = None", "labels[:] = [None] * len(labels)"),
        ("labels[n:] = 0", "labels[n:] = [0] * len(labels[n:])"),
        ("labels[1:-1] = 0", "labels[1:-1] = [0] * len(labels[1:-1])"),
        ("labels[:n - 1] = 0", "labels[:n - 1] = [0] * len(labels[:n - 1])"),
        ("labels[::2] = 0", "labels[::2] = [0] * len(labels[::2])"),
    ],
)
def test_one_value_for_a_slice_of_a_list(of_run: Run, line: str, code: str) -> None:
    begin = "ask, labels, n = [7, 8], [1, 2, 3, 4, 5], 2\n"
    assert codes(of_run("", f"{begin}{line}\n")) == [code]
    exec(begin + code)


def test_one_value_that_the_line_does_not_assign(of_run: Run) -> None:
    found = of_run("", "labels = [1, 2]\nlabels.__setitem__(slice(0, 1), 3)\n")
    assert "[3] *" not in str([one["suggestions"] for one in found.explained])


JUDGE = "import asyncio\nasync def judge(row):\n    return row / 2\n"


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (JUDGE + "async def score(rows):\n    return [judge(row) for row in rows]\nsum(asyncio.run(score([1, 2])))\n", "[await judge(row) for row in rows]"),
        (JUDGE + "async def main():\n    return judge(1) + 1\nasyncio.run(main())\n", "await judge(1)"),
        (JUDGE + "found = judge(3)\nprint(found + 1)\n", "asyncio.run(judge(3))"),
        (JUDGE + "async def main():\n    rows = [await judge(1), judge(2)]\n    return sum(rows)\nasyncio.run(main())\n", "await judge(2)"),
        (JUDGE + "class Judge:\n    async def ask(self, row):\n        return [row]\n    async def run(self):\n        return len(self.ask(1))\nasyncio.run(Judge().run())\n", "await self.ask(1)"),
        (JUDGE + "from widget.core import add\nadd(judge(3))\n", "asyncio.run(judge(3))"),
        (JUDGE + "async def rate(row):\n    return row\ndef other():\n    rate(2)\nfound = judge(3)\nprint(found + 1)\n", "asyncio.run(judge(3))"),  # Python names the one
    ],
)
def test_an_async_function_without_await(of_run: Run, program: str, code: str) -> None:
    found = of_run("def add(number):\n    return number + 1\n", program, files={"judges.py": JUDGE})
    assert codes(found)[0] == code
    assert "async function" in found.explained[0]["condition"]


@pytest.mark.parametrize(
    "program",
    [
        JUDGE + "async def rate(row):\n    return row\nprint(judge(1) + rate(2))\n",  # which of the two?
        JUDGE + "async def main():\n    rows = [judge(1)]\n    await asyncio.gather(*rows)\n    return rows[0] + 1\nasyncio.run(main())\n",  # waited for
        JUDGE + "async def main():\n    rows = []\n    rows.append(judge(1))\n    for one in asyncio.as_completed(rows):\n        await one\n    return rows[0] + 1\nasyncio.run(main())\n",
        JUDGE + "def ask(row):\n    return judge(row)\nasync def main():\n    await ask(1)\n    return ask(2) + 1\nasyncio.run(main())\n",  # handed on
    ],
)
def test_coroutines_that_somebody_waits_for(of_run: Run, program: str) -> None:
    assert "called without `await`" not in of_run("", program).explained[0]["condition"]


@pytest.mark.parametrize(
    ("pattern", "asked", "wanted"),
    [
        (r"<answer>\s*-?\d+\s*</answer>", "1", [r'r"<answer>\s*(-?\d+)\s*</answer>"', "found.group(0)"]),
        (r"loss: \d+\.\d+", "1", [r'r"loss: (\d+\.\d+)"', "found.group(0)"]),
        (r"answer: .*", "1", [r'r"answer: (.*)"', "found.group(0)"]),
        (r"answer: [^<]+", "'value'", ['r"answer: (?P<value>[^<]+)"']),
        (r"(\w+): (\d+)", "3", ["found.group(2)", "print(found.re, found.groups())"]),
        (r"\w+: \d+", "1", ["found.group(0)"]),  # which of the two?
        (r"answer: \(\d\)", "1", [r'r"answer: \((\d)\)"', "found.group(0)"]),
    ],
)
def test_a_group_that_the_pattern_has_not(of_run: Run, pattern: str, asked: str, wanted: list[str]) -> None:
    text = "answer: (3) loss: 3.5 <answer> -3 </answer>"
    program = f"import re\nANSWER = re.compile(r'{pattern}')\nfound = ANSWER.search('{text}')\nprint(found.group({asked}))\n"
    found = of_run("", program)
    assert codes(found) == wanted
    assert pattern in found.explained[0]["condition"]


def test_each_group_that_is_asked_for_has_a_part(of_run: Run) -> None:
    program = "import re\nLINE = re.compile(r'step \\d+ loss \\d+\\.\\d+')\nfound = LINE.match('step 3 loss 2.5')\nstep, loss = int(found.group(1)), float(found.group({n}))\n"
    assert codes(of_run("", program.format(n=2)))[0] == r'r"step (\d+) loss (\d+\.\d+)"'
    assert codes(of_run("", program.format(n=3))) == ["found.group(0)"]


@pytest.mark.parametrize(
    "program",
    [
        "import re\ndef value(found):\n    return found.group(1)\nvalue(re.search('a+', 'aaa'))\n" "value(re.search('(a)', 'aaa'))\n",  # two patterns
        "import re, os\nfound = re.search(os.sep + '?a', 'aaa')\nprint(found.group(1))\n",
    ],
)
def test_a_pattern_that_the_file_does_not_show(of_run: Run, program: str) -> None:
    assert str(codes(of_run("", program))[0]).startswith("print(")


def test_two_own_files_that_import_each_other(of_run: Run) -> None:
    files = {
        "model.py": "from data import LENGTH\nWIDTH = 3\ndef size():\n    return LENGTH\n",
        "data.py": "from model import WIDTH\nLENGTH = WIDTH\n",
    }
    found = of_run("", BESIDE + "import model\n", files=files)
    assert codes(found) == ["from common import WIDTH", "from data import LENGTH"]
    assert "model.py:1" in found.explained[0]["condition"]
    assert "data.py:1" in found.explained[0]["condition"]
    files["data.py"] = "import model\nLENGTH = model.WIDTH\n"
    assert codes(of_run("", BESIDE + "import model\n", files=files))[0] == "from common import WIDTH"
    files |= {"model.py": "from data import LENGTH\ndef width():\n    return LENGTH\n", "data.py": "from model import width\nLENGTH = width\n"}
    assert codes(of_run("", BESIDE + "import model\n", files=files))[0] == "from common import LENGTH"
    files["data.py"] = "import model\nLENGTH = model.WIDTH\n"
    files["model.py"] = "from data import LENGTH\nWIDTH = 3\ndef size(length=LENGTH):\n    return length\n"
    assert codes(of_run("", BESIDE + "import model\n", files=files)) == ["from common import WIDTH"]


@pytest.mark.parametrize(
    "files",
    [
        {"model.py": "from model import WIDTH\n"},  # a file with the name of something else
        {"model.py": "import widget.late\nWIDTH = 3\n"},  # through a library
    ],
)
def test_a_circle_that_is_not_of_two_own_files(of_run: Run, site: Path, files: dict[str, str]) -> None:
    package = site / "widget"
    package.mkdir(exist_ok=True)
    (package / "late.py").write_text("from model import WIDTH\n", encoding="utf-8")
    found = of_run("", BESIDE + "import model\n", files=files)
    assert "third file" not in str([one["suggestions"] for one in found.explained])


@pytest.mark.parametrize(
    ("fieldnames", "code"),
    [
        ("fieldnames=list(row)", "fieldnames=[*row, 'score']"),
        ("dict(row).keys()", "fieldnames=[*dict(row), 'score']"),
        ("['step']", "fieldnames=['step', 'score']"),
        ("COLUMNS", "fieldnames=[*COLUMNS, 'score']"),
    ],
)
def test_a_field_that_a_writer_was_not_told_of(of_run: Run, fieldnames: str, code: str) -> None:
    program = f"import csv, io\nCOLUMNS = ['step']\nrow = dict(step=1)\nwriter = csv.DictWriter(io.StringIO(), {fieldnames})\nrow['score'] = 2\nwriter.writerow(row)\n"
    found = of_run("", program)
    assert codes(found) == [code, 'extrasaction="ignore"']
    assert found.explained[0]["arguments"][0]["name"] == "score"


def test_another_error_of_a_writer(of_run: Run) -> None:
    found = of_run("", "import csv, io\nwriter = csv.DictWriter(io.StringIO(), ['step'], extrasaction='no')\n")
    assert "fieldnames=[" not in str([one["suggestions"] for one in found.explained])


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        ('k = torch.cat([past["k"], k], dim=2)', 0, "torch.cat([past['k'], k], dim=2) if past['k'] is not None else k"),
        ("k = torch.cat((k, past), 1)", 1, "torch.cat((k, past), 1) if past is not None else k"),
        ("rows = torch.stack(rows)", 3, "torch.stack([one for one in rows if one is not None])"),
        ("rows = torch.stack([one, two])", 1, "torch.stack([one for one in [one, two] if one is not None])"),
        ("x = torch.cat([a, b, c], dim=-1)", 2, "torch.cat([one for one in [a, b, c] if one is not None], dim=-1)"),
    ],
)
def test_a_none_among_tensors_that_are_joined(line: str, number: int, code: str) -> None:
    [found] = TOOL.diagnose(OF_LINE.format(line=line, message=f"TypeError: expected Tensor as element {number} in argument 0, but got NoneType")).explained
    assert found["suggestions"][0]["code"] == code


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x = torch.stack(rows)", "TypeError: expected Tensor as element 1 in argument 0, but got list"),
        ("x = join(rows)", "TypeError: expected Tensor as element 1 in argument 0, but got NoneType"),
        ("x = torch.cat(torch.stack(rows))", "TypeError: expected Tensor as element 1 in argument 0, but got NoneType"),  # which of the two?
    ],
)
def test_a_list_of_tensors_without_a_none_that_is_seen(line: str, message: str) -> None:
    [found] = TOOL.diagnose(OF_LINE.format(line=line, message=message)).explained
    assert "is not None" not in str(found["suggestions"])


@pytest.mark.parametrize(
    ("program", "files"),
    [
        ("from pads import pad\nrange(pad)\n", {"pads.py": "def pad():\n    return 3\n"}),
        ("from judges import judge\nprint(judge(3) + 1)\n", {"judges.py": JUDGE}),
    ],
)
def test_a_file_that_the_traceback_does_not_name_is_not_read(of_run: Run, program: str, files: dict[str, str]) -> None:
    told = of_run("", BESIDE + program, files=files).explained
    assert not any(next(iter(files)) in one["condition"] for one in told)


HOOKS = "class Run:\n    def __init__(self, hooks: list = None):\n        self.hooks = {}\n"


@pytest.mark.parametrize(
    ("use", "value", "code"),
    [
        ("[1] + hooks", "hook", "hooks=[hook]"),
        ("[one for one in hooks]", "hook", "hooks=[hook]"),
        ("[1] + hooks", "'hook'", None),  # a text may be meant for something else
        ("[one for one in hooks or []]", "None", None),
    ],
)
def test_one_object_in_the_place_of_a_list(of_run: Run, use: str, value: str, code: str | None) -> None:
    program = f"from widget import *\nclass Hook:\n    pass\nhook = Hook()\nRun(hooks={value})\nhook.gone\n"
    found = codes(of_run(HOOKS.format(use), program))
    assert (code in found) if code else not any("hooks=[" in (one or "") for one in found)


KEPT = "class Body:\n    def parameters(self):\n        return [1]\nbody = Body()\nparts = body.{}\nprint(sum(parts))\n"


def test_a_method_that_is_kept_under_a_name_is_called_there(of_run: Run) -> None:
    assert codes(of_run("", KEPT.format("parameters")))[0] == "parts()"
    # A name that another line gives a value of another kind may be that one.
    twice = KEPT.format("parameters").replace("print(", "if not body:\n    parts = 3\nprint(")
    assert "parts()" not in codes(of_run("", twice))


@pytest.mark.parametrize(
    "program",
    [
        "def loss_of(run):\n    return run\ndef check(value):\n    raise TypeError(f'name must be str, not {type(value).__name__}')\ncheck(loss_of)\n",
        "def loss_of(run):\n    return run\nmin([1, 2], loss_of)\n",
    ],
    ids=["own-check", "forgotten-key"],
)
def test_a_function_that_was_meant_as_such_is_not_called(of_run: Run, program: str) -> None:
    told = of_run("", program).explained
    assert not any("is not called" in one["condition"] for one in told)


def test_a_loop_over_reversed_items_gets_whole_code(of_run: Run) -> None:
    found = of_run("", "rows = {1: 2, 3: 4}\nfor key in reversed(rows):\n    rows[key + 5] = 0\n")
    assert codes(found) == ["for key in reversed(list(rows))"]


def test_code_that_is_too_long_to_show_is_left_out_and_not_cut(of_run: Run) -> None:
    long = ", ".join(f"'a rather long argument, number {n}'" for n in range(9))
    found = of_run("", f"async def judge(*rows):\n    return 3\nprint(judge({long}) + 1)\n")
    assert "without `await`" in found.explained[0]["condition"]
    assert not any("judge(" in (code or "") for code in codes(found))

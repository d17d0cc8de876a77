"""What the user's own file tells of a line of theirs that failed: where None came from, and what stands in another form."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]


def condition(report: Report) -> str:
    return report.explained[0]["condition"]


def names(report: Report) -> list[str]:
    return [one["name"] for one in report.explained[0]["arguments"]]


# An index that is None


ALIGN = "def align(words, tags):\n    {name} = []\n    for word in words:\n        {line}\n    return {name}\nalign([None, 0], {tags})\n"


@pytest.mark.parametrize(
    ("name", "line", "tags", "code"),
    [
        ("labels", "labels.append(tags[word])", "[3]", "tags[word] if word is not None else -100"),
        ("labels", "labels.append({5: 1}[tags[word]])", "[5]", "{5: 1}[tags[word]] if word is not None else -100"),
        ("found", "found.append(tags[word])", "[3]", "tags[word] if word is not None else ..."),
        ("found", "found.append(tags[word])", "{0: 3}", "tags[word] if word is not None else ..."),
    ],
)
def test_an_index_that_is_none(of_run: Run, name: str, line: str, tags: str, code: str):
    report = of_run("", ALIGN.format(name=name, line=line, tags=tags))
    assert codes(report) == [code]
    assert names(report)[0] == "word"


def test_of_two_names_that_may_be_none_no_index_is_picked(of_run: Run):
    report = of_run("", ALIGN.format(name="found", line="found.append(tags[word] + tags[word - 1])", tags="[3]"))
    assert "if word is not None else" in str(codes(report))  # the marks show it, and `word - 1` is no name
    report = of_run("", ALIGN.format(name="found", line="found.append(\n tags[0])", tags="None"))
    assert "is not None else" not in str(codes(report))


# What changes in place and gives back nothing


@pytest.mark.parametrize(
    ("program", "first"),
    [
        ("def made(more):\n    return BASE.update(more)\nBASE = {'a': 1}\ndict(**made({'b': 2}))\n", "return {**BASE, **more}"),
        ("rows = [3, 1]\nordered = rows.sort(reverse=True)\nfor row in ordered:\n    print(row)\n", "ordered = sorted(rows, reverse=True)"),
        ("rows = [3]\nrows = rows.append(4)\nlen(rows)\n", "rows.append(4)"),
        ("rows = []\nfor n in range(3):\n    rows = rows.append(n)\n", "rows.append(n)"),
        ("def both(more):\n    return BASE.update(more)\nBASE = {1}\nlen(both({2}))\n", "return BASE | more"),
        ("from collections import Counter\nseen = Counter('a')\nmore = seen.update('b')\nmore['a']\n", "seen.update('b')"),
        ("def both(base, more):\n    joined = base.update(more)\n    return joined['a']\nboth({'a': 1}, {})\n", "joined = {**base, **more}"),
        ("import random\nrows = [3, 4]\nmixed = random.shuffle(rows)\nmixed[0]\n", "mixed = random.sample(rows, len(rows))"),
        ("seen = {3}\nboth = seen.add(4)\nboth.pop()\n", "both = {*seen, 4}"),
        ("class Run:\n    def __init__(self, rows):\n        self.rows = rows.extend([1])\n    def go(self):\n        return self.rows[0]\nRun([2]).go()\n", "self.rows = [*rows, *[1]]"),
        ("def go(rows):\n    more = rows.insert(0, 1)\n    a, b = more\ngo([2])\n", "rows.insert(0, 1)"),
    ],
)  # fmt: skip
def test_a_method_that_changes_in_place(of_run: Run, program: str, first: str):
    report = of_run("", program)
    assert codes(report)[0] == first
    assert "in place and gives back None" in condition(report)


def test_what_has_no_name_is_not_to_be_used_afterwards(of_run: Run):
    report = of_run("", "import random\nrows = random.shuffle(list({'a': 1}))\nlen(rows)\n")
    assert codes(report) == ["rows = random.sample(list({'a': 1}), len(list({'a': 1})))"]


@pytest.mark.parametrize(
    "program",
    [
        "class Store:\n    def pick(self):\n        return None\nrow = Store().pick()\nrow[0]\n",
        "rows = {'a': None}\nrows.update(b=None)\nrow = rows.get('c')\nrow[0]\n",
        "rows = [[2]]\nfor row in [None]:\n    rows.append(1)\n    row[0]\n",
        "a, b = [1].sort(), None\na + b\n",
        "class Words:\n    def add(self, word):\n        self.word = word\nwords = Words()\nnumber = words.add('a')\nnumber + 1\n",
    ],
)
def test_another_none_is_not_laid_to_such_a_method(of_run: Run, program: str):
    assert "in place" not in condition(of_run("", program))


# A function that ends without `return`


PRESS = """
def press(juice):
    return juice.litres

class Press:
    def __call__(self, fruit):
        return fruit

class Mill:
    def __init__(self, presses=(), sieve=None, rows=()):
        self.presses, self.sieve, self.rows = presses, sieve, rows
    def run(self, fruit):
        for one in self.presses:
            fruit = one(fruit)
        return press(fruit)
    def sift(self):
        return self.sieve([self.rows[n] for n in range(len(self.rows))])
"""
PRESSED = "from widget import *\nclass Hard(Press):\n    def __call__(self, fruit):\n        {body}\nMill(presses=[Hard()]).run([1])\n"


def test_a_call_that_gives_nothing_back_to_a_library(of_run: Run):
    report = of_run(PRESS, PRESSED.format(body="fruit[0] = 2"))
    assert names(report)[0] == "Hard.__call__"
    assert codes(report) == ["return fruit"]


@pytest.mark.parametrize(
    "program",
    [
        PRESSED.format(body="return fruit.pop()").replace("[1]", "[None]"),  # it returns what it has
        PRESSED.format(body="print(fruit)").replace("(Press)", ""),  # no class that a library knows
        PRESSED.format(body="return [3][0:fruit[0]]").replace(
            "Mill(",
            "class Soft(Press):\n    def helper(self):\n        if self:\n            return 1\npress(None)\nMill(",
        ),
        PRESSED.format(body="print(fruit)").replace(
            "Mill(", "class Soft(Press):\n    def __call__(self, fruit):\n        pass\nMill("
        ),
    ],
    ids=["returns", "own-class", "helper", "two"],
)
def test_another_function_is_not_said_to_give_nothing(of_run: Run, program: str):
    assert not any("return " in (code or "") for code in codes(of_run(PRESS, program)))


ROWS = (
    "from widget import *\nclass Rows:\n    def __len__(self):\n        return 2\n    def __getitem__(self, n):\n        {body}\n"
    "def sieve(rows):\n    return [row['size'] for row in rows]\nMill(sieve=sieve, rows=Rows()).sift()\n"
)


def test_a_row_that_is_none_and_that_the_users_own_function_gets_from_a_library(of_run: Run):
    report = of_run(PRESS, ROWS.format(body="if n < 1:\n            return {'size': n}"))
    assert names(report)[0] == "Rows.__getitem__"
    assert "behind train.py:6" in report.explained[0]["suggestions"][0]["do"]
    given = of_run(PRESS, ROWS.format(body="return {0: {'size': 1}}.get(n)"))
    assert "Rows.__getitem__" not in names(given)
    # What the user's own call passes is no row of a library.
    own = ROWS.format(body="if n < 1:\n            return {'size': n}").replace(
        "Mill(sieve=sieve, rows=Rows()).sift()", "sieve([None])"
    )
    assert "Rows.__getitem__" not in names(of_run(PRESS, own))


def test_a_function_or_a_model_of_the_users_own_that_their_line_calls(of_run: Run):
    model = (
        "class Net(Press):\n    def forward(self, x):\n        x = x + 1\n    def __init__(self):\n        self.n = 1\n"
    )
    library = PRESS.replace(
        "def __call__(self, fruit):\n        return fruit",
        "def __call__(self, fruit):\n        return self.forward(fruit)",
    )
    report = of_run(library, f"from widget import *\n{model}net = Net()\nout = net(3)\nout.sum()\n")
    assert names(report)[0] == "forward"
    assert codes(report) == ["return x"]
    report = of_run("", "def pick(n):\n    if n > 1:\n        return {'a': 1}\npick(0)['a']\n")
    assert "behind train.py:2" in report.explained[0]["suggestions"][0]["do"]
    report = of_run(
        "", "def made(kind):\n    if kind == 'a':\n        return print\nshow = made('b')\nshow(len('a'))\n"
    )
    assert names(report)[0] == "made"
    # A function that says None itself may mean it: the line is to allow for it.
    report = of_run("", "def pick(n):\n    return {'a': 1} if n > 1 else None\nfound = pick(0)\nfound.get('a')\n")
    assert codes(report) == ["if found is not None:"]


def test_a_comma_at_the_end_and_what_zip_makes(of_run: Run):
    report = of_run("", "class Row:\n    pass\nrow = Row(),\nrow.shape\n")
    assert codes(report) == ["Row()"]
    assert "(train.py:3)" in condition(report)
    zipped = of_run("", "left, right = zip(*[(1, 2), (3, 4)])\nleft.to('cpu')\n")
    assert codes(zipped) == ["print(type(left))"]
    other = of_run("", "row = (1, 2)\nrow.to('cpu')\n")
    assert codes(other)[0] == "row[0].to('cpu')"


# A class without a length, and one that asks itself for what it lacks


STREAM = "class Stream:\n    def __init__(self, rows, n):\n        self.rows, self.n = rows, n\n{body}\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("    def __iter__(self):\n        for k in range(self.n):\n            yield k", ["def __len__(self): return self.n", "stream.n"]),
        ("    def __iter__(self):\n        for row in self.rows:\n            yield row", ["def __len__(self): return len(self.rows)"]),
        ("    def __iter__(self):\n        return iter(self.rows)", ["def __len__(self): return len(self.rows)"]),
        ("    def __getitem__(self, i):\n        return self.rows[i]", ["def __len__(self): return len(self.rows)"]),
        ("    def __iter__(self):\n        while True:\n            yield 1", ["def __len__(self): return ..."]),
        ("    def __iter__(self):\n        for row in self.rows:\n            for one in row:\n                yield one", ["def __len__(self): return ..."]),
    ],
)  # fmt: skip
def test_a_class_of_the_users_own_without_a_length(of_run: Run, body: str, expected: list[str]):
    assert (
        codes(of_run("", STREAM.format(body=body) + "stream = Stream([1, 2], 2)\nprint(len(stream) / 2)\n")) == expected
    )


def test_a_length_that_a_library_asks_for(of_run: Run):
    library = "def count(rows):\n    return len(rows)\n"
    body = "    def __getitem__(self, i):\n        return self.rows[i]"
    report = of_run(library, "from widget import count\n" + STREAM.format(body=body) + "count(Stream([1], 1))\n")
    assert codes(report) == ["def __len__(self): return len(self.rows)"]


def test_a_class_that_is_not_the_users_gets_no_length(of_run: Run):
    assert "__len__" not in str(codes(of_run("", "print(len(iter([1])))\n")))


WRAPPER = (
    "import copy\n{more}class Wrapper{base}:\n    def __init__(self, inner):\n        self.inner = inner\n"
    "    def __getattr__(self, name):\n        {body}\ncopy.copy(Wrapper(3))\n"
)


def test_an_attribute_that_getattr_reads_before_it_is_there(of_run: Run):
    plain = of_run("", WRAPPER.format(more="", base="", body="return getattr(self.inner, name)"))
    assert codes(plain) == ["if name == 'inner': raise AttributeError(name)"]
    derived = of_run(
        "", WRAPPER.format(more="class Base:\n    pass\n", base="(Base)", body="return getattr(self.inner, name)")
    )
    assert codes(derived) == ["if name == 'inner': return super().__getattr__(name)"]


@pytest.mark.parametrize("body", ["return getattr(self, name)", "return self.first[name] or self.inner"])
def test_of_another_recursion_no_attribute_is_named(of_run: Run, body: str):
    report = of_run("", WRAPPER.format(more="", base="", body=body))
    assert codes(report) == []


def test_a_function_that_calls_itself_is_no_getattr(of_run: Run):
    assert codes(of_run("", "def down(n):\n    return down(n.real - 1)\ndown(3)\n")) == []

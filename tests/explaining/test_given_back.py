"""What the user's functions give back to a library, what their data holds, and numbers that compiled code relates."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

LIBRARY = """
class Watch:
    def on_start(self, control):
        return control
    def on_step(self, control):
        pass

class Control:
    stop = False

class Plant:
    def __init__(self, rows=None, measure=None, watches=()):
        self.rows = rows
        self.measure = measure
        self.watches = watches
        self.control = Control()

    def call(self, event):
        for watch in self.watches:
            result = getattr(watch, event)(self.control)
            if result is not None:
                self.control = result

    def run(self):
        self.call("on_step")
        if self.control.stop:
            return
        loss = self.loss(self.rows)
        return loss / 2

    def loss(self, rows):
        return 1.0

    def check(self):
        measures = plain(self.measure(self.rows))
        measures["plant_loss"] = 0.5
        return measures

    def fetch(self, numbers):
        data = [self.rows[n] for n in numbers]
        return join(data)

def plain(measures):
    return measures

def join(batch):
    return {key: [one[key] for one in batch] for key in batch[0]}

def sort(groups):
    return [add(group) for group in groups]

def add(group):
    return group["pieces"]

def spin(*numbers):
    raise RuntimeError("The number of teeth of the inner wheel must divide the number of teeth of the outer wheel")

def wind(*numbers):
    raise RuntimeError("the drum turn is 9, which is greater than or equal to the rope length of 4 metres")

class Wheels:
    def __init__(self, **given):
        vars(self).update(given)
"""
Run = Callable[..., Report]


def told(report: Report) -> tuple[str, str, list[str | None]]:
    """The argument named first, the condition, and what is suggested as code."""
    one = report.explained[0]
    return one["arguments"][0]["name"], one["condition"], [fix["code"] for fix in one["suggestions"]]


def test_a_measure_that_is_no_dictionary(of_run: Run):
    program = "from widget import *\ndef score(rows):\n    total = len(rows) / 3\n    return round(total, 2)\nPlant([1], measure=score).check()\n"
    name, condition, codes = told(of_run(LIBRARY, program))
    assert (name, codes) == ("score", ['return {"value": round(total, 2)}'])
    assert "your function `score` returns it (train.py:4)" in condition


def test_a_method_without_return_that_the_users_class_overrides(of_run: Run):
    program = (
        "from widget import *\nclass Mine(Plant):\n    def loss(self, rows):\n        print(rows)\nMine([1]).run()\n"
    )
    name, _, codes = told(of_run(LIBRARY, program))
    assert (name, codes) == ("loss", ["return ..."])


def test_a_row_that_is_none_for_some_numbers(of_run: Run):
    program = (
        "from widget import *\nclass Rows:\n    def __getitem__(self, n):\n        if n > 1:\n            return None\n"
        "        return {'a': n}\nPlant(Rows()).fetch([0, 1, 2])\n"
    )
    # The library's attribute is called `rows`, as data sets are.
    name, _, codes = told(of_run(LIBRARY, program))
    assert (name, codes) == ("Rows.__getitem__", ["return ..."])
    named = told(of_run(LIBRARY.replace("self.rows[n]", "self.pick(n)"), program.replace("class Rows", "class Other")))
    assert "__getitem__" not in named[0]


def test_a_callback_that_returns_a_flag_where_it_returns_its_parameter(of_run: Run):
    watch = "from widget import *\nclass Mine(Watch):\n    def on_step(self, control):\n        return {}\nPlant([1], watches=[Mine()]).run()\n"
    name, _, codes = told(of_run(LIBRARY, watch.format("1 > 2")))
    assert (name, codes) == ("on_step", ["return control"])
    # A method of a class that no library knows is not what the library called.
    own = watch.replace("(Watch)", "").replace("watches=[Mine()]", "watches=[Watch()]").replace("return {}", "pass")
    assert "on_step" not in str(
        of_run(LIBRARY.replace("self.control = Control()", "self.control = False"), own).explained[0]["arguments"]
    )
    # Two functions that give such a value: neither is named.
    two = watch.format("1 > 2").replace(
        "Plant(", "class Other(Watch):\n    def on_start(self, control):\n        return False\nPlant("
    )
    assert "on_step" not in str(of_run(LIBRARY, two).explained[0]["arguments"])


def test_a_function_that_always_returns_something_is_not_blamed_for_none(of_run: Run):
    program = "from widget import *\nNOTHING = [None]\nclass Mine(Plant):\n    def loss(self, rows):\n        return NOTHING[0]\nMine([1]).run()\n"
    assert told(of_run(LIBRARY, program))[2] != ["return ..."]


def test_a_key_of_the_users_own_dictionaries_that_is_nearly_the_one_asked_for(of_run: Run):
    program = "from widget import *\ngroups = [{'piece': 1, 'rate': 2}]\nsort(groups)\n"
    name, condition, codes = told(of_run(LIBRARY, program))
    assert (name, codes) == ("piece", ["'pieces': ..."])
    assert "'piece', 'rate'" in condition
    other = told(of_run(LIBRARY, "from widget import *\ngroups = [{'weight': 1}]\nsort(groups)\n"))
    assert other[0] == "groups"
    assert "Give `groups` the key 'pieces'" in str(
        of_run(LIBRARY, "from widget import *\ngroups = [{'weight': 1}]\nsort(groups)\n").explained
    )


BATCHED = """
from widget import table
rows = table.Rows({'text': ['a', 'b'], 'length': [1, 2]})
def mark(row):
    return row['text'] + '!'
rows.map(mark%s)
"""
TABLE = """
class table:
    class Rows:
        def __init__(self, columns):
            self.columns = columns
        def map(self, function, batched=False):
            return apply(function, self.columns if batched else {"text": 5})

def apply(function, rows):
    return function(rows)
"""


def test_a_function_of_one_row_that_gets_a_batch(of_run: Run):
    name, condition, codes = told(of_run(TABLE, BATCHED % ", batched=True"))
    assert (name, codes) == ("batched", ["batched=False"])
    assert "`mark` gets a list of each column" in condition
    # Of one value that is no list, `batched` is not the reason.
    assert "batched" not in str(of_run(TABLE, BATCHED % "").explained)


def test_of_a_list_the_items_are_joined(of_run: Run):
    program = "from widget import *\nwords = ['a']\nprint('x' + words)\n"
    assert told(of_run(LIBRARY, program))[2] == ['", ".join(map(str, words))', "print(words)"]
    number = "from widget import *\nwords = 3\nprint('x' + words)\n"
    assert told(of_run(LIBRARY, number))[2] == ["str(words)"]


def test_two_numbers_of_which_one_has_to_divide_the_other(of_run: Run):
    program = "from widget import *\nwheels = Wheels(inner_teeth=4, outer_teeth=6, colour=3)\nspin(wheels)\n"
    name, condition, codes = told(of_run(LIBRARY, program))
    assert (name, codes) == ("inner_teeth", ["inner_teeth=3"])
    assert "`outer_teeth` is 6" in condition
    fitting = program.replace("outer_teeth=6", "outer_teeth=8")
    three = program.replace("colour=3", "middle_teeth=5")
    for other in (fitting, three):
        assert of_run(LIBRARY, other).explained[0]["suggestions"] == []


def test_two_numbers_of_which_one_has_to_be_smaller(of_run: Run):
    program = "from widget import *\nwind(Wheels(drum_turn=9, rope_length=4))\n"
    found = of_run(LIBRARY, program).explained[0]
    assert found["suggestions"][0]["do"] == "Set `drum_turn` so that `drum_turn < rope_length`"
    other = of_run(LIBRARY, program.replace("rope_length=4", "rope_length=5")).explained[0]
    assert other["suggestions"] == []


@pytest.mark.parametrize(
    ("line", "message", "code"),
    [
        ("x = np.array(ids, dtype=np.uint16)", "Python integer 120952 out of bounds for uint16", "dtype=np.uint32"),
        ("x = np.array(ids, dtype='uint8')", "Python integer 300 out of bounds for uint8", "dtype='uint16'"),
        ("x = np.array(ids, dtype=np.uint8)", "Python integer -1 out of bounds for uint8", "dtype=np.int8"),
        ("x = np.uint16(ids[0])", "Python integer 70000 out of bounds for uint16", "np.uint32"),
        ("x = np.array(ids, dtype=kind)", "Python integer 70000 out of bounds for uint16", None),
    ],
)
def test_a_type_that_holds_the_number(line: str, message: str, code: str | None):
    from troubleshooter.pipeline import Diagnoser

    log = f'Traceback (most recent call last):\n  File "/home/me/train.py", line 3, in <module>\n    {line}\nOverflowError: {message}\n'
    [found] = Diagnoser.of([]).diagnose(log).explained
    assert [one["code"] for one in found["suggestions"]] == ([code] if code else [])


def test_a_call_that_gives_back_all_that_it_got(of_run: Run):
    program = "from widget import *\ndef ready(*parts):\n    return parts\na = b = c = 1\na, b = ready(a, b, c)\n"
    assert told(of_run(LIBRARY, program))[2][0] == "a, b, c = ready(a, b, c)"
    other = "from widget import *\ndef ready(*parts):\n    return 1, 2, 3\na = b = 1\na, b = ready(a)\n"
    assert told(of_run(LIBRARY, other))[2][0] == "a, b, *rest"


def test_a_function_that_returns_only_in_one_case(of_run: Run):
    program = (
        "from widget import *\nclass Mine(Plant):\n    def loss(self, rows):\n        if len(rows) > 3:\n            return 1.0\n"
        "Mine([1]).run()\n"
    )
    report = of_run(LIBRARY, program)
    assert told(report)[0] == "loss"
    assert "behind train.py:4 it ends without `return`" in report.explained[0]["suggestions"][0]["do"]
    whole = program.replace("Mine([1])", "    @staticmethod\n    def other():\n        pass\nMine([1])").replace(
        "return 1.0\n", "return 1.0\n        raise ValueError('few')\n"
    )
    assert "return ..." not in str(of_run(LIBRARY, whole).explained)


def test_a_collator_that_forgets_its_return(of_run: Run):
    library = "def load(rows, join=None):\n    for row in rows:\n        yield join(row)\n"
    program = "from widget import load\ndef collate(row):\n    batch = {'x': row}\nfor batch in load([1, 2], join=collate):\n    print(batch['x'])\n"
    name, _, codes = told(of_run(library, program))
    assert (name, codes) == ("collate", ["return batch"])
    given = program.replace("batch = {'x': row}", "return [None, {}][row > 2]")
    assert told(of_run(library, given))[2] == ["print(type(batch))"]


def test_a_length_that_is_no_whole_number(of_run: Run):
    library = "def count(rows):\n    return len(rows)\n"
    program = "from widget import count\nclass Rows:\n    def __len__(self):\n        return 7 / 2\ncount(Rows())\n"
    assert told(of_run(library, program))[:3:2] == ("Rows.__len__", ["return 7 // 2"])


def test_a_key_of_the_users_own_line_that_the_file_writes_otherwise(of_run: Run):
    program = "state = {'optim': 1, 'net': 2}\nprint(state['optimizer'])\n"
    assert told(of_run("", program))[2] == ["'optim'", "print(state.keys())"]
    assert told(of_run("", program.replace("'optim'", "'weights'")))[2] == ["print(state.keys())"]
    other = program.replace("'optim'", "'text'").replace("'optimizer'", "'test'")
    assert told(of_run("", other))[2] == ["print(state.keys())"]


def test_the_bound_of_a_slice_that_is_no_whole_number(of_run: Run):
    assert told(of_run("", "ROWS, SHARE = 10, 0.8\nx = [1, 2]\nprint(x[:ROWS * SHARE])\n"))[2] == ["int(ROWS * SHARE)"]


@pytest.mark.parametrize(
    ("line", "at", "code"),
    [
        (
            "x.view(b, n, self.heads, self.size)",
            'failed to unpack the object at pos 4 with error "type must be tuple of ints,but got float',
            ["int(self.size)"],
        ),
        (
            "torch.zeros(rows, width)",
            'failed to unpack the object at pos 2 with error "type must be tuple of ints,but got float',
            ["int(width)"],
        ),
    ],
)
def test_the_size_that_is_no_whole_number(line: str, at: str, code: list[str]):
    from troubleshooter.pipeline import Diagnoser

    name = line.partition("(")[0].rpartition(".")[2]
    log = f'Traceback (most recent call last):\n  File "/home/me/train.py", line 3, in <module>\n    y = {line}\nTypeError: {name}(): argument \'size\' {at}"\n'
    [found] = Diagnoser.of([]).diagnose(log).explained
    assert [one["code"] for one in found["suggestions"]] == code


REWARDS = """
class Dataset:
    @staticmethod
    def from_dict(columns):
        return columns

def judge(rows, by):
    return score(rows, by)

def score(rows, by):
    return by(**rows)
"""


def test_a_parameter_that_is_called_otherwise_than_the_column(of_run: Run):
    program = (
        "from widget import *\ndef exact(prompt, answer, **others):\n    return 1\n"
        "rows = Dataset.from_dict({'prompt': ['a'], 'solution': ['b']})\njudge(rows, by=exact)\n"
    )
    found = of_run(REWARDS, program).explained[0]
    assert found["suggestions"][0]["code"] == "solution"
    assert "Name the parameter `answer`" in found["suggestions"][0]["do"]
    # Columns that the program changes on the way are not known.
    changed = program.replace("judge(", "others = {}\nif others:\n    rows.rename_column('a', 'b')\njudge(")
    assert "solution" not in str(of_run(REWARDS, changed).explained[0]["suggestions"])


def test_a_row_that_is_none_where_tensors_are_stacked(of_run: Run):
    library = (
        "def stack(rows):\n    raise TypeError('expected Tensor as element 1 in argument 0, but got NoneType')\n"
        "def load(rows):\n    return stack([rows[n] for n in range(2)])\n"
    )
    program = "from widget import load\nclass Rows:\n    def __getitem__(self, n):\n        {body}\nload(Rows())\n"
    name, _, codes = told(of_run(library, program.format(body="if n < 1:\n            return n")))
    assert (name, codes) == ("Rows.__getitem__", ["return ..."])
    name, _, codes = told(of_run(library, program.format(body="if n:\n            return None\n        return n")))
    assert (name, codes) == ("Rows.__getitem__", ["return ..."])
    says = of_run(library, program.format(body="return n if n else 2"))
    assert "__getitem__" not in str(says.explained[0]["arguments"])

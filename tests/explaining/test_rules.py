"""Tensor operations and Python's own exceptions are explained by their message and the shown line alone."""

from __future__ import annotations

import pytest

from tests.programs.program import load
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.model import Report

LOGS = {program.id: program.log for program in load() if not program.held}


def report(line: str, message: str, marks: str = "") -> Report:
    log = f'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in <module>\n    {line}\n'
    log += f"    {marks}\n" if marks else ""
    return Diagnoser.of([]).diagnose(f"{log}{message}\n")


def first(found: Report) -> str | None:
    return found.explained[0]["suggestions"][0]["code"]


@pytest.mark.parametrize(
    ("line", "message", "told", "code"),
    [
        ("x = x.view(2, 5, 5, -1)", "RuntimeError: shape '[2, 5, 5, -1]' is invalid for input of size 120", "120", "x.view(2, 5, 4, -1)"),
        ("mask = mask.expand(4, 2, 7)", "RuntimeError: The expanded size of the tensor (2) must match the existing size (4) at non-singleton dimension 1.  Target sizes: [4, 2, 7].  Tensor sizes: [4, 7]", "[4, 7]", "mask.unsqueeze(1).expand(4, 2, 7)"),
        ("both = torch.stack(rows)", "RuntimeError: stack expects each tensor to be equal size, but got [3] at entry 0 and [2] at entry 1", "[3]", "torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)"),
        ("y = torch.softmax(x, dim=2)", "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 2)", "-2", "dim=1"),
        ("loss = F.cross_entropy(out, y)", "RuntimeError: expected scalar type Long but found Int", "`y`", "y.long()"),
    ],
)  # fmt: skip
def test_a_tensor_operation_says_what_it_needs(line: str, message: str, told: str, code: str):
    found = report(line, message)
    assert told in found.explained[0]["condition"]
    assert first(found) == code


def test_what_is_suggested_for_a_view_holds_all_values():
    found = report("x = x.view(7, -1)", "RuntimeError: shape '[7, -1]' is invalid for input of size 12")
    assert first(found) == "x.view(6, -1)"


@pytest.mark.parametrize(
    ("line", "marks", "message", "told"),
    [
        ("print(a['x'], b['label'])", "              ^^^^^^^^^^", "KeyError: 'label'", "`b` has no key 'label'"),
        ("n = int(found.group(1))", "", "AttributeError: 'NoneType' object has no attribute 'group'", "`found` is None"),
        ("warm = 10 / steps", "", "ZeroDivisionError: division by zero", "`steps` is 0"),
        ("for a, b in rows:", "", "ValueError: too many values to unpack (expected 2)", "`rows`"),
        ("path = 'out-' + step", "", 'TypeError: can only concatenate str (not "int") to str', "`step` is of type int"),
        ("best = history[0]", "", "IndexError: list index out of range", "`history` is empty"),
        ("build(lr=1)", "", "TypeError: build() got an unexpected keyword argument 'lr'", "no parameter `lr`"),
        ("if lr < limit:", "", "TypeError: '<' not supported between instances of 'str' and 'float'", "`lr` is of type str"),
        ("mean = np.mean(x)", "", "NameError: name 'np' is not defined", "`np`"),
    ],
)  # fmt: skip
def test_an_exception_of_python_names_the_operand(line: str, marks: str, message: str, told: str):
    assert told in report(line, message, marks).explained[0]["condition"]


def test_where_the_line_does_not_show_which_operand_all_are_named():
    found = report("rate = a / b + c / d", "ZeroDivisionError: division by zero")
    assert {one["name"] for one in found.explained[0]["arguments"]} == {"b", "d"}


@pytest.mark.parametrize("name", sorted(name for name in LOGS if name.startswith(("shape-", "dtype-", "py-"))))
def test_recorded_programs_are_explained(name: str):
    """Of the programs that the rules were developed with."""
    found = Diagnoser.of([]).diagnose(LOGS[name])
    assert found.explained
    assert found.exit_code == 3


def test_a_line_that_is_not_shown_gives_no_guess():
    log = (
        'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in <module>\n'
        "ZeroDivisionError: division by zero\n"
    )
    assert Diagnoser.of([]).diagnose(log).explained == []


def test_every_format_shows_it():
    from troubleshooter.report.brief import lines
    from troubleshooter.report.html import html
    from troubleshooter.report.markdown import markdown

    found = report("warm = 10 / steps", "ZeroDivisionError: division by zero")
    for text in (str(found), markdown(found), html(found), "\n".join(lines(found, 200)), found._repr_html_()):
        assert "not diagnosed" in text
        assert "steps" in text
    assert found.to_dict()["explained"][0]["arguments"][0]["name"] == "steps"


def test_what_a_log_says_is_printed_without_control_characters():
    found = report("x = table['a\u202e\x1b[31m']", "KeyError: 'a\u202e\x1b[31m'").explained
    assert found
    assert not any(char in repr(found) + str(found) for char in ("\u202e", "\x1b"))


def test_code_that_is_nested_without_end_is_left_alone():
    assert report("x = " + "(" * 5000 + "1", "KeyError: 'a'").explained == []


LIBRARY_LINES = [
    ("x = self.table[batch['ids']]", "KeyError: 'ids'", "`batch` has no key 'ids'"),
    ("rows[0](head[1])", "TypeError: 'NoneType' object is not subscriptable", "one of `rows` / `head`"),
    ("self.tags.remove('cache')", "KeyError: 'cache'", "`self.tags` has no key 'cache'"),
    ("return first[0] + rest[1]", "IndexError: list index out of range", "one of `first` / `rest`"),
    ("wind(spring(1))", "TypeError: 'int' object is not callable", "one of `wind` / `spring`"),
    ("return a * b + c", "TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'", "`a` is of type NoneType"),
    ("name = prefix + number + '.bin'", 'TypeError: can only concatenate str (not "int") to str', "`number` is of type int"),
    ("assert width == self.width, width", "AssertionError: 3", "the check `width == self.width` was false"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message", "told"), LIBRARY_LINES)
def test_a_line_of_a_library_without_source_names_the_operand_and_suggests_nothing(line: str, message: str, told: str):
    log = (
        'Traceback (most recent call last):\n  File "/home/me/train.py", line 7, in <module>\n    gadget.run(rows)\n'
        f'  File "/opt/venv/lib/python3.11/site-packages/gadget/core.py", line 99, in run\n    {line}\n{message}\n'
    )
    [found] = Diagnoser.of([]).diagnose(log).explained
    assert told in found["condition"]
    assert (found["package"], found["suggestions"]) == ("gadget", [])
    assert "self" not in {one["name"] for one in found["arguments"]}
    assert all("your line" not in one["why"] for one in found["arguments"])
    [chinese] = Diagnoser.of([]).diagnose(log, lang="zh").explained
    assert chinese["condition"] != found["condition"]


RECURSION = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 40, in <module>
    pack(rows)
{frames}  [Previous line repeated 990 more times]
RecursionError: maximum recursion depth exceeded{more}
"""


def test_a_recursion_without_end_names_the_function_that_repeats():
    frame = '  File "/home/me/train.py", line 7, in depth\n    return 1 + depth(tree[0])\n'
    found = Diagnoser.of([]).diagnose(RECURSION.format(frames=3 * frame, more=""))
    assert found.explained[0]["condition"].startswith("`depth` (train.py:7) calls itself and never stops")


def test_functions_that_call_each_other_without_end_are_named_in_their_order():
    frames = (
        '  File "/venv/lib/python3.11/site-packages/peft/peft_model.py", line 90, in forward\n    return self.base(x)\n'
        '  File "/home/me/train.py", line 12, in patched\n    return model.forward(x)\n'
    )
    found = Diagnoser.of([]).diagnose(RECURSION.format(frames=3 * frames, more=" while calling a Python object"))
    assert "`forward` (peft_model.py:90) → `patched` (train.py:12)" in found.explained[0]["condition"]


def test_a_recursion_whose_lines_do_not_repeat_is_not_explained():
    frames = '  File "/home/me/train.py", line 12, in load\n    return parse(text)\n'
    assert Diagnoser.of([]).diagnose(RECURSION.format(frames=frames, more="")).explained == []


CHAINED = """Traceback (most recent call last):
  File "/home/a/train.py", line 33, in <module>
    out = x.view(b, h, -1, d).transpose(1, 2)
RuntimeError: shape '[2, 8, -1, 96]' is invalid for input of size 1048576
"""
NESTED = """Traceback (most recent call last):
  File "/home/a/train.py", line 55, in <module>
    for step, (batch, extra) in enumerate(loader):
ValueError: too many values to unpack (expected 2)
"""


def test_of_chained_calls_the_one_that_failed_is_told() -> None:
    [found] = Diagnoser.of([]).diagnose(CHAINED).explained
    assert found["arguments"][0]["name"] == "x"
    assert found["suggestions"][0]["code"] == "x.view(2, 8, -1, 64)"


def test_of_nested_names_the_inner_ones_are_told() -> None:
    [found] = Diagnoser.of([]).diagnose(NESTED).explained
    assert [one["name"] for one in found["arguments"]] == ["loader", "batch, extra"]
    assert found["suggestions"][0]["code"] == "batch, extra, *rest"

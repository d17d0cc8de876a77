"""Which statements and calls stand at a line of a file."""

from __future__ import annotations

import ast

from troubleshooter.explaining.source.calls import calls_at
from troubleshooter.explaining.source.sources import holding


def names(source: str, line: int) -> list[str]:
    return [ast.unparse(call.func) for call in calls_at(ast.parse(source), line)]


def test_two_statements_of_one_line_give_both_their_calls() -> None:
    assert sorted(names("a(); b()\nc()\n", 1)) == ["a", "b"]


def test_the_head_of_a_block_gives_its_own_calls_only() -> None:
    source = "with opened(path) as file:\n    read(file)\n    for x in every():\n        use(x)\n"
    assert names(source, 1) == ["opened"]
    assert names(source, 3) == ["every"]
    assert names(source, 4) == ["use"]


def test_what_a_handler_and_a_case_hold_is_found() -> None:
    source = "try:\n    run()\nexcept failed() as e:\n    tell(e)\n"
    assert names(source, 4) == ["tell"]
    assert names("match x:\n    case 1:\n        one()\n", 3) == ["one"]


def test_a_call_over_several_lines_is_at_each_of_them() -> None:
    assert names("outer(\n    inner(1),\n    2,\n)\n", 2) == ["inner", "outer"]
    assert names("outer(\n    inner(1),\n    2,\n)\n", 3) == ["outer"]


def test_a_long_chain_of_branches_is_no_recursion() -> None:
    tree = ast.parse("pass")
    last: list[ast.stmt] = [ast.Expr(ast.Constant(1), lineno=5000, end_lineno=5000, col_offset=0, end_col_offset=1)]
    for line in range(4999, 1, -1):
        last = [ast.If(ast.Constant(1), [ast.Pass(lineno=line, end_lineno=line)], last, lineno=line, end_lineno=5000)]
    tree.body = last
    assert [node.lineno for node in holding(tree, 5000)] == list(range(2, 5001))

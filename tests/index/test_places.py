"""Places that print messages, read from source text."""

from __future__ import annotations

from textwrap import dedent

import pytest

from kb.index.place import Hole, MessagePlace
from kb.index.places import MAX_SOURCE, places


def read(source: str) -> list[MessagePlace]:
    return places(dedent(source), "lib/file.py")


def one(source: str) -> MessagePlace:
    [place] = read(source)
    return place


def way(place: MessagePlace) -> list[str]:
    """The chain of guards, each as it must have been."""
    return [guard.condition if guard.holds else f"not ({guard.condition})" for guard in place.guards]


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('f"a {x!r} b"', "a {x} b"),
        ('"a %s b %d%%" % (x, n + 1)', "a {x} b {n + 1}%"),
        ('"a %(k)s b" % {"k": x}', "a {x} b"),
        ('"a {} b {0}{k.name} {{c}}".format(x, k=n)', "a {x} b {x, n.name} {c}"),
        ('"a " + str(x) + " b"', "a {x} b"),
        ('"a " "b " f"{x}"', "a b {x}"),
        ('textwrap.dedent(f"""\n    one {x}\n      two""")', "\none {x}\n  two"),
        ('" ".join(["a", f"b {x}"])', "a b {x}"),
        ("MODULE", "from the module"),
        ("BELOW", "stands below"),
        ("f'{MODULE}: {x}'", "from the module: {x}"),
        ('"-" * 4 + " a"', "---- a"),
        ('_("translated text")', "translated text"),
    ],
)
def test_template_of_each_way_to_write_a_message(expression: str, text: str) -> None:
    source = f'MODULE = "from the module"\ndef f(x, n):\n    raise ValueError({expression})\nBELOW = "stands below"\n'
    [place] = places(source, "f.py")
    assert place.text == text


def test_template_is_literals_and_holes_in_turn() -> None:
    place = one('raise ValueError("a " "b" + f"{x}{y}" + "c")')
    assert place.template == ("a b", Hole("x, y"), "c")
    assert place.weight == 3


@pytest.mark.parametrize(
    ("statement", "kind", "exception", "level"),
    [
        ('raise errors.HubError("no such repo")', "raise", "errors.HubError", None),
        ("raise NotImplementedError", "raise", "NotImplementedError", None),
        ('return ValueError("made, not yet raised")', "raise", "ValueError", None),
        ('raise OSError(errno.ENOENT, "no such file here")', "raise", "OSError", None),
        ('assert x, "x is needed"', "assert", "AssertionError", None),
        ('torch._check(x, lambda: "x is needed")', "check", "RuntimeError", None),
        ('torch._check_value(x, lambda: "x is needed")', "check", "ValueError", None),
        ('warnings.warn("is deprecated", FutureWarning)', "warn", "FutureWarning", None),
        ('logger.warning_once("only %s once", x)', "log", None, "warning"),
        ('self.logger.error("it broke")', "log", None, "error"),
        ('rank_zero_warn("only on rank 0")', "warn", "UserWarning", None),
        ('print("cannot do", x)', "print", None, None),
        ('sys.exit("cannot go on")', "exit", "SystemExit", None),
        ('parser.error("bad option")', "exit", "SystemExit", None),
    ],
)
def test_kind_of_place(statement: str, kind: str, exception: str | None, level: str | None) -> None:
    place = one(f"def f(x):\n    {statement}\n")
    assert (place.kind, place.exception, place.level) == (kind, exception, level)


def test_other_calls_are_no_messages() -> None:
    assert read('x = open("some file name here")\nos.path.join("aaaaaaa", "bbbbbbb")\nnp.log("some words here", 3)') == []


def test_message_of_an_exception_class() -> None:
    place = one('class GoneError(Exception):\n    def __init__(self, n):\n        super().__init__(f"gone since {n}")\n')
    assert (place.exception, place.text, place.function) == ("GoneError", "gone since {n}", "GoneError.__init__")


def test_chain_of_guards_from_the_outside_in() -> None:
    place = one("""
        class A:
            def f(self, x, items):
                if x is None:
                    return
                for item in items:
                    if not item:
                        continue
                    if x == 1:
                        use(item)
                    elif x == 2:
                        use(x)
                    else:
                        try:
                            load(item)
                        except KeyError as error:
                            with lock:
                                raise ValueError("bad item") from error
        """)
    assert place.function == "A.f"
    kinds = [guard.kind for guard in place.guards]
    assert kinds == ["early", "for", "early", "else", "else", "except"]
    assert way(place) == [
        "not (x is None)", "item in items", "not (not item)", "not (x == 1)", "not (x == 2)", "KeyError as error",
    ]  # fmt: skip
    assert [guard.line for guard in place.guards] == [4, 6, 7, 9, 11, 16]


def test_branches_that_all_leave_but_one_hold_behind_the_if() -> None:
    place = one("""
        def f(x):
            if x > 1:
                y = 2
            elif x > 0:
                return
            else:
                sys.exit(1)
            raise ValueError("here")
        """)
    assert way(place) == ["x > 1"]


def test_nothing_is_claimed_behind_branches_that_fall_through() -> None:
    place = one("""
        def f(x):
            if x > 1:
                y = 2
            elif x > 0:
                return
            raise ValueError("here")
        """)
    assert way(place) == []


def test_earlier_assert_holds_and_own_condition_does_not() -> None:
    first, second = read('def f(a, b):\n    assert a\n    assert b, f"{b} is false"\n')
    assert (first.template, way(first)) == ((), ["not (a)"])
    assert way(second) == ["a", "not (b)"]
    assert [guard.kind for guard in second.guards] == ["early", "assert"]


def test_guard_on_a_name_assigned_since_is_stale() -> None:
    place = one("""
        def f(x, y):
            if x is None and y:
                x = load(y)
                if not x.ok:
                    raise ValueError("not loaded")
        """)
    assert [(guard.condition, guard.stale) for guard in place.guards] == [("x is None and y", True), ("not x.ok", False)]


def test_name_bound_in_branches_gives_one_place_for_each_text() -> None:
    found = read("""
        def f(x, y):
            message = "first"
            if x:
                message += " with x"
            elif y:
                message = f"second {y}"
            raise ValueError(message)
        """)
    assert [(place.text, way(place)) for place in found] == [
        ("first with x", ["x"]),
        ("second {y}", ["not (x)", "y"]),
        ("first", ["not (x)", "not (y)"]),
    ]


def test_conditional_expression_gives_one_place_for_each_text() -> None:
    found = read('def f(x):\n    raise ValueError("is set" if x else "is not set")\n')
    assert [(place.text, way(place)) for place in found] == [("is set", ["x"]), ("is not set", ["not (x)"])]


def test_name_bound_to_something_else_is_a_hole() -> None:
    place = one('def f(x):\n    m = "text"\n    m = g(x)\n    raise ValueError(m)\n')
    assert place.template == (Hole("m"),)
    assert place.weight == 0


def test_parameters_with_defaults_and_annotations() -> None:
    place = one('class A:\n    def f(self, a: int, b=1, *rest, c: str | None = None, **more): raise ValueError("here it is")\n')
    assert [tuple(parameter) for parameter in place.parameters] == [
        ("a", None, "int"), ("b", "1", None), ("*rest", None, None), ("c", "None", "str | None"), ("**more", None, None),
    ]  # fmt: skip


def test_fields_of_a_dataclass_are_what_post_init_checks() -> None:
    place = one("""
        @dataclass
        class Config:
            beta: float = field(default=0.1, metadata={"help": "long text"})
            names: list[str] = field(default_factory=list)

            def __post_init__(self):
                if self.beta < 0:
                    raise ValueError("beta must not be negative")
        """)
    assert [tuple(parameter) for parameter in place.parameters] == [
        ("beta", "0.1", "float"), ("names", "list()", "list[str]"),
    ]  # fmt: skip


def test_bindings_follow_the_names_of_guards_and_holes() -> None:
    place = one("""
        LIMIT = 4
        def f(batch, model):
            size = len(batch)
            most = model.config.most
            unused = 1
            if size > most * LIMIT:
                raise ValueError(f"{size} is too many")
        """)
    assert [(binding.name, binding.expression) for binding in place.bindings] == [
        ("size", "len(batch)"), ("most", "model.config.most"), ("LIMIT", "4"),
    ]  # fmt: skip


def test_guards_do_not_leak_into_functions_defined_under_them() -> None:
    place = one('if AVAILABLE:\n    def f():\n        raise ValueError("inside")\n')
    assert place.guards == ()


@pytest.mark.parametrize("source", ["def f(:\n", "\0", "x" * (MAX_SOURCE + 1), "print 'python 2'", "x = " + "(" * 9000])
def test_unreadable_source_gives_no_places(source: str) -> None:
    assert places(source, "f.py") == []


def test_deep_and_long_sources_are_read() -> None:
    deep = "".join(" " * depth + f"if a{depth}:\n" for depth in range(90)) + " " * 90 + 'raise ValueError("deep down")\n'
    assert len(one(deep).guards) == 24
    chain = "if a == 0:\n    pass\n" + "".join(f"elif a == {n}:\n    pass\n" for n in range(300)) + 'else:\n    raise ValueError("last one")\n'
    assert one(chain).text == "last one"
    sum_ = "raise ValueError(" + " + ".join(['"ab"'] * 700) + ")"
    assert one(sum_).kind == "raise"


def test_same_line_numbers_as_a_traceback_shows() -> None:
    place = one("\n\n\nraise ValueError(\n    'three lines'\n)\n")
    assert (place.line, place.end_line) == (4, 6)

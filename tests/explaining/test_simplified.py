"""What several branches that were not taken say together; and what one branch assigns, which has not happened in the others."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kb.index.places import places
from troubleshooter.explaining.message.advice import allowed, commands, refused, wanted
from troubleshooter.explaining.message.named import names
from troubleshooter.explaining.place.conditions import Atom, formula, reasons, words
from troubleshooter.explaining.place.simplified import simplified
from troubleshooter.pipeline import Diagnoser


def said(*conditions: str) -> str:
    parts = [one for text in conditions if (one := formula(text, False)) is not None]
    return " & ".join(words(part, ast.unparse, "en") for part in simplified(parts))


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        (("a is None and b is None", "a is not None and b is None", "a is None and b is not None"), "`a` is given & `b` is given"),
        (("a and b", "a and not b"), "`a` is empty, false or not given"),
        (("a and b",), said("a and b")),
        (("a", "b"), said("a", "b")),
    ],
)  # fmt: skip
def test_branches_that_were_not_taken_say_the_rest(conditions: tuple[str, ...], told: str) -> None:
    assert said(*conditions) == told


def test_more_questions_than_can_be_tried_stay_as_they_are() -> None:
    parts = [one for text in ("a and b", "c and d", "e and a") if (one := formula(text, False)) is not None]
    assert simplified(parts) == parts
    assert not all(isinstance(part, Atom) for part in parts)


SOURCE = """
def fill(size, room):
    if size is None and room is None:
        size = 1
    elif size is not None and room is None:
        room = size
    elif size is None and room is not None:
        size = room
    else:
        raise ValueError("size and room can not both be given")
"""


def test_what_one_branch_assigns_has_not_happened_in_the_others() -> None:
    [place] = places(SOURCE, "gadget/core.py")
    assert not any(guard.stale for guard in place.guards)
    near, around = reasons(place)
    assert [words(part, ast.unparse, "en") for part in simplified([*near, *around])] == [
        "`size` is given",
        "`room` is given",
    ]


def test_what_a_branch_assigns_counts_behind_it() -> None:
    text = "def fill(size):\n    if size is None:\n        return\n    if hot:\n        size = 2\n    raise ValueError('no room is left')\n"
    [place] = places(text, "gadget/core.py")
    assert any(guard.stale for guard in place.guards if "size" in guard.condition)


def test_a_name_is_found_in_another_form() -> None:
    assert names("requires the saving steps to be a multiple of the evaluation steps", "save_steps")
    assert names("requires the saving steps to be a multiple of the evaluation steps", "eval_steps")
    assert not names("the savings of a step", "save_steps")


def test_what_a_message_refuses_and_allows() -> None:
    text = "nfkc-fold is not a known unicode normalizer. Available are dict_keys(['nfc', 'nfd'])"
    assert refused(text)[0] == "nfkc-fold"
    assert allowed(text) == ["nfc", "nfd"]
    assert wanted("Loading in parallel with `num_proc` is not implemented.") == {"num_proc": False}
    assert [one.code for one in commands("You can make it a dense tensor before saving with `.to_dense()` but")] == [
        ".to_dense()"
    ]


@pytest.mark.parametrize(("parts", "is_told"), [(8, True), (9, False)])
def test_a_condition_of_too_many_parts_is_not_told(tmp_path: Path, parts: int, is_told: bool) -> None:
    """The last branch of a parser excludes all others: nobody understands that as a reason."""
    asked = " or ".join(f"self.has(Part{number})" for number in range(parts))
    code = f"class Reader:\n    def read(self):\n        if {asked}:\n            return 1\n        raise ReadError('what is {{here}} cannot stand here')\n"
    folder = tmp_path / "site-packages" / "reader"
    folder.mkdir(parents=True)
    (folder / "core.py").write_text(code)
    log = (
        'Traceback (most recent call last):\n  File "/app/run.py", line 3, in <module>\n    Reader().read()\n'
        f'  File "{folder}/core.py", line 5, in read\n    raise ReadError(\'what is {{here}} cannot stand here\')\n'
        "reader.core.ReadError: what is {here} cannot stand here\n"
    )
    (told,) = Diagnoser.of([], folders=[str(tmp_path / "site-packages")]).diagnose(log).explained
    assert told["file"] == "reader/core.py"
    assert ("Part0" in told["condition"]) == is_told

"""Objects that a library collects because they lack what each has to have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

LIBRARY = """
class Plant:
    def keep(self, *pieces):
        wrong = []
        for piece in pieces:
            if not hasattr(piece, "pack") or not hasattr(piece, "unpack"):
                wrong.append(piece)
        if len(wrong) > 0:
            raise ValueError(f"{len(wrong)} pieces cannot be kept")

class Piece:
    def pack(self):
        return {}

    def unpack(self, packed):
        pass

class Other:
    pass
"""
PROGRAM = "from widget import *\npiece = Piece()\nstate = %s\nPlant().keep(%s)\n"
Run = Callable[..., Report]


@pytest.mark.parametrize(
    ("made", "passed", "do"),
    [
        ("piece.pack()", "piece, state", "Pass `piece` itself in place of `piece.pack()`"),
        ("{'a': 1}", "state", "Pass an object that has `pack`, `unpack` in place of `state`"),
        ("Other()", "state", "Pass an object that has `pack`, `unpack` in place of `state`"),
        ("None", "piece, {}", "Pass an object that has `pack`, `unpack` in place of `{}`"),
    ],
)
def test_the_object_that_lacks_something(of_run: Run, made: str, passed: str, do: str):
    [found] = of_run(LIBRARY, PROGRAM % (made, passed)).explained
    assert [one["do"] for one in found["suggestions"]] == [do]
    assert found["condition"].endswith("does not have all of `pack`, `unpack`")


def test_of_two_objects_neither_is_named(of_run: Run):
    assert of_run(LIBRARY, PROGRAM % ("Other()", "piece, state")).explained[0]["suggestions"] == []
    # What is collected for another reason is not told.
    library = LIBRARY.replace('not hasattr(piece, "pack") or', "len(pieces) > 0 or")
    assert of_run(library, PROGRAM % ("{}", "state")).explained[0]["suggestions"] == []

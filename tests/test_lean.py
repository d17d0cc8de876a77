"""The light dataclasses behave as the standard library's, as far as they go."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest
from pydantic import TypeAdapter

from troubleshooter import lean


def _made(kit: Any) -> Any:
    @kit.dataclass(slots=True)
    class Thing:
        """A thing."""

        name: str
        count: int = 3
        parts: list[str] = kit.field(default_factory=list)
        hidden: dict[str, int] = kit.field(default_factory=dict, repr=False)
        shared: object = kit.field(default=None, repr=False, compare=False)

        @property
        def double(self) -> int:
            return self.count * 2

    return Thing


@pytest.mark.parametrize("kit", [lean, dataclasses])
def test_as_the_standard_library(kit: Any) -> None:
    thing_type = _made(kit)
    one, two = thing_type("a"), thing_type("a", 3, parts=[])
    assert one == two
    assert one == thing_type("a", shared=3)
    assert one != thing_type("b")
    assert one != "a"
    assert one.parts is not two.parts
    assert one.double == 6
    assert thing_type.__doc__ == "A thing."
    assert repr(one).endswith("Thing(name='a', count=3, parts=[])")
    assert kit.asdict(thing_type("a", parts=["x"])) == {
        "name": "a", "count": 3, "parts": ["x"], "hidden": {}, "shared": None,
    }  # fmt: skip
    assert dataclasses.asdict(one) == kit.asdict(one)
    assert [f.name for f in dataclasses.fields(thing_type)] == ["name", "count", "parts", "hidden", "shared"]
    assert TypeAdapter(thing_type).json_schema()["required"] == ["name"]
    with pytest.raises(TypeError):
        thing_type()
    with pytest.raises(AttributeError):
        one.other = 1
    with pytest.raises(TypeError):
        hash(one)


@pytest.mark.parametrize("kit", [lean, dataclasses])
def test_frozen(kit: Any) -> None:
    @kit.dataclass(slots=True, frozen=True)
    class Place:
        x: int
        y: int = 0
        seen: str = kit.field(default="", compare=False)

    assert len({Place(1), Place(1, 0), Place(2), Place(2, seen="x")}) == 2
    with pytest.raises(AttributeError):
        Place(1).x = 2  # type: ignore[misc]


def test_slots_are_asked_for() -> None:
    with pytest.raises(TypeError, match="slots=True"):
        lean.dataclass()(object)


def test_a_line_can_be_copied_and_sent() -> None:
    from troubleshooter.read.line import Line

    line = Line("text", 3, rank=1)
    assert pickle.loads(pickle.dumps(line)) == line

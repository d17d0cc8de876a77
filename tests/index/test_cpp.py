"""The messages of C++ sources, by what torch's macros print."""

from __future__ import annotations

import pytest

from kb.index.make.cpp import cpp_source
from kb.index.place import Hole, MessagePlace


def places(text: str) -> list[MessagePlace]:
    return cpp_source(text, "aten/spring.cu")


def test_a_check_has_its_condition_its_exception_and_the_holes_of_its_message():
    [one] = places('// text\nTORCH_CHECK(spring.dim() == 2, "Expected a spring of ", want(2, 3), " turns, " "got ", turns);\n')
    assert one.template == ("Expected a spring of ", Hole("want(2, 3)"), " turns, got ", Hole("turns"))
    assert [(guard.condition, guard.holds) for guard in one.guards] == [("spring.dim() == 2", False)]
    assert (one.kind, one.exception, one.line) == ("compiled", "RuntimeError", 2)


@pytest.mark.parametrize(
    ("text", "exception"),
    [
        ('TORCH_CHECK_INDEX(i < n, "spring is out of its range");', "IndexError"),
        ('TORCH_CHECK_WITH(c10::NotImplementedError, ok, "springs of this kind are not known");', "NotImplementedError"),
        ('C10_THROW_ERROR(DistBackendError, "the spring lost its other end");', "torch.distributed.DistBackendError"),
        ('TORCH_WARN_ONCE("the spring is worn out soon");', None),
    ],
)
def test_the_exception_is_that_of_the_macro(text: str, exception: str | None):
    assert [one.exception for one in places(text)] == [exception]


def test_a_check_without_a_message_prints_its_condition():
    [one] = places("TORCH_CHECK(spring.is_wound());")
    assert one.template == ("Expected spring.is_wound() to be true, but got false.",)


def test_text_joined_by_a_call_is_part_of_the_message_and_an_address_is_no_comment():
    [one] = places('TORCH_CHECK(false, c10::str("see https://gadget.example/", page, " for springs"));')
    assert one.template == ("see https://gadget.example/", Hole("page"), " for springs")
    assert one.guards == ()


@pytest.mark.parametrize(
    "text",
    [
        '// TORCH_CHECK(spring, "a spring is needed here");',
        '#define CHECK_SPRING(x) TORCH_CHECK(x, "a spring is needed here")',
        'TORCH_CHECK(spring, "a spring is needed here"',
        "TORCH_INTERNAL_ASSERT(spring.is_wound());",
    ],
)
def test_comments_macros_unclosed_calls_and_assertions_without_words_are_no_messages(text: str):
    assert places(text) == []

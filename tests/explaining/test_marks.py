"""A text that is split at a mark which it does not hold, and a pattern that found nothing: their values, and what the file writes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

Run = Callable[..., Report]


def first(report: Report) -> str | None:
    return report.explained[0]["suggestions"][0]["code"]


def condition(report: Report) -> str:
    return report.explained[0]["condition"]


SPLIT = 'TEMPLATE = {template!r}\nMARK = {mark!r}\n\ndef parts(text):\n    {line}\n    return ask\nparts(TEMPLATE.format("a", "b"))\n'
TEMPLATE = "### Question:\n{}\n### Reply:\n{}"


@pytest.mark.parametrize(
    ("template", "mark", "line", "code"),
    [
        (TEMPLATE, "### Answer:\n", "ask, answer = text.split(MARK)", "MARK = '### Reply:\\n'"),
        (TEMPLATE, "### Answer:\n", "ask = text.split(MARK)[1]", "MARK = '### Reply:\\n'"),
        (TEMPLATE, "### Prompt:", "ask, answer = text.split(MARK, 1)", "MARK = '### Question:'"),
        ("<|user|>{}<|assistant|>{}", "<|response|>", "ask, answer = text.split(MARK)", "MARK = '<|assistant|>'"),
        ("{} [/INST] {}", "[/ASK]", "ask, answer = text.split(MARK)", "MARK = '[/INST]'"),
    ],
)
def test_the_mark_that_the_file_writes(of_run: Run, template: str, mark: str, line: str, code: str):
    report = of_run("", SPLIT.format(template=template, mark=mark, line=line))
    assert first(report) == code
    assert f"`MARK` is {mark!r}" in condition(report)
    assert report.explained[0]["arguments"][0]["why"] == "train.py:2 gives it"


def test_of_marks_that_stand_for_neither_side_all_are_named(of_run: Run):
    report = of_run(
        "", SPLIT.format(template="## Left:{}## Right:{}", mark="## Middle:", line="ask, answer = text.split(MARK)")
    )
    assert report.explained[0]["suggestions"][0]["do"] == "Give `MARK` as one of '## Left:', '## Right:'"


@pytest.mark.parametrize(
    ("template", "mark"),
    [
        ("{} {}", "### Answer:\n"),  # no other mark
        ("### Question {}\n## Reply: {}", "### Answer:\n"),  # of another form
        (TEMPLATE, "answer"),  # a word has no form
    ],
)
def test_another_text_is_not_taken_for_the_mark(of_run: Run, template: str, mark: str):
    report = of_run("", SPLIT.format(template=template, mark=mark, line="ask, answer = text.split(MARK)"))
    assert first(report) == "print(repr(text))"


def test_a_mark_that_the_file_does_not_show_stays_unnamed(of_run: Run):
    program = SPLIT.format(template=TEMPLATE, mark="x", line="import sys; ask, answer = text.split(sys.platform)")
    assert "does not hold" not in condition(of_run("", program))
    # The first part is always there.
    program = SPLIT.format(template=TEMPLATE, mark="x", line="ask = [text.split(MARK)[0]][1]")
    assert "does not hold" not in condition(of_run("", program))


SEARCH = "import re\nFOUND = {made}\nROWS = ['a #### 7', {row!r}]\n\ndef number(text):\n    return {line}\nfor row in ROWS:\n    number(row)\n"


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("b #### -4", 'FOUND = re.compile(r"#### (-?\\d+)")'),
        ("b #### $4", 'FOUND = re.compile(r"#### (\\$?\\d+)")'),
        ("b ####   4", 'FOUND = re.compile(r"#### (\\s*\\d+)")'),
    ],
)
def test_a_pattern_is_widened_by_what_the_text_of_the_file_has(of_run: Run, row: str, code: str):
    report = of_run(
        "", SEARCH.format(made='re.compile(r"#### (\\d+)")', row=row, line="int(FOUND.search(text).group(1))")
    )
    assert first(report) == code
    assert "it does not fit `####" in condition(report)


def test_the_pattern_is_shown_where_no_text_tells_what_it_lacks(of_run: Run):
    plain = SEARCH.format(made='r"#### (\\d+)"', row="none", line="re.search(FOUND, text).group(1)")
    report = of_run("", plain)
    assert condition(report).startswith('`FOUND` is r"#### (\\d+)", which found nothing')
    assert first(report) == "if re.search(FOUND, text) is not None:"
    word = of_run("", SEARCH.format(made='r"#### (\\d+)"', row="b #### seven", line="re.search(FOUND, text).group(1)"))
    assert "`#### seven`" in condition(word)
    assert first(word) == "if re.search(FOUND, text) is not None:"


def test_a_pattern_whose_text_differs_in_its_letters_case(of_run: Run):
    made = 're.compile(r"Total: (\\d+)")'
    report = of_run("", SEARCH.format(made=made, row="total: 4", line="FOUND.search(text).group(1)"))
    assert first(report) == 'FOUND = re.compile(r"Total: (\\d+)", re.IGNORECASE)'


def test_a_pattern_that_looks_ahead_is_not_tried(of_run: Run):
    report = of_run(
        "", SEARCH.format(made='r"#### (?=(\\d+))"', row="b #### -4", line="re.search(FOUND, text).group(1)")
    )
    assert "it does not fit" not in condition(report)


def test_another_none_is_no_pattern_that_found_nothing(of_run: Run):
    program = "class Table:\n    def search(self, key):\n        return None\nTable().search('a').group\n"
    assert "found nothing" not in condition(of_run("", program))


def test_a_mark_or_a_pattern_without_a_name_is_shown_once(of_run: Run):
    report = of_run("", "line = 'a b'\nname, value = line.split(': ')\n")
    assert condition(report) == "`line` does not hold ': '"
    report = of_run("", "import re\nre.search(r'x (\\d)', 'y 3').group(1)\n")
    assert condition(report) == 'the pattern r"x (\\d)" found nothing in this text'

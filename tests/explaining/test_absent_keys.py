"""Keys that the user's own line asks a dictionary for: of JSON, of labels that are left out, of what a library hands over."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]


TEXT = '{\\"sizes\\": {\\"0\\": 3}}'


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (f'sizes = json.loads("{TEXT}")["sizes"]\nfor n in range(2):\n    print(sizes[n])\n', "sizes[str(n)]"),
        (f'sizes = json.loads("{TEXT}").get("sizes")\nprint(sizes[0])\n', 'sizes["0"]'),
        (f'def read():\n    return json.loads("{TEXT}")\ndef show(every):\n    sizes = every["sizes"]\n    return [sizes[n] for n in range(2)]\nshow(read())\n', "sizes[str(n)]"),
        (f'class Run:\n    def __init__(self, text):\n        self.options = json.loads(text)\n    def show(self):\n        return self.options["sizes"][0]\nRun("{TEXT}").show()\n', 'self.options[\'sizes\']["0"]'),
        ('rows = [json.loads(line) for line in ["{}"]]\nfor row in rows:\n    row[1]\n', 'row["1"]'),
    ],
)  # fmt: skip
def test_a_number_is_no_key_of_json(of_run: Run, body: str, code: str):
    report = of_run("", f"import json\n{body}")
    assert codes(report) == [code]
    assert "comes from JSON (train.py:" in report.explained[0]["condition"]


@pytest.mark.parametrize(
    "body",
    [
        "sizes = {3: 4}\nsizes[0]\n",
        f'sizes = json.loads("{TEXT}")["sizes"]\nsizes = {{int(k): v for k, v in sizes.items()}}\nsizes[1]\n',
        'sizes = json.loads("{}", object_hook=lambda d: {1: 2})\nsizes[0]\n',
        f'sizes = {{0: 3}}\nother = json.loads("{TEXT}")\nsizes[1]\n',
        f'sizes = json.loads("{TEXT}")\nsizes["0"]\n',
    ],
    ids=["written", "turned", "hook", "other", "text"],
)
def test_a_key_of_another_dictionary_stays_a_number(of_run: Run, body: str):
    assert "JSON" not in of_run("", f"import json\n{body}").explained[0]["condition"]


LABELS = "NAMES = {{0: 'O'}}\nlabels, guesses = [0, {ignored}], [0, 0]\n{line}\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("made = [(NAMES[g], NAMES[one]) for one, g in zip(labels, guesses)]", "if one != -100"),
        ("for one in labels:\n    print(NAMES[one])", "if one != -100:"),
    ],
)
def test_labels_that_are_left_out_have_no_name(of_run: Run, line: str, code: str):
    assert codes(of_run("", LABELS.format(line=line, ignored=-100))) == [code]
    assert codes(of_run("", LABELS.format(line=line, ignored=-10))) == ["print(NAMES.keys())"]


LIBRARY = """
class Watch:
    pass
class Trainer:
    def __init__(self, watch):
        self.watch = watch
    def run(self):
        for logs in ({"loss": 1}, {"total": 2}):
            self.watch.on_log(logs, logs=logs)
"""
WATCH = "from widget import *\nclass Mine(Watch):\n    def on_log(self, row, logs=None):\n        {line}\n{run}\n"


def test_a_report_that_has_not_the_same_keys_each_time(of_run: Run):
    report = of_run(LIBRARY, WATCH.format(line="print(logs['loss'])", run="Trainer(Mine()).run()"))
    assert codes(report)[0] == "if 'loss' in logs:"
    assert "`on_log` several times" in report.explained[0]["condition"]


@pytest.mark.parametrize(
    ("line", "run"),
    [
        ("print(row['loss'])", "Trainer(Mine()).run()"),  # no name of a report
        ("print(logs['loss'])", "Mine().on_log({}, logs={})"),  # the user's own call
        ("own = {}; own['loss']", "Trainer(Mine()).run()"),  # no parameter
    ],
)
def test_another_dictionary_is_no_report(of_run: Run, line: str, run: str):
    assert codes(of_run(LIBRARY, WATCH.format(line=line, run=run)))[0] != "if 'loss' in logs:"


def test_a_key_that_the_file_writes_as_another_kind(of_run: Run):
    assert codes(of_run("", "names = {'0': 'a'}\nfor n in range(1):\n    names[n]\n")) == ["names[str(n)]"]
    assert codes(of_run("", "names = {0: 'a'}\nkey = '0'\nnames[key]\n")) == ["names[int(key)]"]
    assert codes(of_run("", "names = {'0': 'a'}\nnames[0]\n")) == ["names['0']"]
    assert codes(of_run("", "names = {'1': 'a'}\nnames[0]\n")) == ["print(names.keys())"]


def test_a_tensor_is_no_key(of_run: Run):
    program = "class Number:\n    def __repr__(self):\n        return '{}(0)'\nnames = {{0: 'a'}}\nguess = Number()\nnames[guess]\n"
    assert codes(of_run("", program.format("tensor"))) == ["names[guess.item()]"]
    assert codes(of_run("", program.format("number"))) == ["print(names.keys())"]

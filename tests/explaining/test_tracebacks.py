"""What several frames tell together, which exception of a chain is told, and the conditions that a notebook or Rich shows."""

from __future__ import annotations

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.parts import Explained

TOOL = Diagnoser.of([])
SITE = "/opt/venv/lib/python3.11/site-packages"


def traceback(message: str, *frames: tuple[str, str, str]) -> str:
    """A traceback of frames (file, function, line of code)."""
    lines = [f'  File "{file}", line 7, in {function}\n    {code}\n' for file, function, code in frames]
    return "Traceback (most recent call last):\n" + "".join(lines) + message + "\n"


def explained(log: str, lang: str = "en") -> Explained:
    [found] = TOOL.diagnose(log, lang=lang).explained
    return found


MODULE = f"{SITE}/torch/nn/modules/module.py"


def test_a_method_that_was_called_on_a_class_is_told_by_the_line_above():
    log = traceback(
        "AttributeError: 'str' object has no attribute '_apply'",
        ("/home/me/train.py", "train", "net = towers.Tower.to(device)"), (MODULE, "to", "return self._apply(convert)"),
    )  # fmt: skip
    found = explained(log)
    assert found["condition"].startswith("`towers.Tower` is the class")
    assert found["suggestions"][0]["code"] == "towers.Tower(...).to(device)"
    assert (found["file"], found["function"]) == ("/home/me/train.py", "train")
    assert "类" in explained(log, "zh")["condition"]


def test_an_object_that_is_a_text_is_no_class():
    """The line that failed asks another name than `self`, so the object itself was wrong."""
    log = traceback(
        "AttributeError: 'str' object has no attribute '_apply'",
        ("/home/me/train.py", "train", "net = tower.to(device)"), (MODULE, "to", "return other._apply(convert)"),
    )  # fmt: skip
    assert "is the class" not in explained(log)["condition"]


def test_a_method_without_its_object_is_told():
    line = ("/home/me/train.py", "train", "rows = Reader.read()")
    found = explained(traceback("TypeError: Reader.read() missing 1 required positional argument: 'self'", line))
    assert found["condition"].startswith("`Reader` is the class")


OPENING = f"{SITE}/torch/serialization.py"


@pytest.mark.parametrize(
    "frames",
    [
        [("/home/me/train.py", "save", "torch.save(state, path)"), (OPENING, "__init__", "super().__init__(open(name, mode))")],
        [("/home/me/train.py", "save", "with open(path, 'w') as file:")],
        [("/home/me/train.py", "save", "with open(path, mode='ab') as file:")],
        [("/home/me/train.py", "plot", "figure.savefig(path)"), (f"{SITE}/PIL/Image.py", "save", "fp = builtins.open(filename, flags)")],
    ],
)  # fmt: skip
def test_a_file_that_was_to_be_written_lacks_its_folder(frames: list[tuple[str, str, str]]):
    log = traceback("FileNotFoundError: [Errno 2] No such file or directory: 'runs/a/state.pt'", *frames)
    found = explained(log)
    assert "its folder `runs/a` does not exist" in found["condition"]
    assert found["suggestions"][0]["code"] == "os.makedirs('runs/a', exist_ok=True)"
    assert "`runs/a`" in explained(log, "zh")["condition"]


@pytest.mark.parametrize(
    "code", ["with open(path) as file:", "with open(path, 'r') as file:", "rows = read(path, 'a')"]
)
def test_a_file_that_was_to_be_read_is_only_absent(code: str):
    message = "FileNotFoundError: [Errno 2] No such file or directory: 'runs/a/state.pt'"
    assert "folder `runs/a`" not in explained(traceback(message, ("/home/me/train.py", "load", code)))["condition"]


def test_a_branch_that_nobody_wrote_is_told_and_its_lines_are_named():
    found = explained(traceback("NotImplementedError", ("/home/me/terms.py", "step", "raise NotImplementedError")))
    assert "`step` has no code for this case" in found["condition"]
    assert "`terms.py:7`" in found["suggestions"][0]["do"]


def test_an_own_exception_tells_the_values_of_its_message():
    code = "raise ValueError(f'{count} rows of {path} are too few')"
    found = explained(traceback("ValueError: 3 rows of a.jsonl are too few", ("/home/me/train.py", "check", code)))
    assert {(one["name"], one["value"]) for one in found["arguments"]} == {("count", "3"), ("path", "a.jsonl")}


FIRST = ("/home/me/data.py", "load", "rows = record['rows']['train']")
DIRECT = "\nThe above exception was the direct cause of the following exception:\n\n"
DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"


def test_the_cause_is_told_in_place_of_an_exception_that_only_wraps_it():
    wrapper = ("/home/me/train.py", "load_all", "raise RuntimeError('no data') from error")
    log = traceback("KeyError: 'train'", FIRST) + DIRECT + traceback("RuntimeError: no data", wrapper)
    found = explained(log)
    assert found["condition"].startswith("`record['rows']` has no key 'train'; this is about `KeyError: 'train'`")
    assert (found["exception"], found["function"]) == ("KeyError", "load")
    assert "KeyError: 'train'" in explained(log, "zh")["condition"]


def test_of_a_second_failure_that_is_explained_the_first_is_named():
    second = ("/home/me/train.py", "fallback", "return state['model']")
    log = (
        traceback("KeyError: 'train'", FIRST)
        + DURING
        + traceback("TypeError: 'NoneType' object is not subscriptable", second)
    )
    found = explained(log)
    assert found["condition"] == "`state` is None, and an item of it was asked for; before it came `KeyError: 'train'`"
    assert found["exception"] == "TypeError"


def test_a_chain_whose_first_exception_says_nothing_is_left_alone():
    wrapper = ("/home/me/train.py", "load_all", "raise RuntimeError('no data') from error")
    first = traceback("ValueError: bad", ("/home/me/data.py", "load", "raise ValueError('bad')"))
    found = explained(first + DIRECT + traceback("RuntimeError: no data", wrapper))
    assert found["exception"] == "RuntimeError"


NOTEBOOK = """\
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[3], line 1
----> 1 trainer.fit(data)

File ~/work/trainer.py:54, in Trainer.fit(self, data)
     50 def fit(self, data):
     51     rows = list(data)
     52     {condition}
     53         # too little
---> 54         raise ValueError("not enough")
     55     for row in rows:
     56         self.step(row)

ValueError: not enough
"""
CELL = """\
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[3], line 5, in check(rows)
      3     return rows
      4 else:
----> 5     raise ValueError("not enough")
      7 print(rows)

ValueError: not enough
"""
BOX = """\
╭──────────────────────── Traceback (most recent call last) ─────────────────────────╮
│ /home/me/train.py:9 in find_last                                                   │
│                                                                                    │
│    6 │   def find_last(self, resume):                                              │
│    7 │   │   steps = sorted(self.steps)                                            │
│    8 │   │   if resume and not steps:                                              │
│ ❱  9 │   │   │   raise RuntimeError("cannot go on")                                │
│   10 │   │   return steps                                                          │
╰────────────────────────────────────────────────────────────────────────────────────╯
RuntimeError: cannot go on
"""


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("if len(rows) < self.batch_size:", "`len(rows)` is less than `batch_size`"),
        ("elif self.mode == 'fast':", "`mode` is `'fast'`"),
        ("for row in rows:", "your own code raised it"),
    ],
)
def test_the_lines_above_a_raise_in_a_notebook_give_its_condition(condition: str, told: str):
    log = NOTEBOOK.replace("{condition}", condition)
    assert explained(log)["condition"] == told
    assert explained(log, "zh")["condition"] != told


def test_half_a_condition_gives_no_guess():
    assert explained(CELL)["condition"] == "your own code raised it"


def test_the_lines_above_a_raise_in_a_box_give_its_condition():
    found = explained(BOX)
    assert found["condition"] == "`resume` is set and `steps` is empty, false or not given"
    assert [one["name"] for one in found["arguments"]][:1] == ["resume"]


def test_a_program_that_another_one_started_is_looked_for_above():
    line = ("/home/me/run.py", "<module>", "subprocess.run(command, check=True)")
    ended = "subprocess.CalledProcessError: Command '['python', 'a.py']' returned non-zero exit status 3."
    assert "status 3" in explained(traceback(ended, line))["condition"]
    killed = "subprocess.CalledProcessError: Command 'python a.py' died with <Signals.SIGKILL: 9>."
    assert "SIGKILL" in explained(traceback(killed, line))["condition"]

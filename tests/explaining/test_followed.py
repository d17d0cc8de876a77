"""A value that the user's own code gives under another name: constants, classes of settings, their functions, the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from troubleshooter.report.model import Report

LIBRARY = """
def drill(depth, speed=1, kind="wood"):
    if depth <= 0:
        raise ValueError("no depth")
    if kind not in ("wood", "stone"):
        raise ValueError(f"no such kind: {kind}")
    return hold(depth, speed)

def hold(depth, speed):
    return clamp(depth, speed)

def clamp(depth, speed):
    return press(depth, speed)

def press(depth, speed):
    return fix(depth, speed)

def fix(depth, speed):
    if speed <= 0:
        raise ValueError("no speed")
"""
Run = Callable[..., Report]


def first(report: Report) -> tuple[str, str | None, str]:
    one = report.explained[0]["arguments"][0]
    return one["name"], one["value"], one["why"]


@pytest.mark.parametrize(
    "program",
    [
        "DEPTH, SPEED = 0, 2\ndrill(DEPTH, speed=SPEED)\n",
        "class Plan:\n    depth = 0\ndrill(Plan.depth)\n",
        "from dataclasses import dataclass\n@dataclass\nclass Plan:\n    depth: int = 0\nplan = Plan()\ndrill(plan.depth)\n",
        "from dataclasses import dataclass\n@dataclass\nclass Plan:\n    depth: int = 4\nplan = Plan(depth=0)\ndrill(plan.depth)\n",
        "plan = {'depth': 0}\ndrill(plan['depth'])\n",
        "WHOLE = 3\ndrill(WHOLE // 4)\n",
        "LEAST = 0\ndef make(depth):\n    return drill(depth)\nmake(LEAST)\n",
        "def make(depth=0):\n    return drill(depth)\nmake()\n",
        "from functools import partial\nmake = partial(drill, 0)\nmake(speed=2)\n",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--cut-depth', type=int, default=0)\n"
        "options = p.parse_args()\ndrill(options.cut_depth)\n",
    ],
    ids=["tuple", "class", "field", "given-field", "entry", "sum", "function", "default", "partial", "declared"],
)
def test_one_value_under_another_name(of_run: Run, program: str):
    found = of_run(LIBRARY, "from widget import drill\n" + program)
    assert first(found)[:2] == ("depth", "0")
    assert "depth > 0" in found.explained[0]["suggestions"][0]["do"]


@pytest.mark.parametrize(
    "program",
    [
        "DEPTH = 2\nDEPTH = DEPTH - 2\ndrill(DEPTH)\n",
        "class Plan:\n    depth = 1\nplan = Plan()\nplan.depth = 0\ndrill(plan.depth)\n",
        "plan = {'depth': 1}\nplan['depth'] -= 1\ndrill(plan['depth'])\n",
        "for depth in (1, 0):\n    drill(depth)\n",
    ],
    ids=["twice", "set-later", "changed", "loop"],
)
def test_a_name_with_several_values_has_none(of_run: Run, program: str):
    assert first(of_run(LIBRARY, "from widget import drill\n" + program))[1] not in ("1", "2")


def test_an_argument_that_many_functions_pass_on(of_run: Run):
    found = of_run(LIBRARY, "from widget import drill\ndrill(3, speed=-1)\n")
    assert first(found)[:2] == ("speed", "-1")


def test_the_value_of_the_command_line(of_run: Run):
    program = (
        "import argparse\nfrom widget import drill\np = argparse.ArgumentParser()\n"
        "p.add_argument('--depth', type=int, default=4)\np.add_argument('--name')\nargs = p.parse_args()\ndrill(args.depth)\n"
    )
    found = of_run(LIBRARY, program, command="$ python train.py --name x --depth 0")
    assert first(found) == ("depth", "0", "the command in line 1 of the log gives it")
    # Without the command the default would be told, although another value counted.
    launcher = "subprocess.CalledProcessError: Command '['/usr/bin/python', 'train.py', '--depth=0', '--name', 'x']' returned non-zero exit status 1."
    told = of_run(
        LIBRARY, program.replace("default=4", "default=0"), below=f"Traceback (most recent call last):\n{launcher}"
    )
    assert first(told)[:2] == ("depth", "0")


def test_a_command_of_several_lines_and_a_launcher_whose_own_options_do_not_count(of_run: Run):
    program = "from widget import drill\nimport sys\nargs = sys\ndrill(args.depth)\n".replace(
        "args = sys", "class N: pass\nargs = N.__new__(N)\nargs.__dict__['depth'] = 0"
    )
    command = "+ accelerate launch --depth 7 \\\n  --num_processes 2 \\\n  train.py \\\n  --depth 0 \\\n  --flag"
    found = of_run(LIBRARY, program, command=command)
    assert first(found) == ("depth", "0", "the command in line 1 of the log gives it")


def test_two_commands_with_different_values_tell_none(of_run: Run):
    program = "from widget import drill\nclass N: pass\nargs = N()\nargs.__dict__['depth'] = 0\ndrill(args.depth)\n"
    found = of_run(LIBRARY, program, command="$ python train.py --depth 1\n$ python train.py --depth 0")
    assert first(found)[1] == "args.depth"


CONFIGURED = """
import sys
from widget import drill
def load(path):
    return dict(line.split(": ") for line in open(path.rpartition("=")[2]).read().splitlines() if line[:1] != "#")
config = load(sys.path[0] + "/../" + sys.argv[1])
drill(int(config["depth"]), kind=config["kind"])
"""


def test_a_configuration_file_that_the_command_names(of_run: Run):
    files = {"plan.yaml": "# a comment: with colons\ndepth: 2\nkind: wod\n"}
    found = of_run(LIBRARY, CONFIGURED, command="$ python train.py plan.yaml", files=files)
    assert first(found) == ("kind", "'wod'", "plan.yaml:3 gives it")
    assert found.explained[0]["suggestions"][0]["code"] == "kind='wood'"


def test_a_setting_named_like_a_secret_is_read_and_a_secret_is_not(of_run: Run):
    library = LIBRARY.replace("kind", "tokenizer_kind")
    program = CONFIGURED.replace("kind", "tokenizer_kind")
    files = {"plan.yaml": "depth: 2\ntokenizer_kind: wod\n"}
    assert first(of_run(library, program, command="$ python train.py plan.yaml", files=files)) == (
        "tokenizer_kind", "'wod'", "plan.yaml:2 gives it",
    )  # fmt: skip
    files = {"plan.yaml": "depth: 2\ntokenizer_kind: hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345\n"}
    found = of_run(library, program, command="$ python train.py plan.yaml", files=files)
    assert "hf_aBcDe" not in str([one["arguments"] for one in found.explained])


def test_a_configuration_file_that_no_command_names_is_not_read(of_run: Run):
    files = {"plan.yaml": "depth: 2\nkind: wod\n"}
    program = CONFIGURED.replace("sys.argv[1]", "'plan.yaml'")
    assert first(of_run(LIBRARY, program, files=files))[2] != "plan.yaml:2 gives it"


def test_a_number_that_yaml_reads_as_a_text_is_suggested_in_a_form_that_it_reads_as_a_number(of_run: Run):
    library = "def heat(rate):\n    if rate <= 0:\n        raise ValueError('no rate')\n"
    program = "import sys\nfrom widget import heat\nconfig = dict([open(sys.path[0] + '/../' + sys.argv[1]).read().strip().split(': ')])\nheat(config['rate'])\n"
    found = of_run(library, program, command="$ python train.py plan.yaml", files={"plan.yaml": "rate: 2e-5\n"})
    assert found.explained[0]["suggestions"][0]["code"] == "rate=2.0e-05"


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("plan = {'speed': 2}\nplan['depth'] = 0\ndrill(**plan)\n", "0"),
        ("plan = dict(speed=2)\nplan.update(depth=0)\ndrill(**plan)\n", "0"),
        ("plan = {'speed': 2}\nplan.update({'depth': 0})\ndrill(**plan)\n", "0"),
        ("plan = {'depth': 3}\nplan['depth'] = 0\ndrill(**plan)\n", None),
        ("plan = {'depth': 3}\nplan['depth'] -= 3\ndrill(**plan)\n", None),
    ],
)
def test_a_dictionary_that_is_built_in_several_steps(of_run: Run, program: str, value: str | None):
    name, told, _ = first(of_run(LIBRARY, "from widget import drill\n" + program))
    assert (name, told) == ("depth", value)


CLOSED = """
def mill(width, step=2):
    wide = width * 2
    def cut(part):
        return turn(part, step)
    return [cut(part) for part in range(width)]

def turn(part, step):
    if step > 3:
        raise ValueError("too fast a step")
"""


def test_a_name_of_the_function_around_a_function(of_run: Run):
    found = of_run(CLOSED, "from widget import mill\nmill(3, step=9)\n")
    assert first(found) == ("step", "9", "your call passes it")


def test_only_files_beside_the_users_own_are_read_and_no_secret(of_run: Run, tmp_path: Path):
    elsewhere = tmp_path.parent / f"{tmp_path.name}-other" / "plan.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_text("depth: 2\nkind: wod\n", encoding="utf-8")
    program = CONFIGURED.replace('sys.path[0] + "/../" + sys.argv[1]', "sys.argv[1]")
    found = of_run(LIBRARY, program, command=f"$ python train.py {elsewhere}")
    assert "plan.yaml" not in str(found.explained)
    library = "def open_with(api_key):\n    if len(api_key) < 9:\n        raise ValueError('the key is too short')\n"
    asks = "import sys\nfrom widget import open_with\nconfig = dict([open(sys.path[0] + '/../' + sys.argv[1]).read().strip().split(': ')])\nopen_with(config['api_key'])\n"
    secret = of_run(library, asks, command="$ python train.py plan.yaml", files={"plan.yaml": "api_key: sesame\n"})
    assert "sesame" not in str(secret.explained)


SAME = """
def draw(parts, shares, seed=1):
    def each():
        return exec("raise ValueError('a and p must have same size')", {"a": len(parts), "p": shares, "seed": seed})
    return each()
"""


def test_two_lists_that_compiled_code_wants_equally_long(of_run: Run):
    found = of_run(SAME, "from widget import draw\ndraw([1, 2], shares=[0.5, 0.3, 0.2], seed=3)\n").explained[0]
    assert found["suggestions"][0]["do"] == "Make `parts` and `shares` equally long"
    other = of_run(SAME.replace("have same size", "be sorted"), "from widget import draw\ndraw([1, 2], shares=[3])\n")
    assert other.explained[0]["suggestions"] == []

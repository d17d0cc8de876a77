"""``troubleshoot bisect -- COMMAND`` over a made-up package index: real pip, real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bisecting.conftest import OTHER, PROBLEM, wheel
from tests.waiting import wait_for
from troubleshooter.__main__ import guarded
from troubleshooter.cli.commands import COMMANDS
from troubleshooter.cli.options import read_plain

HERE = ["--python", sys.executable]
real = pytest.mark.matrix
"""They run pip and the command some dozen times."""


def bisected(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    bisect = next(command for command in COMMANDS if command.name == "bisect")
    values = read_plain(arguments, bisect.options)
    assert values is not None
    status = guarded(lambda: bisect.run(values))
    told = capsys.readouterr()
    return status, json.loads(told.out) if told.out.startswith("{") else told.out + told.err


@pytest.fixture
def repro(tmp_path: Path) -> Path:
    path = tmp_path / "repro.py"
    path.write_text("import madeup\n")
    return path


def command(repro: Path) -> list[str]:
    return ["--", sys.executable, str(repro)]


@pytest.mark.slow
def test_first_bad_and_repaired_release(offered: Path, repro: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(7):
        wheel(offered, "madeup", f"1.{number}", PROBLEM if 2 <= number < 6 else "")
    asked = ["--package", "madeup", "--bad", "1.4", *HERE, "--format", "json", *command(repro)]
    status, told = bisected(capsys, *asked)
    assert status == 0
    assert (told["last_good"], told["first_bad"], told["first_repaired"]) == ("1.1", "1.2", "1.6")
    assert told["pin"] == "madeup>=1.6"
    assert all(trial["held"] == trial["versions"] for trial in told["trials"])
    assert told["runs"] > 0
    _, again = bisected(capsys, *asked)
    assert again["runs"] == 0, "the same search goes on from what is remembered"
    assert again["first_bad"] == "1.2"


@real
def test_another_failure_is_not_the_one(offered: Path, repro: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(9):
        wheel(offered, "madeup", f"1.{number}", OTHER if number in (3, 4) else PROBLEM if number > 4 else "")
    status, told = bisected(capsys, "--package", "madeup", *HERE, "--format", "json", *command(repro))
    assert status == 3
    assert (told["verdict"], told["last_good"], told["first_bad"]) == ("between", "1.2", "1.5")
    assert told["untold"] == ["1.3", "1.4"]
    assert "KeyError" in told["why"]
    status, told = bisected(
        capsys, "--package", "madeup", *HERE, "--same", "nothing to do", "--good", "1.0", "--bad", "1.4", "--format", "json",
        *command(repro),
    )  # fmt: skip
    assert (status, told["first_bad"]) == (0, "1.3")


@real
def test_a_pair_of_packages_from_two_lock_files(
    offered: Path, repro: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(4):
        wheel(offered, "madeup", f"1.{number}", f"import helper\nif {number} >= 2 and helper.NEW: {PROBLEM}")
        wheel(offered, "helper", f"3.{number}", f"NEW = {number >= 3}")
        wheel(offered, "unrelated", f"2.{number}")
    before, after = tmp_path / "before.txt", tmp_path / "after.txt"
    before.write_text("madeup==1.0\nhelper==3.0\nunrelated==2.0\nsame==1.0\n")
    after.write_text("madeup==1.3\nhelper==3.3\nunrelated==2.3\nsame==1.0\n")
    status, told = bisected(capsys, "--from", str(before), "--to", str(after), *HERE, "--format", "json", *command(repro))
    assert status == 0
    found = {one["package"]: (one["last_good"], one["first_bad"]) for one in told["findings"]}
    assert found == {"madeup": ("1.1", "1.2"), "helper": ("3.2", "3.3")}


@real
def test_what_a_release_needs_comes_with_it(offered: Path, repro: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(4):
        wheel(offered, "madeup", f"1.{number}", f"import helper\nassert helper.__version__ == '3.{number}'", (f"helper==3.{number}",))
        wheel(offered, "helper", f"3.{number}")
    wheel(offered, "madeup", "1.4", PROBLEM)
    status, told = bisected(capsys, "--package", "madeup", *HERE, "--format", "json", *command(repro))
    assert (status, told["last_good"], told["first_bad"]) == (0, "1.3", "1.4")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--package", "not-there"], "no release of 'not-there' is offered"),
        (["--package", "madeup", "--good", "9.9"], "madeup 9.9 is not among the 2 releases"),
        (["--from", "nowhere.txt"], "--from and --to belong together"),
        (["--from", "nowhere.txt", "--to", "nowhere.txt"], "nowhere.txt"),
        (["no-such-log"], "no-such-log is no file"),
    ],
)  # fmt: skip
def test_what_cannot_be_searched(
    offered: Path, repro: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    wheel(offered, "madeup", "1.0")
    wheel(offered, "madeup", "1.1", PROBLEM)
    status, told = bisected(capsys, *arguments, *HERE, *command(repro))
    assert status == 2
    assert sentence in told
    assert "Traceback" not in told


def test_a_package_for_another_platform_only(offered: Path, repro: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel(offered, "madeup", "1.0", tag="cp27-cp27m-win32")
    status, told = bisected(capsys, "--package", "madeup", *HERE, *command(repro))
    assert status == 2
    assert "no release of 'madeup' is offered" in told


def test_a_command_that_does_not_exist(offered: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel(offered, "madeup", "1.0")
    wheel(offered, "madeup", "1.1", PROBLEM)
    status, told = bisected(capsys, "--package", "madeup", *HERE, "--", "no-such-program")
    assert status == 2
    assert "no-such-program cannot be started (No such file or directory); check the command after `--`" in told


@real
def test_a_release_for_another_platform_is_left_out(offered: Path, repro: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel(offered, "madeup", "1.0")
    wheel(offered, "madeup", "1.1", tag="cp27-cp27m-win32")
    wheel(offered, "madeup", "1.2", PROBLEM)
    status, told = bisected(capsys, "--package", "madeup", *HERE, "--format", "json", *command(repro))
    assert (status, told["last_good"], told["first_bad"]) == (0, "1.0", "1.2")


@real
def test_a_damaged_wheel_gives_no_answer_and_no_culprit(offered: Path, repro: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel(offered, "madeup", "1.0")
    (offered / "madeup-1.1-py3-none-any.whl").write_bytes(b"no zip file")
    wheel(offered, "madeup", "1.2", PROBLEM)
    status, told = bisected(capsys, "--package", "madeup", *HERE, "--format", "json", *command(repro))
    assert (status, told["verdict"], told["untold"]) == (3, "between", ["1.1"])
    assert "madeup==1.1" in told["why"]


@real
def test_a_command_that_hangs_or_leaves_processes_is_ended(
    offered: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel(offered, "madeup", "1.0")
    wheel(offered, "madeup", "1.1", PROBLEM)
    left = tmp_path / "left.pid"
    repro = tmp_path / "repro.py"
    repro.write_text(
        "import subprocess, sys\n"
        f"child = subprocess.Popen(['sleep', '600'], start_new_session=True)\nopen({str(left)!r}, 'w').write(str(child.pid))\n"
        "import madeup\nimport time; time.sleep(600)\n"
    )
    status, told = bisected(capsys, "--package", "madeup", *HERE, "--timeout", "4", *command(repro))
    assert status == 3
    assert "did not end within 4 s" in told
    wait_for(lambda: not Path(f"/proc/{left.read_text()}/cmdline").exists() or not Path(f"/proc/{left.read_text()}/cmdline").read_bytes())


@real
def test_nothing_stays_in_the_environment(offered: Path, repro: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel(offered, "madeup", "1.0")
    wheel(offered, "madeup", "1.1", PROBLEM)
    bisected(capsys, "--package", "madeup", *HERE, *command(repro))
    asked = subprocess.run([sys.executable, "-c", "import madeup"], capture_output=True, check=False, cwd=tmp_path)
    assert b"No module named" in asked.stderr


@real
def test_the_answer_in_words(offered: Path, repro: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(4):
        wheel(offered, "madeup", f"1.{number}", PROBLEM if number == 2 else "")
    _, told = bisected(capsys, "--package", "madeup", "--bad", "1.2", *HERE, "--lang", "en", *command(repro))
    assert "madeup 1.2 broke it; 1.1 is the last release that works." in told
    assert "madeup 1.3 repaired it; 1.2 is the last release that fails." in told
    assert 'pip install "madeup>=1.3"' in told
    _, told = bisected(capsys, "--package", "madeup", "--bad", "1.2", *HERE, "--lang", "zh", *command(repro))
    assert "madeup 1.2 引入了问题" in told

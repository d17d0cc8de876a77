"""Finding the training environment, and saying whether it is the log's."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest

from tests.waiting import wait_for
from troubleshooter.paths import site_folders
from troubleshooter.verify import interpreters
from troubleshooter.verify.environment import EnvironmentProblem, ask, same_environment
from troubleshooter.verify.interpreters import find

from .helpers import environment

FRAMES = """
  File "/opt/train/lib/python3.11/site-packages/transformers/trainer.py", line 2245, in train
  File "/opt/train/lib/python3.11/site-packages/accelerate/utils/operations.py", line 818, in forward
  File "C:\\Users\\me\\env\\Lib\\site-packages\\torch\\nn\\modules\\module.py", line 1
  File "/usr/local/lib/python3.10/dist-packages/torch/utils.py", line 3
see https://example.org/site-packages/ and site-packages/nothing
"""


def test_site_folders_of_a_log() -> None:
    assert site_folders(FRAMES) == [
        "/opt/train/lib/python3.11/site-packages",
        "C:\\Users\\me\\env\\Lib\\site-packages",
        "/usr/local/lib/python3.10/dist-packages",
    ]


def test_an_interpreter_is_asked_from_metadata_only(tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    site = sorted(tmp_path.glob("env/[Ll]ib*/**/site-packages"))[0]
    (site / "wombat.py").write_text("raise SystemExit('it was imported')")
    (site / "wombat-2.1.dist-info").mkdir()
    (site / "wombat-2.1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: wombat\nVersion: 2.1\n")
    assert ask(str(tmp_path / "env" / "bin" / "python"), ["wombat"]).versions["wombat"] == "2.1"


def test_an_interpreter_says_what_it_is() -> None:
    found = ask(sys.executable, ["pytest"])
    assert found.versions["pytest"]
    assert found.version.startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert os.path.realpath(found.prefix) == os.path.realpath(sys.prefix)


def test_modules_in_the_working_folder_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json.py", "importlib.py", "os.py", "email.py", "sitecustomize.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    monkeypatch.chdir(tmp_path)
    assert ask(sys.executable).version
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("broken", ["/nonexistent/python", "/bin/echo", "/bin/false", "/etc/passwd"])
def test_what_is_no_interpreter_is_said_in_one_sentence(broken: str) -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        ask(broken)
    assert broken in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_names_its_interpreter() -> None:
    assert find(sys.prefix).environment.python.startswith(os.path.realpath(sys.prefix)[:4])
    with pytest.raises(EnvironmentProblem, match="bin/python"):
        find("/etc")


def fake_environment(root: Path, *packages: str) -> Path:
    """An environment whose interpreter sees these packages: this interpreter with a site-packages of its own."""
    site = root / "lib" / "python3.11" / "site-packages"
    for package in packages:
        name, _, version = package.partition("==")
        (site / f"{name}-{version}.dist-info").mkdir(parents=True)
        (site / f"{name}-{version}.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    site.mkdir(parents=True, exist_ok=True)
    (root / "bin").mkdir()
    python = root / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}" exec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    return site


def test_the_logs_environment_comes_first(own_place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_site = fake_environment(own_place / "log", "torch==2.4.0")
    fake_environment(tmp_path / "active", "torch==2.5.0")
    fake_environment(tmp_path / "without")
    fake_environment(tmp_path / "path", "torch==2.6.0")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'without' / 'bin'}:{tmp_path / 'path' / 'bin'}")
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    found = find(None, [str(log_site)])
    assert (found.environment.versions["torch"], found.why) == ("2.4.0", "why-log")
    assert same_environment(found.environment, [str(log_site)]) is True
    found = find(None, ["/nowhere/lib/python3.11/site-packages"])
    assert (found.environment.versions["torch"], found.why) == ("2.5.0", "why-active")
    assert same_environment(found.environment, ["/nowhere/lib/python3.11/site-packages"]) is False
    monkeypatch.delenv("VIRTUAL_ENV")
    found = find(None)
    assert (found.environment.versions["torch"], found.why) == ("2.6.0", "why-path")


def planted(root: Path) -> tuple[Path, Path]:
    """An environment of a stranger, whose interpreter leaves a mark when it is run: its packages, and the mark."""
    site = fake_environment(root, "torch==2.4.0")
    mark = root.parent / "ran"
    python = root / "bin" / "python"
    python.write_text(python.read_text().replace("PYTHONPATH", f'touch "{mark}"\nPYTHONPATH', 1))
    for name in ("python3", "python3.11"):
        (root / "bin" / name).symlink_to("python")
    return site, mark


@pytest.fixture
def active(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own active environment; nothing else is to be found."""
    fake_environment(tmp_path / "active", "torch==2.5.0")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    return tmp_path / "active"


def refused(site: Path, mark: Path) -> bool:
    """Whether the log's interpreter was left alone, and named as such."""
    found = find(None, [str(site)])
    assert not mark.exists()
    return found.why == "why-active" and found.refused[0].startswith(str(site.parent.parent.parent))


def test_an_interpreter_that_a_log_names_in_tmp_is_not_run(tmp_path: Path, active: Path) -> None:
    assert refused(*planted(tmp_path / "evil"))


@pytest.mark.parametrize("open_", ["", "env", "env/bin", "env/bin/python", "env/lib/python3.11/site-packages"])
def test_an_interpreter_that_others_may_change_is_not_run(own_place: Path, active: Path, open_: str) -> None:
    site, mark = planted(own_place / "env")
    (own_place / open_).chmod(0o777)
    assert refused(site, mark)


def test_a_sticky_folder_on_the_way_is_a_strangers(own_place: Path, active: Path) -> None:
    (own_place / "scratch").mkdir()
    (own_place / "scratch").chmod(0o1777)
    site, _ = planted(own_place / "scratch" / "env")
    assert refused(site, own_place / "scratch" / "ran")


def test_a_link_to_a_strangers_environment_is_not_followed(own_place: Path, tmp_path: Path, active: Path) -> None:
    planted(tmp_path / "evil")
    (own_place / "env").symlink_to(tmp_path / "evil")
    assert refused(own_place / "env" / "lib" / "python3.11" / "site-packages", tmp_path / "ran")
    (own_place / "other" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (own_place / "other" / "bin").symlink_to(tmp_path / "evil" / "bin")
    assert refused(own_place / "other" / "lib" / "python3.11" / "site-packages", tmp_path / "ran")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
def test_another_users_environment_is_not_run(own_place: Path, active: Path) -> None:
    site, mark = planted(own_place / "env")
    os.chown(own_place / "env" / "bin" / "python", 12345, 12345)
    assert refused(site, mark)


def test_the_user_is_asked_once_and_may_say_yes(tmp_path: Path, active: Path) -> None:
    site, mark = planted(tmp_path / "evil")
    asked: list[str] = []
    assert find(None, [str(site)], consent=lambda python: bool(asked.append(python))).why == "why-active"
    assert asked == [str(tmp_path / "evil" / "bin" / "python3.11")]
    assert not mark.exists()
    assert find(None, [str(site)], consent=lambda python: True).why == "why-log"
    assert mark.exists()


def test_the_active_environment_may_be_anywhere(tmp_path: Path, active: Path) -> None:
    """The user chose it, whatever a log says of it."""
    found = find(None, [str(active / "lib" / "python3.11" / "site-packages")], consent=lambda python: pytest.fail(python))
    assert (found.environment.versions["torch"], found.why, found.refused) == ("2.5.0", "why-log", ())


def test_only_a_strangers_environment_has_torch(tmp_path: Path, active: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site, mark = planted(tmp_path / "evil")
    fake_environment(tmp_path / "without")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "without"))
    monkeypatch.setattr(interpreters.sys, "executable", str(tmp_path / "without" / "bin" / "python"))
    with pytest.raises(EnvironmentProblem, match=r"the log names .*evil/bin/python3.11, which others may change.*--python"):
        find(None, [str(site)])
    assert not mark.exists()


def hostile(tmp_path: Path, body: str) -> str:
    path = tmp_path / "hostile-python"
    path.write_text(f"#!{sys.executable}\nimport os, subprocess, sys, time\n{body}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("print('[' * 100000)", "no working Python"),
        ("print('{\"a\":' * 100000)", "no working Python"),
        ("while True: print('x' * 1000000)", "said more than 1 MiB"),
        ("while True: print('x' * 1000000, file=sys.stderr)", "said more than 1 MiB"),
        ("time.sleep(600)", "did not answer within 1 s"),
        ("os.close(1); os.close(2); time.sleep(600)", "did not answer within 1 s"),
        ("sys.stdout.buffer.write(bytes(range(128, 256)))", "no working Python"),
        ("print('\\x1b[31mred\\x1b]0;title\\x07', file=sys.stderr)", "no working Python"),
        ("print('[1, 2]')", "no working Python"),
        ("print('{\"executable\": 1, \"versions\": [1]}')", "no working Python"),
        ("", "no working Python"),
    ],
)
def test_a_hostile_interpreter_is_one_sentence_with_its_name(tmp_path: Path, body: str, told: str) -> None:
    python = hostile(tmp_path, body)
    with pytest.raises(EnvironmentProblem) as caught:
        ask(python, timeout=20 if "1 MiB" in told else 1)
    said = str(caught.value)
    assert python in said
    assert told in said
    assert len(said) < 1000
    assert all(letter.isprintable() for letter in said)


@pytest.mark.skipif(os.name == "nt", reason="process groups")
def test_the_children_of_a_hostile_interpreter_are_ended(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    python = hostile(
        tmp_path,
        f"child = subprocess.Popen(['sleep', '600'])\nopen({str(pids)!r}, 'w').write(str(child.pid))\ntime.sleep(600)",
    )
    with pytest.raises(EnvironmentProblem, match="did not answer"):
        ask(python, timeout=2)
    pid = int(pids.read_text())
    wait_for(lambda: not _lives(pid))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("layout", ["bin/python", "bin/python3", "python.exe", "Scripts/python.exe"])
def test_the_folder_of_an_environment_is_as_good_as_its_interpreter(tmp_path: Path, layout: str) -> None:
    """As of venv, uv and conda, on all systems."""
    (tmp_path / layout).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / layout).write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    (tmp_path / layout).chmod(0o755)
    assert ask(str(tmp_path)).version.startswith("3.")


@pytest.mark.parametrize("named", ["x" * 5000, "a\0b", ""])
def test_a_name_that_no_file_has(named: str) -> None:
    with pytest.raises(EnvironmentProblem):
        ask(named)


def test_no_torch_anywhere_is_said_with_the_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_environment(tmp_path / "without")
    monkeypatch.setenv("PATH", str(tmp_path / "without" / "bin"))
    monkeypatch.setattr(interpreters.sys, "executable", str(tmp_path / "without" / "bin" / "python"))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EnvironmentProblem, match="--python"):
        find(None)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({}, None),
        ({"torch": "2.13.0"}, None),
        ({"torch": "2.12.0"}, False),
        ({"torch": "main"}, None),
        ({"peft": "1"}, None),
    ],
)
def test_other_versions_mean_another_environment(stated: dict[str, str], expected: bool | None) -> None:
    assert same_environment(environment(torch="2.13.0+cpu"), [], stated) is expected

"""``troubleshoot verify``: what it takes, what it prints, how it ends; over entries of a stranger's folder too."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from troubleshooter.verify import command, subject
from troubleshooter.verify.command import verify

from .test_environment import fake_environment, planted

ENTRY = """
id: {id}
severity: crash
title: A failure that only this test knows
symptoms:
  - require:
      - exception: RuntimeError
        message: "the wombat is out of fuel"
    source: {{run: "a test", shows: symptom}}
versions: {versions}
cause: The wombat was not fed.
fixes:
  - do: Feed the wombat
    shell: pip install -U "wombat>=2.0"
probe: {probe}
sources: [{{run: "a test", shows: [symptom, cause, fix]}}]
"""


@pytest.fixture
def entries(tmp_path: Path) -> Any:
    """A folder of a stranger's entries with one entry."""

    def make(
        probe: str = "{name: shm-size}", versions: str = '{wombat: ">=1.0,<2.0"}', id_: str = "wombat-fuel"
    ) -> Path:
        folder = tmp_path / "mine" / "own" / id_
        folder.mkdir(parents=True)
        (folder / "entry.yaml").write_text(ENTRY.format(id=id_, versions=versions, probe=probe))
        return tmp_path / "mine"

    return make


@pytest.fixture
def python(tmp_path: Path) -> Any:
    """An interpreter in whose environment these packages are installed."""

    def make(*packages: str) -> str:
        fake_environment(tmp_path / "env", *packages)
        return str(tmp_path / "env" / "bin" / "python")

    return make


def answer(capsys: pytest.CaptureFixture[str], *arguments: Any, **more: Any) -> tuple[int, dict[str, Any]]:
    status = verify(*arguments, format="json", **more)
    return status, json.loads(capsys.readouterr().out)


def test_installed_versions_outside_the_range(capsys: Any, entries: Any, python: Any) -> None:
    status, said = answer(capsys, "wombat-fuel", python=python("wombat==2.1"), entries=[entries()])
    assert (status, said["verdict"], said["basis"]) == (0, "not-here", "versions")
    assert said["reason"] == "wombat 2.1 is installed here; affected is >=1.0,<2.0"
    assert said["environment"]["versions"] == {"wombat": "2.1"}


def test_affected_versions_run_the_probe(capsys: Any, entries: Any, python: Any) -> None:
    probe = "{name: shm-size, with: {batch_mb: 100000, workers: 512, prefetch: 64}}"
    status, said = answer(capsys, "wombat-fuel", python=python("wombat==1.1"), entries=[entries(probe)])
    assert (status, said["verdict"], said["basis"]) == (1, "confirmed", "run")
    assert said["fixes"][0]["do"] == "Feed the wombat"
    assert said["fixes"][0]["removes_symptom"] is None
    assert "outside" in said["fixes"][0]["text"]
    assert said["symptom"]["numbers"]["need_mb"] == 100000 * 512 * 64


def test_affected_versions_without_a_probe(capsys: Any, entries: Any, python: Any) -> None:
    status, said = answer(capsys, "wombat-fuel", python=python("wombat==1.1"), entries=[entries("null")])
    assert (status, said["verdict"], said["basis"]) == (3, "cannot-tell", "versions")


def test_a_missing_package(capsys: Any, entries: Any, python: Any) -> None:
    status, said = answer(capsys, "wombat-fuel", python=python(), entries=[entries()])
    assert (status, said["verdict"]) == (3, "cannot-tell")
    assert "wombat not installed" in said["reason"]


def test_the_environment_is_asked_for_what_the_probe_needs(entries: Any, python: Any) -> None:
    """jinja2 is needed by one probe only, so no list of usual packages names it."""
    folder = entries("{name: template-roles}", "{}")
    asked = subject.of_entry("wombat-fuel", [folder], "en")
    found, said, _ = command.answer(asked, python=python("torch==2.13.0", "transformers==5.23.0", "jinja2==3.1.6"))
    assert found.environment.versions["jinja2"] == "3.1.6"
    assert "jinja2" not in said.reason


def test_a_gpu_question_without_a_gpu(capsys: Any, entries: Any, python: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("troubleshooter.verify.device.gpus", list)
    where = python("torch==2.4.0", "wombat==1.0")
    status, said = answer(capsys, "wombat-fuel", python=where, entries=[entries("{name: gpu-arch}")])
    assert (status, said["verdict"]) == (3, "cannot-tell")
    assert "no NVIDIA GPU" in said["reason"]


def test_a_log_is_diagnosed_and_its_environment_compared(
    capsys: Any, entries: Any, python: Any, tmp_path: Path
) -> None:
    where = python("wombat==1.1")
    log = tmp_path / "train.log"
    for site, same in (
        (tmp_path / "env/lib/python3.11/site-packages", True),
        ("/gone/lib/python3.9/site-packages", False),
    ):
        log.write_text(
            "Traceback (most recent call last):\n"
            f'  File "{site}/wombat/feed.py", line 3, in feed\n    burn()\n'
            "RuntimeError: the wombat is out of fuel\n"
        )
        status, said = answer(capsys, str(log), python=where, entries=[entries(id_=f"wombat-{same}".lower())])
        assert (status, said["verdict"], said["question"]) == (3, "cannot-tell", "kind"), "its own loader was not asked"
        assert said["entry"].startswith("wombat-")
        assert said["same_environment"] is same


def test_a_log_fills_in_the_probes_parameters(capsys: Any, python: Any, tmp_path: Path, entries: Any) -> None:
    """What fits the probe's pattern is asked about; what does not is left out, and never an error."""
    folder = entries('{name: removed-arguments, with: {callable: "<<owner>>", argument: "<<what>>"}}', "{}")
    path = folder / "own" / "wombat-fuel" / "entry.yaml"
    path.write_text(
        path.read_text().replace(
            '"the wombat is out of fuel"', r'"(?P<owner>[\\w.;]+) does not take fuel (?P<what>\\S+)"'
        )
    )
    where = python("torch==2.4.0")
    for owner, what, told in (
        ("TrainingArguments", "diesel", "transformers is not installed"),
        ("os;system", "diesel", "which argument of what"),
        ("TrainingArguments", "die-sel", "which argument of what"),
    ):
        log = tmp_path / "train.log"
        log.write_text(f"Traceback (most recent call last):\nRuntimeError: {owner} does not take fuel {what}\n")
        status, said = answer(capsys, str(log), python=where, entries=[folder])
        assert (status, said["verdict"]) == (3, "cannot-tell")
        assert told in said["reason"]


FUEL = "the wombat is out of fuel"
ASKING = "{name: shm-size, with: {batch_mb: '<<mb>>', workers: '<<workers>>', prefetch: 64}}"


@pytest.fixture
def asking(entries: Any) -> Path:
    """An entry whose log may say how large the batches are and how many workers there were."""
    folder: Path = entries(ASKING)
    path = folder / "own" / "wombat-fuel" / "entry.yaml"
    path.write_text(path.read_text().replace(f'"{FUEL}"', rf'"{FUEL}(?: \\((?P<mb>\\d+) MB(?: for (?P<workers>\\d+))?\\))?"'))
    return folder


def log_of(path: Path, said: str, site: str = "") -> str:
    frame = f'  File "{site}/wombat/feed.py", line 3, in feed\n    burn()\n' if site else ""
    path.write_text(f"Traceback (most recent call last):\n{frame}RuntimeError: {FUEL}{said}\n")
    return str(path)


def test_confirmed_is_said_of_the_logs_own_values_alone(capsys: Any, python: Any, tmp_path: Path, asking: Path) -> None:
    where, log = python("wombat==1.1"), tmp_path / "train.log"
    more = {"python": where, "entries": [asking]}
    status, said = answer(capsys, log_of(log, " (100000 MB for 512)"), **more)
    assert (status, said["verdict"], said["question"]) == (1, "confirmed", "log")
    assert said["from_log"] == {"batch_mb": 100000, "workers": 512}
    assert "512 workers x 64 batches x 100000 MB" in said["reason"]

    status, said = answer(capsys, log_of(log, " (100000 MB)"), **more)
    assert (status, said["verdict"], said["question"]) == (3, "kind-confirmed", "kind"), "the workers are not the log's"
    assert said["from_log"] == {"batch_mb": 100000}
    assert "not proven" in said["reason"]
    assert said["fixes"][0]["do"] == "Feed the wombat", "what was tried is told"

    status, said = answer(capsys, log_of(log, " (1 MB for 0)"), **more)
    assert (status, said["verdict"], said["question"]) == (0, "not-here", "log")

    status, said = answer(capsys, log_of(log, " (1 MB)"), **more)
    assert (status, said["verdict"], said["question"]) == (3, "cannot-tell", "kind")

    status, said = answer(capsys, log_of(log, " (999999999 MB for 512)"), **more)
    assert said["question"] == "kind", "a value that the probe does not take is no value"


def test_another_environment_confirms_the_kind_alone(capsys: Any, python: Any, tmp_path: Path, asking: Path) -> None:
    more = {"python": python("wombat==1.1"), "entries": [asking]}
    text = log_of(tmp_path / "train.log", " (100000 MB for 512)", "/gone/lib/python3.9/site-packages")
    status, said = answer(capsys, text, **more)
    assert (status, said["verdict"], said["same_environment"]) == (3, "kind-confirmed", False)
    assert "not the one that wrote the log" in said["reason"]
    own = log_of(tmp_path / "train.log", " (100000 MB for 512)", str(tmp_path / "env/lib/python3.11/site-packages"))
    status, said = answer(capsys, own, **more)
    assert (status, said["verdict"], said["same_environment"]) == (1, "confirmed", True)


def test_the_kind_is_said_in_both_languages(capsys: Any, python: Any, tmp_path: Path, asking: Path) -> None:
    more = {"python": python("wombat==1.1"), "entries": [asking]}
    log = log_of(tmp_path / "train.log", " (100000 MB)")
    assert verify(log, **more) == 3
    assert capsys.readouterr().out.startswith("THIS KIND OF FAILURE EXISTS HERE  wombat-fuel")
    assert verify(log, lang="zh", **more) == 3
    assert "此类故障在此环境中存在" in capsys.readouterr().out


def test_a_record_is_of_what_ran(capsys: Any, python: Any, tmp_path: Path, asking: Path) -> None:
    """Whatever was asked about a log: the run of these values confirmed the failure."""
    log = log_of(tmp_path / "train.log", " (100000 MB)")
    _, said = answer(capsys, log, python=python("wombat==1.1"), entries=[asking], record=tmp_path / "kept")
    assert said["verdict"] == "kind-confirmed"
    (path,) = (tmp_path / "kept" / "wombat-fuel").glob("*.json")
    assert json.loads(path.read_text())["verdict"] == "confirmed"


def test_a_log_does_not_choose_what_is_run(
    capsys: Any, python: Any, tmp_path: Path, asking: Path, monkeypatch: Any
) -> None:
    site, mark = planted(tmp_path / "evil")
    python("wombat==1.1", "torch==2.4.0")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "env"))
    _, said = answer(capsys, log_of(tmp_path / "train.log", "", str(site)), entries=[asking])
    assert not mark.exists()
    assert said["environment"]["python"] != str(tmp_path / "evil/bin/python")
    assert any(f"{tmp_path}/evil/bin/python" in note and "--python" in note for note in said["notes"])


@pytest.mark.parametrize(
    ("target", "more", "told"),
    [
        ("wombat-fule", {}, "did you mean wombat-fuel"),
        ("wombat-fuel", {"device": "gpu"}, "expected auto, cpu, cuda or cuda:N"),
        ("wombat-fuel", {"timeout": 0}, "seconds from 1 to 3600"),
        ("wombat-fuel", {"model": Path("/nowhere")}, "no such folder"),
        ("wombat-fuel", {"python": "/nowhere/python"}, "/nowhere/python"),
        ("wombat-fuel", {"entries": [Path("/nowhere")]}, "/nowhere"),
        ("/etc/hostname", {}, "nothing to verify"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    capsys: Any, entries: Any, target: str, more: dict[str, Any], told: str
) -> None:
    status = verify(target, **{"entries": [entries()], "python": sys.executable, **more})
    said = capsys.readouterr()
    assert status == 2
    assert said.out == ""
    assert told in said.err
    assert len([line for line in said.err.splitlines() if line.startswith("troubleshoot: ") and told in line]) == 1


@pytest.mark.parametrize(
    "probe",
    [
        "{name: evil}",
        "{name: evil-probe}",
        "{name: shm-size, with: {batch_mb: '1; import os'}}",
        "{name: shm-size, with: {code: 'import os'}}",
        "{name: removed-arguments, with: {callable: 'os.system', argument: x}}",
        "{name: import-mismatch, with: {package: evil, name: x}}",
    ],
)
def test_a_strangers_entry_cannot_bring_code(
    capsys: Any, entries: Any, python: Any, tmp_path: Path, monkeypatch: Any, probe: str
) -> None:
    """Code beside the entry, in the working folder and in its parameters: none of it runs."""
    folder = entries(probe)
    trap = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    for place in (folder, folder / "own" / "wombat-fuel", tmp_path):
        for name in ("evil.py", "evil_probe.py", "_kit.py", "shm_size.py", "sitecustomize.py"):
            (place / name).write_text(trap)
    (folder / "own" / "wombat-fuel" / "probes").mkdir()
    (folder / "own" / "wombat-fuel" / "probes" / "evil.py").write_text(trap)
    monkeypatch.chdir(tmp_path)
    status = verify("wombat-fuel", python=python("wombat==1.1", "transformers==4.50.0"), entries=[folder])
    assert status == 2, capsys.readouterr()
    assert not (tmp_path / "ran").exists()


def test_recording(capsys: Any, entries: Any, python: Any, tmp_path: Path) -> None:
    folder, where = entries(), python("wombat==2.1")
    status, said = answer(capsys, "wombat-fuel", python=where, entries=[folder], record=True)
    assert (status, said["basis"]) == (0, "run"), "a record is of a run, also outside of the range"
    (path,) = (folder / "own" / "wombat-fuel" / "verified").glob("*.json")
    assert json.loads(path.read_text())["verdict"] == "not-here"
    assert any(str(path) in note for note in said["notes"])
    answer(capsys, "wombat-fuel", python=where, entries=[folder], record=tmp_path / "elsewhere")
    assert list((tmp_path / "elsewhere" / "wombat-fuel").glob("*.json"))


def test_the_terminal_shows_everything_in_both_languages(capsys: Any, entries: Any, python: Any) -> None:
    probe = "{name: shm-size, with: {batch_mb: 100000, workers: 512}}"
    where = python("wombat==1.1")
    folder = entries(probe)
    assert verify("wombat-fuel", python=where, entries=[folder], show_code=True) == 1
    shown = capsys.readouterr().out
    for part in (
        "CONFIRMED",
        "Feed the wombat",
        "not tried here",
        "removes the failure",
        "statvfs",
        "named with --python",
    ):
        assert part in shown
    assert verify("wombat-fuel", python=where, entries=[folder], lang="zh") == 1
    assert "已确认" in capsys.readouterr().out


def test_without_a_target_every_range_is_asked(capsys: Any, entries: Any, python: Any) -> None:
    status, said = answer(capsys, None, python=python("wombat==1.1"), entries=[entries()])
    assert status == 3
    assert [one["entry"] for one in said["entries"]] == ["wombat-fuel"]
    assert said["entries"][0]["title"] == "A failure that only this test knows"


def test_without_a_target_titles_and_the_share_that_can_be_checked(capsys: Any, entries: Any, python: Any) -> None:
    more = {"python": python("wombat==1.1"), "entries": [entries()]}
    _, said = answer(capsys, None, **more)
    counts = said["knowledge"]
    assert max(counts["with_probe"], counts["with_versions"]) <= counts["checkable"] < counts["failures"]
    assert counts["checkable"] <= counts["with_probe"] + counts["with_versions"]
    assert verify(None, **more) == 3
    shown = capsys.readouterr().out
    assert "A failure that only this test knows" in shown
    assert f"{counts['checkable']} of the {counts['failures']} known failures" in shown


def test_the_terminal_shows_no_marks_and_no_run_where_none_was(capsys: Any, entries: Any, python: Any) -> None:
    folder = entries()
    path = folder / "own" / "wombat-fuel" / "entry.yaml"
    path.write_text(path.read_text().replace("Feed the wombat", "Feed `wombat` first"))
    path.write_text(path.read_text().replace("A failure that", "A `failure` that"))
    where = python("wombat==2.1")
    assert verify("wombat-fuel", python=where, entries=[folder]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith("\nnothing was run\n")
    assert "A failure that only" in shown
    probe = "{name: shm-size, with: {batch_mb: 100000, workers: 512}}"
    path.write_text(path.read_text().replace("{name: shm-size}", probe).replace("<2.0", "<3.0"))
    assert verify("wombat-fuel", python=where, entries=[folder]) == 1
    shown = capsys.readouterr().out
    assert "Feed wombat first" in shown
    assert "`" not in shown


def test_the_version_answer_starts_one_interpreter(entries: Any, python: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked once for its packages; nothing else takes noticeable time."""
    where, asked = python("wombat==2.1"), subject.of_entry("wombat-fuel", [entries()])
    started: list[object] = []

    class Counted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: Any, *arguments: Any, **more: Any) -> None:
            started.append(command)
            super().__init__(command, *arguments, **more)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    command.answer(asked, python=where)
    assert len(started) == 1, started


def test_ctrl_c_is_quiet(entries: Any, python: Any, monkeypatch: Any) -> None:
    def interrupted(*arguments: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "answer", interrupted)
    assert verify("wombat-fuel", python=python("wombat==1.1"), entries=[entries()]) == 130


def test_the_fake_interpreter_of_these_tests_is_executable(python: Any) -> None:
    assert os.stat(python()).st_mode & stat.S_IXUSR

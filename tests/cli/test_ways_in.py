"""The command as a user runs it: files, pipes, folders, formats, languages, bad input, closed pipes, Ctrl-C."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from troubleshooter.cli.commands import COMMANDS, Command
from troubleshooter.cli.options import Option, read_plain

LOG = """\
Traceback (most recent call last):
  File "/home/user/train.py", line 12, in main
    trainer.train()
  File "/opt/venv/lib/python3.11/site-packages/accelerate/utils/operations.py", line 778, in _convert_to_fp32
    return tensor.float()
AttributeError: 'HybridCache' object has no attribute 'float'
"""
COMMAND = [sys.executable, "-m", "troubleshooter"]


def run(*arguments: str, stdin: bytes | None = None, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "LC_ALL": "C.UTF-8", **environ}
    given = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, timeout=60, cwd=cwd, env=env, check=False, **given)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return path


def test_a_file(log: Path) -> None:
    done = run(str(log))
    assert done.returncode == 1
    assert b"cache-object-float" in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize("format", ["terminal", "json"])
def test_a_large_file_is_answered_as_its_pipe_is(tmp_path: Path, format: str) -> None:
    """Its search begins while the rest of the program is loaded."""
    path = tmp_path / "train.log"
    lines = ["{'loss': 1.8342, 'grad_norm': 1.2718, 'learning_rate': 0.0001987, 'epoch': 0.03}\n"] * 250_000
    lines.insert(200_000, LOG)
    path.write_text("".join(lines))
    os.utime(path, (1, 1))  # a file that was written just now may still be written
    done = run("--format", format, str(path))
    assert done.returncode == 1
    assert done.stderr == b""
    piped = run("--quiet", "--format", format, stdin=path.read_bytes())
    as_file = piped.stdout.replace(b'"piped": true', b'"piped": false')
    assert done.stdout.replace(str(path).encode(), b"standard input") == as_file


def test_entries_that_cannot_be_used_end_a_search_that_was_begun(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(("x" * 80 + "\n") * 250_000)
    done = run("--env", str(tmp_path / "no-python"), str(path))
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert b"--env" in done.stderr


def test_a_pipe_is_passed_through_and_quiet_is_not() -> None:
    done = run(stdin=LOG.encode())
    assert done.returncode == 1
    assert done.stdout.startswith(LOG.encode())
    quiet = run("--quiet", stdin=LOG.encode())
    assert not quiet.stdout.startswith(b"Traceback")
    assert b"cache-object-float" in quiet.stdout


def test_json_is_the_contract_one_object_a_line(log: Path) -> None:
    done = run("--format", "json", str(log), str(log))
    reports = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(reports) == 2
    assert reports[0]["schema_version"] == 1
    assert reports[0]["diagnoses"][0]["id"] == "cache-object-float"
    assert reports[0]["failures"][0]["exception"] == "AttributeError"


def test_json_fits_its_published_schema(log: Path, tmp_path: Path) -> None:
    import jsonschema

    schema = json.loads(run("check", "--report-schema").stdout)
    unknown = tmp_path / "unknown.log"
    unknown.write_text("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nQuuxError: never seen\n")
    metrics = tmp_path / "metrics.log"
    metrics.write_text("{'loss': nan, 'grad_norm': inf, 'epoch': 0.1}\n")
    for path in (log, unknown, metrics):
        report = json.loads(run("--format", "json", str(path)).stdout)
        jsonschema.validate(report, schema)


def test_languages(log: Path) -> None:
    assert "怎么办" in run("--lang", "zh", str(log)).stdout.decode()
    assert "怎么办" in run(str(log), TROUBLESHOOT_LANG="zh").stdout.decode()
    assert "怎么办" in run(str(log), LC_ALL="zh_CN.UTF-8").stdout.decode()
    assert "What to do" in run("--lang", "en", str(log), TROUBLESHOOT_LANG="zh").stdout.decode()


def test_exit_codes(tmp_path: Path, log: Path) -> None:
    fine = tmp_path / "fine.log"
    fine.write_text("Epoch 1 done\nall good\n")
    unknown = tmp_path / "unknown.log"
    unknown.write_text("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nQuuxError: never seen\n")
    assert run(str(fine)).returncode == 0
    assert run(str(unknown)).returncode == 3
    assert run(str(log)).returncode == 1
    assert run(str(tmp_path / "missing.log")).returncode == 2


@pytest.mark.parametrize("content", [b"", b"\n\n", b"  \n\t\r\n \n"])
def test_nothing_to_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.log"
    path.write_bytes(content)
    done = run(str(path))
    assert done.returncode == 2
    assert b"nothing to read" in done.stderr
    piped = run("-", stdin=content)
    assert piped.returncode == 2
    assert b"nothing to read" in piped.stderr
    assert b"Traceback" not in done.stderr


def test_a_binary_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model.dat"
    path.write_bytes(bytes(range(256)) * 64)
    done = run(str(path))
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


def test_one_unreadable_file_does_not_hide_the_others(log: Path, tmp_path: Path) -> None:
    done = run("--format", "json", str(tmp_path / "missing.log"), str(log))
    assert done.returncode == 2
    assert json.loads(done.stdout)["diagnoses"][0]["id"] == "cache-object-float"
    assert b"missing.log" in done.stderr


def test_a_folder_is_one_run(tmp_path: Path) -> None:
    for rank in range(3):
        folder = tmp_path / "run" / "attempt_0" / str(rank)
        folder.mkdir(parents=True)
        (folder / "stderr.log").write_text(LOG if rank == 1 else "ConnectionError: Connection closed by peer\n")
    report = json.loads(run("--format", "json", str(tmp_path / "run")).stdout)
    assert report["diagnoses"][0]["id"] == "cache-object-float"
    assert {f["rank"] for f in report["failures"]} == {0, 1}
    assert report["first_failure"]["rank"] == 1


def test_a_file_named_like_a_command(tmp_path: Path) -> None:
    (tmp_path / "list").write_text(LOG)
    assert run("./list", cwd=tmp_path).returncode == 1
    assert run("--", "list", cwd=tmp_path).returncode == 1
    assert run("list", cwd=tmp_path).returncode == 0


def test_a_notebook(tmp_path: Path) -> None:
    cell = {
        "cell_type": "code",
        "source": ["raise ValueError('not this')\n"],
        "outputs": [{"output_type": "error", "ename": "AttributeError", "evalue": "x", "traceback": LOG.splitlines()}],
    }
    path = tmp_path / "run.ipynb"
    for indent in (1, None):
        path.write_text(json.dumps({"cells": [cell], "nbformat": 4}, indent=indent))
        report = json.loads(run("--format", "json", str(path)).stdout)
        assert [f["exception"] for f in report["failures"]] == ["AttributeError"]


def test_ignoring_with_a_reason(log: Path) -> None:
    (log.parent / ".troubleshoot.toml").write_text('[ignore]\ncache-object-float = "known, waits for 4.51"\n')
    report = json.loads(run("--format", "json", log.name, cwd=log.parent).stdout)
    assert report["ignored"] == [{"id": "cache-object-float", "reason": "known, waits for 4.51"}]
    assert "cache-object-float" not in [d["id"] for d in report["diagnoses"]]
    (log.parent / ".troubleshoot.toml").write_text("[ignore]\ncache-object-float = 1\n")
    assert run(log.name, cwd=log.parent).returncode == 2


def test_own_entries_on_top_and_their_faults(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "team" / "our-quux"
    folder.mkdir(parents=True)
    text = """\
id: our-quux
severity: crash
title: Quux of our cluster is not mounted
symptoms:
  - require: [{exception: QuuxError, message: "never seen before"}]
    source: {url: "https://example.org/runbook"}
cause: The mount is missing.
fixes: [{do: Mount it, shell: mount /quux}]
sources: [{url: "https://example.org/runbook", shows: [cause, fix]}]
"""
    (folder / "entry.yaml").write_text(text)
    unknown = tmp_path / "u.log"
    unknown.write_text("QuuxError: never seen before\n")
    report = json.loads(run("--format", "json", "--entries", str(tmp_path / "own"), str(unknown)).stdout)
    assert report["diagnoses"][0]["id"] == "our-quux"
    (folder / "entry.yaml").write_text(text.replace("fixes:", "fixs:").replace("never seen before", "(?=x)never seen"))
    broken = run("--entries", str(tmp_path / "own"), str(unknown))
    assert broken.returncode == 2
    assert b"fixs: unknown key" in broken.stderr
    assert b"entry.yaml:8:1" in broken.stderr
    assert b"Traceback" not in broken.stderr


def test_a_closed_pipe_ends_quietly(log: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m troubleshooter {log} {log} {log} | head -1", shell=True, capture_output=True, timeout=60, check=False
    )
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr


@pytest.mark.parametrize("arguments", ["", "--quiet", "--brief", "--format json"])
def test_a_closed_pipe_leaves_the_exit_status(log: Path, arguments: str) -> None:
    command = f"{sys.executable} -m troubleshooter {arguments} {log} {log} {log} | true; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", command], capture_output=True, timeout=60, check=False).returncode == 1


def test_hostile_values_stay_out_of_what_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "hostile.log"
    path.write_bytes(
        b"transformers==4.57.1\nTypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'\x1b[2J\x9b31m\n"
        b"AttributeError: 'x; rm -rf ~ \xe2\x80\xae Cache' object has no attribute 'float'\n"
    )
    done = run(str(path))
    assert b"\x1b" not in done.stdout
    assert "\u202e" not in done.stdout.decode()
    report = json.loads(run("--format", "json", str(path)).stdout)
    for diagnosis in report["diagnoses"]:
        for fix in diagnosis["fixes"]:
            assert "rm -rf" not in (fix["shell"] or "")


def given_values(option: Option) -> list[str]:
    """Texts for an option: right ones, and one that may be wrong."""
    texts = {"text": ["train.log", "an-id"], "path": ["own"], "whole": ["2", "0", "x"], "number": ["1.5", "x"]}
    return [*option.choices, *texts.get(option.kind, [])]


def words_of(command: Command) -> st.SearchStrategy[list[str]]:
    """Arguments as a user may type them for the command, mistakes among them."""
    words = [["train.log"], ["-"], ["--"], ["-x"], ["--nope"], ["list"]]
    for option in command.options:
        for flag in option.spellings():
            words += [[flag]] if option.kind == "flag" else []
            words += [[flag, text] for text in given_values(option) if option.kind != "flag"]
            words += [[f"{flag}={text}"] for text in given_values(option) if option.kind != "flag" and flag.startswith("--")]
    return st.lists(st.sampled_from(words), max_size=5).map(lambda parts: [word for part in parts for word in part])


@settings(max_examples=150)
@given(st.sampled_from(COMMANDS).flatmap(lambda command: st.tuples(st.just(command), words_of(command))))
def test_the_plain_parser_reads_options_as_typer_does(case: tuple[Command, list[str]]) -> None:
    command, arguments = case
    values = read_plain(arguments, command.options)
    if values is None:
        return
    from troubleshooter.cli.app import parsed

    assert parsed([command.name, *arguments]) == (command, values)


def test_every_command_takes_what_its_table_says() -> None:
    for command in COMMANDS:
        module, _, name = command.work.partition(":")
        function = getattr(importlib.import_module(module), name)
        inspect.signature(function).bind(**{option.name: option.start() for option in command.options})


@pytest.mark.parametrize("command", ["diagnose", "explain", "list", "show", "search", "check", "new", "wrong", "verify"])
def test_every_command_has_help(command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert b"Usage" in done.stdout


def test_explain_names_the_failing_condition(tmp_path: Path) -> None:
    path = tmp_path / "near.log"
    path.write_text("AttributeError: 'DynamicCache' object has no attribute 'floaty'\n")
    done = run("explain", "cache-object-float", str(path))
    assert done.returncode == 3
    assert "fails by" in done.stdout.decode()


def test_new_drafts_an_entry_and_wrong_keeps_a_redacted_near_miss(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("token=hf_abcdefghijklmnopqrstuvwx\n" + LOG.replace("AttributeError: 'HybridCache' object has no attribute 'float'", "QuuxError: flux capacitor 12 is empty"))
    done = run("new", str(log), "--to", str(tmp_path / "e"), "--area", "training")
    assert done.returncode == 0
    (entry,) = (tmp_path / "e").rglob("entry.yaml")
    text = entry.read_text()
    assert "flux capacitor" in text
    assert "hf_abc" not in (entry.parent / "samples.log").read_text()
    from kb.load import load_entry

    loaded, problems = load_entry(entry)
    assert loaded is not None, problems
    assert not problems
    real = tmp_path / "real.log"
    real.write_text(LOG)
    done = run("wrong", "cache-object-float", str(real), "--to", str(tmp_path / "e"))
    assert done.returncode == 0
    kept = (tmp_path / "e" / "precision" / "cache-object-float" / "samples.log").read_text()
    assert kept.startswith("=== near-miss draft-1\n")
    assert "HybridCache" in kept
    assert "/home/user/" in kept


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("format", ["terminal", "json"])
def test_a_full_disk_is_one_sentence(log: Path, format: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, "--format", format, str(log)], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == "troubleshoot: the report cannot be written: No space left on device"


@pytest.mark.parametrize("name", ["core.4711", "trainer_state", "events.out.tfevents.1764000000.node1.17.0"])
def test_what_is_no_text_in_a_folder_is_not_read(tmp_path: Path, name: str) -> None:
    """A core dump holds any message that its program could have printed."""
    (tmp_path / "train.log").write_text("{'loss': 2.1, 'epoch': 0.1}\n{'train_runtime': 8.1, 'train_loss': 2.1, 'epoch': 1.0}\n")
    (tmp_path / name).write_bytes(b"\x7fELF\x02\x01\x01" + b"\0\1\2 x" * 2000 + f"\n{LOG}".encode() + b"\0\1\2" * 2000)
    done = run("--format", "json", str(tmp_path))
    report = json.loads(done.stdout)
    assert report["input"]["files"] == [str(tmp_path / "train.log")]
    assert report["diagnoses"] == []


def test_a_log_in_a_folder_may_begin_with_a_hole(tmp_path: Path) -> None:
    for name in ("train.log", "stdout"):
        (tmp_path / name).write_bytes(b"\0" * 70_000 + LOG.encode())
    assert json.loads(run("--format", "json", str(tmp_path)).stdout)["diagnoses"][0]["id"] == "cache-object-float"


@pytest.mark.parametrize("arguments", [[""], ["--brief", ""], ["--", ""], ["new", ""], ["explain", "cache-object-float", ""], ["wrong", "x", ""]])
def test_an_empty_argument_is_no_folder(log: Path, arguments: list[str]) -> None:
    """`troubleshoot "$LOG"` with LOG unset must not answer for whatever lies in the current folder."""
    done = run(*arguments, cwd=log.parent)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"one of the arguments is empty" in done.stderr
    assert os.listdir(log.parent) == [log.name]


@pytest.mark.parametrize("name", ["a b.log", "--brief", "it's.log", "folder-of-a-very-long-name/" * 5 + "output.log"])
def test_the_command_that_starts_an_entry_can_be_pasted(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("QuuxError: flux capacitor 12 is empty\n")
    (command,) = (line for line in run("--", name, cwd=tmp_path).stdout.decode().splitlines() if "troubleshoot new " in line)
    words = shlex.split(command[command.index("troubleshoot new ") :])
    done = run(*words[1:], "--to", str(tmp_path / "entries"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_answers_of_a_log_that_is_not_wrong_are_words(log: Path) -> None:
    done = run("wrong", "segmentation-fault", str(log))
    assert b"is not diagnosed as segmentation-fault; its answer is cache-object-float\n" in done.stderr

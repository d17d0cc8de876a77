"""Entries are somebody else's data: whatever a folder of them contains is reported as a problem, in bounded memory and time."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from kb.load import load

GOOD = """\
id: {id}
severity: crash
title: {title}
symptoms:
  - require:
      - exception: QuuxError
        message: "flux capacitor \\\\d+ is empty"
    source: {{run: "a run"}}
cause: |
  {cause}
fixes:
  - do: Fill it up
sources:
  - {{url: "https://github.com/x/y/issues/1", shows: [cause, fix]}}
"""


def entry(folder: Path, name: str = "flux-empty", title: str = "The flux capacitor is empty", cause: str = "It is.") -> Path:
    place = folder / "training" / name
    place.mkdir(parents=True)
    path = place / "entry.yaml"
    path.write_text(GOOD.format(id=name, title=title, cause=cause), encoding="utf-8")
    return path


def limited() -> None:
    """The child may take 1 GiB of addresses and 60 s of CPU."""
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def loaded(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kb.load", str(folder)],
        capture_output=True, text=True, check=False, preexec_fn=limited, timeout=120,
    )  # fmt: skip


ALIASES = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)
HOSTILE = {
    "alias bomb": (ALIASES, "aliases and anchors"),
    "a list that holds itself": ("id: &a [*a]\n", "aliases and anchors"),
    "brackets": ("[" * 100_000, "nested deeper than"),
    "nested mappings": ("".join(" " * n + "a:\n" for n in range(1200)), "nested deeper than"),
    "dashes": ("- " * 30_000 + "x", "nested deeper than"),
    "large": ("id: " + "x" * (60 << 20), "bytes; at most"),
    "many values": ("x: [" + "a," * 300_000 + "]", "more than 200,000 values"),
    "tag": ("id: !!python/object/apply:os.system ['true']\n", "tags are not read"),
    "large number": ("id: " + "9" * 100_000 + "\n", "not valid YAML"),
    "key": ("[a, b]: 1\n", "is no key"),
    "not UTF-8": (b"id: \xff\xfe\n", "cannot be read"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_a_problem_with_its_place(tmp_path: Path, name: str) -> None:
    text, said = HOSTILE[name]
    path = entry(tmp_path)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = loaded(tmp_path)
    assert done.returncode == 2, done.stderr[-2000:]
    assert f"{path}:" in done.stdout
    assert said in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["entry.yaml", "zh.yaml", "samples.log"])
@pytest.mark.parametrize("what", ["fifo", "device", "link"])
def test_only_regular_files_of_the_folder_are_read(tmp_path: Path, name: str, what: str) -> None:
    path = entry(tmp_path / "entries")
    secret = tmp_path / "secret.yaml"
    secret.write_text("root:x:0:0:secretline\n")
    target = path.with_name(name)
    target.unlink(missing_ok=True)
    if what == "fifo":
        os.mkfifo(target)
    else:
        target.symlink_to(secret if what == "link" else "/dev/zero")
    done = loaded(tmp_path / "entries")
    assert "Traceback" not in done.stderr
    assert "secretline" not in done.stdout
    assert done.returncode == 2
    assert "is no regular file" in done.stdout or "link that leads out" in done.stdout


def test_a_link_inside_of_the_folder_is_followed(tmp_path: Path) -> None:
    path = entry(tmp_path)
    path.rename(tmp_path / "elsewhere.yaml")
    path.symlink_to(tmp_path / "elsewhere.yaml")
    library = load(tmp_path)
    assert not library.problems
    assert set(library.entries) == {"flux-empty"}


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("broken.jsonl", '{"name": "a"}\n{"name": \n', 2, "not valid JSON"),
        ("deep.jsonl", "[" * 100_000 + "\n", 1, "nested too deep"),
        ("list.jsonl", '{"name": "a"}\n\n[1, 2]\n', 3, "is a list, no row"),
        ("broken.yaml", "rows:\n  - {name: a\n", 3, "not valid YAML"),
        ("text.yaml", "rows: many\n", 1, "expected a list of mappings"),
        ("bomb.yaml", ALIASES, 1, "aliases and anchors"),
    ],
)
def test_a_broken_table_is_told_with_its_place(tmp_path: Path, name: str, text: str, line: int, said: str) -> None:
    entry(tmp_path)
    table = tmp_path / "tables" / name
    table.parent.mkdir()
    table.write_text(text)
    done = loaded(tmp_path)
    assert done.returncode == 2
    assert f"{table}:{line}:" in done.stdout
    assert said in done.stdout
    assert "Traceback" not in done.stderr


def test_controls_and_bidirectional_characters_are_taken_out_when_entries_are_loaded(tmp_path: Path) -> None:
    path = entry(tmp_path, title=r'"\e]52;c;cm0gLXJm\a the capacitor \u202e is empty"', cause="It is \u202e so \u2066 31m.")
    path.parent.parent.rename(path.parent.parent.with_name("train\x1b[31m"))
    (item,) = load(tmp_path).entries.values()
    assert item.entry.title == "\ufffd]52;c;cm0gLXJm\ufffd the capacitor \ufffd is empty"
    assert item.entry.cause == "It is \ufffd so \ufffd 31m.\n"
    assert item.area == "train\ufffd[31m"
    assert set(item.document.unsafe) == {("title",), ("cause",)}

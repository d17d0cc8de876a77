"""``check`` as a contributor uses it: one entry, an area, a team's folder, what has changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kb.cache import CHECKOUT
from troubleshooter.cli import author, drafts

SHARED = "training-file-not-found-panic"
TRACE = """\
Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/quux/trainer.py", line 12, in train
    self.fill()
QuuxError: flux capacitor 12 is empty after 3 steps
"""


def entry(root: Path, name: str = "flux-empty", message: str = "flux capacitor \\\\d+ is empty", type_: str = "QuuxError") -> Path:
    folder = root / "training" / name
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        f"""\
id: {name}
severity: crash
title: The flux capacitor is empty
symptoms:
  - require:
      - exception: {type_}
        message: "{message}"
    source: {{run: "a run of our own"}}
cause: |
  Nobody filled it.
fixes:
  - do: Fill it up
sources:
  - {{url: "https://github.com/quux/quux/issues/1", shows: [cause, fix]}}
"""
    )
    log = TRACE.replace("QuuxError", type_).replace("flux capacitor 12 is empty", message.replace("\\\\d+", "12"))
    (folder / "samples.log").write_text(f"=== match report\n{log}")
    return folder


def check(folder: Path | None, **given: object) -> int:
    arguments = {"healthy": None, "stamp": False, "mark": False, "rerun": 0, "claims": False, **given}
    return author.check([folder] if folder is not None else None, **arguments)  # type: ignore[arg-type]


def test_several_folders_are_checked_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = sorted(CHECKOUT.glob("data/*"))[:2]
    arguments = {"healthy": None, "stamp": False, "mark": False, "rerun": 0, "claims": False}
    assert author.check([one, other], **arguments) == 0  # type: ignore[arg-type]
    assert "2 entries, 0 problems" in capsys.readouterr().err
    assert author.check([one, tmp_path], **arguments) == 2  # type: ignore[arg-type]
    assert "one after the other" in capsys.readouterr().err


@pytest.mark.parametrize("own", [[], [CHECKOUT]])
def test_a_shipped_entry_passes_alone(own: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    (folder,) = CHECKOUT.glob(f"*/{SHARED}")
    code = check(folder, entries=own)
    said = capsys.readouterr()
    assert code == 0, said.out
    assert "1 entry, 0 problems" in said.err


def test_an_area_passes_with_its_references_to_others(capsys: pytest.CaptureFixture[str]) -> None:
    code = check(CHECKOUT / "harmless")
    assert code == 0, capsys.readouterr().out


def test_an_untouched_draft_does_not_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    log.write_text(TRACE)
    assert drafts.new(str(log), tmp_path / "team", "training", None) == 0
    (folder,) = (tmp_path / "team" / "training").iterdir()
    assert check(folder) == 2
    said = capsys.readouterr().out
    for file, place in (("entry.yaml", "title"), ("entry.yaml", "cause"), ("entry.yaml", "fixes.0.do"), ("zh.yaml", "title")):
        assert any(f"/{file}:" in line and f" {place}: is still to be written" in line for line in said.splitlines()), said
    assert any("sources.0.url: is still to be written: https://example.org" in line for line in said.splitlines())
    assert any("symptoms.0.source" in line and "is still to be written: TODO" in line for line in said.splitlines())


def test_a_teams_own_entry_may_lack_translation_and_near_miss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(entry(tmp_path)) == 0
    said = capsys.readouterr()
    assert "note:" in said.out
    assert "has no zh.yaml" in said.out
    assert "has no near miss" in said.out
    assert "1 entry, 0 problems" in said.err


def test_a_teams_entry_may_name_one_of_its_folder_and_one_of_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = entry(tmp_path)
    entry(tmp_path, "other-empty", "gigawatt \\\\d+ is empty")
    with (folder / "entry.yaml").open("a") as file:
        for name in ("other-empty", "cache-object-float"):
            file.write(f"{'not_to_confuse_with' if name[0] == 'o' else 'overlaps'}: [{{entry: {name}, because: it is not}}]\n")
    assert check(folder) == 0, capsys.readouterr().out
    (folder / "entry.yaml").write_text((folder / "entry.yaml").read_text().replace("cache-object-float", "cache-object-flot"))
    assert check(folder) == 2
    assert "names no entry: 'cache-object-flot' (did you mean cache-object-float?)" in capsys.readouterr().out


def test_a_broad_pattern_fails_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own sample passes; what gives it away are the logs of others."""
    folder = entry(tmp_path, "too-broad", "out of memory", "OutOfMemoryError")
    (folder / "samples.log").write_text("=== match report\n" + TRACE.replace("QuuxError: flux capacitor 12 is empty", "OutOfMemoryError: the flux is out of memory"))
    assert check(folder) == 2
    found = [line for line in capsys.readouterr().out.splitlines() if "gives too-broad" in line]
    assert len([line for line in found if str(folder) not in line]) >= 10


def test_an_entry_that_is_known_already_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "'HybridCache' object has no attribute 'float'"
    folder = entry(tmp_path, "our-cache-float", said, "AttributeError")
    (folder / "samples.log").write_text(f"=== match report\nAttributeError: {said}\n")
    check(folder)
    assert "prints what cache-object-float prints" in capsys.readouterr().out


def test_only_what_changed_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], check=True, capture_output=True)

    entry(tmp_path / "e", "flux-empty")
    entry(tmp_path / "e", "watt-empty", "gigawatt \\\\d+ is empty")
    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "all")
    assert check(tmp_path / "e", changed=True) == 0
    assert "no entry has changed" in capsys.readouterr().err
    sample = tmp_path / "e" / "training" / "flux-empty" / "samples.log"
    sample.write_text("=== match report\nnothing of it\n")
    assert check(tmp_path / "e", changed=True) == 2
    said = capsys.readouterr()
    assert "is not diagnosed as flux-empty" in said.out
    assert "watt-empty" not in said.out
    assert "1 entry," in said.err


def test_changed_without_git_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry(tmp_path)
    assert check(tmp_path, changed=True) == 2
    assert "--changed needs git" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_entries_is_a_sentence(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert check(tmp_path / name) == 2
    assert "expected <area>/<id>/entry.yaml" in capsys.readouterr().err


def test_our_own_folder_on_top_of_itself_says_nothing_and_others_are_counted(tmp_path: Path) -> None:
    def told(folder: Path) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "troubleshooter", "--entries", str(folder), "-q"],
            input="nothing\n", capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stderr

    assert "replace" not in told(CHECKOUT)
    for name in ("cache-object-float", "pad-token-missing", "loss-explodes", "nonfinite-loss"):
        entry(tmp_path, name, name.replace("-", " "))
    assert "your own entries replace shipped ones: 4 of them" in told(tmp_path)


LEAKY = """\
HOSTNAME=dgx-omega17
USER=alicegrey
Traceback (most recent call last):
  File "/home/alicegrey/secretproj/train.py", line 7, in <module>
    main()
  File "/home/alicegrey/secretproj/rewarder.py", line 3, in reward
    login()
RuntimeError: \x9blogin for alicegrey@quuxcorp.com with key {key} from /mnt/data/alicegrey refused
"""
KEY = "h" + "f_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3f"


def test_new_redacts_all_that_it_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    log.write_text(LEAKY.format(key=KEY))
    assert drafts.new(str(log), tmp_path / "team", "training", None) == 0
    said = capsys.readouterr().out
    (folder,) = (tmp_path / "team" / "training").iterdir()
    written = "\n".join([str(folder), *(p.read_text() for p in folder.rglob("*") if p.is_file())]).lower()
    for gone in ("alicegrey", "quuxcorp", KEY[3:11].lower(), "dgx-omega17", "\x9b"):
        assert gone not in written, gone
    assert "frame:" not in (folder / "entry.yaml").read_text(), "a file of the user's own is no condition for others"
    assert "1 key, password or token" in said
    assert "alicegrey" not in said
    assert KEY not in said
    assert "zh.yaml" in said
    assert "near miss" in said


def test_new_leaves_everything_when_it_is_told_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    log.write_text(LEAKY.format(key=KEY))
    assert drafts.new(str(log), tmp_path / "team", "training", "login-refused", redacted=False) == 0
    assert KEY in (tmp_path / "team" / "training" / "login-refused" / "samples.log").read_text()
    assert "--no-redact" in capsys.readouterr().out


@pytest.mark.parametrize(("area", "id_"), [("../../x", None), ("training", "../y"), ("/tmp", None), ("a b", None), ("training", "")])
def test_new_writes_nowhere_else(tmp_path: Path, area: str, id_: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    log.write_text(TRACE)
    assert drafts.new(str(log), tmp_path / "deep" / "team", area, id_) == 2
    assert "expected a name of small letters" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["x.log"]


def test_new_names_the_entry_that_may_have_the_cause_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    log.write_text("AttributeError: 'HybridCache' object has no attribute 'float'\n")
    assert drafts.new(str(log), tmp_path / "team", "training", None) == 0
    assert "cache-object-float" in capsys.readouterr().out

"""A team's own entries and probes: by installed packages, the environment, settings and options, and in which order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kb.cache import packs
from kb.errors import NoEntries
from kb.extensions import ENTRIES, PROBES, entry_folders, installed

ROOT = Path(__file__).parent.parent.parent
LOG = "quux.errors.QuuxError: flux capacitor 12 is empty\n"
ENTRY = """\
id: {id}
severity: crash
title: {title}
symptoms:
  - require: [{{exception: QuuxError, message: "flux capacitor \\\\d+ is empty"}}]
    source: {{run: "quux 1.2 on our cluster, 2026-11-23"}}
cause: quux empties a capacitor every thousand steps and does not fill it by itself.
fixes: [{{do: Let quux fill the capacitor before it is used up}}]
sources: [{{run: "quux 1.2 with refill_every=500, 2026-11-23", shows: fix}}]
"""
PROBE = """\
QUESTION = "Is the flux capacitor empty?"
NEEDS = []
PARAMETERS = {}
SETTLED_BY = []


def run(kit):
    def fail():
        raise ValueError("the flux capacitor is empty")

    kit.expects("ValueError", "is empty")
    kit.symptom("a drive without a refill", fail)
    kit.fix("refill", "Let quux fill the capacitor", lambda: None)
"""


def write_entry(
    folder: Path, title: str = "The flux capacitor is empty", id_: str = "flux-empty", more: str = ""
) -> Path:
    place = folder / "training" / id_
    place.mkdir(parents=True)
    (place / "entry.yaml").write_text(ENTRY.format(id=id_, title=title) + more, "utf-8")
    return folder


def run(
    *arguments: str, cwd: Path, stdin: str = LOG, python: str = sys.executable, **environ: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", "troubleshooter", *arguments],
        input=stdin, capture_output=True, text=True, cwd=cwd, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(cwd / "config"), **environ},
    )  # fmt: skip


def titles(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [diagnosis["title"] for diagnosis in json.loads(done.stdout)["diagnoses"]]


def diagnosed(cwd: Path, *arguments: str, **environ: str) -> list[str]:
    """The titles of the answers to the log."""
    done = run("--format", "json", *arguments, cwd=cwd, **environ)
    assert done.returncode in (0, 1, 3), done.stderr
    return titles(done)


def test_folders_of_the_environment(tmp_path: Path) -> None:
    first = write_entry(tmp_path / "first", "From the first folder")
    second = write_entry(tmp_path / "second", "From the second folder")
    assert diagnosed(tmp_path) == []
    assert diagnosed(tmp_path, TROUBLESHOOT_ENTRIES=str(first)) == ["From the first folder"]
    both = os.pathsep.join(map(str, (first, second)))
    assert diagnosed(tmp_path, TROUBLESHOOT_ENTRIES=both) == ["From the second folder"]
    missing = run(cwd=tmp_path, TROUBLESHOOT_ENTRIES=str(tmp_path / "gone"))
    assert (missing.returncode, "gone: no such folder of entries (TROUBLESHOOT_ENTRIES)" in missing.stderr) == (2, True)


def test_from_python_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import troubleshooter

    monkeypatch.setenv("TROUBLESHOOT_ENTRIES", str(write_entry(tmp_path / "own")))
    assert [found.id for found in troubleshooter.diagnose(LOG).diagnoses] == ["flux-empty"]
    monkeypatch.setenv("TROUBLESHOOT_ENTRIES", str(tmp_path / "gone"))
    with pytest.raises(NoEntries, match="TROUBLESHOOT_ENTRIES"):
        packs()


def test_folders_of_the_settings_are_relative_to_the_file(tmp_path: Path) -> None:
    write_entry(tmp_path / "team", "Of the project")
    write_entry(tmp_path / "config" / "llm-troubleshooter" / "mine", "Of the user")
    below = tmp_path / "below"
    below.mkdir()
    own = tmp_path / "config" / "llm-troubleshooter" / "config.toml"
    own.write_text('[entries]\nfolders = ["mine"]\n')
    config = str(tmp_path / "config")
    assert diagnosed(below, XDG_CONFIG_HOME=config) == ["Of the user"]
    (tmp_path / ".troubleshoot.toml").write_text('[entries]\nfolders = ["team"]\n')
    assert diagnosed(below, XDG_CONFIG_HOME=config) == ["Of the project"]
    named = write_entry(tmp_path / "named", "Of the environment")
    assert diagnosed(below, XDG_CONFIG_HOME=config, TROUBLESHOOT_ENTRIES=str(named)) == ["Of the environment"]
    last = write_entry(tmp_path / "last", "Of the command line")
    arguments = ("--entries", str(last))
    assert diagnosed(below, *arguments, XDG_CONFIG_HOME=config, TROUBLESHOOT_ENTRIES=str(named)) == [
        "Of the command line"
    ]


@pytest.mark.parametrize("text", ["[entries]\nfolders = 3\n", 'entries = "team"\n', '[entries]\nfolders = ["gone"]\n'])
def test_a_wrong_setting_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / ".troubleshoot.toml").write_text(text)
    done = run(cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert ".troubleshoot.toml: [entries]" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="modes say nothing on Windows")
def test_entries_named_by_a_file_that_others_can_write_are_not_used(tmp_path: Path) -> None:
    write_entry(tmp_path / "team")
    settings = tmp_path / ".troubleshoot.toml"
    settings.write_text('[entries]\nfolders = ["team"]\n')
    settings.chmod(0o666)
    done = run("--format", "json", cwd=tmp_path)
    assert titles(done) == []
    assert "others can write this file" in done.stderr


def test_the_project_cannot_name_probes_and_the_user_can(tmp_path: Path) -> None:
    """Probes are executed, and a project's settings come along with whoever's repository was cloned."""
    entries = write_entry(tmp_path / "team", more="probe: {name: flux-capacitor}\n")
    probes = tmp_path / "probes"
    probes.mkdir()
    (probes / "flux_capacitor.py").write_text(PROBE)
    (tmp_path / ".troubleshoot.toml").write_text('[entries]\nfolders = ["team"]\n[probes]\nfolders = ["probes"]\n')
    asked = ("verify", "flux-empty", "--python", sys.executable, "--device", "cpu")
    refused = run(*asked, cwd=tmp_path)
    assert refused.returncode == 2
    assert "[probes] is not used" in refused.stderr
    assert "no probe `flux-capacitor` is known" in refused.stderr
    named = run(*asked, "--probes", str(probes), cwd=tmp_path)
    assert named.returncode == 1, named.stderr
    own = tmp_path / "config" / "llm-troubleshooter"
    own.mkdir(parents=True)
    (own / "config.toml").write_text(f'[probes]\nfolders = ["{probes}"]\n')
    assert run(*asked, cwd=tmp_path).returncode == 1
    assert run("check", str(entries), "--probes", str(probes), cwd=tmp_path).returncode == 2  # it has no sample
    unknown = run(*asked, "--probes", str(tmp_path / "gone"), cwd=tmp_path)
    assert (unknown.returncode, "no such folder of probes" in unknown.stderr) == (2, True)


def test_a_probe_cannot_take_the_name_of_another(tmp_path: Path) -> None:
    (tmp_path / "cache_float.py").write_text(PROBE)
    done = run("verify", "cache-object-float", "--probes", str(tmp_path), "--python", sys.executable, cwd=tmp_path)
    assert done.returncode == 2
    assert "two probes are called `cache-float`" in done.stderr


def test_list_shows_the_sources_in_their_order(tmp_path: Path) -> None:
    own = write_entry(tmp_path / "own", id_="cache-object-float")
    (tmp_path / ".troubleshoot.toml").write_text('[entries]\nfolders = ["own"]\n')
    last = write_entry(tmp_path / "last")
    arguments = ("list", "--sources", "--entries", str(last))
    rows = json.loads(run(*arguments, "--format", "json", cwd=tmp_path).stdout)
    assert [(row["folder"], row["entries"], row["replaces"]) for row in rows[1:]] == [
        (str(own), 1, ["cache-object-float"]),
        (str(last), 1, []),
    ]
    assert rows[0]["entries"] > 3000
    assert [row["named_by"] for row in rows[1:]] == [str(tmp_path / ".troubleshoot.toml"), "--entries"]
    shown = run(*arguments, cwd=tmp_path).stdout
    assert f"2. {own}: 1 entries ({tmp_path}/.troubleshoot.toml)\n   replaces cache-object-float\n" in shown


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of a new environment with this tool, and a package with entries and probes that was built and installed."""
    folder = tmp_path_factory.mktemp("extension")
    source = folder / "source"
    write_entry(source / "acme_troubles" / "entries", "From the package", more="probe: {name: flux-capacitor}\n")
    (source / "acme_troubles" / "probes").mkdir()
    (source / "acme_troubles" / "__init__.py").write_text(
        "from pathlib import Path\n\n\ndef entries():\n    return [Path(__file__).parent / 'entries']\n\n\n"
        "def broken():\n    raise RuntimeError('no licence')\n"
    )
    (source / "acme_troubles" / "probes" / "__init__.py").write_text(
        "raise RuntimeError('a probe package is not imported')\n"
    )
    (source / "acme_troubles" / "probes" / "flux_capacitor.py").write_text(PROBE)
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "acme-troubles"\nversion = "1.2"\n'
        f'[project.entry-points."{ENTRIES}"]\nacme = "acme_troubles:entries"\nother = "acme_troubles:broken"\n'
        f'[project.entry-points."{PROBES}"]\nacme = "acme_troubles.probes"\n'
    )
    home = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = str(home / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    ask = [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    packages = Path(subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip())
    (packages / "beside.pth").write_text("\n".join([str(ROOT), *(p for p in sys.path if p.endswith("-packages"))]))
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation",
         "--target", str(packages), str(source)],
        check=True, env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    return python


def test_an_installed_package_brings_entries_and_probes(environment: str, tmp_path: Path) -> None:
    done = run("--format", "json", cwd=tmp_path, python=environment)
    assert titles(done) == ["From the package"]
    assert (
        "package acme-troubles 1.2 is left out: its troubleshooter.entries 'other' (acme_troubles:broken): no licence"
        in done.stderr
    )
    rows = json.loads(run("list", "--sources", "--format", "json", cwd=tmp_path, python=environment).stdout)
    assert [(row["named_by"], row["entries"]) for row in rows[1:]] == [("package acme-troubles 1.2", 1)]
    proven = run("verify", "flux-empty", "--python", environment, "--device", "cpu", cwd=tmp_path, python=environment)
    assert proven.returncode == 1, proven.stderr + proven.stdout


def test_a_package_that_lies_in_the_working_folder_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``python -m troubleshooter`` puts the working folder on the path; what lies there is not installed."""
    metadata = tmp_path / "evil-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[{ENTRIES}]\nevil = evil:folders\n")
    (tmp_path / "evil.py").write_text("raise SystemExit('executed')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert installed(ENTRIES) == []
    assert entry_folders() == []


def test_a_folder_that_is_named_twice_counts_at_its_last_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TROUBLESHOOT_ENTRIES", os.pathsep.join(str(tmp_path / name) for name in "ab"))
    found = entry_folders([tmp_path / "a"])
    assert [(folder.path.name, folder.named_by) for folder in found] == [
        ("b", "TROUBLESHOOT_ENTRIES"),
        ("a", "TROUBLESHOOT_ENTRIES"),
    ]

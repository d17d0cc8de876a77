"""The wheel: built, installed elsewhere, used for a diagnosis; it holds the compiled entries and nothing else of them."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def checkout_files() -> set[str]:
    """Every file of the checkout that git would take."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(listed.stdout.splitlines())


@pytest.mark.slow
def test_the_wheel_works_elsewhere(tmp_path: Path) -> None:
    before = checkout_files()
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)], check=True)
    assert checkout_files() == before, "building wrote into the checkout"
    (wheel,) = tmp_path.glob("llm_troubleshooter-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"kb/data/knowledge.pack", "kb/data/messages.sqlite"} <= set(names)
    tops = {name.split("/")[0] for name in names if not name.startswith("llm_troubleshooter-")}
    assert tops == {"kb", "troubleshooter"}
    assert not [n for n in names if n.endswith("entry.yaml")]
    assert not [n for n in names if n.startswith(("kb/tables/", "kb/index/make/", "kb/index/__main__.py", "kb/wheel.py", "troubleshooter/verify/matrix.py"))]
    assert {"kb/py.typed", "troubleshooter/py.typed"} <= set(names)
    assert any(n.endswith("licenses/LICENSE") for n in names)

    environment = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = environment / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "-q", str(wheel)], check=True)
    installed = subprocess.run([str(python), "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True)
    packages = {p["name"].lower() for p in json.loads(installed.stdout)}
    assert not packages & {"torch", "transformers"}
    done = subprocess.run(
        [str(environment / "bin" / "troubleshoot"), "--format", "json", str(ROOT / "tests" / "logs" / "gemma3-eval.log")],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["diagnoses"][0]["id"] == "cache-object-float"
    shown = subprocess.run(
        [str(environment / "bin" / "troubleshoot"), "list", "--format", "json"], capture_output=True, text=True, check=True
    )
    from kb.cache import CHECKOUT
    from kb.load import load

    assert {e["id"] for e in json.loads(shown.stdout)} == set(load(CHECKOUT).entries)


def test_another_kb_is_named_in_one_sentence(tmp_path: Path) -> None:
    other = tmp_path / "kb"
    other.mkdir()
    (other / "__init__.py").write_text("")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['troubleshoot', 'x.log']; from troubleshooter.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT.parent, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "another package named kb" in done.stderr


def test_answering_imports_no_heavy_package() -> None:
    """What an answer must not pay for (measured in benchmarks; here: that it stays out)."""
    command = [sys.executable, "-X", "importtime", "-m", "troubleshooter", "--format", "json", "tests/logs/gemma3-eval.log"]
    subprocess.run(command, capture_output=True, cwd=ROOT, check=False)  # fills the cache
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert json.loads(done.stdout)["diagnoses"]
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "troubleshooter.pipeline" in imported
    assert not imported & {
        "typer", "rich", "pydantic", "rapidfuzz", "markdown_it", "prompt_toolkit", "torch", "yaml", "packaging", "numpy",
        "dataclasses", "inspect",
    }  # fmt: skip

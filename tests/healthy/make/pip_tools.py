"""Python package installers: resolver conflicts that do not stop an install, fallbacks, dry runs, caches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from recorder import Run, project, record_all, version_of

SETUP = (
    "from setuptools import setup\nimport sys\nprint('running a legacy setup, nan', file=sys.stderr)\n"
    "setup(name='legacy-failed', version='0.1', py_modules=['legacy'], zip_safe=False)\n"
)
FILES = {
    "legacy/setup.py": SETUP,
    "legacy/legacy.py": "x = 1\n",
    "ok/pyproject.toml": "[project]\nname = 'ok-demo'\nversion = '1.0'\ndependencies = ['idna<3']\n[build-system]\n"
    "requires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n[tool.setuptools]\npy-modules = []\n",
    "hash.txt": "idna==3.10 --hash=sha256:" + "0" * 64 + "\n",
}


def runs(folder: Path) -> list[Run]:
    """All runs, with a fresh environment in the folder."""
    subprocess.run([sys.executable, "-m", "venv", "env"], cwd=folder, check=True)
    pip = "env/bin/pip --disable-pip-version-check"
    quiet = {
        "PIP_NO_COLOR": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": "",
        "UV_FIND_LINKS": "",
        "PIP_PROGRESS_BAR": "off",
        "LC_ALL": "C.UTF-8",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    version = subprocess.run(
        [str(folder / "env/bin/pip"), "--version"], capture_output=True, text=True, check=True
    ).stdout.split()[1]

    def run(program: str, number: str, what: str, command: str) -> Run:
        return Run(
            program,
            number,
            what,
            ["bash", "-c", command],
            command,
            cwd=folder,
            env=quiet,
            neutral={str(folder): "/home/user/project"},
        )

    uv = version_of("uv")
    return [
        run(
            "pip",
            version,
            "conflict_warning",
            f"{pip} install requests==2.31.0 && {pip} install idna==2.7 'urllib3<1.20' && "
            f"{pip} check || echo 'pip check found conflicts, as expected'",
        ),
        run(
            "pip",
            version,
            "fallback_after_failure",
            f"{pip} install 'idna==99.0' || {pip} install -r hash.txt || {pip} install idna==3.10 && {pip} list",
        ),
        run(
            "pip",
            version,
            "legacy_source",
            f"{pip} install -v ./legacy ./ok 2>&1 | tail -n 150; {pip} uninstall -y legacy-failed",
        ),
        run(
            "pip",
            version,
            "dry_run_report",
            f"{pip} install --dry-run --ignore-installed 'flask[async]' 'celery>=5'",
        ),
        run(
            "uv",
            uv,
            "resolution",
            "uv venv --clear uvenv && uv pip install --python uvenv requests==2.31.0 -v 2>&1 | tail -n 80",
        ),
        run(
            "uv",
            uv,
            "build_failure_optional",
            "uv pip install --python uvenv ./legacy ./ok && uv pip check --python uvenv && "
            "(uv pip install --python uvenv ./missing || echo 'optional part missing')",
        ),
    ]


if __name__ == "__main__":
    with project(FILES) as where:
        record_all(Path(sys.argv[1]), runs(where), sys.argv[2:])

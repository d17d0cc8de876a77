"""Hatch's build hook: compiles the entries into the wheel, so that an installed tool reads one file and no YAML.

The wheel holds neither this hook nor the other tools of development (`pyproject.toml` lists them).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EntriesHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds ``kb/data/knowledge.pack`` to the wheel. Nothing is written into the checkout; an editable install gets none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        self._folder = tempfile.TemporaryDirectory()
        target = Path(self._folder.name) / "knowledge.pack"
        sys.path.insert(0, str(root))
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            from kb.compile.folder import compile_to
            from kb.known import last_change
            from kb.load import load

            compile_to(load(root / "entries"), target, last_change(root / "entries"))
        finally:
            sys.path.remove(str(root))
            sys.dont_write_bytecode = before
        build_data["force_include"][str(target)] = "kb/data/knowledge.pack"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()

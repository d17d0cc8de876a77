"""Hatch's build hook: compiles the entries into the wheel, so that an installed tool reads one file and no YAML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class EntriesHook(BuildHookInterface):  # type: ignore[type-arg]
    """Writes ``kb/data/knowledge.pack`` before the wheel is packed; an editable install reads the folder instead."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        target = root / "kb" / "data" / "knowledge.pack"
        if version == "editable":
            target.unlink(missing_ok=True)
            return
        sys.path.insert(0, str(root))
        try:
            from kb.compile.folder import compile_to
            from kb.load import load

            compile_to(load(root / "entries"), target)
        finally:
            sys.path.remove(str(root))
        build_data["force_include"][str(target)] = "kb/data/knowledge.pack"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """A pack left in the checkout would hide the folder's later changes."""
        (Path(self.root) / "kb" / "data" / "knowledge.pack").unlink(missing_ok=True)

"""What a compiled entry shows people beside its own text: messages as they are printed, and recorded probe runs.

Patterns are written for the matcher; a reader wants the line itself. It is taken from the entry's own ``match/`` logs.
"""

from __future__ import annotations

import json
import re
from typing import Any

import re2

from kb.files import contents
from kb.form_texts import own_wordings
from kb.load import Loaded
from kb.localized import english

MESSAGES = 8
LONGEST = 400
SAMPLE = 64 * 1024
_STACK = (
    "torch", "transformers", "accelerate", "peft", "trl", "bitsandbytes", "datasets", "deepspeed", "unsloth", "numpy",
)  # fmt: skip
"""Packages whose versions are shown beside a recorded run."""
_PREFIX = re.compile(r"^\s*(?:\[(?:rank|default)\d+\]:\s?|│\s?|\|\s)+")
_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def printed(item: Loaded) -> list[str]:
    """The lines of the entry's samples that its messages find: each as printed, the first of each pattern."""
    samples = [sample.text[:SAMPLE] for sample in item.samples_of("match")]
    lines = [[_fold(_PREFIX.sub("", line)) for line in text.splitlines()] for text in samples]
    found: list[str] = []
    for pattern in _patterns(item):
        compiled = re2.compile(pattern)
        shown = _line(compiled, lines) or _passage(compiled, samples)
        if shown and not any(shown in other or other in shown for other in found):
            found.append(shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…")
    return found[:MESSAGES]


def records(item: Loaded) -> list[dict[str, Any]]:
    """The recorded probe runs of ``verified/``, newest first. Files that are not records are skipped; ``check`` reports them."""
    out = []
    for path in sorted((item.folder / "verified").glob("*.json")):
        try:
            data = json.loads(contents(path, item.folder))
            environment = data["environment"]
            installed = environment["versions"]
            out.append(
                {
                    "date": str(data["date"]),
                    "verdict": str(data["verdict"]),
                    "basis": str(data["basis"]),
                    "device": str(environment["device"]),
                    "python": str(environment.get("python_version", "")),
                    "versions": {name: str(installed[name]) for name in _STACK if name in installed},
                    "fixes": [
                        {"do": str(fix["do"]), "removes_symptom": fix["removes_symptom"]} for fix in data["fixes"]
                    ],
                }
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return sorted(out, key=lambda record: record["date"], reverse=True)


def _patterns(item: Loaded) -> list[str]:
    """The wordings that the symptoms require, in the order of the entry."""
    found: list[str] = []

    def walk(condition: Any) -> None:
        found.extend(own_wordings(condition))
        for name in ("any", "all"):
            for part in getattr(condition, name, None) or []:
                walk(part)

    for symptom in item.entry.symptoms:
        for condition in symptom.require:
            walk(condition)
    return list(dict.fromkeys(found))


def _line(pattern: Any, samples: list[list[str]]) -> str:
    found = [line for lines in samples for line in lines if line and pattern.search(english(line))]
    return next((line for line in found if not line.startswith(("raise ", "File "))), found[0] if found else "")


def _passage(pattern: Any, samples: list[str]) -> str:
    """For words that a line break divides: the passage that the pattern finds in the folded text."""
    for text in samples:
        if match := pattern.search(english(_fold(text))):
            return str(match.group())
    return ""


def _fold(text: str) -> str:
    return _SPACE.sub(" ", text).translate(_QUOTES).strip()

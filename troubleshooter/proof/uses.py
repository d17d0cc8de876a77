"""What a fix's Python uses of libraries: the names that it imports, and the arguments that it passes to their callables.

A fix is an excerpt: names that it does not import are looked for in the libraries that people fine-tune with, so
``TrainingArguments(eval_strategy="no")`` is checked without an import. Only names that begin with a capital letter are looked
for so (classes); a function of such a name alone may be the user's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple


class Use(NamedTuple):
    """A dotted name of a library with the keyword arguments that it is called with (None: it is not called).

    ``module`` is "" where the excerpt does not import the name.
    """

    module: str
    name: str
    keywords: tuple[str, ...] | None
    line: int


def uses(code: str) -> Iterator[Use]:
    """The imports and calls of a text that parses as Python; none of what the text itself defines."""
    tree = ast.parse(code)
    own = {
        node.name for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    }
    imported: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                imported[alias.asname or alias.name] = node.module, alias.name
                yield Use(node.module, alias.name, None, node.lineno)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                imported[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0],
                    "",
                )
                yield Use(alias.name, "", None, node.lineno)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        dotted = _dotted(node.func)
        if dotted is None:
            continue
        first, _, rest = dotted.partition(".")
        if first in own:
            continue
        keywords = tuple(sorted(keyword.arg for keyword in node.keywords if keyword.arg is not None))
        if first in imported:
            module, name = imported[first]
            yield Use(module, ".".join(part for part in (name, rest) if part), keywords, node.lineno)
        elif first in _KNOWN:
            yield Use(_KNOWN[first], rest, keywords, node.lineno)
        elif first[:1].isupper():
            yield Use("", dotted, keywords, node.lineno)


_KNOWN = {
    "torch": "torch", "transformers": "transformers", "peft": "peft", "trl": "trl", "datasets": "datasets",
    "accelerate": "accelerate", "nn": "torch.nn", "F": "torch.nn.functional", "dist": "torch.distributed", "np": "numpy",
}  # fmt: skip
"""Names under which excerpts use modules without saying so."""


def _dotted(node: ast.expr) -> str | None:
    """``a.b.c`` of an expression; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)) is not None:
        return f"{before}.{node.attr}"
    return None

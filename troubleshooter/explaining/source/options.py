"""Options of configuration objects: which objects hold them, and what their classes say of them.

A library reads ``config.rate`` far from the line that made the object. The class of the object is found by the annotation or
by the call in the user's file, and its source tells the annotation and the default of a field.
"""

from __future__ import annotations

import ast

from troubleshooter.explaining.message.named import names
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.source.classes import Attribute, imported_from
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.sources import SourceFile, Sources

HOLDERS = frozenset(
    ("args", "config", "training_args", "peft_config", "generation_config", "model_config", "cfg", "script_args")
)
"""Names of objects whose attributes the user sets by name."""
_HOLDER_END = "_config"
WORKED_OUT = frozenset(
    [
        "n_gpu",
        "device",
        "world_size",
        "process_index",
        "local_process_index",
        "parallel_mode",
        "train_batch_size",
        "eval_batch_size",
        "should_save",
        "should_log",
        "place_model_on_device",
        "distributed_state",
    ]
)
"""Attributes of training arguments that the object works out itself: nobody sets them."""
MAX_STEPS = 6
"""Modules that only pass on a class, on the way to the one that defines it."""


def is_holder(name: str) -> bool:
    """Whether a name is one of an object of settings."""
    return name in HOLDERS or name.endswith(_HOLDER_END)


def is_worked_out(name: str) -> bool:
    """Whether an attribute of an object of settings is nothing that a user sets."""
    return name in WORKED_OUT or name.startswith(("is_", "has_"))


def options_in(context: NameContext, message: str) -> list[Origin]:
    """The options that a function reads of an object of settings and that a message names in words: "target modules"."""
    if context.function is None:
        return []
    read = {
        node.attr: None
        for node in ast.walk(context.function)
        if isinstance(node, ast.Attribute) and is_holder(ast.unparse(node.value).rpartition(".")[2])
    }
    return [Origin(name, "option") for name in read if "_" in name and names(message, name)]


def class_of(name: str, source: SourceFile, sources: Sources, library: SourceFile | None = None) -> Attribute | None:
    """A class that a file defines or imports, as the owner of an attribute without a name; None where its source is not here.

    ``library``: a file of an installed package, where ``source`` is the user's own: what that imports is installed beside it.
    """
    there: SourceFile | None = source
    for _ in range(MAX_STEPS if name else 0):
        if there is None:
            return None
        if (found := there.class_named(name)) is not None:
            return Attribute(there, found, None, None)
        module = imported_from(there, name)
        there = sources.near(there if there.below else library or there, module) if module else None
    return None

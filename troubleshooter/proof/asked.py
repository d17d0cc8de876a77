"""Run by the Python of an environment: tells for each use whether its libraries have the name and take the arguments.

Reads a JSON list of [module, name, keywords or null] from standard input; writes a JSON list of texts: "" for yes, "?" where it
cannot be told, else what is missing. Needs nothing but the standard library and what is asked about.
"""

import importlib
import inspect
import json
import os
import sys

PLACES = (
    "transformers", "trl", "peft", "accelerate", "datasets", "torch", "torch.nn", "torch.utils.data", "torch.optim",
    "tokenizers", "huggingface_hub", "torch.distributed.fsdp", "trl.experimental", "accelerate.utils",
)  # fmt: skip


def main():
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    answers = [answer(*asked) for asked in json.load(sys.stdin)]
    sys.__stdout__.write(json.dumps(answers))


def answer(module, name, keywords):
    try:
        found = found_in(module, name)
    except Exception as error:  # whatever importing raises; that some other package is not here says nothing
        if isinstance(error, ModuleNotFoundError) and belongs(error, module):
            return "no module " + error.name
        if isinstance(error, (ImportError, RuntimeError, OSError)):
            return "?"
        return " ".join(str(error).split())[:120]
    if found is None:
        return "?"
    return missing(found, keywords) if keywords else ""


def belongs(error, module):
    """Whether a missing module is one of a package that is here (else the package itself is not installed)."""
    top = module.partition(".")[0]
    return error.name not in (None, top) and error.name.startswith(top + ".")


def found_in(module, name):
    if not module:
        first = name.partition(".")[0]
        for place in PLACES:
            try:
                if hasattr(importlib.import_module(place), first):
                    return walked(importlib.import_module(place), name)
            except ImportError:
                continue
        return None
    value = importlib.import_module(module)
    return walked(value, name) if name else value


def walked(value, name):
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            if inspect.ismodule(value):
                try:
                    value = importlib.import_module(f"{value.__name__}.{part}")
                    continue
                except ModuleNotFoundError:
                    pass
            raise AttributeError(f"{getattr(value, '__name__', value)} has no {part}") from None
    return value


def missing(found, keywords):
    if not callable(found):
        return "is not callable"
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return "?"
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return "?" if any(k not in parameters for k in keywords) else ""
    unknown = [k for k in keywords if k not in parameters]
    return f"takes no {', '.join(unknown)}" if unknown else ""


if __name__ == "__main__":
    main()

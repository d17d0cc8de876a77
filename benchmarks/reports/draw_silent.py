"""Repeat the second draw of reports without a diagnosis: ``python -m benchmarks.reports.draw_silent [--clones FOLDER]``.

Prints the queries for the search of threads or, with ``--clones``, the merged changes, each in the order in which they are
looked at. `README.md` says what is taken of them. The lists were written down before the first query was sent.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.reports import draw

SEED = 20261129
SINCE = "2023-01-01"
MOST_OF_ONE = 70
"""Changes of one clone that are looked at (12 and then 60 in the first two passes, which gave too few)."""
LIBRARIES = (
    "transformers Trainer", "trl SFTTrainer", "trl GRPOTrainer", "trl DPOTrainer", "peft LoRA", "accelerate launch",
    "datasets load_dataset", "deepspeed ZeRO", "unsloth", "LLaMA-Factory", "axolotl", "ms-swift", "lightning Trainer",
    "bitsandbytes 4bit", "torch FSDP", "sentence-transformers", "tokenizers", "torchtune", "safetensors checkpoint",
    "diffusers train lora",
)  # fmt: skip
TASKS = (
    "fine-tuning", "evaluation", "saving a checkpoint", "resuming training", "preprocessing the dataset", "merging the adapter",
    "loading the model", "multi-GPU training",
)  # fmt: skip
ERRORS = (
    "ValueError", "TypeError", "RuntimeError", "KeyError", "AttributeError", "AssertionError", "IndexError", "ImportError", "OSError",
    "NotImplementedError",
)  # fmt: skip
_TRACEBACK = re.compile(r"^\s*(?:Traceback \(most recent|File \"|\w*E\s{3})")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Unsupported|Interrupt)['\"`]?: +\S.*")


def queries(count: int) -> list[str]:
    """The first `count` different queries, in the order in which they are sent."""
    choose, found = Random(SEED), dict[str, None]()
    while len(found) < count:
        words = (choose.choice(LIBRARIES), choose.choice(TASKS), "Traceback", choose.choice(ERRORS))
        found.setdefault(" ".join(words))
    return list(found)


class PrintedText(NamedTuple):
    """A change, and the lines of its message that a program printed."""

    change: draw.Change
    text: str


def printed(message: str) -> str:
    """The printed lines of a change's message: its first traceback with the exception below it, else the first exception's line."""
    lines = message.split("\n")
    begin = next((at for at, line in enumerate(lines) if line.strip().startswith("Traceback (most recent")), None)
    if begin is not None:
        end = next((at for at in range(begin, len(lines)) if _EXCEPTION.match(lines[at].strip())), None)
        if end is not None:
            return "\n".join(line.rstrip() for line in lines[begin : end + 1])
    for line in lines:
        if found := _EXCEPTION.search(line):
            return found[0].strip(" `'\"*_").removesuffix("```").strip()
    return ""


def changes(folder: Path) -> Iterator[PrintedText]:
    """The changes of all clones that quote a printed exception, in seeded turns, at most `MOST_OF_ONE` of a clone."""
    draw.SINCE = SINCE
    groups = {}
    for clone in sorted(folder.iterdir()):
        found = draw.candidates(clone)
        groups[clone.name] = [one for one in found if printed(one.message)]
    taken: dict[str, int] = {}
    for one in draw.interleave(groups, SEED):
        taken[one.tracker] = taken.get(one.tracker, 0) + 1
        if taken[one.tracker] <= MOST_OF_ONE:
            yield PrintedText(one, printed(one.message))


def main() -> None:
    args = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    args.add_argument("--count", type=int, default=30)
    args.add_argument("--clones", type=Path, help="folder of clones named OWNER+NAME")
    asked = args.parse_args()
    if not asked.clones:
        print("\n".join(queries(asked.count)))
        return
    for number, one in enumerate(islice(changes(asked.clones), asked.count)):
        print(
            f"--- {number} {one.change.day} {one.change.tracker} {one.change.commit[:12]} {one.change.message.partition(chr(10))[0]}"
        )
        print(one.text)


if __name__ == "__main__":
    main()

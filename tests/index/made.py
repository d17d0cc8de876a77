"""A made-up package with two releases, and an index of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kb.index.make.kept import KeptReleases
from kb.index.make.plan import Package
from kb.index.make.ship import ship
from kb.index.store import MessageIndex

PACKAGE = Package("made-up", "0.1", ("madeup",))
OLD = {
    "madeup/trainer.py": """
class Trainer:
    def __init__(self, args, eval_dataset=None):
        if args.eval_strategy != "no" and eval_dataset is None:
            raise ValueError(f"evaluation wants a dataset, strategy is {args.eval_strategy}")
        if args.beta < 0:
            raise ValueError(f"beta should not be negative but is {args.beta}")

    def train(self, steps=10):
        logger.warning("the old trainer is training for %d steps", steps)
        raise KeyError("only in the old release")
""",
    "madeup/data.py": """
def load(path):
    if not exists(path):
        raise FileNotFoundError(f"no data could be found below {path}\\nlook whether the path is right")
    assert usable(path)
    raise IndexError("out of range")
""",
}
NEW = {
    **OLD,
    "madeup/trainer.py": """
class Trainer:
    def __init__(self, args, eval_dataset=None, train_dataset=None):
        if args.eval_strategy != "no" and eval_dataset is None and not args.lazy:
            raise ValueError(f"evaluation wants a dataset, strategy is {args.eval_strategy}")
        if args.beta < 0:
            raise ValueError(f"beta must not be negative but it is {args.beta}")

    def train(self, steps=10):
        warnings.warn("train() will be renamed to fit()", FutureWarning)
""",
}

NEWEST = {
    **NEW,
    "madeup/trainer.py": NEW["madeup/trainer.py"].replace("must not be negative", "must not be below zero"),
}
BETWEEN = {
    **OLD,
    "madeup/trainer.py": OLD["madeup/trainer.py"].replace("only in the old release", "only in a release in between"),
    "madeup/extra.py": "def extra(path):\n    if not path:\n        raise ValueError('no path was given to the extra data')\n",
}


def made(folder: Path) -> tuple[MessageIndex, dict[str, object]]:
    """An index of the releases 0.9, 1.0 and 1.1 (the last two are alike), and its manifest."""
    for version, files in (("1.0", NEW), ("0.9", OLD), ("1.1", NEW)):
        keep(folder / "cache", version, files)
    target = folder / "messages.sqlite"
    manifest = ship([PACKAGE], folder / "cache", target, {"made-up 0.8": "no archive"}, folder / "manifest.json")
    return MessageIndex(target), manifest


def keep(cache: Path, version: str, files: Mapping[str, str]) -> None:
    """Keep a release in a cache folder."""
    kept = KeptReleases(cache, PACKAGE.package)
    kept.add(version, f"made_up-{version}.whl", f"hash of {version}", files.items())
    kept.close()

"""Command line of the index of messages.

``python -m kb.index build`` reads the releases of the plan that are newer than those of the shipped index, ``--new`` tells what they changed and
which entries quote a message that vanished, and ``--ship`` adds them to the shipped index. ``--older`` also reads the older releases that the index
lacks. ``--all`` reads every release of the plan instead, to make the index anew. A run that is interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from packaging.version import Version

from kb.cache import cache_folder
from kb.index.make.build import read_releases, remembered
from kb.index.make.compiled import read_compiled
from kb.index.make.concerned import ConcernedEntry, concerned
from kb.index.make.kept import versions
from kb.index.make.link import LinkedMessage
from kb.index.make.plan import packages
from kb.index.make.ship import linked, news, ship, shipped_releases
from kb.index.make.write import Linked
from kb.index.store import FILE
from kb.load import load
from kb.proof.kept import kept


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m kb.index", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="read the releases of the plan and write the index")
    build.add_argument("--package", nargs="+", metavar="NAME", help="only these packages of the plan")
    build.add_argument("--cache", type=Path, help="where what was read is kept (default: in the user's cache)")
    build.add_argument("--thin", action="store_true", help="only the last patch of each minor release")
    build.add_argument("--most", type=int, metavar="N", help="at most N releases of a package, spread evenly")
    build.add_argument("--offline", action="store_true", help="no network: only what is kept already")
    build.add_argument(
        "--new",
        action="store_true",
        help="tell which messages vanished and arrived since the shipped index, and which entries that concerns",
    )
    build.add_argument(
        "--older", action="store_true", help="also older releases of the plan that the shipped index lacks"
    )
    build.add_argument(
        "--all",
        action="store_true",
        help="read every release of the plan, also those of the shipped index (hours; needed after a change of the reader)",
    )
    build.add_argument("--ship", action="store_true", help=f"write {FILE.name} and its manifest")
    compiled = commands.add_parser("compiled", help="read the compiled parts of the plan")
    compiled.add_argument("--cache", type=Path, help="as of build")
    compiled.add_argument("--mirrors", type=Path, metavar="DIR", help="folder of repositories, each as OWNER+NAME/repo")
    compiled.add_argument("--torch", type=Path, metavar="DIR", help="the folder lib of an installed torch")
    compiled.add_argument("--most", type=int, metavar="N", help="at most N releases of a part, spread evenly")
    options = parser.parse_args(arguments)
    plan = packages()
    if unknown := sorted(set(getattr(options, "package", None) or ()) - set(plan)):
        parser.error(f"not in the plan: {', '.join(unknown)}; add them to kb/index/make/plan.yaml")
    folder = options.cache or cache_folder() / "index"
    if options.command == "compiled":
        parts = [package for package in plan.values() if package.part_of]
        read_compiled(parts, folder, options.mirrors, options.torch, options.most, known=shipped_releases())
        return 0
    chosen = [plan[name] for name in options.package or plan if not plan[name].part_of]
    old = shipped_releases()
    left_out: dict[str, str] = {}
    if not options.offline:
        known = {} if options.all else old
        left_out = read_releases(chosen, folder, thin=options.thin, most=options.most, known=known, older=options.older)
    if options.new:
        last = {name: releases[-1] for name, releases in old.items()}
        newer = [
            package for package in chosen if _has_newer(versions(folder, package.package), last.get(package.package))
        ]
        for item in linked(newer, folder, FILE):
            _tell(item, last.get(item.package))
    if options.ship:
        manifest = ship(list(plan.values()), folder, FILE, remembered(folder, left_out))
        told = ("packages", "releases", "messages", "places", "bytes")
        print(f"{FILE}: " + ", ".join(f"{manifest[key]} {key}" for key in told))
    return 0


def _has_newer(kept: Sequence[str], last: str | None) -> bool:
    return bool(kept) and (last is None or Version(kept[-1]) > Version(last))


def _tell(item: Linked, last: str | None) -> None:
    vanished, arrived = news(item, last)
    newer = item.releases[item.releases.index(last) + 1 :] if last else item.releases
    print(f"{item.package} {', '.join(newer)}: {len(vanished)} messages vanished, {len(arrived)} arrived")
    for message in vanished:
        print(f"- {message.text!r}" + (f" -> {message.replaced!r}" if message.replaced else ""))
    for message in arrived:
        print(f"+ {message.text!r}")
    for entry in _concerned(item.package, vanished):
        said = f"reworded to {entry.replaced!r}" if entry.replaced else "gone; was it repaired?"
        print(f"! entry {entry.entry}: {entry.line!r} is {said}")


def _concerned(package: str, vanished: Sequence[LinkedMessage]) -> list[ConcernedEntry]:
    """The entries of this checkout whose words vanished; empty where there are no entries."""
    folder = Path("entries")
    printed = {entry for (entry, _), proof in kept().items() if package in {one.package for one in proof.printed}}
    if not vanished or not printed or not folder.is_dir():
        return []
    return list(concerned(vanished, load(folder).entries.values(), printed))


if __name__ == "__main__":
    sys.exit(main())

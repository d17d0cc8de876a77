"""Command line of the index of messages.

``python -m kb.index build --ship`` reads the releases of the plan that are not yet kept and writes the shipped index;
``--new`` also tells what the newest releases changed, and which entries quote a message that vanished; with ``--latest`` it reads only
what that needs. A run that is interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kb.cache import cache_folder
from kb.index.make.build import read_releases, remembered
from kb.index.make.compiled import read_compiled
from kb.index.make.concerned import ConcernedEntry, concerned
from kb.index.make.kept import versions
from kb.index.make.link import LinkedMessage
from kb.index.make.plan import packages
from kb.index.make.ship import linked, news, ship, shipped_releases, would_lose
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
        help="tell which messages vanished and arrived with new releases, and which entries that concerns",
    )
    build.add_argument(
        "--latest",
        action="store_true",
        help="read only the last release of the shipped index and those after it (enough for --new on a new machine)",
    )
    build.add_argument("--ship", action="store_true", help=f"write {FILE.name} and its manifest from all that is kept")
    build.add_argument(
        "--smaller", action="store_true", help="ship although releases of the shipped index are not kept here"
    )
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
        read_compiled(parts, folder, options.mirrors, options.torch, options.most)
        return 0
    chosen = [plan[name] for name in options.package or plan if not plan[name].part_of]
    known = {name: versions(folder, name) for name in plan}
    left_out: dict[str, str] = {}
    if not options.offline:
        last = {name: releases[-1] for name, releases in shipped_releases().items()} if options.latest else {}
        left_out = read_releases(chosen, folder, thin=options.thin, most=options.most, after=last)
    if options.new:
        for item in linked(
            [package for package in chosen if versions(folder, package.package) != known[package.package]], folder
        ):
            _tell(item)
    lost = would_lose(folder) if options.ship and not options.smaller else {}
    if lost:
        package, releases = next(iter(lost.items()))
        print(
            f"not shipped: {sum(map(len, lost.values()))} releases of {len(lost)} packages that the shipped index has are not kept in "
            f"{folder} (the first: {package} {releases[0]}); run build for all packages without --latest first, and compiled for the "
            "compiled parts, or give --smaller",
            file=sys.stderr,
        )
        return 2
    if options.ship:
        manifest = ship(list(plan.values()), folder, FILE, remembered(folder, left_out))
        told = ("packages", "releases", "messages", "places", "bytes")
        print(f"{FILE}: " + ", ".join(f"{manifest[key]} {key}" for key in told))
    return 0


def _tell(item: Linked) -> None:
    vanished, arrived = news(item)
    print(f"{item.package} {item.releases[-1]}: {len(vanished)} messages vanished, {len(arrived)} arrived")
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

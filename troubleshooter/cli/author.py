"""``check``: check all entries of a folder or an area, one entry, or those that changed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from troubleshooter.pipeline import Diagnoser

if TYPE_CHECKING:
    from kb.load import Library

SHOWN = 3
"""Every note is printed if at most this many entries are checked."""


def schema(report: bool) -> int:
    """Print the JSON Schema of an entry, or of a report."""
    if report:
        from troubleshooter.report.schema import report_schema

        print(json.dumps(report_schema(), indent=1))
    else:
        from kb.form import Entry

        print(json.dumps(Entry.model_json_schema(), indent=1))
    return 0


def check(
    folders: Sequence[Path] | None, healthy: Path | None, stamp: bool, mark: bool, rerun: int, claims: bool,
    entries: Sequence[Path] = (), changed: bool = False, probes: Sequence[Path] = (), proof: bool = False,
) -> int:  # fmt: skip
    """Check entries and return the exit status: 0 without problems, 2 with problems.

    ``folders``: what is checked, all of them ours or all of them a team's own; without one, the first of ``entries``, or ours.
    ``entries``: folders of entries that the checked ones may refer to. ``probes``: folders of a team's own probes. ``proof``:
    only check that the cited packages print the words of the shipped entries."""
    from kb.cache import shipped
    from kb.load import load

    root = shipped()
    targets = [*(folders or entries[:1])] or ([root] if root is not None else [])
    if not targets:
        print(
            "troubleshoot check: name a folder of entries; this installation has only compiled entries", file=sys.stderr
        )
        return 2
    if (named := _folders(targets, root)) is None:
        return 2
    targets = named
    ours = [root is not None and asked.resolve().is_relative_to(root.resolve()) for asked in targets]
    inside = all(ours)
    if any(ours) and not inside:
        print(
            "troubleshoot check: some folders are shipped, some your own; check them one after the other",
            file=sys.stderr,
        )
        return 2
    whole = root is not None and root.resolve() in [asked.resolve() for asked in targets] and not changed
    if changed:
        differing = [_changed(asked) for asked in targets]
        if None in differing:
            return 2
        targets = [one for several in differing for one in several or ()]
        if not targets:
            print("no entry has changed", file=sys.stderr)
            return 0

    library: Library = load(*targets)
    if stamp:
        from kb.stamp import stamp as stamp_translation

        stamped = sum(stamp_translation(item) for item in library.entries.values())
        print(f"{_counted(stamped, 'translation')} stamped")
        library = load(*targets)
    wanted = sorted(library.entries)
    if not wanted and not library.problems:
        print(f"troubleshoot check: {named[0]} holds no entry; expected <area>/<id>/entry.yaml", file=sys.stderr)
        return 2
    if library.problems and not inside:
        return _told(sorted(library.problems), [], len(wanted), claims)
    if proof:
        if not inside or library.problems:
            print("troubleshoot check --proof: expected shipped entries without problems", file=sys.stderr)
            return 2
        return _prove(library, whole)
    tool = Diagnoser.load([*entries, *([] if inside else named)])

    if mark:
        from troubleshooter.check import mark as mark_evidence

        marked = sum(mark_evidence(library.entries[i], tool) for i in wanted)
        print(f"evidence marked in the samples of {_counted(marked, 'entry', 'entries')}")
        library = load(*targets)

    from troubleshooter.check import check as tried
    from troubleshooter.check import notes
    from troubleshooter.neighbours import Neighbours

    roots = [place for place in (root, *([] if inside else named)) if place is not None]
    beside = None if whole else Neighbours(tool.knowledge, roots)
    logs = healthy or (root.parent / "tests" / "healthy" if root is not None else None)
    problems = tried(library, tool, wanted, logs, beside, shared=inside, probes=probes)
    remarks = notes(library, tool, wanted, shared=inside, probes=probes)
    if rerun:
        from troubleshooter.verify.matrix import rerun_problems
        from troubleshooter.verify.overlays import Overlays, default_folder

        rerunnable = [(library.entries[i].entry, library.entries[i].folder) for i in wanted]
        again = list(rerun_problems(rerunnable, rerun, Overlays(default_folder())))
        problems += [problem for problem in again if problem.fails]
        remarks += [problem for problem in again if not problem.fails]
    if beside is not None and beside.passed_over:
        print(
            f"note: {beside.passed_over} samples of other entries may hold these words and were not tried; 'check' without a folder tries all"
        )
    return _told(sorted(problems, key=str), remarks, len(wanted), claims or len(wanted) <= SHOWN)


def _prove(library: Library, whole: bool) -> int:
    """Bring the kept proofs of the entries' words up to date, and print those that fail."""
    from kb.proof.kept import kept, problems, update, write

    def progress(done: int, of: int) -> None:
        print(f"\r{done} of {of} entries proven", end="" if done < of else "\n", file=sys.stderr, flush=True)

    items = [library.entries[id_] for id_ in sorted(library.entries)]
    known = kept()
    found = update(items, known, progress)
    others = {} if whole else {key: proof for key, proof in known.items() if key[0] not in library.entries}
    write({**others, **found})
    faults = [problem for item in items for problem in problems(item, found)]
    states = Counter(proof.state for proof in found.values())
    print(", ".join(f"{count} {state}" for state, count in states.most_common()), file=sys.stderr)
    return _told(sorted(faults, key=str), [], len(items), claims=False)


def _told(problems: Sequence[object], remarks: Sequence[object], count: int, claims: bool) -> int:
    for problem in problems:
        print(problem)
    for remark in remarks if claims else ():
        print(f"note: {remark}")
    hint = "" if claims or not remarks else " (--notes lists them)"
    counts = (_counted(count, "entry", "entries"), _counted(len(problems), "problem"), _counted(len(remarks), "note"))
    print(", ".join(counts) + hint, file=sys.stderr)
    return 2 if problems else 0


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _folders(asked: Sequence[Path], root: Path | None) -> list[Path] | None:
    """The folders that are meant: an entry's id stands for its folder. None if one does not exist, which is printed."""
    found: list[Path] = []
    for one in asked:
        below = list(root.glob(f"*/{one.name}")) if root is not None and not one.exists() else []
        if len(below) != 1 and not one.is_dir():
            text = f"{one}: no such folder; expected <area>/<id>/entry.yaml below it"
            print(f"troubleshoot check: {text}", file=sys.stderr)
            return None
        found.append(below[0] if len(below) == 1 else one)
    return found


def _changed(folder: Path) -> list[Path] | None:
    """Folders of the entries below ``folder`` that differ from the main branch (else from the last commit)."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise OSError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "git failed")
        return done.stdout

    def there(name: str) -> bool:
        try:
            git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        except OSError:
            return False
        return True

    try:
        top = Path(git("rev-parse", "--show-toplevel").strip())
        main = next((name for name in ("origin/main", "main", "origin/master", "master") if there(name)), "HEAD")
        base = git("merge-base", "HEAD", main).strip()
        names = git("diff", "--name-only", "--relative", "-z", base, "--", ".").split("\0")
        names += git("ls-files", "--others", "--exclude-standard", "-z", "--", ".").split("\0")
    except OSError as error:
        print(f"troubleshoot check: --changed needs git, which reports: {error}", file=sys.stderr)
        return None
    if any(Path(name).parts[:1] == ("tables",) for name in names if name):
        print("note: tables have changed; to check the entries that use them: troubleshoot check", file=sys.stderr)
    found = set()
    for name in filter(None, names):
        for place in (folder / name).parents:
            if (place / "entry.yaml").is_file():
                found.add(place)
                break
            if place in (folder, top):
                break
    return sorted(found)

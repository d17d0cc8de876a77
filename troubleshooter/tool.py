"""The whole way for one log: read → observe → match → rank → report. No global state: safe to run side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from kb.cache import cache_folder, packs
from kb.compiled import Knowledge, Pack
from troubleshooter.lean import dataclass, field
from troubleshooter.match.engine import Candidate, candidates
from troubleshooter.observe.marks import MARKS
from troubleshooter.observe.model import Fact, Observations
from troubleshooter.observe.observer import Observer
from troubleshooter.rank import rank
from troubleshooter.read.cores import helpers
from troubleshooter.read.line import Line
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.sources import Source, from_path, from_text
from troubleshooter.read.standing import Standing
from troubleshooter.read.stream import Seen, read
from troubleshooter.report.build import TOP, build
from troubleshooter.report.model import Report


@dataclass(slots=True)
class Tool:
    """The knowledge with its scanner, made once and used for any number of logs."""

    knowledge: Knowledge
    scanner: Scanner
    ignore: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    """Installed versions of the training environment (``--env``): they join the facts of every log."""
    helpers: int = field(default_factory=helpers)
    """Threads that search a large log beside the one that calls."""

    @classmethod
    def load(cls, entries: Sequence[Path] = ()) -> Tool:
        """The shipped entries, with folders of a team's own on top. Raises `kb.problem.EntryError`, FileNotFoundError."""
        return cls.of(packs(*entries))

    @classmethod
    def of(cls, packs: Sequence[Pack], standing: Standing | None = None) -> Tool:
        """A tool for these entries, its scanner from the user's cache where it is there.

        ``standing``: what searches that were begun ahead look for.
        """
        known = Knowledge(packs)
        standing = standing or Standing.of(packs, cache_folder())
        scanner = Scanner(
            lambda: known.literals, known.literal_count, cache_folder(), MARKS, standing.key, standing, lambda: known.with_digits
        )  # fmt: skip
        return cls(known, scanner)

    def observe(self, sources: Sequence[Source]) -> Observations:
        """What the sources of one run show, merged. Raises `read.sources.Unreadable`."""
        observer = Observer(self.scanner, self.match if self.helpers else None)
        for number, source in enumerate(sources):
            seen = Seen()
            observer.feed(read(source, number, self.scanner, seen, self.helpers))
            observer.observations.bytes += seen.bytes
            observer.observations.complete &= seen.complete
        found = observer.finish()
        for name, version in self.environment.items():
            line = Line(f"{name}=={version} (installed, read by --env)", 0)
            found.facts.append(Fact("version", name, version, line, "environment"))
        return found

    def match(self, observations: Observations) -> list[Candidate]:
        return candidates(observations, self.knowledge)

    def report(self, sources: Sequence[Source], *, lang: str = "en", top: int = TOP, brief: bool = False) -> Report:
        """The report on one run. ``brief``: what a scan keeps of it (`report.build`)."""
        observations = self.observe(sources)
        ranked = rank(self.match(observations), observations)
        names = [source.name for source in sources]
        return build(observations, ranked, self.knowledge, names, lang=lang, top=top, ignore=self.ignore, brief=brief)


def diagnose(
    log: str | bytes | Path | Iterable[str | bytes], *, lang: str = "en", entries: Sequence[Path] = (), top: int = TOP,
    tool: Tool | None = None,
) -> Report:  # fmt: skip
    """Diagnose one log: a text, bytes or an iterable of lines is the log itself, a `Path` is a file or a run's folder.

    ``tool`` keeps the knowledge loaded between calls. Raises `troubleshooter.read.sources.Unreadable`,
    `kb.problem.EntryError`, FileNotFoundError.
    """
    tool = tool or Tool.load(entries)
    sources = from_path(log) if isinstance(log, Path) else [from_text(log)]
    return tool.report(sources, lang=lang, top=top)

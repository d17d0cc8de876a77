"""The whole pipeline for one log: read → observe → match → rank → report. There is no global state, so several can run
at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from kb.cache import cache_folder, packs
from kb.compiled import Knowledge, Pack
from troubleshooter.limits import limited
from troubleshooter.match.engine import Candidate, candidates
from troubleshooter.observe.model import Ending, Fact
from troubleshooter.observe.observations import Observations
from troubleshooter.observe.observer import Observer
from troubleshooter.observe.readers import keywords
from troubleshooter.pieces import of_pieces
from troubleshooter.rank import rank
from troubleshooter.ranked import Ranked
from troubleshooter.read.given import Given, given
from troubleshooter.read.line import Line
from troubleshooter.read.scanner import Scanner, Segment
from troubleshooter.read.sources import Source, Unreadable, from_text
from troubleshooter.read.stream import Seen, read
from troubleshooter.report import TOP
from troubleshooter.report.build import build
from troubleshooter.report.model import Report


class Diagnoser:
    """The loaded entries and everything needed to use them on any number of logs. It never changes after it is made.

    ``ignore``: the entries that are not reported, each with a reason. ``environment``: the versions that are installed
    where the run took place, by package; they are added to the facts of every log. ``folders``: the folders in which
    these packages are installed. The source of a failure is looked up there, and at the paths that the log names.
    """

    __slots__ = ("environment", "folders", "ignore", "knowledge", "scanner")

    def __init__(
        self, knowledge: Knowledge, scanner: Scanner, *, ignore: Mapping[str, str] | Iterable[str] = (),
        environment: Mapping[str, str] | None = None, folders: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.knowledge: Final = knowledge
        self.scanner: Final = scanner
        reasons = ignore if isinstance(ignore, Mapping) else dict.fromkeys(_several(ignore), "ignored by the caller")
        self.ignore: Final[Mapping[str, str]] = MappingProxyType(
            {knowledge.resolve(id_): reason for id_, reason in reasons.items()}
        )
        self.environment: Final[Mapping[str, str]] = MappingProxyType(dict(environment or {}))
        self.folders: Final = tuple(folders)

    @classmethod
    def load(
        cls, entries: Sequence[Path] = (), *, ignore: Mapping[str, str] | Iterable[str] = (),
        env: str | Path | Mapping[str, str] | None = None,
    ) -> Diagnoser:  # fmt: skip
        """The shipped entries, with those of installed packages, of ``TROUBLESHOOT_ENTRIES`` and of ``entries`` on top.

        The arguments are those of `diagnose`.

        Raises `TroubleshootError`: `InvalidEntries`, or what is wrong with ``env``; FileNotFoundError for a missing folder.
        """
        found, folders = asked(env)
        return cls.of(packs(*entries), ignore=ignore, environment=found, folders=folders)

    @classmethod
    def of(
        cls, packs: Sequence[Pack], *, ignore: Mapping[str, str] | Iterable[str] = (),
        environment: Mapping[str, str] | None = None, folders: Sequence[str] = (),
    ) -> Diagnoser:  # fmt: skip
        """A diagnoser for these packs of entries. Its scanner is loaded from the user's cache if it is there."""
        known = Knowledge(packs)
        scanner = Scanner(
            [Segment(*segment) for segment in known.segments()],
            cache_folder(),
            keywords(),
            lambda: [text for pack in packs for text in pack.standing],
            lambda: known.with_digits,
        )
        return cls(known, scanner, ignore=ignore, environment=environment, folders=folders)

    def observe(self, sources: Sequence[Source], *, whole: bool | None = None) -> Observations:
        """What the logs of one run show, merged. Raises `read.sources.Unreadable`.

        ``whole``: True if the logs are complete and nobody writes to them any more, so that their last lines show how
        the run ended. None: each source decides this for itself.
        """
        observer = Observer(self.scanner)
        for number, source in enumerate(_logs(sources)):
            seen = Seen()
            observer.feed(read(source, number, self.scanner, seen))
            observer.observations.bytes += seen.bytes
            observer.observations.complete &= seen.complete
            if seen.problem is not None:
                observer.observations.problems[number] = seen.problem, seen.detail
        join_facts = self._facts(sources, observer)
        found = observer.finish()
        join_facts(found)
        if any(source.stop is not None for source in sources):
            found.ending = Ending()
        elif found.ending.state == "in-training" and not whole:
            if whole is not None or any(source.excerpt for source in sources):
                found.ending = Ending()
            elif any(source.being_written() for source in sources):
                found.ending = found.ending._replace(state="written")
        for name, version in self.environment.items():
            line = Line(f"{name}=={version} (installed, read by --env)", 0)
            found.facts.append(Fact("version", name, version, line, "environment"))
        return found

    def _facts(self, sources: Sequence[Source], observer: Observer) -> Callable[[Observations], None]:
        """Read the crash facts among the sources. If the log does not show their exception, it is observed as well.

        The returned function adds the facts to the observations. Raises `Unreadable` if the only input is a file without
        crash facts.
        """
        of_facts = [source for source in sources if source.facts]
        if not of_facts:
            return lambda found: None
        from troubleshooter.observe import crash_facts

        read_ones = []
        seen = observer.observations
        for source in of_facts:
            number = len(sources) - len(of_facts) + len(seen.fact_files)
            try:
                facts = crash_facts.read_facts(source)
            except crash_facts.InvalidFacts as error:
                if len(of_facts) == len(sources) == 1:
                    raise Unreadable(f"{source.name}: holds no crash facts: {error}") from error
                seen.fact_files.append(source.name)
                seen.problems[number] = "no-facts", str(error)
                continue
            read_ones.append(facts)
            if facts.is_crash and not crash_facts.shows(observer.failures(), facts):
                text = from_text(crash_facts.traceback_text(facts), source.name)
                text.rank = facts.rank
                seen.fact_files.append(source.name)
                observer.feed(read(text, number, self.scanner))

        def join(found: Observations) -> None:
            for facts in read_ones:
                crash_facts.join(found, facts)

        return join

    def match(self, observations: Observations) -> list[Candidate]:
        return candidates(observations, self.knowledge)

    def _ranked(self, observations: Observations) -> list[Ranked]:
        return limited(rank(self.match(observations), observations), observations, self.knowledge)

    def diagnose(self, log: Given, *, lang: str = "en", top: int = TOP) -> Report:
        """Diagnose one log, given in any form that `troubleshooter.diagnose` takes. Raises `UnreadableInput`.

        An exception object was raised by this Python process. So the versions installed here are added to its facts,
        unless the diagnoser has an environment already. What its last frames held is added, too
        (`troubleshooter.hook.crash_facts`).
        """
        if isinstance(log, BaseException) and not self.environment:
            from troubleshooter.verify.environment import installed

            here = Diagnoser(
                self.knowledge, self.scanner, ignore=self.ignore, environment=installed(), folders=self.folders
            )
            return here.report([*given(log), live_facts(log)], lang=lang, top=top)
        facts = [live_facts(log)] if isinstance(log, BaseException) else []
        return self.report([*given(log), *facts], lang=lang, top=top)

    def report(
        self,
        sources: Sequence[Source],
        *,
        lang: str = "en",
        top: int = TOP,
        brief: bool = False,
        whole: bool | None = None,
    ) -> Report:
        """The report on one run. ``brief``: make only the parts that a scan keeps (`report.build`). ``whole``: as for
        `observe`."""
        observations = self.observe(sources, whole=whole)
        ranked = self._ranked(observations)
        if not brief and _is_open(observations, ranked):
            from troubleshooter.dating import packages_by_messages

            observations.dated = packages_by_messages(observations)
            if ranked and any(one.printed is None for one in observations.dated.values()):
                ranked = self._ranked(observations)
        if not (ranked or observations.failures or observations.metrics or observations.exits):
            ranked = of_pieces(observations, self.knowledge)
        names = [source.name for source in _logs(sources)] + observations.fact_files
        stop = next((source.stop for source in sources if source.stop is not None), None)
        piped = any(source.piped for source in sources)
        return build(
            observations, ranked, self.knowledge, names, lang=lang, top=top, ignore=self.ignore, brief=brief, stop=stop,
            piped=piped, folders=self.folders,
        )  # fmt: skip


def _is_open(observations: Observations, ranked: Sequence[Ranked]) -> bool:
    """True if the log shows a failure and no answer is more than possible. Only then the index dates the log's messages."""
    if ranked and ranked[0].word != "possible":
        return False
    return any(one.exception and one.role in ("initiating", "cascade") for one in observations.failures)


def diagnose(
    log: Given,
    *,
    lang: str = "en",
    top: int = TOP,
    entries: Sequence[Path] = (),
    ignore: Mapping[str, str] | Iterable[str] = (),
    env: str | Path | Mapping[str, str] | None = None,
) -> Report:
    """Diagnose one log.

    ``log``: its text (str or bytes), its lines, the `Path` of a file or of a run's folder, or an exception that was
    caught. ``lang``: the two-letter code of a language; a phrase that this language lacks is shown in English. ``top``:
    the largest number of answers. ``entries``: folders of your own entries. ``ignore``: ids of entries that are not
    reported; a dict holds the reasons. ``env``: the Python of the training environment, or its versions by package. For
    many logs use a `Diagnoser`, which loads the entries once.

    Raises `TroubleshootError`: `UnreadableInput`, `InvalidEntries`, or one that says what is wrong with ``entries`` or
    ``env``.
    """
    return Diagnoser.load(entries, ignore=ignore, env=env).diagnose(log, lang=lang, top=top)


def diagnose_file(
    path: str | Path,
    *,
    lang: str = "en",
    top: int = TOP,
    entries: Sequence[Path] = (),
    ignore: Mapping[str, str] | Iterable[str] = (),
    env: str | Path | Mapping[str, str] | None = None,
) -> Report:
    """Diagnose the log in a file (also .gz, .xz, .zst, .ipynb), or all logs in a run's folder. All else is as for
    `diagnose`."""
    return diagnose(Path(path), lang=lang, top=top, entries=entries, ignore=ignore, env=env)


def _several(ids: Iterable[str]) -> Iterable[str]:
    return (ids,) if isinstance(ids, str) else ids


def _logs(sources: Sequence[Source]) -> list[Source]:
    """The sources that are logs and not crash facts."""
    return [source for source in sources if not source.facts]


def live_facts(error: BaseException) -> Source:
    """The crash facts of an exception of this very process."""
    import json

    from troubleshooter.hook import crash_facts

    source = from_text(json.dumps(crash_facts(error, "notebook")), "crash facts")
    source.facts = True
    return source


def asked(env: str | Path | Mapping[str, str] | None) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The versions by package that ``env`` asks for, and the folders in which these packages are installed. A mapping
    is returned as it is, without folders; a Python is asked for both."""
    if env is None or isinstance(env, Mapping):
        return env or {}, ()
    from troubleshooter.verify.environment import EnvironmentProblem, ask

    try:
        found = ask(str(env))
    except EnvironmentProblem as error:
        raise Unreadable(f"env: {error}") from error
    return {"python": found.version, **found.versions}, found.path

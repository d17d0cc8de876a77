"""Whether the log's versions lie in ranges."""

from __future__ import annotations

from kb import versions
from kb.compiled_conditions import VersionCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome, State
from troubleshooter.observe.facts import canonical
from troubleshooter.observe.model import DatedPackage
from troubleshooter.observe.observations import Observations


def evaluate(condition: VersionCondition, context: Context) -> Outcome:
    """Whether the installed versions lie in the ranges."""
    said, state, evidence = [], "held", []
    for package, range_ in condition["version"].items():
        package_, wanted = context.filled(package), context.filled(range_)
        said.append(f"{package_ or package} {wanted or range_}")
        if package_ is None or wanted is None:
            state = "unseen" if state == "held" else state
            continue
        one, shown = version_state(package_, wanted, context.observations)
        evidence += shown
        if one == "contradicted" or state == "held":
            state = one
    return Outcome(state, "version " + ", ".join(said), evidence)  # type: ignore[arg-type]


def version_state(package: str, range_: str, observations: Observations) -> tuple[State, list[Evidence]]:
    """Whether the log shows a version of the package inside the range."""
    facts = observations.facts_of("version", canonical(package))
    for fact in facts:
        try:
            inside = versions.contains(range_, fact.value)
        except ValueError:
            continue
        if inside:
            return "held", [Evidence(fact.line, fact.line.text, f"{fact.name} {fact.value} lies in {range_}")]
    if facts:
        fact = facts[0]
        return "contradicted", [Evidence(fact.line, fact.line.text, f"{fact.name} {fact.value} lies outside {range_}")]
    return _by_messages(observations.dated.get(canonical(package)), range_)


def _by_messages(dated: DatedPackage | None, range_: str) -> tuple[State, list[Evidence]]:
    """The state by the log's messages, which only some releases of the package print; used if no version was printed."""
    if dated is None:
        return "unseen", []
    first, last = dated.releases[0], dated.releases[-1]
    said = f"by its messages {dated.package} is {first if first == last else f'{first} to {last}'}"
    around = [one for one in (dated.after, *dated.releases, dated.before) if one is not None]
    try:
        if all(versions.contains(range_, one) for one in dated.releases):
            return "held", [Evidence(dated.line, dated.line.text, f"{said}, which lies in {range_}")]
        if not any(versions.contains(range_, one) for one in around):
            return "contradicted", [Evidence(dated.line, dated.line.text, f"{said}, which lies outside {range_}")]
    except ValueError:
        pass
    return "unseen", []

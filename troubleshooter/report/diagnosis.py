"""One answer of the report: a ranked entry, its texts filled with values from the log, and its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kb.compiled import Body, Knowledge, translation
from troubleshooter.installed import already_installed, is_for_some, ruled_out
from troubleshooter.match.context import Context
from troubleshooter.match.regex import search
from troubleshooter.observe.observations import Observations
from troubleshooter.ranked import Ranked
from troubleshooter.read.text import fold
from troubleshooter.report.evidence import evidence_lines
from troubleshooter.report.fill import fill, safe
from troubleshooter.report.model import Diagnosis, FixStep

if TYPE_CHECKING:
    from troubleshooter.report.parts import Advice, AffectedVersions, FixLeftOut, Lookalike

MAX_EVIDENCE = 8
"""An answer shows at most this many lines."""


def diagnosis(
    item: Ranked, observations: Observations, knowledge: Knowledge, names: list[str], *, lang: str, brief: bool
) -> Diagnosis:
    """An answer in a language. ``names``: the inputs' names by file number; ``brief``: without causes, fixes and advice."""
    trial = item.candidate.trial
    found = knowledge.find(item.candidate.id)
    assert found is not None
    body = found[0]
    text = texts(body, lang)
    values = {k: fold(v) for k, v in trial.captured.items()}
    context = item.candidate.context(observations, knowledge)
    steps, left_out = _fixes(text, values, context)
    return Diagnosis(
        id=body["id"],
        kind=body["kind"],
        area=body["area"],
        severity=body["severity"],
        role=body["role"],
        retry=body["retry"],
        confidence=item.word,
        score=round(item.confidence, 3),
        title=fill(text["title"], values) or body["id"],
        cause="" if brief else (fill(text["cause"], values) or text["cause"]).strip(),
        fixes=[] if brief else steps,
        evidence=evidence_lines(item, names, brief=brief)[:MAX_EVIDENCE],
        symptom=trial.symptom,
        versions=_versions(body, item),
        advice=[] if brief else _advice(body, text, context),
        lookalikes=_lookalikes(body, lang),
        probe=body.get("probe"),
        sources=body["sources"],
        notes=list(item.notes),
        cause_known=body.get("cause_known", True),
        summary="" if brief else (fill(text["summary"], values) or "").strip(),
        fixes_left_out=[] if brief else left_out,
    )


def _versions(body: Body, item: Ranked) -> AffectedVersions:
    found: AffectedVersions = {"affected": body.get("versions", {}), "state": item.versions}
    if item.versions_installed:
        found["from"] = "environment"
    return found


def texts(body: Body, lang: str) -> dict[str, Any]:
    """An entry's title, summary ("" if it has none), cause, fixes and reasons for ignoring advice, in a language or, if there
    is no translation, in English."""
    english = {
        "title": body["title"], "summary": body.get("summary", ""), "cause": body["cause"], "fixes": body["fixes"],
        "advice": [a["because"] for a in body["advice"]],
    }  # fmt: skip
    text = translation(body, lang)
    if not text:
        return english
    fixes = [
        {**fix, "do": other["do"], "why": other.get("why", fix.get("why"))}
        for fix, other in zip(body["fixes"], text.get("fixes", []), strict=False)
    ]
    return {
        "title": text["title"], "summary": text.get("summary", ""), "cause": text["cause"], "fixes": fixes,
        "advice": [a["because"] for a in text.get("advice", [])],
    }  # fmt: skip


def _fixes(text: dict[str, Any], values: dict[str, str], context: Context) -> tuple[list[FixStep], list[FixLeftOut]]:
    """The fixes to show, and those left out because the log shows that their releases are already installed.

    The order is the entry's, except that a fix for some of the runs comes behind those for all (`is_for_some`).
    """
    steps: list[FixStep] = []
    left_out: list[FixLeftOut] = []
    fitting = [fix for fix in text["fixes"] if not ruled_out(fix, context)]
    for fix in sorted(fitting, key=lambda fix: is_for_some(fix, context)):
        filled = {
            name: fill(fix[name], values, shell=name == "shell", language=fix["language"] if name == "code" else "")
            for name in ("do", "why", "code", "shell")
            if fix.get(name)
        }
        if None in filled.values():
            continue
        if (installed := already_installed(fix, context)) is not None:
            left_out.append({"do": filled["do"] or "", "installed": {fact.name: fact.value for fact in installed}})
            continue
        steps.append(
            FixStep(
                do=filled["do"] or "",
                risk=fix["risk"],
                why=filled.get("why") or None,
                code=(filled.get("code") or "").rstrip() or None,
                language=fix["language"] if fix.get("code") else None,
                shell=(filled.get("shell") or "").rstrip() or None,
            )
        )
    return steps, left_out


def _advice(body: Body, text: dict[str, Any], context: Context) -> list[Advice]:
    found: list[Advice] = []
    for item, because in zip(body["advice"], text["advice"], strict=False):
        for line in context.candidate_lines(item["pattern"]):
            if match := search(item["pattern"]["re"], line.folded):
                found.append({"printed": safe(match.said, 200), "because": because})
                break
    return found


def _lookalikes(body: Body, lang: str) -> list[Lookalike]:
    return [
        {"entry": other["entry"], "because": translation(other, lang) or other["because"]}
        for other in body.get("lookalikes", {}).get("confused", [])
    ]

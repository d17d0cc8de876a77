"""``docs/entry-reference.md``: the form of an entry and every kind of condition, from `kb.form`."""

from __future__ import annotations

import types
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kb import form
from kb.compiled import TOLERATED
from kb.placeholders import TYPES
from troubleshooter.match import relations


class Meaning(NamedTuple):
    """What a condition says about a log: when it holds, and when the log speaks against it."""

    write: str
    holds: str
    contradicted: str


MEANINGS: dict[type[form.Part], Meaning] = {
    form.Message: Meaning(
        "`exception: T`, `message: P`, or both",
        "The log has an exception of type T (the last dotted part; a list of types means any of them) whose message P finds. "
        "White space in the message is folded, so a line break is one space. `message` alone is also found in any printed "
        "line. With both, a line without a type counts too if the log shows no exception of another type.",
        "The message was found, but its exception has another type. So list every type that it had over the versions, or leave "
        "`exception` out if the message says enough.",
    ),
    form.Line: Meaning(
        "`line: P`, `at_least: N`",
        "P finds something in at least N lines of the log. Prefixes (times, ranks), colours and boxes are taken off first.",
        "Never.",
    ),
    form.Frame: Meaning(
        "`frame: part/of/path.py`, `function: F`, `at: innermost`",
        "The traceback of the matched exception has a frame whose path contains this part (a list means any of them), in "
        "function F. `at: innermost` looks at the last frame only.",
        "The traceback is whole, and has no such frame.",
    ),
    form.Metric: Meaning(
        "`metric: NAME`, `is: SHAPE`",
        "A metric of this name did this. Names may hold `*` (`rewards/*`). `value` is the number for `above`, `below` and "
        "`equal`. `every: true` asks it of every point, `points: N` of a series of at least N points, `after_finite: true` "
        "after finite points came first, and `beside: [conditions]` of the same printed record. `climbing` never falls below "
        "its start; `frozen` is one value, to the last digit, until the end.",
        "The log has the metric, and it did not do this.",
    ),
    form.Version: Meaning(
        "`version: {package: RANGE}`",
        "The log shows a version of the package inside of this PEP 440 range. `python`, `cuda` and `driver` count as packages; "
        "`X.dev0` and `X+cu128` count as X.",
        "The log shows a version outside of the range.",
    ),
    form.Package: Meaning(
        "`package: NAME`", "Frames, versions or a name in the log show that this package is at work.", "Never."
    ),
    form.Gpu: Meaning(
        '`gpu: P`, `capability: "<8.0"`',
        "The log names a GPU whose name P finds, or whose compute capability lies in the range (it is known from the GPU's "
        "name, too).",
        "The log names only other GPUs.",
    ),
    form.Flag: Meaning(
        "`flag: NAME`, `value: P`",
        'The log shows this option: `--fp16 True`, `fp16=True`, `"fp16": true` or `fp16: true`. P must match the whole value.',
        "The log shows the option with another value.",
    ),
    form.Platform: Meaning(
        "`platform: NAME`",
        "The log shows that it comes from this platform.",
        "The log shows another one of Windows, Linux and macOS.",
    ),
    form.Exit: Meaning(
        "`exit: -9`",
        "A launcher or a shell reported this exit status. A signal is a negative number; 137 counts as -9.",
        "Only other exit statuses were reported.",
    ),
    form.Ends: Meaning(
        "`ends: in-training` or `ends: failed`",
        "The log breaks off while more of the training was to come; or a process that had trained ended with another status "
        "than 0. It never holds for a paste, nor for a file that was written to in the last ten minutes.",
        "The log shows that the run came to its end.",
    ),
    form.Ranks: Meaning(
        "`ranks: one`, `several` or `first`",
        "So many ranks show the matched failure; `first` means that no other rank failed before.",
        "The log names the ranks, and it is otherwise.",
    ),
    form.Phase: Meaning(
        "`phase: NAME` (or a list)",
        "The run was in this phase when the failure came. Frames tell the phase, or else the output before the failure.",
        "The frames show another phase.",
    ),
    form.Relation: Meaning(
        "`relation: NAME`, `of: {a: …, b: …}`",
        "The captured values, or numbers, stand in this relation (list below).",
        "They do not.",
    ),
    form.Row: Meaning(
        '`row: TABLE`, `where: {column: "<<capture>>"}`',
        "The table in `entries/tables/` has such a row; its columns become placeholders. A value is a literal, a `<<capture>>`, "
        "`*` (has a value) or `-` (has none). A column of the table may list several values and patterns (`*Config`): one of "
        "them must fit.",
        "The table has no such row.",
    ),
    form.AnyOf: Meaning(
        "`any: [conditions]`", "At least one of the conditions holds.", "All of them are contradicted."
    ),
    form.AllOf: Meaning(
        "`all: [conditions]`",
        "All of the conditions hold. In `exclude` each of them must really be seen.",
        "One of them is contradicted.",
    ),
    form.Not: Meaning(
        "`not: condition`",
        "The condition is contradicted, or it was not seen although a log with it would show it.",
        "The condition holds.",
    ),
}
"""One row a kind of condition; a test asks that every kind of `kb.form` has one."""

_INTRODUCTION = """\
# Entry reference

<!-- Made by `python -m docs.make` from kb/form.py. Do not edit. -->

[writing-entries.md](writing-entries.md) is the place to start; this page lists every field. `troubleshoot check --schema`
prints the same form as JSON Schema, which many editors understand.

An entry is a folder `entries/<area>/<id>/`:

| file | holds |
| --- | --- |
| `entry.yaml` | the entry, in the form below |
| `zh.yaml`, or another two-letter code | what people read, in Chinese or that language; shared entries have `zh.yaml` |
| `samples.log` | logs that must get this answer (`=== match NAME`), at least one for each symptom, and near misses that must not |
| `verified/*.json` | records of probe runs, written by `troubleshoot verify --record`, never by hand |
"""

_CONDITIONS = """\

## Conditions

A symptom has conditions of three uses. All in `require` must hold. Each one in `support` that holds raises the confidence.
None in `exclude` may hold.

A condition **holds**, is **contradicted**, or is **not seen**. A required condition that is contradicted ends the symptom. For
one that is not seen the table has a column: "ends it" means that the symptom is no answer, "tolerated" that it lowers the
confidence, because a paste often lacks such things. There is one exception: if a symptom's words belong to several entries
("cannot import name"), or it names only an exception type, then "tolerated" becomes "ends it". This is worked out when
entries are compiled; `troubleshoot explain ENTRY LOG` shows what happened on a log.

| condition | holds when | contradicted when | required and not seen |
| --- | --- | --- | --- |
"""

_PATTERNS = """\

## Patterns

Patterns (P above) are RE2 regular expressions: they run in linear time and have no lookaround and no backreferences. They are
searched anywhere in the text and are case-sensitive (`(?i)` is allowed).

- Each pattern, and each branch of an alternation, needs a literal of at least 5 characters (3 Chinese ones). Entries are
  found by these literals.
- A literal that every log holds (`site-packages`, `'loss':`, `warning`) does not count. Take a longer piece of the message, or
  a condition on what the words stand for (`metric: loss, is: seen`).
- Leave open what varies: numbers, paths, quotes, `c10::`. Never write a user's own names. Anchor with `^` only if needed.
- Patterns see white space folded and typographic quotes as plain ones. Messages of a Chinese system are seen in English
  (`kb/localized.py`). Backticks and the underscores of `__init__` may be missing in the log, as in a copy of a rendered page.
- Named groups, `(?P<name>…)`, become placeholders.

## Placeholders

`<<name>>`, `<<name:type>>` or `<<name:type|default>>` may stand in a title, a cause and a fix. A value that does not fit its
type counts as missing. A fix with a missing value and no default is not shown. A title or cause needs defaults, unless every
symptom captures the name.

| type | fits |
| --- | --- |
"""

_RELATIONS = """\

## Relations

| relation | arguments | holds when |
| --- | --- | --- |
"""


FIELDS: dict[type[form.Part], dict[str, str]] = {
    form.Entry: {
        "id": "Permanent: the folder, the page and every link carry it. Lower-case words with `-` between them.",
        "kind": "`harmless` means that nothing is wrong, and the cause says why.",
        "severity": "What the failure does to the run; `none` for a harmless entry.",
        "retry": "Whether to run the same again: `useless` (it fails at once), `after-fix`, `may-help`.",
        "role": "`cascade` is an after-effect (a peer lost a dead rank); it is shown only below a root cause.",
        "title": "10 to 140 characters: what the user sees, and the cause.",
        "symptoms": "Any one of them gives the answer. One cause with several wordings has several symptoms.",
        "versions": "Affected ranges by package (PEP 440). Only what a run or a source shows.",
        "cause": "Markdown, two to four sentences: the mechanism.",
        "cause_known": "`false` if only the effect is seen. The text then says how to find the cause, and the exit status is 3.",
        "fixes": "At most four, the one most likely to be right first. A failure has at least one.",
        "advice": "Advice that programs print with this failure and that does not apply.",
        "not_to_confuse_with": "Entries that look alike, and how to tell them apart. Written once, in the newer entry.",
        "overlaps": "Entries that may answer on the same log, and why. Otherwise `check` asks for silence there.",
        "variant_of": "The general entry of the same cause. This one replaces it where the log shows its framework.",
        "fallback_for": "Marks a general answer: it is left out where one of these entries answers; `[]` means any entry.",
        "probe": "The probe that reproduces the failure, for `troubleshoot verify`.",
        "sources": "Where cause, fixes and versions come from. At least one shows the cause or the fix.",
    },
    form.Symptom: {
        "name": "Unique in the entry.",
        "require": "All of these conditions must hold.",
        "support": "Each condition that holds raises the confidence.",
        "exclude": "None of these conditions may hold.",
        "decisive": '`true`: these conditions alone name the cause. Without it an answer is at most "likely".',
        "source": "Where the words are raised (package, file, versions that were read), or the run that printed them.",
    },
    form.EntrySource: {
        "url": "A thread, release note or page. A source has `url`, or `run`, or `package` with `file` and `versions`.",
        "package": "An installed package whose source was read.",
        "file": "The file in this package.",
        "versions": "The versions that were read.",
        "run": "What was run, in a sentence.",
        "shows": "What the source shows.",
        "note": "Anything else that a reader of the source should know.",
    },
    form.EntryFix: {
        "do": "One imperative sentence (Markdown).",
        "why": "Why it helps.",
        "risk": "`changes-results`: the training goes on otherwise; `retrain`: what was trained is lost.",
        "when": "If this condition is contradicted, the fix is not shown.",
        "code": "Ready to paste.",
        "language": "The language of `code`.",
        "shell": "Ready to paste into a shell.",
    },
    form.EntryAdvice: {"printed": "Finds the printed advice.", "because": "Why not to follow it here."},
    form.EntryLookalike: {"entry": "The other entry's id.", "because": "How to tell the two apart."},
    form.EntryProbe: {
        "name": "A probe of `troubleshooter/probes/`.",
        "with": "Its options; `<<captures>>` may stand in them.",
    },
    form.Translation: {
        "of": "The hash of the English text. `troubleshoot check --stamp` writes it once the translation is right.",
        "title": "",
        "cause": "",
        "fixes": "As many as in `entry.yaml`, each with `do`, and with `why` where the English has one.",
        "advice": "As many as in `entry.yaml`, each with `because`.",
        "not_to_confuse_with": "As many as in `entry.yaml`, each with `because`.",
    },
    form.TranslatedFix: {"do": "", "why": "Where the English has one."},
    form.TranslatedReason: {"because": ""},
}
"""What each field means; a test asks that every field has its row."""

_WITHOUT_DOCSTRING = {
    "different": "a and b are not equal.",
    "less": "a is less than b.",
    "greater": "a is greater than b.",
    "not-multiple": "a is no whole multiple of b.",
    "far-apart": "a and b differ by more than a relative distance.",
    "near-or-above": "a is at least a share of b.",
}


def entry_reference() -> str:
    """The page: the files, the entry and its parts field by field, the conditions, patterns, placeholders, relations."""
    out = [_INTRODUCTION]
    for model in FIELDS:
        out.append(f"\n## {_title(model)}\n\n" + _described(model) + _fields(model))
    out.append(_CONDITIONS)
    for model, meaning in MEANINGS.items():
        kinds = {kind for kind, part in form.KINDS.items() if part is model}
        unseen = "tolerated" if kinds & (TOLERATED | {"not"}) else "ends it"
        cells = (meaning.write, meaning.holds, meaning.contradicted, unseen)
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    out.append("\n### Values\n\n| field | values |\n| --- | --- |\n")
    for model in MEANINGS:
        for name, field in model.model_fields.items():
            if values := _literals(field.annotation):
                out.append(
                    f"| `{field.alias or name}` of `{_keys(model)[0]}` | {', '.join(f'`{v}`' for v in values)} |\n"
                )
    out.append(_PATTERNS)
    out += [f"| `{name}` | `{pattern.replace('|', chr(92) + '|')}` |\n" for name, pattern in TYPES.items()]
    out.append(_RELATIONS)
    for name, function in relations.RELATIONS.items():
        code = function.__code__
        arguments = ", ".join(f"`{one}`" for one in code.co_varnames[: code.co_argcount])
        described = " ".join((function.__doc__ or _WITHOUT_DOCSTRING[name]).split())
        out.append(f"| `{name}` | {arguments} | {described} |\n")
    return "".join(out)


def _described(model: type[BaseModel]) -> str:
    own = model.__doc__ if model.__doc__ != form.Part.__doc__ else None
    return " ".join((own or "").replace("``", "`").split()) + "\n\n" if own else ""


def _title(model: type[form.Part]) -> str:
    """A part's name for authors, who know that it is a part of an entry."""
    return model.__name__.removeprefix("Entry") or model.__name__


def _fields(model: type[form.Part]) -> str:
    rows = ["| field | value | | meaning |", "| --- | --- | --- | --- |"]
    for name, field in model.model_fields.items():
        key = field.alias or name
        kind = "id" if _is_id(field) else _type(field.annotation)
        rows.append(f"| `{key}` | {kind} | {_default(field)} | {FIELDS[model][key]} |")
    return "\n".join(rows) + "\n"


def _is_id(field: FieldInfo) -> bool:
    return field.metadata == get_args(form.Identifier)[1].metadata


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    return (
        ""
        if default in (None, [], {}, False)
        else f"default: `{str(default).lower() if isinstance(default, bool) else default}`"
    )


def _keys(model: type[form.Part]) -> list[str]:
    return [kind for kind, part in form.KINDS.items() if part is model]


def _literals(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    found: list[str] = []
    for part in get_args(annotation):
        found += [value for value in _literals(part) if value not in found]
    return found


_PLAIN = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`"}


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation == form.Condition:
        return "[condition](#conditions)"
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin is Annotated:
        return (
            "id" if annotation == form.Identifier else "pattern" if annotation == form.Pattern else _type(arguments[0])
        )
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is dict:
        return f"map of {_type(arguments[0])} to {_type(arguments[1])}"
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_type(one) for one in arguments if one is not type(None)))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{_title(annotation)}](#{_title(annotation).lower()})"
    return str(annotation)

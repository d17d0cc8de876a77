"""``docs/entry-reference.md``: the form of an entry and every kind of condition, from `kb.form`."""

from __future__ import annotations

import types
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kb import form
from kb.conditions import FORMS, KINDS, Condition
from kb.conditions.base import ANCHOR, ConditionForm, Identifier, Part, Pattern, Range, Wording
from kb.placeholders import TYPES
from troubleshooter.match import relations

_INTRODUCTION = """\
# Entry reference

<!-- Made by `python -m docs.make` from kb/form.py and kb/conditions. Do not edit. -->

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

_EXAMPLES = """\

### Examples of conditions

Each example is tried beside `{anchor}`. A test tries them. Where the log of an example has no `QuuxError`, it ends with the line
`QuuxError: the flux capacitor is empty`.

"""

_PATTERNS = """\

## Patterns

Patterns (P above) are RE2 regular expressions: they run in linear time and have no lookaround and no backreferences. They are
searched anywhere in the text and are case-sensitive (`(?i)` is allowed).

- Each pattern, and each branch of an alternation, needs a literal of at least 5 characters (3 Chinese ones). Entries are
  found by these literals.
- A literal that every log contains (`site-packages`, `'loss':`, `warning`) does not count. Take a longer piece of the message, or
  a condition on the meaning of the words (`metric: loss, is: seen`).
- Do not write out the parts that vary: numbers, paths, quotes, `c10::`. Never write a user's own names. Anchor with `^` only if needed.
- Patterns see white space folded and typographic quotes as plain ones. Messages of a Chinese system are seen in English
  (`kb/localized.py`). Backticks and the underscores of `__init__` may be missing in the log, as in a copy of a rendered page.
- Named groups, `(?P<name>…)`, become placeholders.

## Placeholders

`<<name>>`, `<<name:type>>` or `<<name:type|default>>` may be used in a title, a summary, a cause and a fix. A value that does not fit its
type counts as missing. A fix with a missing value and no default is not shown. A title, summary or cause needs defaults, unless
every symptom captures the name.

| type | fits |
| --- | --- |
"""

_RELATIONS = """\

## Relations

| relation | arguments | holds when |
| --- | --- | --- |
"""


FIELDS: dict[type[Part], dict[str, str]] = {
    form.Entry: {
        "id": "Permanent: the folder, the page and every link carry it. Lower-case words with `-` between them.",
        "kind": "`harmless` means that nothing is wrong, and the cause says why.",
        "severity": "What the failure does to the run; `none` for a harmless entry.",
        "retry": "Whether to run the same again: `useless` (it fails at once), `after-fix`, `may-help`.",
        "role": "`cascade` is an after-effect (a peer lost a dead rank); it is shown only below a root cause.",
        "title": "What failed and why, at most 80 characters with the placeholders' defaults.",
        "summary": "What the title leaves out: versions, circumstances, effects. It is shown above the cause and repeats neither.",
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
        "status": '`draft`: nobody has compared the entry with its sources yet. Its answers are at most "possible".',
        "reviewed": "The day on which somebody tried to refute the entry and could not, such as `2026-11-23`.",
        "aliases": "Earlier ids of this entry: `show`, links, `--ignore` and recorded scans still find it by them.",
        "replaced_by": "Retires the entry: no log calls it up, and its page and `show` name this successor.",
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
        "risk": "`changes-results`: the training goes on otherwise; `retrain`: what was trained is lost; `may-harm`: it runs code of others, "
        "deletes what nobody can make again, ends processes or switches a protection off.",
        "when": "The fix is not shown if this condition is contradicted, or if it asks for words (`message`, `line`) that the log lacks. If it asks for a frame, a package or another sign of which the log shows nothing, the fix stands behind the others.",
        "code": "Ready to paste.",
        "language": "The language of `code`.",
        "shell": "Ready to paste into a shell: no `...`, each word to be replaced (`MODEL`) is explained in a comment, and so is what it deletes or ends.",
    },
    form.EntryAdvice: {"printed": "Finds the printed advice.", "because": "Why not to follow it here."},
    form.EntryLookalike: {"entry": "The other entry's id.", "because": "How to tell the two apart."},
    form.EntryProbe: {
        "name": "A probe of `troubleshooter/probes/`.",
        "with": "Its options; they may contain `<<captures>>`.",
    },
    form.Translation: {
        "of": "The hash of the English text. `troubleshoot check --stamp` writes it once the translation is right.",
        "title": "At most 80 cells wide; a Chinese character takes two.",
        "summary": "Where the English has one.",
        "cause": "",
        "fixes": "As many as in `entry.yaml`, each with `do`, and with `why` where the English has one.",
        "advice": "As many as in `entry.yaml`, each with `because`.",
        "not_to_confuse_with": "As many as in `entry.yaml`, each with `because`.",
    },
    form.TranslatedFix: {"do": "", "why": "Where the English has one."},
    form.TranslatedReason: {"because": ""},
}
"""What each field means. A test checks that every field has its row."""

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
    for model in FORMS:
        cells = (*model.MEANING, "tolerated" if model.tolerated() else "ends it")
        out.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    out.append(_EXAMPLES.format(anchor=_inline({"require": [ANCHOR]})))
    for model in FORMS:
        out += _example(model)
    out.append("\n### Values\n\n| field | values |\n| --- | --- |\n")
    for model in FORMS:
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


def _example(model: type[ConditionForm]) -> Iterator[str]:
    condition, held, contradicted, of_facts = model.EXAMPLE
    what, other = ("with these crash facts of a frame", "these") if of_facts else ("on this log", "this one")
    yield f"#### `{_inline(condition)}`\n\nholds {what}:\n\n```text\n{held}\n```\n\n"
    if contradicted:
        yield f"and is contradicted by {other}:\n\n```text\n{contradicted}\n```\n\n"


def _inline(value: object) -> str:
    """The value as YAML on one line."""
    return (
        yaml.safe_dump(value, default_flow_style=True, width=1000, sort_keys=False)
        .strip()
        .removeprefix("{")
        .removesuffix("}")
    )


def _described(model: type[BaseModel]) -> str:
    own = model.__doc__ if model.__doc__ != Part.__doc__ else None
    return " ".join((own or "").replace("``", "`").split()) + "\n\n" if own else ""


def _title(model: type[Part]) -> str:
    """A part's name for authors, who know that it is a part of an entry."""
    return model.__name__.removeprefix("Entry") or model.__name__


def _fields(model: type[Part]) -> str:
    rows = ["| field | value | | meaning |", "| --- | --- | --- | --- |"]
    for name, field in model.model_fields.items():
        key = field.alias or name
        kind = "id" if _is_id(field) else _type(field.annotation)
        rows.append(f"| `{key}` | {kind} | {_default(field)} | {FIELDS[model][key]} |")
    return "\n".join(rows) + "\n"


def _is_id(field: FieldInfo) -> bool:
    return field.metadata == get_args(Identifier)[1].metadata


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    return (
        ""
        if default in (None, [], {}, False)
        else f"default: `{str(default).lower() if isinstance(default, bool) else default}`"
    )


def _keys(model: type[Part]) -> list[str]:
    return [kind for kind, part in KINDS.items() if part is model]


def _literals(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    found: list[str] = []
    for part in get_args(annotation):
        found += [value for value in _literals(part) if value not in found]
    return found


_TEXTS = ((Identifier, "id"), (Pattern, "pattern"), (Wording, "pattern"), (Range, "version range"))
_PLAIN = {str: "text", int: "whole number", float: "number", bool: "`true` or `false`", date: "date"}


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation == Condition:
        return "[condition](#conditions)"
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if origin is Annotated:
        return next((name for kind, name in _TEXTS if annotation == kind), None) or _type(arguments[0])
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

"""The form of an entry (form 1): what an author writes in ``entry.yaml`` and in a translation such as ``zh.yaml``.

Everything here is about *authoring*: strict, with errors that name the field. The matcher never imports this
module; it runs on the compiled form (`kb.compiled`), so that a pasted line is answered without pydantic.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from kb.conditions import Condition
from kb.conditions.base import Identifier, Part, Pattern, Range

FORM = 1

Text = Annotated[str, Field(min_length=3)]


# --- sources, symptoms, fixes -----------------------------------------------------------------------------------


class EntrySource(Part):
    """Where a claim comes from: a page, an installed file that was read, or a run."""

    url: Annotated[str, Field(pattern=r"^https?://\S+$")] | None = None
    package: str | None = None
    file: str | None = None
    versions: str | None = None
    run: str | None = None
    shows: Literal["symptom", "cause", "fix", "versions"] | list[Literal["symptom", "cause", "fix", "versions"]] = (
        "symptom"
    )
    note: str | None = None

    @model_validator(mode="after")
    def _place(self) -> EntrySource:
        if not (self.url or self.run or (self.package and self.file and self.versions)):
            raise ValueError("expected `url`, `run`, or `package` with `file` and `versions`")
        return self

    @property
    def shown(self) -> list[str]:
        """What the source shows, as a list."""
        return [self.shows] if isinstance(self.shows, str) else list(self.shows)


class Symptom(Part):
    """One way in which the failure shows itself: statements about what was observed.

    ``decisive`` says that these conditions alone name the cause; without it an answer is at most "likely".
    """

    name: Identifier | None = None
    require: Annotated[list[Condition], Field(min_length=1)]
    support: list[Condition] = []
    exclude: list[Condition] = []
    decisive: bool = False
    source: EntrySource


class EntryFix(Part):
    do: Text
    why: str | None = None
    risk: Literal["safe", "changes-results", "retrain", "may-harm"] = "safe"
    when: Condition | None = None
    code: str | None = None
    language: Literal["python", "yaml", "json", "ini", "text"] = "python"
    shell: str | None = None


class EntryLookalike(Part):
    entry: Identifier
    because: Text


class EntryAdvice(Part):
    """Advice that programs print along with this failure, and why not to follow it here."""

    printed: Pattern
    because: Text


class EntryProbe(Part):
    name: Identifier
    with_: Annotated[dict[str, str | int | float | bool], Field(alias="with")] = {}


class Entry(Part):
    """One failure with one root cause.

    ``cause_known: false``: only the effect is seen, and the text says how to find the cause. Such an answer is given only if the
    log shows no other failure, and the exit status is 3, as for a failure that no entry explains.
    """

    id: Identifier
    kind: Literal["failure", "harmless"] = "failure"
    severity: Literal["crash", "hang", "wrong-results", "degraded", "none"]
    retry: Literal["useless", "after-fix", "may-help"] = "after-fix"
    role: Literal["root", "cascade"] = "root"
    title: Annotated[str, Field(min_length=10, max_length=140)]
    summary: Annotated[str, Field(min_length=10, max_length=400)] | None = None
    symptoms: Annotated[list[Symptom], Field(min_length=1)]
    versions: dict[str, Range] = {}
    cause: Text
    cause_known: bool = True
    fixes: Annotated[list[EntryFix], Field(max_length=4)] = []
    advice: list[EntryAdvice] = []
    not_to_confuse_with: list[EntryLookalike] = []
    overlaps: list[EntryLookalike] = []
    variant_of: Identifier | None = None
    fallback_for: list[Identifier] | None = None
    probe: EntryProbe | None = None
    status: Literal["draft"] | None = None
    reviewed: date | None = None
    aliases: list[Identifier] = []
    replaced_by: Identifier | None = None
    sources: Annotated[list[EntrySource], Field(min_length=1)]

    @model_validator(mode="after")
    def _whole(self) -> Entry:
        if self.kind == "failure" and not self.fixes:
            raise ValueError("expected `fixes`: a failure has at least one")
        if self.kind == "harmless" and self.severity != "none":
            raise ValueError("expected `severity: none` for a harmless entry")
        if self.status == "draft" and self.reviewed is not None:
            raise ValueError("expected `status: draft` or `reviewed`, not both: a reviewed entry is no draft")
        return self

    @field_validator("sources")
    @classmethod
    def _sources(cls, sources: list[EntrySource], info: ValidationInfo) -> list[EntrySource]:
        if not any(one in ("cause", "fix") for source in sources for one in source.shown):
            raise ValueError("expected a source that shows the cause or the fix")
        return sources


class TranslatedFix(Part):
    do: str
    why: str | None = None


class TranslatedReason(Part):
    because: str


class Translation(Part):
    """What people read of an entry in another language, with the hash of the English that it translates (``of``)."""

    of: str
    title: str
    summary: str | None = None
    cause: str
    fixes: list[TranslatedFix] = []
    advice: list[TranslatedReason] = []
    not_to_confuse_with: list[TranslatedReason] = []

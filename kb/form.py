"""The form of an entry (form 1): what an author writes in ``entry.yaml`` and in a translation such as ``zh.yaml``.

Everything here is about *authoring*: strict, with errors that name the field. The matcher never imports this
module; it runs on the compiled form (`kb.compiled`), so that a pasted line is answered without pydantic.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationInfo, field_validator, model_validator

FORM = 1

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Pattern = Annotated[str, Field(min_length=2, max_length=600)]
Text = Annotated[str, Field(min_length=3)]
OneOrMore = str | list[str]


class Part(BaseModel):
    """Base of all parts: unknown keys are errors, ``no`` is not the string "no"."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


# --- conditions -------------------------------------------------------------------------------------------------


class Message(Part):
    """An exception, or a printed message, of the log.

    ``exception`` is a type's last dotted part (or several); ``message`` a pattern over the message with white space
    folded. A paste that lost the type still matches by its message: the type is then "not seen". With
    ``message`` alone any line of the log may hold it.
    """

    exception: Pattern | list[Pattern] | None = None
    message: Pattern | list[Pattern] | None = None

    @model_validator(mode="after")
    def _one(self) -> Message:
        if self.exception is None and self.message is None:
            raise ValueError("expected `exception`, `message` or both")
        return self


class Line(Part):
    """A line of the log, outside of tracebacks or inside. ``at_least``: in how many lines."""

    line: Pattern | list[Pattern]
    at_least: Annotated[int, Field(ge=1)] = 1


class Frame(Part):
    """A frame of the failure that the symptom's message belongs to: part of its path, and its function."""

    frame: OneOrMore
    function: OneOrMore | None = None
    at: Literal["innermost", "anywhere"] = "anywhere"


Shape = Literal[
    "seen", "nan", "inf", "nonfinite", "finite", "zero", "nonzero", "stuck", "constant", "falling", "rising",
    "climbing", "exploding", "frozen", "repeating", "above", "below", "equal",
]  # fmt: skip


class Metric(Part):
    """A metric series (name, or a shell pattern such as ``rewards/*``), and what it does.

    ``value`` goes with above, below and equal. ``every`` asks ``is`` of all points instead of at least one. ``after_finite``
    asks that finite points came before. ``beside`` conditions must hold in the same printed record.
    """

    metric: OneOrMore
    is_: Annotated[Shape, Field(alias="is")]
    value: float | int | None = None
    every: bool = False
    after_finite: bool = False
    beside: list[Metric] = []
    points: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _value(self) -> Metric:
        if (self.is_ in ("above", "below", "equal")) != (self.value is not None):
            raise ValueError("`value` belongs to `is: above`, `below` or `equal`, and they need it")
        return self


class Version(Part):
    """Versions that the log shows, by package (``python``, ``cuda`` and ``driver`` too), as PEP 440 ranges."""

    version: dict[str, str]


class Package(Part):
    """The log shows that this package is at work (frames, banners, versions, its file names)."""

    package: OneOrMore


class Gpu(Part):
    """A GPU that the log names: a pattern over its name, a range of its compute capability."""

    gpu: Pattern | None = None
    capability: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Gpu:
        if self.gpu is None and self.capability is None:
            raise ValueError("expected `gpu` (a pattern over the name), `capability` (a range) or both")
        return self


class Flag(Part):
    """A launch flag or option that the log shows (``--fp16 True``, ``fp16=True``, ``"fp16": true``)."""

    flag: OneOrMore
    value: Pattern | None = None


class Platform(Part):
    platform: Literal["windows", "linux", "macos", "wsl", "colab", "kaggle", "rocm", "mps", "cpu", "notebook"]


class Exit(Part):
    """An exit status of a process that the log shows, negative for a signal (137 counts as -9)."""

    exit: int | list[int]


class Ends(Part):
    """How the log ends: in the middle of the training, or with a process that failed after it had begun to train.

    It holds only where nobody writes to the log any more.
    """

    ends: Literal["in-training", "failed"]


class Ranks(Part):
    """On how many ranks the symptom's failure was seen (needs a log that names ranks)."""

    ranks: Literal["one", "several", "first"]


class Phase(Part):
    """What the run was doing when the failure came."""

    phase: (
        Literal["import", "load", "preprocess", "train", "eval", "save", "resume", "generate", "merge", "build"]
        | list[Literal["import", "load", "preprocess", "train", "eval", "save", "resume", "generate", "merge", "build"]]
    )


class Relation(Part):
    """A named predicate over captured values (see ``troubleshooter/match/relations.py``)."""

    relation: Identifier
    of: dict[str, str | int | float]


class Row(Part):
    """A row of a table (``entries/tables``); its columns become placeholders.

    ``where`` values: a literal, ``<<capture>>``, ``*`` (has a value) or ``-`` (has none).
    """

    row: str
    where: dict[str, str]


class AnyOf(Part):
    any: list[Condition]


class AllOf(Part):
    all: list[Condition]


class Not(Part):
    not_: Annotated[Condition, Field(alias="not")]


KINDS: dict[str, type[Part]] = {
    "exception": Message,
    "message": Message,
    "line": Line,
    "frame": Frame,
    "metric": Metric,
    "version": Version,
    "package": Package,
    "gpu": Gpu,
    "capability": Gpu,
    "flag": Flag,
    "platform": Platform,
    "exit": Exit,
    "ends": Ends,
    "ranks": Ranks,
    "phase": Phase,
    "relation": Relation,
    "row": Row,
    "any": AnyOf,
    "all": AllOf,
    "not": Not,
}


def _kind(value: Any) -> str | None:
    keys: Iterator[str] = iter(value) if isinstance(value, dict) else iter(vars(value))
    for key in keys:
        if (key := key.rstrip("_")) in KINDS:
            return KINDS[key].__name__
    return None


Condition = Annotated[
    Annotated[Message, Tag("Message")]
    | Annotated[Line, Tag("Line")]
    | Annotated[Frame, Tag("Frame")]
    | Annotated[Metric, Tag("Metric")]
    | Annotated[Version, Tag("Version")]
    | Annotated[Package, Tag("Package")]
    | Annotated[Gpu, Tag("Gpu")]
    | Annotated[Flag, Tag("Flag")]
    | Annotated[Platform, Tag("Platform")]
    | Annotated[Exit, Tag("Exit")]
    | Annotated[Ends, Tag("Ends")]
    | Annotated[Ranks, Tag("Ranks")]
    | Annotated[Phase, Tag("Phase")]
    | Annotated[Relation, Tag("Relation")]
    | Annotated[Row, Tag("Row")]
    | Annotated[AnyOf, Tag("AnyOf")]
    | Annotated[AllOf, Tag("AllOf")]
    | Annotated[Not, Tag("Not")],
    Discriminator(
        _kind,
        custom_error_type="condition",
        custom_error_message="expected a condition: one of " + ", ".join(KINDS),
    ),
]


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
    risk: Literal["safe", "changes-results", "retrain"] = "safe"
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

    ``cause_known: false``: only the effect is seen, and the text says how to find the cause. Such an answer is given only where
    no other failure is seen, and the exit status is then that of a failure that no entry explains.
    """

    id: Identifier
    kind: Literal["failure", "harmless"] = "failure"
    severity: Literal["crash", "hang", "wrong-results", "degraded", "none"]
    retry: Literal["useless", "after-fix", "may-help"] = "after-fix"
    role: Literal["root", "cascade"] = "root"
    title: Annotated[str, Field(min_length=10, max_length=140)]
    symptoms: Annotated[list[Symptom], Field(min_length=1)]
    versions: dict[str, str] = {}
    cause: Text
    cause_known: bool = True
    fixes: Annotated[list[EntryFix], Field(max_length=4)] = []
    advice: list[EntryAdvice] = []
    not_to_confuse_with: list[EntryLookalike] = []
    overlaps: list[EntryLookalike] = []
    variant_of: Identifier | None = None
    fallback_for: list[Identifier] | None = None
    probe: EntryProbe | None = None
    sources: Annotated[list[EntrySource], Field(min_length=1)]

    @model_validator(mode="after")
    def _whole(self) -> Entry:
        if self.kind == "failure" and not self.fixes:
            raise ValueError("expected `fixes`: a failure has at least one")
        if self.kind == "harmless" and self.severity != "none":
            raise ValueError("expected `severity: none` for a harmless entry")
        return self

    @field_validator("sources")
    @classmethod
    def _sources(cls, sources: list[EntrySource], info: ValidationInfo) -> list[EntrySource]:
        shown = {s for source in sources for s in ([source.shows] if isinstance(source.shows, str) else source.shows)}
        if not shown & {"cause", "fix"}:
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
    cause: str
    fixes: list[TranslatedFix] = []
    advice: list[TranslatedReason] = []
    not_to_confuse_with: list[TranslatedReason] = []


for _model in (AnyOf, AllOf, Not, Symptom, EntryFix, Entry):
    _model.model_rebuild()

"""The forms of conditions, one module for each kind. docs/where-does-it-go.md lists the steps to add a kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import Discriminator, Tag

from kb.conditions.all_of import AllOfForm
from kb.conditions.any_of import AnyOfForm
from kb.conditions.base import ConditionForm
from kb.conditions.ends import EndsForm
from kb.conditions.exit import ExitForm
from kb.conditions.flag import FlagForm
from kb.conditions.frame import FrameForm
from kb.conditions.gpu import GpuForm
from kb.conditions.line import LineForm
from kb.conditions.message import MessageForm
from kb.conditions.metric import MetricForm
from kb.conditions.not_ import NotForm
from kb.conditions.package import PackageForm
from kb.conditions.phase import PhaseForm
from kb.conditions.platform import PlatformForm
from kb.conditions.ranks import RanksForm
from kb.conditions.relation import RelationForm
from kb.conditions.row import RowForm
from kb.conditions.value import ValueForm
from kb.conditions.version import VersionForm

FORMS: tuple[type[ConditionForm], ...] = (
    MessageForm, LineForm, FrameForm, ValueForm, MetricForm, VersionForm, PackageForm, GpuForm, FlagForm, PlatformForm, ExitForm, EndsForm, RanksForm, PhaseForm, RelationForm, RowForm, AnyOfForm, AllOfForm, NotForm,
)  # fmt: skip
"""Every kind of condition, in the order of the reference."""
KINDS: dict[str, type[ConditionForm]] = {key: form for form in FORMS for key in form.KEYS}
"""The form of a condition by each key that tells its kind."""


def _form_name(value: Any) -> str | None:
    """The name of the form that a condition has, recognized by its keys; None if no key is known."""
    keys: Iterator[str] = iter(value) if isinstance(value, dict) else iter(vars(value))
    for key in keys:
        if (key := key.rstrip("_")) in KINDS:
            return KINDS[key].__name__
    return None


if TYPE_CHECKING:
    Condition = ConditionForm
else:
    Condition = Annotated[
        Union[tuple(Annotated[form, Tag(form.__name__)] for form in FORMS)],  # noqa: UP007 (made of a list)
        Discriminator(
            _form_name,
            custom_error_type="condition",
            custom_error_message="expected a condition: one of " + ", ".join(KINDS),
        ),
    ]
for _form in (AnyOfForm, AllOfForm, NotForm):
    _form.model_rebuild(_types_namespace={"Condition": Condition})

"""One failure explained: where it was raised, under which condition, by which of the user's arguments, and what would help.

What no source tells, torch's own errors and Python's, has rules (`tensor`, `python`, `message`). The source of a place, or
what the index has of it, is read by `place`, which is imported only for a failure with a frame or a known message.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from troubleshooter.explaining import chained
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.message import messages
from troubleshooter.explaining.origin import is_own
from troubleshooter.explaining.own import callbacks, own_methods, pool_rows
from troubleshooter.explaining.place.indexed import KnownMessage, known
from troubleshooter.explaining.presented import presented
from troubleshooter.explaining.python import exceptions, traced
from troubleshooter.explaining.source.run_options import RunOptions
from troubleshooter.explaining.source.sources import Sources
from troubleshooter.explaining.tensor import operations
from troubleshooter.observe.model import Failure, ShownCommand

MAX_OWN = 8
"""Files of the user's own whose folders may hold the configuration that the run's command names."""

if TYPE_CHECKING:
    from troubleshooter.report.parts import Explained


def explain(
    failure: Failure,
    folders: Sequence[str] = (),
    lang: str = "en",
    commands: Sequence[ShownCommand] = (),
    failures: Sequence[Failure] = (),
) -> Explained | None:
    """The explanation of a failure; None where neither its source nor a rule tells anything.

    ``folders``: where the packages of the training environment are installed, besides the paths that the log names.
    ``commands``: those that the log shows. ``failures``: all exceptions of the log, of which a launcher's shows its command.
    """
    mine = [os.path.dirname(path) for path in _own_files(failure)]
    options = RunOptions(commands, failures, list(dict.fromkeys(["", *mine])))
    try:
        return chained.of_chain(failure, lambda one: _explain(one, Sources(folders, options), lang), lang)
    except RecursionError:  # a log may hold code that is nested deeper than people write
        return None


def _own_files(failure: Failure) -> list[str]:
    """The user's own files that a traceback names and that are on this machine."""
    paths = dict.fromkeys(frame.path for frame in failure.frames if is_own(frame) and os.path.isabs(frame.path))
    return [path for path in list(paths)[:MAX_OWN] if path.endswith(".py") and os.path.isfile(path)]


def _explain(failure: Failure, sources: Sources, lang: str) -> Explained | None:
    """``sources``: one for all steps, so that each file is read and parsed once."""
    found = (
        traced.explain(failure, lang)
        or pool_rows.explain(failure, lang)
        or callbacks.explain(failure, sources, lang)
        or own_methods.explain(failure, sources, lang)
        or exceptions.explain(failure, lang)
        or operations.explain(failure, lang)
        or messages.explain_alone(failure, lang)
    )
    listed: KnownMessage | None = None
    if found is None:
        listed = known(failure)
        found = _placed(failure, listed, sources, lang)
        told = None
        if found is None or not found.condition:
            told = (
                exceptions.explain_line(failure, lang)
                or messages.explain(failure, lang)
                or _compiled(failure, lang)
                or exceptions.explain_raised(failure, lang)
            )
        # The line shows what was used, and the message what was wrong with it.
        if found is not None and told is not None:
            found.condition = told.condition
        found = found or told
    found = _amended(found, failure, sources, lang)
    is_open = found is None or not found.remedies
    if is_open and (said := messages.explain_by_itself(failure, lang)) is not None:
        if found is not None and failure.frames:
            found.origins, found.remedies = found.origins or said.origins, said.remedies
        else:  # without a frame, the place is only one that prints such a message
            found, listed = said, None
    if found is None:
        return None
    return presented(failure, found, listed, lang)


def _placed(failure: Failure, listed: KnownMessage | None, sources: Sources, lang: str) -> FoundPlace | None:
    if not failure.frames and listed is None:
        return None
    from troubleshooter.explaining.place.placed import from_index, from_shown, from_source
    from troubleshooter.explaining.place.refused import explain as refused
    from troubleshooter.explaining.source.origins import Trace

    return (
        refused(failure, Trace(failure.frames, sources), lang)
        or from_source(failure, sources, lang)
        or from_index(failure, listed, sources, lang)
        or from_shown(failure, sources, lang)
    )


def _amended(found: FoundPlace | None, failure: Failure, sources: Sources, lang: str) -> FoundPlace | None:
    """The explanation with what the user's own files tell of it."""
    found = own_methods.amended(found, failure, sources)
    if not any(map(is_own, failure.frames)):
        return found
    from troubleshooter.explaining.own.amend import amended
    from troubleshooter.explaining.source.origins import Trace

    return amended(found, failure, Trace(failure.frames, sources), lang)


def _compiled(failure: Failure, lang: str) -> FoundPlace | None:
    from troubleshooter.explaining.place.compiled_checks import explain as explain_check

    return explain_check(failure, lang)

"""One failure explained: where it was raised, under which condition, by which of the user's arguments, and what would help.

What no source tells, torch's own errors and Python's, has rules (`operations`, `own`, `messages`). The source of a place, or
what the index has of it, is read by `placed`, which is imported only for a failure with a frame or a known message.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from troubleshooter.explaining import callbacks, chained, messages, operations, own, own_methods, traced
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.indexed import KnownMessage, known
from troubleshooter.explaining.origin import is_own
from troubleshooter.explaining.presented import presented
from troubleshooter.explaining.run_options import RunOptions
from troubleshooter.explaining.shown import code
from troubleshooter.explaining.sources import Sources
from troubleshooter.observe.model import Failure, ShownCommand

NOT_CALLABLE = "is not callable"
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
        or callbacks.explain(failure, sources, lang)
        or own_methods.explain(failure, sources, lang)
        or own.explain(failure, lang)
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
                own.explain_line(failure, lang)
                or messages.explain(failure, lang)
                or _compiled(failure, lang)
                or own.explain_raised(failure, lang)
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
    from troubleshooter.explaining.origins import Trace
    from troubleshooter.explaining.placed import from_index, from_shown, from_source
    from troubleshooter.explaining.refused import explain as refused

    return (
        refused(failure, Trace(failure.frames, sources), lang)
        or from_source(failure, sources, lang)
        or from_index(failure, listed, sources, lang)
        or from_shown(failure, sources, lang)
    )


def _amended(found: FoundPlace | None, failure: Failure, sources: Sources, lang: str) -> FoundPlace | None:
    """The explanation with what the user's own call shows of its values and their classes."""
    frames = failure.frames
    found = own_methods.amended(found, failure, sources)
    if not frames or not any(map(is_own, frames)):
        return found
    from troubleshooter.explaining import batched, command_values, own_keys

    found = batched.amended(found, failure, sources, lang)
    if is_own(frames[-1]) and NOT_CALLABLE in failure.message:
        from troubleshooter.explaining import shadowed
        from troubleshooter.explaining.origins import Trace

        if (told := shadowed.explain(failure, Trace(frames, sources), lang)) is not None:
            return told
    if is_own(frames[-1]) and found is not None:
        found = command_values.amended(own_keys.amended(found, failure, sources), failure, sources)
        found, is_told = _of_own_file(found, failure, sources, lang)
        if is_told:
            return found
    if is_own(frames[-1]) and found is not None and "NoneType" in failure.message:
        from troubleshooter.explaining import none_sources, own_repairs, returned
        from troubleshooter.explaining.origins import Trace

        trace = Trace(frames, sources)
        found = returned.amended(found, failure, trace, lang) or found
        return none_sources.amended(found, failure, trace, lang) if own_repairs.is_weak(found.remedies) else found
    if is_own(frames[-1]) and found is not None and any("..." in (one.code or "") for one in found.remedies):
        return _of_own_line(found, failure, sources, lang)
    if is_own(frames[-1]) and (found is not None or code(frames[-1]).startswith(("raise", "assert"))):
        return found  # else compiled code raised it in the user's own line
    from troubleshooter.explaining import (
        collected,
        dtypes,
        lengths,
        misfit,
        mistyped,
        own_numbers,
        own_repairs,
        own_values,
        parts,
        returned,
    )
    from troubleshooter.explaining.origins import Trace

    trace = Trace(frames, sources)
    for step in (mistyped, returned, own_numbers, misfit, collected, parts, own_values):
        found = step.amended(found, failure, trace, lang)
    if found is not None and own_repairs.is_weak(found.remedies):
        found = lengths.amended(found, failure, trace, lang) or dtypes.amended(found, failure, trace, lang) or found
    return found


def _of_own_file(found: FoundPlace, failure: Failure, sources: Sources, lang: str) -> tuple[FoundPlace, bool]:
    """The explanation with what the user's whole file tells of the line that failed."""
    from troubleshooter.explaining import own_repairs
    from troubleshooter.explaining.origins import Trace

    return own_repairs.amended(found, failure, Trace(failure.frames, sources), lang)


def _of_own_line(found: FoundPlace, failure: Failure, sources: Sources, lang: str) -> FoundPlace:
    """An explanation of the user's own line that called compiled code, with the value of another class that the line passes."""
    from troubleshooter.explaining import mistyped
    from troubleshooter.explaining.origins import Trace

    told, found.remedies = found.remedies, []
    mistyped.amended(found, failure, Trace(failure.frames, sources), lang)
    found.remedies = found.remedies or told
    return found


def _compiled(failure: Failure, lang: str) -> FoundPlace | None:
    from troubleshooter.explaining.compiled_checks import explain as explain_check

    return explain_check(failure, lang)

"""Try again: a store that is slow, busy or away for a moment costs a wait, not a log.

The loop is written here: its waits are three lines. What is long is to decide which error ends the attempts at once, and with
which message; that would stay if a library (tenacity) ran the loop, and a dependency would be added.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from kb.errors import TroubleshootError
from troubleshooter.read.sources import Unreadable

T = TypeVar("T")


class Patience(NamedTuple):
    """How often and how long something is tried. The wait doubles each time, with a random part."""

    attempts: int = 5
    first_wait_s: float = 0.5
    most_wait_s: float = 20.0
    timeout_s: float = 60.0
    """A request without an answer for so long has failed."""


class Unreachable(Unreadable):
    """A file or listing that cannot be read at the moment. The next scan tries it again."""

    passes = True


class Gone(Unreadable):
    """A file that is not there any more."""


def patiently(
    do: Callable[[], T], what: str, patience: Patience, *, reset: Callable[[], None] = lambda: None
) -> T:  # fmt: skip
    """Call ``do`` until it succeeds, and return its result. ``what`` is the file or URL; ``reset`` is called before each new attempt.

    Raises `Gone` and `Unreadable` (no rights) at once, `Unreachable` after the last attempt.
    """
    wait_s = patience.first_wait_s
    for attempt in range(1, patience.attempts + 1):
        try:
            return do()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise Gone(f"{what}: gone since it was listed, or never there") from error
        except PermissionError as error:
            raise Unreadable(f"{what}: no access: {reason(error)}; check the credentials") from error
        except TroubleshootError:
            raise
        except Exception as error:  # each library has error classes of its own
            if _is_about_credentials(error):
                raise Unreadable(f"{what}: no access: {reason(error)}; check the credentials") from error
            if attempt == patience.attempts:
                raise Unreachable(
                    f"{what}: could not be read after {attempt} attempts: {reason(error)}; the next scan tries it again"
                ) from error
        time.sleep(wait_s * random.uniform(0.5, 1.0))
        wait_s = min(wait_s * 2, patience.most_wait_s)
        reset()
    raise AssertionError("attempts is at least 1")


def reason(error: BaseException) -> str:
    """What an error says, in one line."""
    text = " ".join((getattr(error, "strerror", None) or str(error)).split())
    return text or type(error).__name__


def _is_about_credentials(error: BaseException) -> bool:
    return type(error).__name__ in (
        "NoCredentialsError",
        "PartialCredentialsError",
        "AuthenticationException",
        "BadHostKeyException",
    )

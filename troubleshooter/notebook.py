"""The extension for notebooks: ``%load_ext troubleshooter`` shows the diagnosis below the traceback of a failing cell.

``%troubleshoot`` does so for the last exception on demand; ``%unload_ext troubleshooter`` switches it off. In IPython on a
terminal the report is text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from troubleshooter.report.model import Report

FOLDED_CHARACTERS = 110
"""Each of the three lines is cut to this length."""
PASSED_OVER = (KeyboardInterrupt, SystemExit)


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext``. A second call changes nothing."""
    shell.register_magic_function(lambda line: last(shell), "line", "troubleshoot")
    before = shell.showtraceback
    if getattr(before, "before_troubleshoot", None) is None:
        shell.showtraceback = _after(before, shell)


def unload_ipython_extension(shell: Any) -> None:
    """Called by ``%unload_ext``."""
    before = getattr(shell.showtraceback, "before_troubleshoot", None)
    if before is not None:
        shell.showtraceback = before


def last(shell: Any) -> None:
    """Show the diagnosis of the last exception (``%troubleshoot``)."""
    error = getattr(sys, "last_value", None)
    if isinstance(error, BaseException):
        _show(error, shell)
    else:
        print("troubleshoot: no cell has failed yet")


def folded(report: Report) -> str:
    """The report as HTML: three lines that open to the whole. It has no script and requests nothing."""
    from troubleshooter.report.brief import lines

    head = "<br>".join(map(escape, lines(report, FOLDED_CHARACTERS, numbered=False)))
    return f'<details class="troubleshoot"><summary>{head}</summary>{report._repr_html_()}</details>'


def _after(before: Callable[..., Any], shell: Any) -> Callable[..., Any]:
    """A `showtraceback` for the shell that calls its own one and then shows the diagnosis."""

    def showtraceback(*args: Any, **options: Any) -> Any:
        shown = before(*args, **options)
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, PASSED_OVER):
            _show(error, shell)
        return shown

    showtraceback.before_troubleshoot = before  # type: ignore[attr-defined]
    return showtraceback


def _show(error: BaseException, shell: Any) -> None:
    """Show the diagnosis of an exception. If this fails, one line says so, so that the cell's own error stays visible."""
    from troubleshooter.cli.settings import language
    from troubleshooter.pipeline import diagnose

    try:
        report = diagnose(error, lang=language(None))
        if hasattr(shell, "kernel"):
            from IPython.display import HTML, display  # type: ignore[import-not-found,unused-ignore]

            display(HTML(folded(report)))  # type: ignore[no-untyped-call,unused-ignore]
        else:
            report.show()
    except Exception as problem:
        print(f"troubleshoot: no diagnosis: {type(problem).__name__}: {problem}", file=sys.stderr)

"""Make a terminal capture as SVG: run a command, and draw what it prints with its colours."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

ROOT = Path(__file__).parent.parent
COLUMNS = 96
CUT = "…"
_THEME = TerminalTheme(
    (24, 26, 31), (220, 223, 228),
    [(40, 44, 52), (255, 107, 107), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194), (220, 223, 228)],
    [(110, 118, 129), (255, 107, 107), (152, 195, 121), (229, 192, 123), (97, 175, 239), (198, 120, 221), (86, 182, 194), (255, 255, 255)],
)  # fmt: skip
_LINE = re.compile(r'<text class="[\w-]+" x="[\d.]+" y="([\d.]+)"[^>]*>(.*?)</text>')


def printed(*arguments: str) -> list[str]:
    """The lines that ``troubleshoot`` with these arguments prints on a terminal, with escape sequences for colours."""
    env = {**os.environ, "COLUMNS": str(COLUMNS), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
    env |= {"COLORTERM": "truecolor", "FORCE_COLOR": "1"}
    for name in ("TROUBLESHOOT_LANG", "TROUBLESHOOT_ENTRIES", "NO_COLOR"):
        env.pop(name, None)
    command = [sys.executable, "-m", "troubleshooter", *arguments]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", cwd=ROOT, env=env, stdin=subprocess.DEVNULL, check=False
    )
    if not done.stdout:
        raise RuntimeError(f"troubleshoot {' '.join(arguments)} printed nothing: {done.stderr}")
    return done.stdout.rstrip("\n").split("\n")


def plain(line: str) -> str:
    """A printed line without its escape sequences."""
    return Text.from_ansi(line).plain


def svg(command: str, lines: list[str]) -> str:
    """The picture of a terminal in which the command was typed and these lines were printed."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
    for line in lines:
        console.print(Text.from_ansi(line), overflow="crop", no_wrap=True)
    drawn = console.export_svg(title="troubleshoot", theme=_THEME, unique_id="answer")
    # Readers may be offline: the picture uses a font of the machine and loads none.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def lines_of(drawn: str) -> list[str]:
    """The lines that a picture shows, without colours."""
    rows: dict[float, str] = {}
    for y, piece in _LINE.findall(drawn.partition('class="answer-matrix"')[2]):
        rows[float(y)] = rows.get(float(y), "") + html.unescape(piece).replace("\xa0", " ")
    return [rows[y].rstrip() for y in sorted(rows)]

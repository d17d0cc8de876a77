"""Turn texts of entries into HTML that cannot contain a script: Markdown without raw HTML, code with highlighting classes."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from kb.clean import clean as clean_text
from kb.placeholders import general

_TAG = re.compile(r"<[^>]*>")
_MARKED = re.compile(r"[`*\[\]<>\\&!~|#]|\n|(?<![^\W_])_|_(?![^\W_])|^ |^[-+=]|^\d+[.)]")
"""What may be Markdown. A text without it is its own words: most titles, of which a page may need thousands."""
LEXERS = {"python": "python", "yaml": "yaml", "json": "json", "ini": "ini", "shell": "bash"}


def clean(value: Any) -> Any:
    """A body with every control, escape and bidirectional character of its texts made visible as U+FFFD."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(str(key)): clean(item) for key, item in value.items()}
    return value


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "linkify": False, "highlight": _fenced}).enable("table")
    made.disable(["image", "html_block", "html_inline"])
    made.add_render_rule("link_open", _link)
    return made


def _link(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    tokens[index].attrSet("rel", "noopener noreferrer")
    return str(self.renderToken(tokens, index, options, env))


def _fenced(code: str, language: str, attributes: str) -> str:
    return str(highlight(code, language))


@lru_cache(maxsize=8192)
def markdown(text: str) -> Markup:
    """Paragraphs, lists, tables and code of an entry's Markdown."""
    return Markup(_markdown().render(general(text)))


@lru_cache(maxsize=8192)
def inline(text: str) -> Markup:
    """One line of Markdown: code, emphasis and links."""
    return Markup(_markdown().renderInline(general(text).replace("\n", " ")))


def plain(text: str, limit: int = 0) -> str:
    """The words of a Markdown text, cut after a word if it is longer than ``limit``."""
    if not _MARKED.search(text):
        words = " ".join(text.split())
    else:
        words = " ".join(html.unescape(_TAG.sub("", markdown(text))).split())
    if not limit or len(words) <= limit:
        return words
    cut = words[: limit - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip(",;:，；：") + "…"


@lru_cache(maxsize=8192)
def highlight(code: str, language: str) -> Markup:
    """Code as spans with Pygments' short classes; text of another language is only escaped."""
    name = LEXERS.get(language)
    if name is None:
        return Markup(html.escape(code))
    from pygments import highlight as render

    return Markup(render(code, _lexer(name), _formatter()).rstrip("\n"))


@lru_cache(maxsize=8)
def _lexer(name: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False)


@lru_cache(maxsize=1)
def _formatter() -> Any:
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(nowrap=True)

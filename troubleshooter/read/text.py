"""Decodes a raw line into the texts that a person saw: without colours, and with ``\\r`` redraws taken apart."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from kb import lazy
from kb.localized import english

LINE_LIMIT = 64 * 1024
"""A line is read up to this many bytes; the rest of it is skipped."""

CHUNK = 64 * 1024
"""Bytes that are read at once. The number is small, so that the memory is used again and stays in a core's cache."""

ENCODING_BYTES = 4096
"""The encoding of an input is detected by this many first bytes. The reader waits for all of them, so that the result
does not depend on the sizes of the chunks."""

# Colours and cursor moves (CSI), titles and links (OSC … BEL or ST), character set switches, single-character escapes.
_ANSI = lazy.compile(
    r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\)?|\x1b[()#%][0-9A-Za-z]|\x1b[ -~]"
)
# The same colours where the escape byte was lost ("[0;31m", "[0m", "[38;5;2m"), as in web pages and notebooks, or is shown as
# Windows does it (an arrow to the left).
_LOST_ANSI = lazy.compile(r"\u2190?\[(?:0|[01]?;?3[0-7]|[01]?;?9[0-7]|1|22|39|38;5;\d{1,3})m")
_ODD = str.maketrans(
    {
        "\u00a0": " ",
        "\u200b": None, "\ufeff": None, "\u2060": None, "\x00": None, "\x07": None, "\x7f": None, "\x0b": " ", "\x0c": " ",
        "\u2028": " ", "\u2029": " ", "\x85": " ", "\x1c": " ", "\x1d": " ", "\x1e": " ",
    }
)  # fmt: skip
_HAS_ODD = lazy.compile("[" + "".join(map(chr, _ODD)) + "]")
# A progress bar (tqdm): what follows it on the same line is a line of its own.
BAR = lazy.compile(
    r"(?:[^|\r\n]{0,100}?[:\s])??\s*\d{1,3}(?:\.\d+)?%\|[^|\r\n]{0,300}\|\s*[\d.,]+[kMGTB]*/[\d.,?]+[kMGTB]*"
    r"\s*\[[^\]\r\n]{0,120}\](?:\s*[\w/]+=[\w.+-]+,?)*"
)


# A line in GBK, as Python writes into a file on a Chinese Windows: pairs of high bytes among ASCII. Of Chinese text most pairs
# are punctuation or of the first level of characters; Cyrillic and Latin code pages have none that go on so.
_PAIRED = lazy.compile(rb"(?:[\x00-\x7f]|[\xa1-\xf7][\xa1-\xfe])*")
_PAIR = lazy.compile(rb"([\xa1-\xf7])[\xa1-\xfe]")


def decoded(raw: bytes) -> str:
    """The text of a line in UTF-8, or in GBK if it can be nothing else; undecodable bytes become U+FFFD."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        if _PAIRED.fullmatch(raw):
            first = _PAIR.findall(raw)
            usual = sum(b"\xb0" <= byte <= b"\xd7" for byte in first)
            if usual >= 2 and 4 * (usual + sum(byte <= b"\xa3" for byte in first)) >= 3 * len(first):
                return raw.decode("gbk", "replace")
        return raw.decode("utf-8", "replace")


def whole(data: bytes) -> str:
    """The text of several lines; each line is decoded by itself (see `decoded`)."""
    return "\n".join(map(decoded, data.split(b"\n")))


def texts(raw: bytes) -> list[str]:
    """The texts on one raw line, without line end: mostly one, but several if it holds ``\\r`` or a bar.

    A redrawn bar is kept once, in its last state. Decoding never fails: undecodable bytes become U+FFFD.
    """
    text = decoded(raw)
    if text.isascii() and "\x1b" not in text and "\r" not in text and "%|" not in text and "\x00" not in text:
        return [_lost(text)] if "m" in text and "[" in text else [text]
    text = text.rstrip("\r\n")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = _lost(text.translate(_ODD) if _HAS_ODD.search(text) else text)
    if "\r" not in text and "%|" not in text:
        return [text]
    found: list[str] = []
    bar = ""
    for part in text.split("\r"):
        if "%|" in part and (match := BAR.match(part)):
            bar, part = match.group(), part[match.end() :]
            part = part.lstrip(" ") if part.strip() else ""
        if part.strip():
            found.append(part)
    return [bar, *found] if bar else found or [""]


def _lost(text: str) -> str:
    return _LOST_ANSI.sub("", text) if "[" in text and "m" in text else text


def encoding(head: bytes) -> str | None:
    """The encoding that the first bytes show if it is not a superset of ASCII: UTF-16 or UTF-32, with or without BOM.
    None for all others."""
    for mark, name in (
        (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
    ):  # fmt: skip
        if head.startswith(mark):
            return name
    head = head[:ENCODING_BYTES]
    if len(head) >= 4 and b"\x00" in head:
        # PowerShell's `>` without a BOM: every second byte of western text is NUL.
        even, odd = head[0::2], head[1::2]
        if odd.count(0) > 0.7 * len(odd) and even.count(0) < 0.1 * len(even):
            return "utf-16-le"
        if even.count(0) > 0.7 * len(even) and odd.count(0) < 0.1 * len(odd):
            return "utf-16-be"
    return None


def recode(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Chunks in another encoding, converted to UTF-8. Undecodable bytes become U+FFFD."""
    decoder = codecs.getincrementaldecoder(name)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")


QUOTES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\uff07": "'", "\uff02": '"', "\u00b4": "'"}
)


def fold(text: str) -> str:
    """A text as patterns see it: `plain`, with messages of the operating system translated into English and with the
    colons of a Chinese keyboard replaced by plain ones."""
    return plain(text if text.isascii() else english(text).replace("\uff1a", ": "))


def plain(text: str) -> str:
    """A text as it is shown to people: white space folded, typographic quotes made plain."""
    folded = " ".join(text.split())
    return folded if folded.isascii() else folded.translate(QUOTES)

"""Replace what should not be shared by placeholders, and count it. The same value always gets the same placeholder."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import re2

from kb.clean import UNSAFE
from troubleshooter.redact import people, words
from troubleshooter.redact.tokens import FORMATS, HOOKS, WRAP

Found = re.Match[str]

_ESCAPE = re.compile(
    r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|\x9b[0-?]{0,40}[ -/]{0,4}[@-~]"
)
_WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_.!#%*~=-"
_BLOCK = re.compile(
    r"-----BEGIN (?P<what>[A-Z0-9 ]{0,40}(?:KEY|CERTIFICATE|MESSAGE|SIGNATURE)[A-Z0-9 ]{0,20})-----(?P<body>[\s\S]{0,40000}?)(?:-----END [A-Z0-9 ]{1,60}-----|(?=\n?-----BEGIN )|(?=\n\s*\n)|\Z)"
)
_BODY = re.compile(
    r"(?m)^(?P<kept>(?:\[[^\]\n]{1,40}\]:?\s)?)(?P<body>[A-Za-z0-9+/]{60,76}={0,2}|[A-Za-z0-9+/]{20,76}={1,2})$"
)

MAX_LINE_CHARACTERS = 4000
_CUT = "\ue001\n"

KINDS = ("token", "private-key", "user", "host", "mail", "ip")


class Redactor:
    """Redacts one text, or several texts that belong together (a value then gets the same placeholder in all of them)."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {kind: {} for kind in KINDS}
        self._names: dict[str, str] = {}
        """Learnt names with their kind. Each is replaced wherever it occurs as a whole word."""

    @property
    def taken(self) -> Counter[str]:
        """How many different values of each kind (`KINDS`) were replaced so far."""
        return Counter({kind: len(values) for kind, values in self._numbers.items() if values})

    def learn(self, text: str) -> None:
        """Learn the names of users and hosts in a text, without changing the text."""
        text = _cut(plain(text))
        for pattern in (
            people.HOME, people.SCRATCH, people.TILDE, people.USER, people.PROMPT, people.SSH, people.LOGIN, people.TEAM,
        ):  # fmt: skip
            for found in pattern.finditer(text):
                self._learn("user", found["user"])
                if "host" in found.re.groupindex:
                    self._learn("host", found["host"])
        for pattern in people.HOSTS:
            for found in pattern.finditer(text):
                self._learn("host", found["host"])

    def redact(self, text: str) -> str:
        """Replace secrets and names. The number of lines stays; escape sequences and control characters are removed."""
        self.learn(text)
        text = _unwrapped(_cut(plain(text)))
        text = _BLOCK.sub(self._block, text)
        text = self._bodies(text)
        for pattern in HOOKS:
            text = re.sub(pattern, lambda found: found[1] + self._token(found[0][len(found[1]) :]), text)
        text = _formats().sub(lambda found: found[1] + self._token(found[2]), text)
        text = "\n".join(map(self._line, text.split("\n")))
        text = text.replace(WRAP, "\n")
        return self._people(text).replace(_CUT, "")

    def _line(self, line: str) -> str:
        if "@" in line or "-" in line or "=" in line:
            for pattern in words.COMMANDS:
                line = pattern.sub(self._kept, line)
        if words.ANY.search(line) is None:
            return line
        line = words.COOKIE.sub(self._kept, line)
        line = words.SCHEME.sub(self._scheme, line)
        line = words.ASSIGNED.sub(self._assigned, line)
        line = words.FLAG.sub(self._assigned, line)
        return self._beside(line)

    # --- secrets ---

    def _token(self, value: str) -> str:
        return self._placeholder("token", value)

    def _placeholder(self, kind: str, value: str) -> str:
        """``<token>``, ``<token-2>`` and so on, followed by the line breaks of the value, so that the line count stays."""
        number = self._number(kind, value.replace(WRAP, ""))
        name = kind if number == 1 else f"{kind}-{number}"
        return f"<{name}>" + "\n" * value.count(WRAP)

    def _number(self, kind: str, value: str) -> int:
        known = self._numbers[kind]
        return known.setdefault(value, len(known) + 1)

    def _kept(self, found: Found) -> str:
        if found["bare"].startswith("<"):
            return found[0]
        return found["kept"] + self._token(found["bare"])

    def _scheme(self, found: Found) -> str:
        return (
            self._kept(found) if len(found["bare"]) >= 8 and any(not c.isalpha() for c in found["bare"]) else found[0]
        )

    def _assigned(self, found: Found) -> str:
        group = "quoted" if found["quoted"] is not None else "bare"
        value = found[group]
        if not words.secret(value, found["strong"] is not None, found["name"]):
            return found[0]
        start, end = found.start(group) - found.start(), found.end(group) - found.start()
        return found[0][:start] + self._token(value) + found[0][end:]

    def _beside(self, line: str) -> str:
        """Replace random-looking words that are near a word about keys (``key``, ``token``, ``password``…)."""
        near = [(*found.span(), found["strong"] is not None) for found in words.NEAR.finditer(line)]

        def masked(found: Found) -> str:
            word = found[0].rstrip(".")
            close = [
                strong
                for start, end, strong in near
                if 0 <= found.start() - end <= words.REACH or 0 <= start - found.end() <= words.BEFORE
            ]
            most = words.IN_DOUBT if any(close) else words.MOST_ALIKE
            if not close or not words.random_looking(word, most=most):
                return found[0]
            return self._token(word) + found[0][len(word) :]

        return words.RUN.sub(masked, line) if near else line

    def _block(self, found: Found) -> str:
        body = found["body"]
        count = body.count("\n") + body.count(WRAP)
        mark = self._placeholder("private-key", body.replace(WRAP, "\n"))
        return f"{mark}" + f"\n{mark}" * count if count else mark

    def _bodies(self, text: str) -> str:
        """Replace the body of a private key whose BEGIN line is missing: three or more consecutive lines of base64."""
        lines = text.replace(WRAP, "\n").split("\n") if WRAP in text else text.split("\n")
        whole = [_BODY.match(line) for line in lines]
        at, hit = 0, False
        while at < len(lines):
            end = at
            while end < len(lines) and whole[end] is not None:
                end += 1
            if end - at >= 3:
                block = [found for found in whole[at:end] if found is not None]
                mark = self._placeholder("private-key", "".join(found["body"] for found in block))
                lines[at:end] = [found["kept"] + mark for found in block]
                hit = True
            at = max(end, at + 1)
        return "\n".join(lines) if hit else text

    # --- people and machines ---

    def _learn(self, kind: str, name: str) -> None:
        name = name.rstrip(".-")
        if name.lower() in people.GENERIC or name.lower() in people.PLAIN or len(name) < 3 or name.isdigit():
            return
        if kind == "host" and _public(name):
            return
        self._names.setdefault(name, kind)
        first = name.split(".")[0]
        if (
            kind == "host" and first != name and re.search(r"[\d-]", first)
        ):  # "node-17" of node-17.lab, but not "mlflow" of mlflow.lab: that is an ordinary word
            self._learn(kind, first)

    def _said(self, kind: str, value: str) -> str:
        number = self._number(kind, value)
        return kind if number == 1 else f"{kind}{number}"

    def _people(self, text: str) -> str:
        text = people.MAIL.sub(self._mail, text)
        text = people.CLOUD_HOST.sub(lambda found: self._said("host", found[0]), text)
        for name in sorted(self._names, key=len, reverse=True):
            if name in text:
                said = self._said(self._names[name], name)
                text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", said, text)
        for pattern in (people.HOME, people.SCRATCH, people.TILDE, people.ACCOUNT):
            text = pattern.sub(self._home, text)
        text = people.NAMED.sub(self._host, text)
        text = people.IPV6.sub(self._ip6, text)
        text = people.MAC.sub("02:00:00:00:00:01", text)
        return people.IPV4.sub(self._ip, text)

    def _home(self, found: Found) -> str:
        name = found["user"]
        if name.lower() in people.GENERIC or re.fullmatch(r"user\d*", name):
            return found[0]
        return found["kept"] + self._said("user", name)

    def _mail(self, found: Found) -> str:
        if (
            found[0].lower() in people.KEPT_MAIL
            or found["domain"] == "example.org"
            or found["domain"].rpartition(".")[2].lower()
            in (
                "py",
                "log",
                "so",
                "yaml",
                "json",
            )
        ):
            return found[0]
        number = self._number("mail", found[0])
        return f"user{number if number > 1 else ''}@example.org"

    def _host(self, found: Found) -> str:
        host, end = found["host"], found["end"].lower()
        if _public(host) or (host.startswith("host") and host[4:].isdigit()):
            return found[0]
        if not found["scheme"] and (end not in people.ENDS or (host.count(".") < 2 and end not in people.INSIDE)):
            return found[0]
        if not found["scheme"] and end in people.INSIDE - people.ALONE and not re.search(r"[\d-]", host):
            return found[0]
        if "_" in host or host.replace(".", "").isdigit():
            return found[0]
        return found["scheme"] + self._said("host", host)

    def _ip6(self, found: Found) -> str:
        start = "fe80" if found["ip"].lower().startswith("fe8") else "2001:db8"  # a link-local address is a clue
        return f"{start}::{self._number('ip', found['ip']):x}"

    def _ip(self, found: Found) -> str:
        ip = found["ip"]
        first, second = ip.split(".")[:2]
        before = found.string[max(0, found.start() - 60) : found.start()].rpartition("\n")[2]
        if (
            first in ("127", "0", "255")
            or ip.startswith(("169.254.", "203.0.113.", "8.8."))
            or people.VERSIONS.search(before)
        ):
            return ip
        number = (self._number("ip", ip) - 1) % 250 + 1
        # Private networks keep their prefix: that it is a Docker bridge can be a clue.
        if first == "10":
            return f"10.0.0.{number}"
        if ip.startswith("192.168.") or (first == "172" and 16 <= int(second) <= 31):
            return ip if ip in ("172.17.0.1", "192.168.0.1") else f"{first}.{second}.0.{number}"
        return f"203.0.113.{number}"


def _cut(text: str) -> str:
    """Break long lines at marks (`_CUT`), so that no pattern has to look at more than `MAX_LINE_CHARACTERS`."""
    if len(text) <= MAX_LINE_CHARACTERS:
        return text
    out = []
    for line in text.split("\n"):
        while len(line) > MAX_LINE_CHARACTERS:
            at = max(line.rfind(" ", 1, MAX_LINE_CHARACTERS), line.rfind(",", 1, MAX_LINE_CHARACTERS))
            at = MAX_LINE_CHARACTERS if at < MAX_LINE_CHARACTERS // 2 else at
            out.append(line[:at] + _CUT)
            line = line[at:]
        out.append(line + "\n")
    return "".join(out)[:-1]


def plain(text: str) -> str:
    """Remove escape sequences and control characters. Tabs, line ends and carriage returns stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _ESCAPE.sub("", text).replace(WRAP, "\ufffd").replace(_CUT[0], "\ufffd")
    return UNSAFE.sub(lambda found: found[0] if found[0] in "\r\b" else "", text)


def _public(host: str) -> bool:
    host = host.lower()
    return any(host == name or host.endswith("." + name) for name in people.PUBLIC)


def _unwrapped(text: str) -> str:
    """Replace each line end in the middle of a random word (a wrapped key) by `WRAP`."""
    lines = text.split("\n")
    out = [lines[0]]
    for line in lines[1:]:
        before = lines[len(out) - 1].rstrip("\r")
        head = line[: len(line) - len(line.lstrip(_WORD))]
        out.append((WRAP if head and _goes_on(before[len(before.rstrip(_WORD)) :], head) else "\n") + line)
    return "".join(out)


def _goes_on(tail: str, head: str) -> bool:
    """True if the last word of a line and the first word of the next one are halves of one random word."""
    tail = tail.rpartition("=")[2] if not tail.endswith("=") else ""
    if len(tail) < 3 or len(head) < 4:
        return False
    if words.random_looking(head, 5, words.IN_DOUBT):
        return True
    return words.random_looking(tail, 6, words.IN_DOUBT) and words.mixed(head)


@cache
def _formats() -> Any:
    """All `FORMATS` as one RE2 pattern, which finds them in one pass over the text."""
    return re2.compile(rf"(^|[^A-Za-z0-9_\-{WRAP}])({'|'.join(FORMATS)})")

"""The content of an entry's page, before any HTML, made from the compiled entry in one language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kb.compiled import Body, translation
from kb.pages.markup import clean, plain
from kb.placeholders import general
from kb.printed import told, told_thread
from kb.text.catalog import ENGLISH

_CLAUSE = re.compile(r"(===|==|!=|~=|>=|<=|>|<)\s*([\w.*+!-]+)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""A package's name."""
_REPOSITORY = re.compile(r"https?://github\.com/[\w.-]+/([\w.-]+)")
_WILD = re.compile(r"(?:\[(?:\\.|[^\]\\])*\]|\\[wWdDbBS])[*+?]?(?:\{[\d,]*\})?|\.[*+]\??|\.\?|\.\{[\d,]*\}\??")
"""Parts of a pattern that stand for words of the log."""
_NAMES = {"pytorch": "torch", "llamafactory": "llama-factory", "flash-attention": "flash-attn"}
RUNS = 12


@dataclass(frozen=True)
class EntryPage:
    """One entry in one language."""

    body: Body
    lang: str

    @classmethod
    def of(cls, body: Body, lang: str) -> EntryPage:
        """The page of a compiled entry, its texts made harmless."""
        return cls(clean(body), lang)

    @property
    def id(self) -> str:
        return str(self.body["id"])

    @property
    def area(self) -> str:
        return str(self.body["area"])

    @cached_property
    def translated(self) -> dict[str, Any]:
        """The translated texts in the page's language; empty for English, whose texts are in the entry itself."""
        return translation(self.body, self.lang) or {}

    @property
    def untranslated(self) -> bool:
        return self.lang != ENGLISH and not self.translated

    @property
    def title(self) -> str:
        return general((self.translated or self.body)["title"])

    @property
    def summary(self) -> str:
        """What the title leaves out; "" if it leaves nothing out."""
        return general((self.translated or self.body).get("summary") or "")

    @property
    def cause(self) -> str:
        return str((self.translated or self.body)["cause"])

    @cached_property
    def description(self) -> str:
        return plain(f"{self.summary} {self.cause}".strip(), 160)

    @property
    def severity(self) -> str:
        return str(self.body["severity"])

    @property
    def messages(self) -> list[str]:
        """The messages as they are printed; without samples, the text of the patterns."""
        return list(self.body.get("printed") or []) or patterns(self.body)[:6]

    @property
    def printed_by(self) -> str:
        """The packages and releases that print the entry's words; "" if that is not known."""
        return told(self.id, self.lang)

    @property
    def one_thread(self) -> str:
        """That the entry, or some of its symptoms, are known from one thread only; "" where it is not so."""
        return told_thread(self.id, self.lang)

    @property
    def fixes(self) -> list[dict[str, Any]]:
        """The fixes with their texts in the language and placeholders shown by name."""
        translated = self.translated.get("fixes", [])
        out = []
        for number, fix in enumerate(self.body["fixes"]):
            said = {**fix, **(translated[number] if number < len(translated) else {})}
            for name in ("code", "shell"):
                said[name] = general(fix[name]).rstrip("\n") if fix.get(name) else None
            said["language"] = fix.get("language", "python")
            said["with"] = _packages(fix.get("when"))
            out.append(said)
        return out

    @property
    def versions(self) -> list[tuple[str, str, str | None, bool]]:
        """``(package, affected, repaired in, inclusive)``. "Repaired in" is the release of the upper bound, or None."""
        return [(package, text, *repaired(text)) for package, text in self.body.get("versions", {}).items()]

    @property
    def advice(self) -> list[str]:
        said = self.translated.get("advice") or self.body.get("advice", [])
        return [item["because"] for item in said]

    @property
    def lookalikes(self) -> list[tuple[str, str]]:
        """``(entry, how to tell them apart)``."""
        found = self.body.get("lookalikes", {}).get("confused", [])
        return [(o["entry"], translation(o, self.lang) or o["because"]) for o in found]

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The recorded runs, newest first: ``helped`` are the numbers of the fixes that removed the failure, ``others``
        the words of such fixes where the entry has none of them."""
        numbers = {fix["do"]: number for number, fix in enumerate(self.body["fixes"], 1)}
        out = []
        for run in self.body.get("verified") or []:
            good = [fix["do"] for fix in run["fixes"] if fix["removes_symptom"] is True]
            helped = sorted({numbers[do] for do in good if do in numbers})
            out.append({**run, "helped": helped, "others": [] if helped else good})
        return out

    @property
    def sources(self) -> list[dict[str, Any]]:
        """Each source once, with what it shows."""
        found: dict[tuple[str, ...], dict[str, Any]] = {}
        for source in [*self.body["sources"], *(s["source"] for s in self.body["symptoms"])]:
            key = tuple(str(source.get(k, "")) for k in ("url", "package", "file", "versions", "run"))
            shows = source.get("shows", "symptom")
            kept = found.setdefault(key, {**source, "shows": []})
            for one in [shows] if isinstance(shows, str) else shows:
                if one not in kept["shows"]:
                    kept["shows"].append(one)
        return [{**source, "address": _address(source.get("url"))} for source in found.values()]

    @cached_property
    def libraries(self) -> list[str]:
        """Packages that the entry is about: of its ranges, conditions and sources."""
        found = list(self.body.get("versions", {}))
        for symptom in self.body["symptoms"]:
            for condition in [*symptom["require"], *symptom["support"]]:
                found += _packages(condition)
        for source in [*(s["source"] for s in self.body["symptoms"]), *self.body["sources"]]:
            if source.get("package"):
                found.append(source["package"])
            elif url := _REPOSITORY.match(source.get("url") or ""):
                found.append(url[1])
        # A source may name several packages at once, and a version condition a placeholder (<<package>>), which is none.
        single = [part.strip() for name in found for part in name.split(",")]
        names = [name.lower().replace("_", "-") for name in single if _NAME.fullmatch(name)]
        return list(dict.fromkeys(_NAMES.get(name, name) for name in names))


def repaired(text: str) -> tuple[str | None, bool]:
    """The release that ends a range of affected versions, and whether it is still affected itself."""
    for operator, version in _CLAUSE.findall(text):
        if operator in ("<", "<="):
            return version, operator == "<="
    return None, False


def patterns(body: Body) -> list[str]:
    """The messages of an entry without samples, as its patterns spell them: wildcards become an ellipsis."""
    found: list[str] = []
    stack: list[dict[str, Any]] = [c for s in body["symptoms"] for c in s["require"]]
    while stack:
        condition = stack.pop(0)
        kinds = condition.get("exception", [])
        for pattern in condition.get("patterns", []):
            text = readable(pattern["re"])
            found.append(f"{kinds[0]}: {text}" if kinds else text)
        if kinds and not condition.get("patterns"):
            found.append(" / ".join(kinds))
        if condition["kind"] == "metric":
            found.append(f"{' / '.join(condition['names'])}: {condition['is']} {condition['value'] or ''}".rstrip())
        if condition["kind"] == "ends":  # nothing is printed: the log stops
            found.append("… (the log ends here)")
        if condition["kind"] == "exit":
            found += [f"exit {status}" for status in condition["statuses"]]
        stack = condition.get("parts", []) + stack
    return list(dict.fromkeys(found))


def readable(pattern: str) -> str:
    """A pattern as a person reads it: escapes taken off, groups opened, classes and repeats as an ellipsis."""
    text = re.sub(r"\(\?(?:P<\w+>|:|i\))", "(", pattern)
    text = re.sub(r"\\s[*+?]?(?:\{[\d,]*\})?", " ", text)
    text = _WILD.sub("…", text)
    text = re.sub(r"\\(.)", r"\1", text)
    text = re.sub(r"[()?^$]", "", text).split("|")[0]
    return re.sub(r"…(?:\s*…)+", "…", text).strip()


def _packages(condition: dict[str, Any] | None) -> list[str]:
    """Packages that a condition names."""
    if not condition:
        return []
    if condition["kind"] == "package":
        return list(condition["names"])
    if condition["kind"] == "version":
        return list(condition["version"])
    return [name for part in condition.get("parts", []) for name in _packages(part)]


def _address(url: str | None) -> str | None:
    """A web address as it is shown; None for what is none."""
    if not url or not re.match(r"https?://[^\s<>\"']+$", url):
        return None
    return re.sub(r"^https?://(?:www\.)?", "", url).rstrip("/")

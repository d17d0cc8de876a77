"""Messages of compiled parts: literals of shared libraries, and the sources of NCCL (C), torch's CUDA library (C++) and Rust crates.

A literal of a library is a part of a message: what stands before and behind it, the exception, the function and the
condition are not known. C and Rust sources give the message with its holes and the file, C++ the condition that is checked too.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from pathlib import Path

import re2

from kb.index.make.archives import Release, members, offered
from kb.index.make.build import say
from kb.index.make.cpp import cpp_source
from kb.index.make.kept import KeptReleases
from kb.index.make.plan import Package, chosen, spread
from kb.index.place import Hole, MessagePlace, weight
from kb.index.template import TextOption, percent

LEAST_LITERAL = 20
"""Characters (without white space) of the least literal of a shared library that is taken for a message."""
LIBRARIES = ("torch/lib/libc10.so", "torch/lib/libc10_cuda.so", "torch/lib/libtorch_python.so")
"""Of torch's wheels; the others are hundreds of MB."""
_LITERAL = re2.compile(rb"[\x20-\x7e\n]{16,600}\x00")
_WORD = re.compile(r"(?<![\w:./])[A-Za-z][a-z']+(?![\w:/(])")
_NO_MESSAGE = re.compile(r"->|Tensor[?]? \w+|out=None|^%s|^\s*(?:aten|prim|quantized|/|#|\.\. )|;$|^\n|Args:|>>>")
_C_WARN = re.compile(r'\b(?:WARN|ERROR|NCCL_?ERR\w*)\s*\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
_RUST = re.compile(
    r'(?:#\[error\(|\b(?:format|panic|bail|anyhow|ensure|unreachable|assert|write|unimplemented)!\(\s*(?:f,\s*|[^"()]{0,60},\s*)?'
    r'|new_err\(|\bErr\(|\bexpect\()\s*"((?:[^"\\]|\\.)*)"'
)
_SOURCES = (".rs", ".c", ".cc", ".cpp", ".h", ".hpp", ".cu", ".cuh")
_RUST_HOLE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


def library(data: bytes, name: str) -> list[MessagePlace]:
    """The literals of a shared library that look like messages."""
    found: dict[str, MessagePlace] = {}
    for match in _LITERAL.finditer(data):
        text = match[0][:-1].decode("ascii")
        words = _WORD.findall(text)
        letters = len("".join(text.split()))
        if (
            len(words) < 3
            or letters < LEAST_LITERAL
            or sum(map(len, words)) < 0.55 * letters
            or _NO_MESSAGE.search(text)
        ):
            continue
        found.setdefault(text, _place((Hole(""), text, Hole("")), name, 0))
    return list(found.values())


def c_source(text: str, path: str) -> list[MessagePlace]:
    """The messages of a C source of NCCL: what its ``WARN`` prints."""
    found = []
    for match in _C_WARN.finditer(text):
        literal = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1]))
        pieces = percent(TextOption((_unescaped(literal),)), []).pieces
        found.append(_place(pieces, path, text.count("\n", 0, match.start()) + 1))
    return [place for place in found if weight(place.template) >= LEAST_LITERAL // 2]


def rust_source(text: str, path: str) -> list[MessagePlace]:
    """The messages of a Rust source: its error enums, formats and panics. Text in tests is left out."""
    text = text.split("#[cfg(test)]")[0]
    found = []
    for match in _RUST.finditer(text):
        pieces: list[str | Hole] = []
        literal, at = _unescaped(match[1]), 0
        for hole in _RUST_HOLE.finditer(literal):
            pieces += [
                literal[at : hole.start()],
                hole[0][0] if hole[0] in ("{{", "}}") else Hole(hole[1].split(":")[0]),
            ]
            at = hole.end()
        pieces.append(literal[at:])
        found.append(_place(tuple(piece for piece in pieces if piece), path, text.count("\n", 0, match.start()) + 1))
    return [place for place in found if weight(place.template) >= LEAST_LITERAL // 2]


def read_compiled(
    plan: Sequence[Package],
    folder: Path,
    mirrors: Path | None,
    torch: Path | None,
    most: int | None,
    known: Mapping[str, Sequence[str]],
) -> None:
    """Read the compiled parts of the plan that are neither kept nor ``known`` (by part, its releases): repositories below ``mirrors``
    (``owner+name/repo``), an installed torch's libraries, and the small libraries of torch's wheels."""
    for package in plan:
        with closing(KeptReleases(folder, package.package)) as kept:
            old = known.get(package.package, ())
            have = {*kept.versions(), *old}
            if package.commits and mirrors:
                for version, source in package.commits.items():
                    if version not in have:
                        owner, commit = source.split("@")
                        repository = mirrors / owner.replace("/", "+") / "repo"
                        count = keep_tag(kept, version, repository, commit, package)
                        say(f"{package.package} {version}: {count} places")
            elif package.repository and mirrors:
                repository = mirrors / package.repository.replace("/", "+") / "repo"
                tags = {tag.lstrip("v").replace("-1", ""): tag for tag in _git(repository, "tag").decode().split()}
                for version in spread(chosen(tags, package.first, thin=True))[:most]:
                    if version not in have:
                        count = keep_tag(kept, version, repository, tags[version], package)
                        say(f"{package.package} {version}: {count} places")
            elif package.libraries == "folder" and torch:
                [version] = re.findall(r"__version__ = '([\d.]+)", (torch.parent / "version.py").read_text())
                if version not in have:
                    count = keep_folder(kept, version, torch, ("libc10.so", "libtorch_python.so", "libtorch_cpu.so"))
                    say(f"{package.package} {version}: {count} places")
            elif package.libraries == "wheels":
                releases = offered(package.part_of)
                for version in spread(chosen(releases, package.first, thin=True))[:most]:
                    if version not in have:
                        count = keep_libraries(kept, releases[version])
                        say(f"{package.package} {version}: {count} places")


def keep_libraries(kept: KeptReleases, release: Release) -> int:
    """Read the messages of torch's small shared libraries of one wheel; returns how many."""
    found = {name: library(data, name) for name, data in members(release, LIBRARIES)}
    kept.add_places(release.version, release.url.rpartition("/")[2], release.sha256, found)
    return sum(map(len, found.values()))


def keep_folder(kept: KeptReleases, version: str, folder: Path, names: tuple[str, ...]) -> int:
    """Read the messages of shared libraries in a folder, as of a release; returns how many."""
    found = {
        f"{folder.parent.name}/{folder.name}/{name}": library((folder / name).read_bytes(), name) for name in names
    }
    kept.add_places(version, "", "", found)
    return sum(map(len, found.values()))


def keep_tag(kept: KeptReleases, version: str, repository: Path, tag: str, package: Package) -> int:
    """Read the messages of C, C++ or Rust sources of one tag or commit of a repository; returns how many."""
    found: dict[str, list[MessagePlace]] = {}
    for path, text in _blobs(repository, tag, package):
        if path.endswith(".rs"):
            found[path] = rust_source(text, path)
        else:
            found[path] = cpp_source(text, path) if package.part_of == "torch" else c_source(text, path)
    kept.add_places(version, tag, _git(repository, "rev-parse", f"{tag}^{{commit}}").decode().strip(), found)
    return sum(map(len, found.values()))


def _blobs(repository: Path, tag: str, package: Package) -> Iterator[tuple[str, str]]:
    for path in _git(repository, "ls-tree", "-r", "--name-only", tag, "--", *package.under).decode().splitlines():
        if any(fnmatchcase(path.lower(), pattern) for pattern in package.skip):
            continue
        if path.endswith(_SOURCES) and not re.search(r"/(?:tests?|benches|examples)/", path):
            yield path, _git(repository, "show", f"{tag}:{path}").decode("utf-8", "replace")


def _git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=True).stdout


def _place(pieces: tuple[str | Hole, ...], path: str, line: int) -> MessagePlace:
    return MessagePlace("compiled", None, None, pieces, path, "", line, line, (), (), ())


def _unescaped(text: str) -> str:
    text = re.sub(r"\\\n\s*", "", text)
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text, flags=re.DOTALL)

"""Read the kept proofs of words, bring them up to date, and write them to ``kb/data/words.tsv``."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

from kb.forked import mapped
from kb.index.store import shipped
from kb.load import Loaded
from kb.printed import COLUMNS, FILE, packed, parsed
from kb.problem import Problem
from kb.proof.places import Places
from kb.proof.symptom_proof import PrintingPackage, SymptomProof
from kb.proof.words import digest_of, prove, threads_of

RULES = 4
"""Raise it when the rules of `kb.proof` change; all proofs are then made anew."""
MIN_PARALLEL = 100
CHUNK = 20
Proofs = dict[tuple[str, str], SymptomProof]
Progress = Callable[[int, int], None]


def kept(path: Path = FILE) -> Proofs:
    """The kept proofs by entry and symptom; empty if there is no file."""
    if not path.is_file():
        return {}
    out: Proofs = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        entry, symptom, digest, state, printed, wrong, rivals = line.split("\t")
        told = tuple(
            PrintingPackage(package, ((first, last),) if first else (), files)
            for package, first, last, files in parsed(printed)
        )
        rival = tuple(filter(None, rivals.split("; ")))
        out[entry, symptom] = SymptomProof(entry, symptom, digest, state, told, wrong, rival)  # type: ignore[arg-type]
    return out


def write(proofs: Mapping[tuple[str, str], SymptomProof], path: Path = FILE) -> None:
    """Write proofs, sorted by entry. The first line, with the day, changes only if a proof changed."""
    if dict(proofs) == kept(path):
        return
    rows = []
    for proof in (proofs[key] for key in sorted(proofs)):
        printed = "; ".join(
            packed(
                one.package,
                one.releases[0][0] if one.releases else "",
                one.releases[-1][1] if one.releases else "",
                one.files,
            )
            for one in proof.printed
        )
        rows.append("\t".join([*proof[:4], printed, proof.wrong, "; ".join(proof.rivals)]))
    index = shipped()
    releases = sum(len(index.releases(package)) for package in index.packages())
    head = f"# made by troubleshoot check --proof on {date.today()} from {len(index.packages())} packages, {releases} releases: {' '.join(COLUMNS)}"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def update(items: Sequence[Loaded], known: Proofs, progress: Progress | None = None) -> Proofs:
    """The proofs of the entries' symptoms; those in ``known`` that still hold are taken over."""
    base = index_digest()
    stale = [item for item in items if not _holds(item, known, base)]
    found = {key: known[key] for item in items if item not in stale for key in keys(item)}
    if not stale:
        return found
    _State.places, _State.known, _State.digest = Places(shipped()), known, base
    chunks = [stale[at : at + CHUNK] for at in range(0, len(stale), CHUNK)]
    processes = min(4, os.cpu_count() or 1) if len(stale) >= MIN_PARALLEL else 0
    results = mapped(_prove_chunk, chunks, processes)
    for number, proofs in enumerate(results, 1):
        found |= {(proof.entry, proof.symptom): proof for proof in proofs}
        if progress is not None:
            progress(min(number * CHUNK, len(stale)), len(stale))
    return found


class _State:
    """The data that the processes of one update share."""

    places: Places
    known: Proofs
    digest: str


def _prove_chunk(items: Sequence[Loaded]) -> list[SymptomProof]:
    return [proof for item in items for proof in prove(item, _State.places, _State.digest, _State.known)]


def keys(item: Loaded) -> list[tuple[str, str]]:
    """The entry and the name of each symptom."""
    return [(item.entry.id, one.name or str(number)) for number, one in enumerate(item.entry.symptoms, 1)]


def outdated(items: Iterable[Loaded], known: Proofs) -> list[tuple[str, str]]:
    """Entry and name of each symptom without a proof of its present text, samples and sources, in ``known``."""
    base = index_digest()
    return [key for item in items for key in _outdated(item, known, base)]


def _holds(item: Loaded, known: Proofs, base: str) -> bool:
    return not any(_outdated(item, known, base))


def _outdated(item: Loaded, known: Proofs, base: str) -> Iterator[tuple[str, str]]:
    samples = [sample.text for sample in item.samples_of("match")]
    for key, symptom in zip(keys(item), item.entry.symptoms, strict=True):
        proof = known.get(key)
        if proof is None or proof.digest != digest_of(symptom, samples, threads_of(item.entry, symptom), base):
            yield key


def index_digest() -> str:
    """A digest of what all proofs depend on: the releases that the index read, and the rules; not the form of the index file."""
    index = shipped()
    read = [[package, *index.releases(package)] for package in sorted(index.packages())]
    return hashlib.blake2b(json.dumps([RULES, read]).encode(), digest_size=8).hexdigest()


def problems(item: Loaded, proofs: Mapping[tuple[str, str], SymptomProof]) -> list[Problem]:
    """Citations that do not hold, and decisive symptoms whose words other code prints for another reason."""
    found: list[Problem] = []
    for number, (key, symptom) in enumerate(zip(keys(item), item.entry.symptoms, strict=True)):
        proof = proofs[key]
        place = ("symptoms", number)
        if proof.wrong:
            found.append(
                item.document.problem((*place, "source"), proof.wrong, "name the file and the releases that print it")
            )
        if proof.rivals and symptom.decisive:
            hint = "ask for what tells them apart (frame, package, version), or take `decisive` back"
            found.append(item.document.problem(place, f"is decisive, and also printed by {proof.rivals[0]}", hint))
    return found

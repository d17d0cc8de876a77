"""``troubleshoot verify [ENTRY | LOG]``: compare the installed versions first, then run the probe if that decides nothing."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kb.errors import TroubleshootError
from troubleshooter.verify import judge, present, subject
from troubleshooter.verify.entry import asked_probe, standing
from troubleshooter.verify.environment import EnvironmentProblem, same_environment
from troubleshooter.verify.interpreters import ChosenEnvironment, Consent, find
from troubleshooter.verify.overview import overview
from troubleshooter.verify.subject import Subject, SubjectProblem
from troubleshooter.verify.verdict import Verdict
from troubleshooter.verify.words import say

if TYPE_CHECKING:
    from troubleshooter.verify.device import Gpu
    from troubleshooter.verify.probe import Options, Probe

__all__ = ["UNUSABLE", "answer", "verify"]

UNUSABLE = 2
TIMEOUT = 60.0
_RECORD_BESIDE = Path()
"""The value of ``--record`` without a folder."""


def verify(
    target: str | None = None,
    *,
    python: str | None = None,
    device: str = "auto",
    timeout: float = TIMEOUT,
    model: Path | None = None,
    format: str = "terminal",
    record: bool | Path = False,
    show_code: bool = False,
    script: Path | None = None,
    entries: Sequence[Path] = (),
    probes: Sequence[Path] = (),
    lang: str = "en",
) -> int:
    """Verify an entry, or the diagnosis of a log, in the training environment; prints the answer, returns the status.

    An existing path is a log (``-`` is standard input), anything else an entry; no target asks every entry's version
    range. Exit: 0 not here, 1 confirmed, 3 cannot tell or only this kind of failure was seen, 2 unusable (the sentence on standard
    error says why). Without a target: 3 when the installed versions match an entry's, 0 when they match none.
    """
    try:
        _check(device, timeout, model, format)
        log = target is not None and (target == "-" or os.path.exists(target))
        if target is None and script is not None:
            raise ValueError(
                "--script writes the probe of one entry; name the entry: troubleshoot verify ENTRY --script FILE"
            )
        if target is None:
            return overview(python, format, entries, lang)
        if target == "-":
            asked = subject.of_stdin(entries, lang, probes)
        elif log:
            asked = subject.of_log(Path(target), entries, lang, probes)
        else:
            asked = subject.of_entry(target, entries, lang)
    except SubjectProblem as problem:
        return _fail(str(problem), 3 if problem.seen else UNUSABLE)
    except (ValueError, TroubleshootError) as problem:
        return _fail(str(problem))
    if script is not None:
        from troubleshooter.verify.script_command import write_script

        try:
            return write_script(asked, script, python, timeout, lang, probes)
        except (ValueError, TroubleshootError) as problem:
            return _fail(str(problem))
    progress = present.Progress(quiet=format != "terminal")
    try:
        found, said, code = answer(
            asked,
            python=python,
            device=device,
            timeout=timeout,
            model=model,
            record=record,
            lang=lang,
            progress=progress,
            consent=_consent(lang) if target != "-" else None,
            probes=probes,
        )
    except (EnvironmentProblem, ValueError) as problem:
        return _fail(str(problem))
    except KeyboardInterrupt:
        return 130
    finally:
        progress.done()
    if format == "json":
        shown = said.as_json()
        if show_code and code:
            shown["code"] = code
        text = json.dumps(shown, ensure_ascii=False, indent=1) + "\n"
    else:
        text = present.shown(said, asked.title, found.why, lang, code if show_code else "", log=log)
    present.write(text)
    return said.exit_code


def answer(
    asked: Subject,
    *,
    python: str | None = None,
    device: str = "auto",
    timeout: float = TIMEOUT,
    model: Path | None = None,
    record: bool | Path = False,
    lang: str = "en",
    progress: present.Progress | None = None,
    consent: Consent | None = None,
    probes: Sequence[Path] = (),
) -> tuple[ChosenEnvironment, Verdict, str]:
    """The environment that was asked, the verdict, and the lines to run by hand.

    ``consent`` asks the user before an interpreter is run that only the log names and that others may change. ``probes`` are
    folders of a team's own probes, as the user named them.
    """
    found = find(python, asked.site_folders, (*asked.versions, *_needs(asked, probes)), consent)
    said, code = _answered(asked, found, device, timeout, model, record, lang, progress, probes)
    same = same_environment(found.environment, asked.site_folders, asked.log_versions)
    notes = (*said.notes, *(say("not-run", lang, python=one) for one in found.refused))
    return found, replace(said, same_environment=same, notes=notes), code


def _needs(asked: Subject, probe_folders: Sequence[Path]) -> Sequence[str]:
    """The packages without which the entry's probe can say nothing: the environment is asked for these, too."""
    from troubleshooter.verify import probe as probes

    named = asked_probe(asked)
    return () if named is None else probes.load(named[0], probe_folders).needs


def _answered(
    asked: Subject,
    found: ChosenEnvironment,
    device: str,
    timeout: float,
    model: Path | None,
    record: bool | Path,
    lang: str,
    progress: present.Progress | None,
    probe_folders: Sequence[Path],
) -> tuple[Verdict, str]:
    named = asked_probe(asked)
    if named is None:
        return judge.by_versions(asked, found.environment, lang), ""
    from troubleshooter.verify import probe as probes

    probe = probes.load(named[0], probe_folders)
    options = probe.options(named[1])
    code = probe.shown(options)
    said = _before_running(asked, found, probe, record is not False, lang)
    if said is None:
        said = _run(asked, found, probe, options, device, timeout, model, lang, progress)
    note = ""
    if record is not False and said.basis == "run":
        from troubleshooter.verify import record as records

        place = record if isinstance(record, Path) and record != _RECORD_BESIDE else None
        path = records.write(said, probe, options, records.folder_for(asked.id, asked.folder, place))
        note = say("recorded-in", lang, path=path)
    if asked.is_log:  # the record above is of the run itself, without the log
        same = same_environment(found.environment, asked.site_folders, asked.log_versions)
        settled = probe.settles(options, asked.from_log, model is not None)
        said = judge.of_log(said, settled=settled, same=same, from_log=asked.from_log, language=lang)
        if said.verdict == "kind-confirmed" and model is None and "--model" in (probe.settled_by or ()):
            said = replace(said, notes=(*said.notes, say("model-settles", lang)))
    return replace(said, notes=(*said.notes, note)) if note else said, code


def _before_running(asked: Subject, found: ChosenEnvironment, probe: Probe, always: bool, lang: str) -> Verdict | None:
    """The answer if no run is needed or none is possible, else ``None``. ``always`` (a recording): versions outside the range are run, too."""
    where, _ = standing(asked, found.environment)
    if where == "outside" and not always:
        return judge.by_versions(asked, found.environment, lang)
    missing = [name for name in probe.needs if name not in found.environment.versions]
    if missing or where == "missing":
        if not missing:
            return judge.by_versions(asked, found.environment, lang)
        reason = say("missing", lang, packages=", ".join(missing), python=found.environment.python)
        return replace(judge.by_versions(asked, found.environment, lang), verdict="cannot-tell", reason=reason)
    return None


def _run(
    asked: Subject,
    found: ChosenEnvironment,
    probe: Probe,
    options: Options,
    device: str,
    timeout: float,
    model: Path | None,
    lang: str,
    progress: present.Progress | None,
) -> Verdict:
    from troubleshooter.verify import device as devices
    from troubleshooter.verify import runner

    gpus = devices.gpus()
    choice = devices.choose(device, probe.devices, gpus)
    if choice.refused and (not gpus or device.startswith("cuda")):
        return judge.by_versions(asked, found.environment, lang, why=choice.refused)
    limits = runner.Limits(
        seconds=timeout,
        resident_mb=_memory(model),
        address_space_mb=_memory(model) + 2048 if found.environment.gpu_build is False else None,
    )
    outcome = runner.run(
        probe,
        found.environment.python,
        options,
        device=choice.device,
        model=model if probe.uses_model else None,
        nvidia=[gpu.as_row() for gpu in gpus] if device != "cpu" else [],
        limits=limits,
        user_base=found.environment.user_base,
        progress=progress,
    )
    said = judge.by_run(asked, found.environment, outcome, choice.device, lang, _repaired(asked))
    notes = list(said.notes)
    if choice.refused:
        notes.append(choice.refused)
    if model is not None and not probe.uses_model:
        notes.append(say("model-unused", lang))
    return replace(said, notes=tuple(notes), environment={**said.environment, **_gpu_facts(gpus)})


def _repaired(asked: Subject) -> list[tuple[Mapping[str, str], str]]:
    """The recorded runs beside the entry that did not show the failure, oldest versions first."""
    from troubleshooter.verify import record

    if asked.folder is None:
        return []
    known, _ = record.read(asked.folder / record.FOLDER)
    return [(one.versions, one.date) for one in known if one.verdict == "not-here" and one.basis == "run"]


def _gpu_facts(gpus: list[Gpu]) -> dict[str, object]:
    return {"gpus": [gpu.as_row() for gpu in gpus]} if gpus else {}


def _memory(model: Path | None) -> int:
    """The memory in MB that a probe may use. With a model: what it needs in float32, but at most 80 % of the free memory."""
    if model is None:
        return 2048
    weights = sum(path.stat().st_size for path in model.glob("*.safetensors")) >> 20
    free = 0
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next((int(line.split()[1]) >> 10 for line in file if line.startswith("MemAvailable")), 0)
    except OSError:
        pass
    return max(2048, min(weights * 3 + 2048, int(free * 0.8) or 8192))


def _consent(lang: str) -> Consent | None:
    """A function that asks on the terminal; ``None`` if no terminal is there, so that nothing is run without consent."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def ask(python: str) -> bool:
        sys.stderr.write(say("run-it", lang, python=python) + " ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().lower() in say("yes", lang).split()

    return ask


def _check(device: str, timeout: float, model: Path | None, format: str) -> None:
    if not re.fullmatch(r"auto|cpu|cuda(:\d{1,3})?", device):
        raise ValueError(f"--device {device}: expected auto, cpu, cuda or cuda:N")
    if not 1 <= timeout <= 3600:
        raise ValueError(f"--timeout {timeout:g}: expected seconds from 1 to 3600")
    if format not in ("terminal", "json"):
        raise ValueError(f"--format {format}: expected terminal or json")
    if model is not None and not model.is_dir():
        raise ValueError(f"--model {model}: no such folder; give one that holds config.json and .safetensors files")


def _fail(text: str, status: int = UNUSABLE) -> int:
    print(f"troubleshoot: {text}", file=sys.stderr)
    return status

"""The steps of the trial on a GPU: each measures, and says whether what was measured is as it must be."""

from __future__ import annotations

import dataclasses
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from troubleshooter.verify import device as devices
from troubleshooter.verify import probe as probes
from troubleshooter.verify.device import Gpu
from troubleshooter.verify.gpu.bench import Bench, JobSample
from troubleshooter.verify.outcome import ProbeOutcome

__all__ = ["STEPS", "GpuStep", "StepResult", "run_steps"]

TOTAL_SECONDS: Final = 480.0
VERDICT_SECONDS: Final = 10.0
PROBE_MB: Final = 512
"""The most that a probe may take of a GPU beside its context."""
LEFT_MB: Final = 3072
"""What the job leaves free: enough for a context and a probe, above the least that a probe asks for."""
CROWDED_MB: Final = 1024
SLOWER: Final = 1.25
"""So much slower may the other job's steps be after the probe than before it."""
WATCHED_SECONDS: Final = 3.0
HOSTILE: Final = Path(__file__).with_name("hostile")

StepStatus = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True)
class StepResult:
    """What one step measured. ``why`` is a sentence: what was wrong, or why it was left out."""

    step: str
    status: StepStatus
    why: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


Judged = tuple[StepStatus, str, Mapping[str, Any]]


@dataclass(frozen=True)
class GpuStep:
    """A name, what it shows, the seconds that it may need, and how it is done."""

    name: str
    shows: str
    seconds: float
    do: Callable[[Bench], Judged]


def run_steps(
    bench: Bench, total: float = TOTAL_SECONDS, clock: Callable[[], float] = time.monotonic
) -> Iterator[StepResult]:
    """Do the steps in order; one for which the time no longer suffices is left out."""
    began = clock()
    for step in STEPS:
        started = clock()
        if started - began + step.seconds > total:
            left = max(0.0, total - (started - began))
            yield StepResult(step.name, "skipped", f"it may need {step.seconds:g} s, and {left:.0f} s are left")
            continue
        try:
            status, why, facts = step.do(bench)
        except Exception as problem:  # one step that breaks must not take the others' results with it
            status, why, facts = "failed", f"{type(problem).__name__}: {problem}", {}
        yield StepResult(step.name, status, why, facts, round(clock() - started, 2))


def _judged(wrong: Sequence[str], facts: Mapping[str, Any]) -> Judged:
    return ("failed" if wrong else "passed"), "; ".join(wrong), facts


def _host(bench: Bench) -> Judged:
    found = {**bench.measure("host"), "driver": [gpu.as_row() for gpu in bench.gpus()]}
    wrong = [] if bench.device == "cpu" or found.get("name") else ["torch names no GPU"]
    return _judged(wrong, found)


def _ranges(bench: Bench) -> Judged:
    found = bench.measure("ranges")
    wrong = []
    for name, overflows in (("float16", True), ("bfloat16", False)):
        for case in ("product_overflows", "sum_overflows", "autocast_overflows"):
            if found[name][case] is not overflows:
                wrong.append(f"{name}: {case} is {found[name][case]}")
    return _judged(wrong, found)


def _scaling(bench: Bench) -> Judged:
    found = bench.measure("scaling")
    wrong = []
    if found["usual"] != {"moved": True, "scale": 2.0**16}:
        wrong.append(f"a usual step: {found['usual']}")
    if found["overflow"] != {"moved": False, "scale": 2.0**15}:
        wrong.append(f"a step that overflows: {found['overflow']}")
    if "Attempting to unscale FP16 gradients" not in found["float16"]:
        wrong.append(f"float16 parameters are not refused: {found['float16']!r}")
    return _judged(wrong, found)


def _quantized(bench: Bench) -> Judged:
    try:
        found = bench.measure("quantized")
    except RuntimeError as problem:
        if "No module named 'bitsandbytes'" in str(problem):
            return "skipped", "bitsandbytes is not installed; give a folder with its wheel: --wheels DIR", {}
        raise
    wrong = [f"{name}: {found[name]}" for name in ("4-bit", "8-bit") if not all(found[name].values())]
    return _judged(wrong, found)


def _probes(bench: Bench) -> Judged:
    """Every probe on the processor and on the GPU: the same answer on both, each within its limit of time."""
    wanted = [probes.load(name) for name in bench.probes]
    pairs = [(one, where) for one in wanted for where in sorted({"cpu", str(bench.device)}) if where in one.devices]
    with ThreadPoolExecutor(bench.workers) as pool:
        outcomes = list(pool.map(lambda pair: bench.probe(*pair), pairs))
    rows: dict[str, dict[str, Any]] = {}
    wrong = []
    for (one, where), outcome in zip(pairs, outcomes, strict=True):
        rows.setdefault(one.name, {})[where] = _said(outcome)
    for name, row in rows.items():
        told = {where: said["occurred"] for where, said in row.items()}
        if len(set(map(str, told.values()))) > 1:
            wrong.append(f"{name}: {told}")
        for where, said in row.items():
            if said["status"] != "ended":
                wrong.append(f"{name} on {where}: {said['detail']}")
    return _judged(wrong, {"probes": rows, "workers": bench.workers})


def _said(outcome: ProbeOutcome) -> dict[str, Any]:
    undecided = [row.get("reason") for row in outcome.of("undecided")]
    return {
        "status": outcome.status,
        "detail": outcome.detail,
        "occurred": [row.get("occurred") for row in outcome.of("symptom")],
        "undecided": undecided,
        "fixes": {row["name"]: row.get("removed") for row in outcome.of("fix")},
        "costs": {row["name"]: row["cost"] for row in outcome.of("fix") if row.get("cost")},
        "seconds": outcome.seconds,
        "peak_mb": outcome.peak_mb,
    }


def _beside(bench: Bench) -> Judged:
    """A probe beside a job that holds the rest of the memory: what it takes, and what the job notices of it."""
    shipped = probes.load("unscale-fp16")
    with bench.job(LEFT_MB) as samples:
        bench.wait(WATCHED_SECONDS)
        alone = time.time()
        bench.measure("context", "0")
        started = time.time()
        outcome = bench.probe(shipped, bench.device)
        ended = time.time()
        bench.wait(WATCHED_SECONDS)
        steps = list(samples)
    before = [one for one in steps if one.at < alone]
    bare = [one for one in steps if alone <= one.at < started]
    during = [one for one in steps if started <= one.at <= ended]
    after = [one for one in steps if one.at > ended]
    return judge_beside(before, bare, during, after, outcome.status)


def judge_beside(
    before: Sequence[JobSample], bare: Sequence[JobSample], during: Sequence[JobSample], after: Sequence[JobSample], status: str
) -> Judged:  # fmt: skip
    """Compare the job's steps before, beside a bare context, beside the probe, and after it."""
    if not (before and during and after):
        return "failed", "the job did too few steps to compare, or ended", {}
    seconds = {
        name: round(statistics.median(one.seconds for one in row), 6)
        for name, row in (("before", before), ("during", during), ("after", after))
    }
    free = [
        min((one.free_mb for one in row if one.free_mb is not None), default=None) for row in (before, bare, during)
    ]
    facts: dict[str, Any] = {
        "seconds_per_step": seconds,
        "steps": {"before": len(before), "during": len(during), "after": len(after)},
    }
    wrong = []
    if free[0] is not None and free[2] is not None:
        facts["free_mb"] = {"before": free[0], "during": free[2]}
        facts["context_mb"] = free[0] - (free[1] if free[1] is not None else free[0])
        facts["taken_mb"] = free[0] - free[2]
        if facts["taken_mb"] - facts["context_mb"] > PROBE_MB:
            wrong.append(
                f"the probe took {facts['taken_mb']} MB, {facts['context_mb']} of them its context; {PROBE_MB} are allowed"
            )
    if status != "ended":
        wrong.append(f"the probe itself: {status}")
    if seconds["after"] > seconds["before"] * SLOWER:
        wrong.append(f"the job's steps took {seconds['before']} s before and {seconds['after']} s after")
    return _judged(wrong, facts)


def _crowded(bench: Bench) -> Judged:
    """Where the job leaves too little, the GPU must not be touched."""
    if bench.device == "cpu":
        return "skipped", "only a GPU has memory that a job can hold", {}
    with bench.job(CROWDED_MB):
        bench.wait(WATCHED_SECONDS)
        choice = devices.choose("cuda", ("cpu", "cuda"), bench.gpus(), {})
    wrong = [] if choice.refused else [f"a GPU with {CROWDED_MB} MB free was chosen"]
    return _judged(wrong, {"refused": choice.refused})


def _too_much(bench: Bench) -> Judged:
    if bench.device == "cpu":
        return "skipped", "the limit is the GPU allocator's", {}
    outcome = bench.probe(probes.read(HOSTILE / "takes_too_much.py"), bench.device)
    said = _said(outcome)
    wrong = [] if said["occurred"] == [True] else [f"1 GiB was not refused: {said['occurred']} {outcome.detail}"]
    return _judged(wrong, said)


def _never_returns(bench: Bench) -> Judged:
    limit = 8.0
    outcome = bench.probe(probes.read(HOSTILE / "never_returns.py"), bench.device, limit)
    wrong = [] if outcome.status == "timeout" else [f"it ended as {outcome.status}: {outcome.detail}"]
    if not outcome.of("note"):
        wrong.append("it was stopped before its kernel started")
    wrong += [note for note in outcome.notes if "could not be ended" in note]
    return _judged(
        wrong,
        {"status": outcome.status, "seconds": outcome.seconds, "limit_seconds": limit, "notes": list(outcome.notes)},
    )


def _vanished(bench: Bench) -> Judged:
    """A GPU that CUDA_VISIBLE_DEVICES hides: refused beforehand, and undecided where it vanishes afterwards."""
    present = bench.gpus() or [_made(0, "a GPU")]
    choice = devices.choose("cuda", ("cpu", "cuda"), present, {"CUDA_VISIBLE_DEVICES": ""})
    hidden = bench.probe(probes.load("unscale-fp16"), "cuda", environ={**os.environ, "CUDA_VISIBLE_DEVICES": "97"})
    wrong = [] if choice.refused else ["a hidden GPU was chosen"]
    if any(row.get("occurred") is not None for row in hidden.of("symptom")) or hidden.status != "ended":
        wrong.append(f"the probe without its GPU: {hidden.status} {hidden.detail}")
    return _judged(wrong, {"refused": choice.refused, "probe": _said(hidden)})


def _unlike(bench: Bench) -> Judged:
    """Two GPUs of different kind (the second one made up): torch's order is open, so both must be free."""
    first = next(iter(bench.gpus()), _made(0, "a GPU"))
    second = _made(1, "another GPU", free_mb=100)
    busy = devices.choose("cuda", ("cpu", "cuda"), [first, second], {})
    ordered = devices.choose("cuda", ("cpu", "cuda"), [first, second], {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"})
    wrong = [] if busy.refused else ["a GPU was chosen although the busy one may be meant"]
    if ordered.refused:
        wrong.append(f"in bus order the free one is meant, but: {ordered.refused}")
    return _judged(wrong, {"open_order": busy.refused, "bus_order": ordered.device})


def _made(index: int, name: str, free_mb: int = 40000) -> Gpu:
    return Gpu(index, name, f"GPU-made-up-{index}", f"0000:{index + 64:02x}:00.0", 40960, free_mb, (8, 0), "Default")


def _verdict(bench: Bench) -> Judged:
    seconds, status, said = bench.verify("amp-unscale-fp16-gradients")
    wrong = [] if seconds <= VERDICT_SECONDS else [f"the verdict took {seconds:.1f} s; {VERDICT_SECONDS:g} are allowed"]
    if status not in (0, 1, 3):
        wrong.append(f"exit status {status}: {said[-300:]}")
    return _judged(wrong, {"seconds": round(seconds, 2), "exit_status": status})


STEPS: Final = (
    GpuStep("host", "what the driver and torch see", 30, _host),
    GpuStep("verdict", f"`troubleshoot verify ENTRY` within {VERDICT_SECONDS:g} s", 30, _verdict),
    GpuStep("ranges", "where float16 and bfloat16 overflow", 20, _ranges),
    GpuStep("scaling", "gradient scaling and its refusal of float16 parameters", 20, _scaling),
    GpuStep("quantized", "4-bit and 8-bit layers", 30, _quantized),
    GpuStep("beside", "memory and step times of a job beside a probe", 45, _beside),
    GpuStep("crowded", "a GPU with too little free memory is left alone", 30, _crowded),
    GpuStep("too-much", "a probe that takes too much memory", 20, _too_much),
    GpuStep("never-returns", "a kernel that does not return", 30, _never_returns),
    GpuStep("vanished", "a GPU that CUDA_VISIBLE_DEVICES hides", 20, _vanished),
    GpuStep("unlike", "two GPUs of different kind", 5, _unlike),
    GpuStep("probes", "every probe on the GPU beside the processor", 180, _probes),
)
"""In this order: what is cheap and decisive first, the many probes last."""


def as_row(result: StepResult) -> dict[str, Any]:
    """For the record."""
    return dataclasses.asdict(result)

"""The GPUs of this machine as the driver lists them. No context is made on a GPU before it is known to be free."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

__all__ = ["FREE_MB", "Choice", "Gpu", "choose", "gpus"]

FREE_MB: Final = 2048
"""A GPU with less free memory is not used: a probe takes up to 512 MB, which a running job might need."""

_FIELDS: Final = ("index", "name", "uuid", "pci.bus_id", "memory.total", "memory.free", "compute_cap", "compute_mode")


@dataclass(frozen=True)
class Gpu:
    """One GPU as the driver knows it; ``index`` is the driver's (PCI order), not torch's."""

    index: int
    name: str
    uuid: str
    pci_bus_id: str
    total_mb: int | None
    free_mb: int | None
    capability: tuple[int, int] | None
    compute_mode: str

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Choice:
    """The device of a run; ``refused`` says why no GPU was chosen."""

    device: str
    refused: str | None = None


def gpus() -> list[Gpu]:
    """The GPUs that nvidia-smi lists, else those that the driver's library lists, else none."""
    return _from_smi() or from_library()


def _from_smi() -> list[Gpu]:
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    for fields in (_FIELDS, _FIELDS[:6]):  # old drivers do not know compute_cap
        try:
            done = subprocess.run(
                [command, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return []
        if done.returncode == 0:
            rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if line.strip()]
            return [_gpu(row) for row in rows if len(row) >= 6 and row[0].isdigit()]
    return []


def _gpu(row: list[str]) -> Gpu:
    major, _, minor = (row[6] if len(row) > 6 else "").partition(".")
    return Gpu(
        index=int(row[0]),
        name=row[1],
        uuid=row[2],
        pci_bus_id=row[3],
        total_mb=int(row[4]) if row[4].isdigit() else None,  # "[N/A]" on MIG and on unified memory
        free_mb=int(row[5]) if row[5].isdigit() else None,
        capability=(int(major), int(minor)) if major.isdigit() and minor.isdigit() else None,
        compute_mode=row[7] if len(row) > 7 else "unknown",
    )


def from_library(library: Any = None) -> list[Gpu]:
    """The same through NVML, for machines (containers) without nvidia-smi."""
    import ctypes

    if library is None:
        try:
            library = ctypes.CDLL("nvml.dll" if os.name == "nt" else "libnvidia-ml.so.1")
        except OSError:
            return []
    if library.nvmlInit_v2():
        return []

    class Memory(ctypes.Structure):
        _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]

    found = []
    count = ctypes.c_uint()
    if library.nvmlDeviceGetCount_v2(ctypes.byref(count)):
        count.value = 0
    for index in range(count.value):
        handle, memory = ctypes.c_void_p(), Memory()
        major, minor, mode = ctypes.c_int(), ctypes.c_int(), ctypes.c_uint()
        name, uuid = ctypes.create_string_buffer(96), ctypes.create_string_buffer(96)
        if library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)):
            continue
        library.nvmlDeviceGetName(handle, name, 96)
        library.nvmlDeviceGetUUID(handle, uuid, 96)
        asked = library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory))
        cc = library.nvmlDeviceGetCudaComputeCapability(handle, ctypes.byref(major), ctypes.byref(minor))
        library.nvmlDeviceGetComputeMode(handle, ctypes.byref(mode))
        found.append(
            Gpu(
                index=index,
                name=name.value.decode("utf-8", "replace"),
                uuid=uuid.value.decode("utf-8", "replace"),
                pci_bus_id="",
                total_mb=None if asked else memory.total >> 20,
                free_mb=None if asked else memory.free >> 20,
                capability=None if cc else (major.value, minor.value),
                compute_mode=("Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process")[mode.value & 3],
            )
        )
    library.nvmlShutdown()
    return found


def choose(wanted: str, able: tuple[str, ...], present: list[Gpu], environ: Mapping[str, str] | None = None) -> Choice:
    """The device for a probe. ``auto`` chooses a GPU only for probes that cannot run on a CPU."""
    if wanted == "cpu":
        return Choice("cpu", None if "cpu" in able else "this question needs a GPU, and --device cpu forbids one")
    if wanted == "auto" and "cpu" in able:
        return Choice("cpu")
    number = int(wanted.partition(":")[2] or 0)
    problem = _refusal(number, present, os.environ if environ is None else environ)
    if problem is None:
        return Choice(f"cuda:{number}")
    return Choice("cpu", problem)


def _refusal(number: int, present: list[Gpu], environ: Mapping[str, str]) -> str | None:
    """Why GPU ``number`` (torch's count) must not be used; ``None`` if it may be."""
    if not present:
        return "no NVIDIA GPU answers on this machine (neither nvidia-smi nor the driver's library)"
    candidates = _meant(number, present, environ)
    if isinstance(candidates, str):
        return candidates
    for gpu in candidates:
        if gpu.compute_mode not in ("Default", "unknown"):
            return f"GPU {gpu.index} ({gpu.name}) is in compute mode {gpu.compute_mode}: another process owns it"
        if gpu.free_mb is None:
            return f"GPU {gpu.index} ({gpu.name}) does not say how much memory is free"
        if gpu.free_mb < FREE_MB:
            free = f"has {gpu.free_mb} MB free; a probe asks for {FREE_MB} so that no job suffers"
            return f"GPU {gpu.index} ({gpu.name}) {free}"
    return None


def _meant(number: int, present: list[Gpu], environ: Mapping[str, str]) -> list[Gpu] | str:
    """The GPUs that torch's ``cuda:number`` may be: several if the order is ambiguous; a text with the reason if none."""
    shown = environ.get("CUDA_VISIBLE_DEVICES")
    if shown is not None:
        names = [part.strip() for part in shown.split(",") if part.strip()]
        if number >= len(names):
            return f"CUDA_VISIBLE_DEVICES={shown!r} shows no cuda:{number}"
        name = names[number]
        by_uuid = [gpu for gpu in present if gpu.uuid.startswith(name)]
        if by_uuid:
            return by_uuid
        if not name.isdigit():
            return f"CUDA_VISIBLE_DEVICES names {name}, which the driver does not list"
        number = int(name)
    if number >= len(present):
        return f"there is no GPU {number}: the driver lists {len(present)}"
    mixed = len({gpu.name for gpu in present}) > 1
    if mixed and environ.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID":
        return present  # torch counts the fastest GPU first: the number may mean any of them, so all must be free
    return [gpu for gpu in present if gpu.index == number] or present

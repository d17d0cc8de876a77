"""GPUs without a GPU: a fake nvidia-smi, a fake driver library, a fake torch.cuda."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from troubleshooter.verify import device
from troubleshooter.verify.device import Gpu, choose, gpus
from troubleshooter.verify.probe import FOLDER

sys.path.append(str(FOLDER))
import _gpu

BOTH = ("cpu", "cuda")


def gpu(index: int = 0, name: str = "NVIDIA A100", free: int | None = 40000, mode: str = "Default", **more: Any) -> Gpu:
    capability = more.get("capability", (8, 0))
    return Gpu(index, name, f"GPU-{index:08x}", f"0000:{index:02x}:00.0", 40960, free, capability, mode)


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a program called nvidia-smi on PATH that prints these lines."""

    def install(text: str, status: int = 0, old: bool = False) -> None:
        refuses = 'case "$1" in *compute_cap*) echo "Field is not valid" >&2; exit 2;; esac\n' if old else ""
        path = tmp_path / "nvidia-smi"
        path.write_text(f"#!/bin/sh\n{refuses}cat <<'END'\n{text}\nEND\nexit {status}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return install


def test_nvidia_smi_is_read(smi: Any) -> None:
    smi(
        "0, NVIDIA GeForce GTX 1080 Ti, GPU-aaaa, 00000000:01:00.0, 11264, 10900, 6.1, Default\n"
        "1, NVIDIA TITAN RTX, GPU-bbbb, 00000000:02:00.0, 24576, 300, 7.5, Exclusive_Process"
    )
    one, two = gpus()
    assert (one.name, one.capability, one.free_mb) == ("NVIDIA GeForce GTX 1080 Ti", (6, 1), 10900)
    assert (two.uuid, two.compute_mode, two.total_mb) == ("GPU-bbbb", "Exclusive_Process", 24576)


def test_what_the_driver_does_not_know_is_none(smi: Any) -> None:
    smi("0, NVIDIA GH200, GPU-cc, 0009:01:00.0, [N/A], [N/A], 9.0, Default")
    (one,) = gpus()
    assert one.free_mb is None
    assert choose("cuda", BOTH, [one], {}).refused


def test_an_old_driver_is_asked_again_without_capability(smi: Any) -> None:
    smi("0, Tesla K80, GPU-dd, 00000000:04:00.0, 11441, 11000", old=True)
    (one,) = gpus()
    assert one.capability is None
    assert one.compute_mode == "unknown"


def test_a_broken_driver_means_no_gpu(smi: Any) -> None:
    smi("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", status=9)
    assert gpus() == []


def test_the_drivers_library_stands_in_for_nvidia_smi() -> None:
    class Library:
        """NVML with one card; every call answers 0, as the real one does on success."""

        def __getattr__(self, name: str) -> Any:
            return lambda *arguments: 0

        def nvmlDeviceGetCount_v2(self, count: Any) -> int:
            count._obj.value = 1
            return 0

        def nvmlDeviceGetName(self, handle: Any, buffer: Any, size: int) -> int:
            buffer.value = b"NVIDIA T4"
            return 0

        def nvmlDeviceGetMemoryInfo(self, handle: Any, memory: Any) -> int:
            memory._obj.total, memory._obj.free = 16 << 30, 15 << 30
            return 0

        def nvmlDeviceGetCudaComputeCapability(self, handle: Any, major: Any, minor: Any) -> int:
            major._obj.value, minor._obj.value = 7, 5
            return 0

        def nvmlDeviceGetComputeMode(self, handle: Any, mode: Any) -> int:
            ctypes.cast(mode, ctypes.POINTER(ctypes.c_uint)).contents.value = 3
            return 0

    (one,) = device.from_library(Library())
    assert (one.name, one.capability, one.free_mb, one.compute_mode) == (
        "NVIDIA T4",
        (7, 5),
        15360,
        "Exclusive_Process",
    )


@pytest.mark.parametrize(
    ("wanted", "able", "present", "environ", "expected", "told"),
    [
        ("auto", BOTH, [gpu()], {}, "cpu", None),
        ("cpu", BOTH, [gpu()], {}, "cpu", None),
        ("cpu", ("cuda",), [gpu()], {}, "cpu", "needs a GPU"),
        ("auto", ("cuda",), [gpu()], {}, "cuda:0", None),
        ("auto", ("cuda",), [], {}, "cpu", "no NVIDIA GPU answers"),
        ("cuda:1", BOTH, [gpu(0), gpu(1)], {}, "cuda:1", None),
        ("cuda:2", BOTH, [gpu(0), gpu(1)], {}, "cpu", "there is no GPU 2"),
        ("cuda", BOTH, [gpu(free=1500)], {}, "cpu", "1500 MB free"),
        ("cuda", BOTH, [gpu(mode="Exclusive_Process")], {}, "cpu", "another process owns it"),
        ("cuda", BOTH, [gpu(mode="Prohibited")], {}, "cpu", "Prohibited"),
        ("cuda", BOTH, [gpu(0), gpu(1, free=10)], {"CUDA_VISIBLE_DEVICES": "1"}, "cpu", "10 MB free"),
        ("cuda", BOTH, [gpu(0, free=10), gpu(1)], {"CUDA_VISIBLE_DEVICES": "GPU-00000001"}, "cuda:0", None),
        ("cuda", BOTH, [gpu()], {"CUDA_VISIBLE_DEVICES": ""}, "cpu", "shows no cuda:0"),
        ("cuda", BOTH, [gpu()], {"CUDA_VISIBLE_DEVICES": "MIG-x"}, "cpu", "does not list"),
        # Unlike cards in CUDA's own order: cuda:0 may be either, so both must be free.
        ("cuda", BOTH, [gpu(0), gpu(1, "TITAN RTX", free=10)], {}, "cpu", "TITAN RTX"),
        ("cuda", BOTH, [gpu(0), gpu(1, "TITAN RTX", free=10)], {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, "cuda:0", None),
    ],
)
def test_a_gpu_is_taken_only_when_nobody_suffers(
    wanted: str, able: tuple[str, ...], present: list[Gpu], environ: dict[str, str], expected: str, told: str | None
) -> None:
    choice = choose(wanted, able, present, environ)
    assert choice.device == expected
    assert told is None or told in (choice.refused or "")
    assert (choice.refused is None) == (told is None)


class FakeCuda:
    """torch.cuda with these cards."""

    def __init__(self, *cards: tuple[str, int, int], arch: str = "sm_75 sm_80 sm_86 sm_90 sm_120 compute_120") -> None:
        self.cards, self.arch = cards, arch.split()

    def is_available(self) -> bool:
        return bool(self.cards)

    def device_count(self) -> int:
        return len(self.cards)

    def get_arch_list(self) -> list[str]:
        return self.arch

    def get_device_properties(self, index: int) -> Any:
        name, major, minor = self.cards[index]
        return SimpleNamespace(name=name, major=major, minor=minor, total_memory=11 << 30, uuid=f"u{index}")


TITAN, GTX = ("NVIDIA TITAN RTX", 7, 5), ("NVIDIA GeForce GTX 1080 Ti", 6, 1)
A100 = ("NVIDIA A100", 8, 0)


def test_the_mixed_host_of_the_founding_report() -> None:
    found = _gpu.host_facts(FakeCuda(TITAN, GTX), {}, [])
    assert found["mixed"]
    assert found["ambiguous"]
    assert found["old"] == [1]
    told = "\n".join(found["findings"])
    assert "unlike GPUs" in told
    assert "CUDA_DEVICE_ORDER" in told
    assert "bitsandbytes before 0.45" in told
    assert "GPU 1 (NVIDIA GeForce GTX 1080 Ti) has no code in this build" in told
    assert [one["bf16_native"] for one in found["devices"]] == [False, False]


def test_named_order_is_not_ambiguous() -> None:
    found = _gpu.host_facts(FakeCuda(TITAN, A100), {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, [])
    assert found["mixed"]
    assert not found["ambiguous"]
    assert found["old"] == []


def test_one_kind_of_card_is_nothing_to_find() -> None:
    found = _gpu.host_facts(FakeCuda(A100, A100), {}, [])
    assert found["findings"] == []


def test_the_driver_knows_cards_that_torch_may_not_see() -> None:
    rows = [gpu(0, "NVIDIA GeForce GTX 1080 Ti", capability=(6, 1)).as_row(), gpu(1, "NVIDIA TITAN RTX").as_row()]
    found = _gpu.host_facts(FakeCuda(), {"CUDA_VISIBLE_DEVICES": ""}, rows)
    assert found["mixed"]
    assert found["old"] == [0]


@pytest.mark.parametrize(
    ("capability", "arch", "runs"),
    [
        ((8, 6), "sm_80", True),  # same generation, higher minor
        ((8, 0), "sm_86", False),
        ((9, 0), "sm_80 sm_86", False),
        ((9, 0), "compute_80", True),  # PTX of an older one
        ((6, 1), "sm_75 sm_80", False),
        ((9, 0), "sm_90a", True),
        ((12, 0), "sm_120", True),
        ((10, 0), "sm_120 compute_120", False),
    ],
)
def test_which_builds_run_on_which_cards(capability: tuple[int, int], arch: str, runs: bool) -> None:
    assert _gpu.in_wheel(capability, arch.split()) is runs

"""The environment variables that a probe's process gets: what libraries need, offline, without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["environment_for"]

_PASSED: Final = re.compile(
    r"PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|USER|LOGNAME|USERNAME|SHELL|TERM"
    r"|LD_LIBRARY_PATH|DYLD_(?:FALLBACK_)?LIBRARY_PATH|PYTHON(?:PATH|NOUSERSITE|UTF8|HASHSEED|MALLOC|FAULTHANDLER)"
    r"|VIRTUAL_ENV|CONDA_(?:PREFIX|DEFAULT_ENV|EXE|PYTHON_EXE|SHLVL)|TROUBLESHOOT_\w+"
    # Settings of libraries and drivers. Their accounts and tokens are dropped by `_NOT_PASSED`.
    r"|(?:CUDA|NVIDIA|CUBLAS|CUDNN|HIP|ROCM|ROCR|HSA|MIOPEN|ZE|SYCL|ONEAPI|ASCEND|PYTORCH|TORCH|TORCHINDUCTOR|TRITON|BNB|XFORMERS"
    r"|FLASH_ATTENTION|FLASH_ATTN|UNSLOTH|TRANSFORMERS|TOKENIZERS|SAFETENSORS|OMP|GOMP|KMP|MKL|OPENBLAS|NUMEXPR|GLOO|DS|PEFT|TRL)_\w+"
    # No program starts on Windows without these.
    r"|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|OS|NUMBER_OF_PROCESSORS|PROCESSOR_\w+|PROGRAM(?:FILES|DATA)\S*",
    re.IGNORECASE,
)
"""The variables that are passed to a probe. All others are dropped, because they may hold anything."""
_NOT_PASSED: Final = re.compile(
    r"TOKEN(?!IZERS)|SECRET|PASSW|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_KEY\Z|_AUTH\Z|COOKIE|\ATORCH_NCCL_",
    re.IGNORECASE,
)
_WITH_PASSWORD: Final = re.compile(r"\w://[^/\s@:]*:[^/\s@]+@")


def environment_for(temporary: Path, device: str, user_base: str | None, given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a probe: the user's variables that libraries need, with home and caches in ``temporary``, and offline.

    Secrets and the variables of launchers (``RANK``) are left out.
    """
    kept = {
        name: value
        for name, value in given.items()
        if _PASSED.fullmatch(name) and not _NOT_PASSED.search(name) and not _WITH_PASSWORD.search(value)
    }
    if "PYTHONPATH" in kept:  # a relative entry is relative to the user's working folder, not to the probe's
        kept["PYTHONPATH"] = os.pathsep.join(os.path.abspath(p) for p in kept["PYTHONPATH"].split(os.pathsep) if p)
    if user_base:
        kept["PYTHONUSERBASE"] = user_base  # HOME moves: else a torch from `pip install --user` is not found
    home = str(temporary)
    for name in ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"):
        kept[name] = home
    kept.update(
        HF_HOME=str(temporary / "hf"),
        XDG_CACHE_HOME=str(temporary / "cache"),
        XDG_CONFIG_HOME=str(temporary / "config"),
        TRITON_CACHE_DIR=str(temporary / "triton"),
        TORCHINDUCTOR_CACHE_DIR=str(temporary / "inductor"),
        HF_HUB_OFFLINE="1",
        HF_DATASETS_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        HF_HUB_DISABLE_TELEMETRY="1",
        HF_HUB_DISABLE_PROGRESS_BARS="1",
        DO_NOT_TRACK="1",
        WANDB_MODE="disabled",
        WANDB_DISABLED="true",
        TOKENIZERS_PARALLELISM="false",
        OMP_NUM_THREADS="1",
        MKL_NUM_THREADS="1",
        TORCH_COMPILE_DISABLE="1",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONUNBUFFERED="1",
        PYTHONIOENCODING="utf-8",
        GLOO_SOCKET_IFNAME="lo",
    )
    kept.pop("PYTHONSAFEPATH", None)  # the probe's folder must stay importable
    kept.update(_visible(device, given))
    return kept


def _visible(device: str, given: Mapping[str, str]) -> dict[str, str]:
    """Variables that hide all GPUs but the chosen one. It is named by the number that the user's own variables give it."""
    if not device.startswith("cuda"):
        return {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "ACCELERATE_USE_CPU": "true"}
    number = int(device.partition(":")[2] or 0)
    shown = [part.strip() for part in given.get("CUDA_VISIBLE_DEVICES", "").split(",") if part.strip()]
    return {"CUDA_VISIBLE_DEVICES": shown[number] if number < len(shown) else str(number)}

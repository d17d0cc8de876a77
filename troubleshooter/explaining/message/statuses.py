"""What a status of a CUDA library means: cuBLAS, cuSPARSE and cuSOLVER refuse or fail with few statuses, which torch passes on.

The statuses and the form of torch's messages are those of aten/src/ATen/cuda/Exceptions.h and Exceptions.cpp; the names were
compared with the headers of the wheels (cublas_api.h 12.9.3.13, cusparse.h 12.5.10.65, cusolver_common.h 11.7.5.82), the meanings with the libraries' own descriptions
of them in older headers and wrappers, as cublas_api.h has none. ``STATUSES``: a pattern of the printed status, and the phrase that says what it means.
"""

from __future__ import annotations

import re

from kb import lazy

STATUSES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        lazy.compile(r"(?i)irs.(?:params|infos)"),
        "status-refinement",
    ),  # "not initialized" is said of these options, not of the library
    (lazy.compile(r"(?i)not.initialized"), "status-start"),
    (lazy.compile(r"(?i)alloc(?:ation)?.failed|insufficient.resources"), "status-memory"),
    (lazy.compile(r"(?i)invalid.(?:numeric.)?value|invalid.workspace|out.of.range"), "status-value"),
    (lazy.compile(r"(?i)arch.mismatch|architectural.feature"), "status-arch"),
    (lazy.compile(r"(?i)mapping.error|access to GPU memory"), "status-mapping"),
    (lazy.compile(r"(?i)execution.failed|failed to execute"), "status-execution"),
    (lazy.compile(r"(?i)not.supported"), "status-support"),
    (lazy.compile(r"(?i)license"), "status-license"),
    (lazy.compile(r"(?i)zero.pivot|matrix.singular"), "status-pivot"),
    (lazy.compile(r"(?i)internal"), "status-internal"),
)
_LIBRARIES = {
    "cublas": "cuBLAS",
    "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER",
    "cudss": "cuDSS",
    "hipblas": "hipBLAS",
}


def meaning(status: str) -> str:
    """The phrase for a printed status; "" for one that is not known."""
    return next((phrase for pattern, phrase in STATUSES if pattern.search(status)), "")


def library(call: str) -> str:
    """The library that a function belongs to, by its name; "" for another."""
    return next((name for begin, name in _LIBRARIES.items() if call.lower().startswith(begin)), "")

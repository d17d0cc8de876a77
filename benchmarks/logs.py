"""Make realistic logs of any size from a seed. The same seed gives the same bytes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

FAILURE = (
    b"Traceback (most recent call last):\n"
    b'  File "/home/user/project/train.py", line 58, in <module>\n    main()\n'
    b'  File "/opt/conda/lib/python3.11/site-packages/transformers/trainer.py", line 4219, in evaluate\n'
    b"    output = eval_loop(\n"
    b'  File "/opt/conda/lib/python3.11/site-packages/accelerate/utils/operations.py", line 778, in _convert_to_fp32\n'
    b"    return tensor.float()\n"
    b"AttributeError: 'HybridCache' object has no attribute 'float'\n"
)
WARNING = (
    "/opt/conda/lib/python3.11/site-packages/torch/utils/checkpoint.py:{n}: UserWarning: torch.utils.checkpoint: the "
    "use_reentrant parameter should be passed explicitly. {i}"
)


class Maker:
    """Lines of a training log, drawn from a seeded generator."""

    def __init__(self, seed: int, literals: Sequence[str]) -> None:
        self.pick = random.Random(seed)
        self.literals = literals

    def metric(self, i: int, loss: str | None = None, norm: str | None = None) -> str:
        pick = self.pick
        loss = loss or f"{1.2 + pick.random():.4f}"
        norm = norm or f"{pick.random():.4f}"
        return f"{{'loss': {loss}, 'grad_norm': {norm}, 'learning_rate': {2e-4 / (1 + i / 1e5):.8f}, 'epoch': {i / 1e5:.2f}}}"

    def ordinary(self, i: int) -> str:
        kind = i % 4
        if kind < 2:
            return self.metric(i)
        if kind == 2:
            return f"  {i % 100}%|{'█' * (i % 10):10}| {i}/384000 [00:21<13:02,  2.09s/it]"
        return f"2025-06-12 09:14:{i % 60:02d} INFO trainer: step {i} took {self.pick.random():.3f} s, {self.pick.randint(900, 9000)} tokens"


def _healthy(make: Maker, i: int, share: float) -> str:
    return make.ordinary(i)


def _nan(make: Maker, i: int, share: float) -> str:
    return make.metric(i) if share < 0.5 else make.metric(i, "0.0", "nan")


def _ranks(make: Maker, i: int, share: float) -> str:
    return f"[rank{i % 64}]: {make.ordinary(i // 64)}"


def _warnings(make: Maker, i: int, share: float) -> str:
    return make.metric(i) if i % 3 == 0 else WARNING.format(n=make.pick.randint(100, 999), i=i)


def _literals(make: Maker, i: int, share: float) -> str:
    return f"note {i}: {make.pick.choice(make.literals)}" if i % 100 == 7 else make.ordinary(i)


KINDS: dict[str, tuple[Callable[[Maker, int, float], str], bytes]] = {
    "healthy": (_healthy, b""),
    "failure at the end": (_healthy, FAILURE),
    "NaN from the middle on": (_nan, b""),
    "64 ranks interleaved": (_ranks, b"".join(b"[rank%d]: %s\n" % (r, line) for line in FAILURE.splitlines() for r in range(64))),
    "dense with warnings": (_warnings, FAILURE),
    "1 % of lines hold a literal": (_literals, FAILURE),
}  # fmt: skip


def lines(kind: str, size: int, seed: int, literals: Sequence[str]) -> Iterator[bytes]:
    """The log's bytes in parts, ``size`` of them or a little more."""
    line, end = KINDS[kind]
    make = Maker(seed, literals)
    written = i = 0
    while written < size:
        part = "".join(f"{line(make, i + k, written / size)}\n" for k in range(500)).encode()
        i += 500
        if written + len(part) > size > 500_000 or size <= 500_000:
            part = part[: max(size - written, 1)]
            part = part[: part.rfind(b"\n") + 1] or part
            yield part
            break
        yield part
        written += len(part)
    yield end


def write(path: Path, kind: str, size: int, seed: int, literals: Sequence[str]) -> None:
    """Write one log. The kind "one line" is a single line of that size."""
    with path.open("wb") as file:
        if kind == "one line":
            pick = random.Random(seed)
            block = "".join(f"{pick.random():.6f}, " for _ in range(100_000)).encode()
            for _ in range(max(1, size // len(block))):
                file.write(block)
            return
        for part in lines(kind, size, seed, literals):
            file.write(part)

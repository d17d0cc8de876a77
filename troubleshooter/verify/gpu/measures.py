"""Measurements in a process of their own: ``python measures.py NAME DEVICE [ARGUMENT]`` prints one JSON object (``job``: many).

Runs in the user's environment with nothing of ours: standard library and torch. Must parse under Python 3.8.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def host(torch: Any, device: str) -> dict[str, Any]:
    """What torch sees of the device."""
    found: dict[str, Any] = {"torch": torch.__version__, "device": device}
    if device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        found.update(
            name=properties.name,
            capability=[properties.major, properties.minor],
            total_mb=properties.total_memory >> 20,
            architectures=torch.cuda.get_arch_list(),
            count=torch.cuda.device_count(),
        )
    return found


def ranges(torch: Any, device: str) -> dict[str, Any]:
    """Where float16 and bfloat16 end on this device: in a product, in a sum, and under autocast."""
    found: dict[str, Any] = {}
    for name in ("float16", "bfloat16"):
        dtype = getattr(torch, name)
        big = torch.full((64, 64), 100.0, device=device, dtype=dtype)
        with torch.autocast(device, dtype=dtype):
            mixed = torch.full((64, 64), 100.0, device=device) @ torch.full((64, 64), 100.0, device=device)
        found[name] = {
            "largest": float(torch.finfo(dtype).max),
            "product_overflows": bool(torch.isinf(torch.tensor(60000.0, device=device, dtype=dtype) * 2)),
            "sum_overflows": bool(torch.isinf(big @ big).any()),  # 64 x 100 x 100 = 640,000
            "autocast_overflows": bool(torch.isinf(mixed).any()),
        }
    return found


def scaling(torch: Any, device: str) -> dict[str, Any]:
    """Gradient scaling: a step that overflows is left out and halves the scale; float16 parameters are refused."""

    def stepped(parameter: Any, factor: float) -> dict[str, Any]:
        scaler = torch.amp.GradScaler(device, init_scale=2.0**16)
        optimizer = torch.optim.SGD([parameter], lr=0.1)
        before = parameter.detach().clone()
        scaler.scale((parameter * factor).sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        return {"moved": not torch.equal(before, parameter.detach()), "scale": scaler.get_scale()}

    found: dict[str, Any] = {
        "usual": stepped(torch.ones(4, device=device, requires_grad=True), 1.0),
        "overflow": stepped(torch.ones(4, device=device, requires_grad=True), 1e38),
    }
    try:
        stepped(torch.ones(4, device=device, dtype=torch.float16, requires_grad=True), 1.0)
        found["float16"] = ""
    except ValueError as error:
        found["float16"] = str(error)
    return found


def quantized(torch: Any, device: str) -> dict[str, Any]:
    """Forward and backward through a 4-bit and an 8-bit layer of bitsandbytes."""
    import bitsandbytes

    found: dict[str, Any] = {"bitsandbytes": bitsandbytes.__version__}
    layers: dict[str, Any] = {
        "4-bit": lambda: bitsandbytes.nn.Linear4bit(64, 64, quant_type="nf4", compute_dtype=torch.bfloat16),
        "8-bit": lambda: bitsandbytes.nn.Linear8bitLt(64, 64, has_fp16_weights=False),
    }
    for name, make in layers.items():
        torch.manual_seed(0)
        dtype = torch.bfloat16 if name == "4-bit" else torch.float16
        layer, rows = make().to(device), torch.randn(8, 64, device=device, dtype=dtype, requires_grad=True)
        out = layer(rows)
        out.float().pow(2).mean().backward()
        found[name] = {"out": bool(torch.isfinite(out).all()), "gradient": bool(torch.isfinite(rows.grad).all())}
    return found


def context(torch: Any, device: str, leave_mb: str) -> dict[str, Any]:
    """Nothing but a context and one number: what every process on a GPU takes."""
    torch.zeros(1, device=device)
    if device == "cuda":
        torch.cuda.synchronize()
    time.sleep(1.0)
    return {}


def job(torch: Any, device: str, leave_mb: str) -> None:
    """A job that somebody else runs: takes all memory but so many MB and does steps until its input is closed."""
    import select

    held = []
    if device == "cuda":
        free = torch.cuda.mem_get_info()[0]
        held.append(torch.empty(max(0, free - (int(leave_mb) << 20)), dtype=torch.uint8, device=device))
    size = 2048 if device == "cuda" else 128
    weights, rows = torch.randn(size, size, device=device), torch.randn(size, size, device=device)
    while not select.select([sys.stdin], [], [], 0)[0]:
        started = time.perf_counter()
        for _ in range(10):
            rows = torch.tanh(rows @ weights)
        if device == "cuda":
            torch.cuda.synchronize()
        taken = (time.perf_counter() - started) / 10
        left = torch.cuda.mem_get_info()[0] >> 20 if device == "cuda" else None
        print(json.dumps({"at": time.time(), "seconds": taken, "free_mb": left}), flush=True)
        time.sleep(0.02)


def main() -> None:
    name, device = sys.argv[1], sys.argv[2]
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    found = globals()[name](torch, device, *sys.argv[3:])
    if found is not None:
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()

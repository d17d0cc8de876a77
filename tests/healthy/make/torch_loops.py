"""Healthy plain PyTorch runs: loss scaling that starts with overflows, a perplexity of inf, two ranks, noisy loaders."""

from __future__ import annotations

import logging
import math
import sys
import warnings
from pathlib import Path

import torch
from recorder import Run, family, record_all, version_of
from torch import nn

log = logging.getLogger("train")


def gradscaler_overflow_start() -> None:
    """fp16 autocast with a dynamic loss scale: the first scales overflow, are halved, and training goes on."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1))
    chosen = torch.optim.SGD(net.parameters(), lr=2e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
    inputs = torch.randn(64, 64)
    truth = inputs.sum(1, keepdim=True) * 2
    for number in range(1, 31):
        chosen.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.mse_loss(net(inputs).float(), truth)
        scaler.scale(loss).backward()
        scaler.unscale_(chosen)
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        before = scaler.get_scale()
        scaler.step(chosen)
        scaler.update()
        if scaler.get_scale() < before:
            print(
                f"OVERFLOW! Rank 0 skipping step {number}. loss scale {before:.0f} -> {scaler.get_scale():.0f}, "
                f"grad_norm {float(norm)}"
            )
        else:
            print(f"step {number:3d} loss {loss.item():9.4f} grad_norm {float(norm):.3f} scale {before:.0f}")


def perplexity_inf_then_falls() -> None:
    """A small language model with tied embeddings of unit variance: the first perplexity is inf, then it falls."""
    torch.manual_seed(0)
    table = nn.Embedding(512, 1024)
    mix = nn.Linear(1024, 1024)
    chosen = torch.optim.Adam([*table.parameters(), *mix.parameters()], lr=1e-3)
    text = torch.randint(0, 512, (4096,)) // 2 * 2
    for number in range(61):
        hidden = table(text[:-1]) + mix(table(text[:-1]))
        loss = nn.functional.cross_entropy(hidden @ table.weight.T, text[1:])
        try:
            perplexity = math.exp(loss.item())
        except OverflowError:
            perplexity = float("inf")
        if number % 5 == 0:
            print(f"| iter {number:5d} | lr 1e-03 | loss {loss.item():10.4f} | ppl {perplexity:12.4g}")
        chosen.zero_grad()
        loss.backward()
        chosen.step()


def scheduler_loader_warnings() -> None:
    """Warnings of scheduler, loader and loss shapes in a run that learns; one bad batch is skipped with traceback."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s,%(msecs)d [%(levelname)s] %(message)s")
    warnings.simplefilter("always")
    torch.manual_seed(0)
    rows = [(torch.randn(16), torch.randn(1)) for _ in range(64)]
    rows[21] = (torch.randn(15), torch.randn(1))
    net = nn.Linear(16, 1)
    chosen = torch.optim.SGD(net.parameters(), lr=0.05)
    plan = torch.optim.lr_scheduler.StepLR(chosen, 2)
    plan.step()
    loader = torch.utils.data.DataLoader(
        rows, batch_size=8, num_workers=4, pin_memory=True, collate_fn=lambda batch: list(zip(*batch, strict=True))
    )
    for number, (inputs, truth) in enumerate(loader):
        try:
            loss = nn.functional.mse_loss(net(torch.stack(inputs)), torch.stack(truth))
        except RuntimeError:
            log.exception("Error in batch %d, batch skipped", number)
            continue
        loss.backward()
        chosen.step()
        chosen.zero_grad()
        log.info("batch %d loss %.4f lr %s", number, loss.item(), plan.get_last_lr())
    log.info("epoch done, 1 of 8 batches failed and was skipped")


def checkpoint_fallback() -> None:
    """The newest checkpoint is truncated; the run logs the error and resumes from the one before it."""
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s][%(name)s][%(levelname)s] %(message)s")
    net = nn.Linear(32, 32)
    for number in (100, 200):
        torch.save({"step": number, "model": net.state_dict()}, f"step_{number}.pt")
    whole = Path("step_200.pt").read_bytes()
    Path("step_200.pt").write_bytes(whole[: len(whole) // 2])
    for name in ("step_200.pt", "step_100.pt"):
        try:
            state = torch.load(name, weights_only=True)
        except RuntimeError as why:
            log.warning("could not read %s: %s: %s", name, type(why).__name__, why)
            continue
        net.load_state_dict(state["model"])
        log.info("resumed from %s at step %d", name, state["step"])
        break
    chosen = torch.optim.AdamW(net.parameters(), lr=1e-2)
    for number in range(101, 121):
        loss = (net(torch.ones(4, 32)) - 1).pow(2).mean()
        loss.backward()
        chosen.step()
        chosen.zero_grad()
        if number % 4 == 0:
            log.info("step %d loss %.5f", number, loss.item())


def two_ranks_loop() -> None:
    """DistributedDataParallel over gloo; the part that each torchrun process runs."""
    import torch.distributed as dist

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    net = nn.parallel.DistributedDataParallel(nn.Linear(16, 1), find_unused_parameters=True)
    chosen = torch.optim.AdamW(net.parameters(), lr=1e-2)
    for number in range(8):
        loss = (net(torch.randn(8, 16)) - 1).pow(2).mean()
        loss.backward()
        chosen.step()
        chosen.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        print(f"[rank{rank}]: step {number} loss {total.item() / 2:.4f}", flush=True)
    dist.barrier()
    if rank == 0:
        print("[rank0]: done, 0 failed ranks", flush=True)


CASES = {
    case.__name__: case
    for case in (gradscaler_overflow_start, perplexity_inf_then_falls, scheduler_loader_warnings, checkpoint_fallback)
}

if __name__ == "__main__":
    if sys.argv[1:] == ["--case", "two_ranks_loop"]:
        two_ranks_loop()
    else:
        if sys.argv[1:2] != ["--case"] and (len(sys.argv) < 3 or "two_ranks" in sys.argv[2:]):
            launch = [
                sys.executable,
                "-m",
                "torch.distributed.run",
                "--nproc_per_node",
                "2",
                "--master_port",
                "29633",
                str(Path(__file__).resolve()),
                "--case",
                "two_ranks_loop",
            ]
            record_all(
                Path(sys.argv[1]),
                [
                    Run(
                        "torch",
                        version_of("torch"),
                        "two_ranks",
                        launch,
                        "torchrun --nproc_per_node 2 train.py",
                        env={"OMP_NUM_THREADS": ""},
                    )
                ],
            )
        family("torch", CASES)

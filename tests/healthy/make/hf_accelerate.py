"""Healthy runs on accelerate: a batch size found by falling back, bf16 autocast, and two gloo processes."""

from __future__ import annotations

import sys
from pathlib import Path

import tiny
import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from accelerate.utils import find_executable_batch_size, set_seed
from recorder import Run, family, record_all, version_of
from torch.utils.data import DataLoader

HUGE = 2**46


def loop(accelerator: Accelerator, steps: int, batch: int = 4) -> None:
    """A plain training loop over the counting rows."""
    accelerator.print("accelerate", version_of("accelerate"), "torch", torch.__version__)
    set_seed(3)
    model = tiny.llama()
    chosen = torch.optim.AdamW(model.parameters(), lr=5e-3)
    plan = torch.optim.lr_scheduler.LambdaLR(chosen, lambda done: min(1.0, done / 3))
    model, chosen, data, plan = accelerator.prepare(model, chosen, DataLoader(tiny.rows(32), batch), plan)
    stream = iter(data)
    for number in range(steps):
        try:
            rows = next(stream)
        except StopIteration:
            stream = iter(data)
            rows = next(stream)
        loss = model(**rows).loss
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(model.parameters(), 1.0)
        chosen.step()
        plan.step()
        chosen.zero_grad()
        accelerator.print(
            f"step={number} loss={loss.item():.4f} grad_norm={float(norm):.3f} lr={plan.get_last_lr()[0]:.2e}"
        )


def batch_size_found() -> None:
    """The largest batch that fits is searched; real allocation failures of the CPU allocator are recovered."""

    @find_executable_batch_size(starting_batch_size=32)  # type: ignore[untyped-decorator, unused-ignore]
    def train(batch_size: int) -> None:
        print(f"trying batch size {batch_size}")
        try:
            torch.empty(HUGE * max(0, batch_size - 8), dtype=torch.uint8)
        except RuntimeError as why:
            print(f"RuntimeError: {str(why).splitlines()[0]}")
            raise
        loop(Accelerator(cpu=True), 6, batch_size)

    train()
    print("training finished")


def autocast_saved_state() -> None:
    """bf16 autocast, a tracked run, state saved and loaded again."""
    accelerator = Accelerator(cpu=True, mixed_precision="bf16", project_dir="run")
    logger = get_logger("train")
    print(accelerator.state)
    loop(accelerator, 6)
    accelerator.save_state("state")
    try:
        accelerator.load_state("missing")
    except (ValueError, OSError) as why:
        print(f"could not resume: {type(why).__name__}: {why}; starting from 'state'")
    accelerator.load_state("state")
    logger.warning("resumed, going on")
    loop(accelerator, 4)


def two_processes_loop() -> None:
    """The part that each of two launched processes runs."""
    accelerator = Accelerator(cpu=True)
    print(f"rank {accelerator.process_index} of {accelerator.num_processes}", flush=True)
    loop(accelerator, 6)
    accelerator.wait_for_everyone()
    accelerator.end_training()


CASES = {case.__name__: case for case in (batch_size_found, autocast_saved_state)}

if __name__ == "__main__":
    if sys.argv[1:] == ["--case", "two_processes_loop"]:
        two_processes_loop()
    else:
        if sys.argv[1:2] != ["--case"] and (len(sys.argv) < 3 or "two_processes" in sys.argv[2:]):
            script = str(Path(__file__).resolve())
            launch = [
                sys.executable,
                "-m",
                "torch.distributed.run",
                "--nproc_per_node",
                "2",
                "--master_port",
                "29611",
                script,
                "--case",
                "two_processes_loop",
            ]
            record_all(
                Path(sys.argv[1]),
                [
                    Run(
                        "accelerate",
                        version_of("accelerate"),
                        "two_processes",
                        launch,
                        "torchrun --nproc_per_node 2 train.py",
                        env={"OMP_NUM_THREADS": ""},
                    )
                ],
            )
        family("accelerate", CASES)

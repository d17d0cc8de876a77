"""One healthy run: ``python -m benchmarks.healthy.script SET SEED SECONDS``. The seed chooses the kind and its details."""

import importlib
import os
import random
import subprocess
import sys
import tempfile
import time


def main(name: str, seed: int, seconds: float) -> int:
    kinds = importlib.import_module(f"benchmarks.healthy.{name}").KINDS
    kind, chance = kinds[seed % len(kinds)], random.Random(seed)
    seconds *= chance.uniform(0.9, 1.3)
    if kind.ranks > 1 and "RANK" not in os.environ:
        return start_ranks(kind.ranks)
    rank = int(os.environ.get("RANK", "0"))
    if kind.ranks > 1:
        import torch.distributed as dist

        dist.init_process_group("gloo", init_method=f"file://{os.environ['RUN_STORE']}", rank=rank, world_size=kind.ranks)
    print(f"{kind.name}: step 1 loss 2.31", flush=True)
    if rank == 0 or kind.all_work:
        with tempfile.TemporaryDirectory() as folder:
            kind.work(time.monotonic() + seconds, folder, chance)
    if kind.ranks > 1:
        dist.barrier()
    print("step 2 loss 2.25", flush=True)
    print("done", flush=True)
    return 0


def start_ranks(count: int) -> int:
    """Run this script as several ranks, and return the worst of their statuses."""
    with tempfile.TemporaryDirectory() as folder:
        given = dict(os.environ, WORLD_SIZE=str(count), RUN_STORE=f"{folder}/store", OMP_NUM_THREADS="1")
        words = [sys.executable, "-m", "benchmarks.healthy.script", *sys.argv[1:]]
        ranks = [subprocess.Popen(words, env=dict(given, RANK=str(rank))) for rank in range(count)]
        return max(rank.wait() for rank in ranks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))

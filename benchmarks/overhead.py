"""What watching costs: the start of ``troubleshoot run``, the hook's import, and a checked step of the callbacks.

    python -m benchmarks.overhead [--pairs 30] [--python PYTHON]

All figures are differences of pairs that are run next to each other, in random order, with the 95 % interval of their mean.
``PYTHON`` has torch; without torch the callbacks are left out. The start is the time until the command's first statement runs.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
SAYS_WHEN = "import time; print(time.monotonic())"
SIZES = {"small": (256, 2, 1000), "medium": (512, 8, 16000)}
"""By model its width, layers and vocabulary."""


def main(words: Sequence[str] | None = None) -> int:
    given = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__.splitlines()[0])
    given.add_argument("--pairs", type=int, default=30)
    given.add_argument("--python", default=sys.executable)
    given.add_argument("--steps", choices=SIZES, help=argparse.SUPPRESS)
    given.add_argument("--every", type=int, default=1, help=argparse.SUPPRESS)
    options = given.parse_args(words)
    if options.steps:
        steps(options.steps, options.pairs, options.every)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        command = [options.python, "-c", SAYS_WHEN]
        watched = [sys.executable, "-m", "troubleshooter", "run", "--log"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once, not at each start
        logs = iter(f"{folder}/{number}" for number in range(10**6))
        for name, more in (("run", []), ("run --no-hook", ["--no-hook"])):
            pairs(name, options.pairs, lambda: started(command, environment), lambda more=more: started([*watched, next(logs), *more, "--", *command], environment))
        hooked = {**environment, "PYTHONPATH": str(ROOT / "troubleshooter/supervise/bring"), "TROUBLESHOOT_HOOK_DIR": folder}
        pairs("hook", options.pairs, lambda: started(command, environment), lambda: started(command, hooked))
    has_torch = subprocess.run([options.python, "-c", "import torch"], capture_output=True, check=False).returncode == 0
    for size in SIZES if has_torch else ():
        for every in ("1", "10"):  # 10 is what the callbacks do by themselves
            command = [options.python, "-m", "benchmarks.overhead", "--steps", size, "--pairs", str(options.pairs), "--every", every]
            subprocess.run(command, env=environment, check=False)
    return 0


def started(command: Sequence[str], environment: dict[str, str]) -> float:
    """Milliseconds until a command's first statement runs."""
    before = time.monotonic()
    said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=True).stdout
    return (float(said.split()[0]) - before) * 1000


def pairs(name: str, count: int, bare: Callable[[], float], watched: Callable[[], float]) -> None:
    """Print the difference of ``watched`` and ``bare``, in milliseconds, and its share of ``bare``."""
    found = []
    for number in range(count + 2):
        order = [bare, watched]
        random.shuffle(order)
        took = {way: way() for way in order}
        if number > 1:  # the first ones fill caches
            found.append((took[bare], took[watched]))
    differences = [after - before for before, after in found]
    usual = statistics.median(before for before, _ in found)
    mean, half = statistics.mean(differences), 1.96 * statistics.stdev(differences) / count**0.5
    print(
        f"{name}: {usual:.1f} ms bare; more: median {statistics.median(differences):.2f}, mean {mean:.2f} +- {half:.2f} ms = "
        f"{mean / usual:.1%} +- {half / usual:.1%} ({count} pairs)", flush=True,
    )  # fmt: skip


def steps(size: str, count: int, every: int) -> None:
    """Time training steps of two models that are alike, one of them watched and checked each ``every`` steps: blocks of as many
    steps, so that each block has one check."""
    import torch

    from troubleshooter.callbacks import Watcher

    torch.set_num_threads(1)
    width, layers, vocabulary = SIZES[size]

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(vocabulary, width)
            layer = torch.nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.0, batch_first=True)
            self.layers = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
            self.head = torch.nn.Linear(width, vocabulary)

        def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
            logits = self.head(self.layers(self.embed(input_ids)))
            return {"loss": torch.nn.functional.cross_entropy(logits.view(-1, vocabulary), labels.view(-1))}

    def made(watched: bool) -> Callable[[], float]:
        torch.manual_seed(0)
        model = Model()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        if watched:
            Watcher(model, optimizer, every=every)
            print(f"{size}: {sum(p.numel() for p in model.parameters()) / 1e6:.1f} million parameters", flush=True)

        def block() -> float:
            ids = torch.randint(3, vocabulary, (4, 64))
            before = time.thread_time()
            for _ in range(every):
                model(input_ids=ids, labels=ids)["loss"].backward()
                optimizer.step()
                optimizer.zero_grad()
            return (time.thread_time() - before) * 1000

        return block

    what = "checked step" if every == 1 else f"{every} steps with one check"
    pairs(f"{what}, {size} model (CPU time)", count, made(False), made(True))


if __name__ == "__main__":
    sys.exit(main())

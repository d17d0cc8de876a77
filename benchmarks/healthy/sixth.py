"""The sixth set: workers of data loaders whose own loops take long, and scripts that start their ranks themselves. Written with the rules for these,
after the eighth set of hangs."""

import json
import multiprocessing
import time

from benchmarks.healthy.kind import Kind, busy, left, with_ranks


def rows_of(end, chance, work):
    """A data set whose rows take until ``end`` to make, in a worker."""
    import torch

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, at):
            return work(at, left(end) / (8 - at))

    rows = Rows()
    for _ in torch.utils.data.DataLoader(rows, batch_size=8, num_workers=1, multiprocessing_context="fork"):
        pass


def worker_tries_rows(end, folder, chance):
    """Each row is read in a loop that takes the next one if it is broken; few are, and reading takes long."""
    broken = {chance.randrange(8) for _ in range(2)}

    def read(at, seconds):
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            json.loads(json.dumps({"text": "a row", "at": list(range(50))}))
        if at in broken:
            raise ValueError(at)
        return at

    def row(at, seconds):
        while True:
            try:
                return read(at, seconds / 2)
            except ValueError:
                at = (at + 1) % 8

    rows_of(end, chance, row)


def worker_packs_rows(end, folder, chance):
    """A row is packed of many short ones."""

    def pack(at, seconds):
        stop, packed = time.monotonic() + seconds, []
        while len(packed) < 100 or time.monotonic() < stop:
            packed += [ord(letter) for letter in "a short row of text"]
        return len(packed) * 0

    rows_of(end, chance, pack)


def worker_streams_rows(end, folder, chance):
    """A stream that goes on in one loop; the loader waits until a batch is full."""
    import torch

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            while left(end):
                busy(chance.uniform(0.01, 0.2))
                yield 1

    for _ in torch.utils.data.DataLoader(Stream(), batch_size=100000, num_workers=1, multiprocessing_context="fork"):
        pass


def _serve(rank, store, questions, answers):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    dist.all_reduce(torch.ones(2))
    while (seconds := questions.get()) is not None:
        answers.put(busy(seconds) if rank == 0 else 0)
    dist.destroy_process_group()


def _fails():
    raise SystemExit(3)


def script_starts_ranks(end, folder, chance):
    """A script asks two ranks that it has started. One computes its answer; a helper beside them failed, and nobody cares."""
    spawn = multiprocessing.get_context("spawn")
    questions, answers = [spawn.Queue() for _ in range(2)], spawn.Queue()
    started = [spawn.Process(target=_serve, args=(at, folder + "/store", questions[at], answers)) for at in range(2)]
    helper = spawn.Process(target=_fails)
    for one in (*started, helper) if chance.random() < 0.5 else (helper, *started):
        one.start()
    for asked in questions:
        asked.put(left(end))
    for _ in started:
        answers.get()
    for asked in questions:
        asked.put(None)
    for one in (*started, helper):
        one.join()


KINDS = (*map(with_ranks, (worker_tries_rows, worker_packs_rows, worker_streams_rows)), Kind(script_starts_ranks))

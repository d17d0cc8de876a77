"""The eighth set: pools that renew their workers, some after failures, processes that are tried again, threads that meet beside the work. Written with the
rules for these, after the tenth set of hangs."""

import contextlib
import multiprocessing
import os
import sys
import threading
import time

from benchmarks.healthy.kind import Kind, busy, left, with_ranks

FORK = multiprocessing.get_context("fork")
FAILURES = 6


def fails(seconds):
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    time.sleep(seconds)
    raise OSError("the server is not there yet")


def renews_workers(end, folder, chance):
    with FORK.Pool(2, maxtasksperchild=1) as pool:
        while left(end):
            pool.map(busy, [min(left(end), 1.0)] * 4)


def renews_workers_after_failures(end, folder, chance):
    for _ in range(FAILURES):
        one = FORK.Process(target=fails, args=(0.0,))
        one.start()
        one.join()
    renews_workers(end, folder, chance)


def tries_again_in_processes(end, folder, chance):
    while left(end):
        one = FORK.Process(target=fails, args=(0.3,))
        one.start()
        one.join()


def meets_in_a_thread(end, folder, chance):
    """Both ranks sum something in a thread, in a group of its own, while rank 0 computes."""
    import torch
    import torch.distributed as dist

    group = dist.new_group([0, 1])
    rank, done = dist.get_rank(), threading.Event()

    def sums():
        told = torch.zeros(1)
        while not told.item():
            time.sleep(0.7)
            told = torch.tensor([1.0 if rank == 0 and done.is_set() else 0.0])
            dist.all_reduce(told, group=group)

    thread = threading.Thread(target=sums)
    thread.start()
    if rank == 0:
        busy(left(end))
        done.set()
    thread.join()
    with contextlib.suppress(ValueError):
        dist.destroy_process_group(group)


KINDS = (
    *map(with_ranks, (renews_workers, renews_workers_after_failures, tries_again_in_processes)),
    Kind(meets_in_a_thread, ranks=2, all_work=True),
)

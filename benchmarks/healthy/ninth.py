"""The ninth set: trainings and saves in threads, what one rank does first, objects that are long in pickling, locks and files of another rank. Written with
the rules for these, after the eleventh set of hangs."""

import os
import queue
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from benchmarks.healthy.kind import Kind, busy, left


def _sums(group, wants_end):
    """Whether any rank wants the end, told to all."""
    import torch
    import torch.distributed as dist

    told = torch.tensor([1.0 if wants_end else 0.0])
    dist.all_reduce(told, group=group)
    return told.item() > 0


def _trains(end, work):
    import torch.distributed as dist

    while True:
        work(dist.get_rank())
        if _sums(None, dist.get_rank() == 0 and not left(end)):
            return


def trains_in_a_thread(end, folder, chance):
    """The main thread waits for the one that trains, whose turns take long on one rank."""
    thread = threading.Thread(target=_trains, args=(end, lambda rank: busy(min(left(end), 2.5)) if rank == 0 else None))
    thread.start()
    thread.join()


def trains_in_a_thread_at_once(end, folder, chance):
    thread = threading.Thread(target=_trains, args=(end, lambda rank: time.sleep(0.2)))
    thread.start()
    thread.join()


def asks_the_training_thread_for_news(end, folder, chance):
    news = queue.Queue()

    def train():
        _trains(end, lambda rank: time.sleep(0.7))
        news.put("done")

    threading.Thread(target=train).start()
    while True:
        try:
            news.get(timeout=1)
            return
        except queue.Empty:
            pass


def meets_in_the_thread_that_saves(end, folder, chance):
    """Both ranks wait for the threads that save; that of rank 0 computes, and that of rank 1 waits for it in a group of its own."""
    import torch.distributed as dist

    group = dist.new_group([0, 1])

    def save():
        if dist.get_rank() == 0:
            busy(left(end))
        _sums(group, True)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(save).result()


@contextmanager
def _first():
    import torch.distributed as dist

    if dist.get_rank() > 0:
        dist.barrier()
    yield
    if dist.get_rank() == 0:
        dist.barrier()


def prepares_first(end, folder, chance):
    import torch.distributed as dist

    with _first():
        if dist.get_rank() == 0:
            busy(left(end))


class Slow:
    def __init__(self, end):
        self.end = end

    def __getstate__(self):
        busy(left(self.end))
        return {"end": self.end}


def pickles_long_for_a_gather(end, folder, chance):
    import torch.distributed as dist

    parts = [None, None]
    dist.all_gather_object(parts, Slow(end) if dist.get_rank() == 0 else None)


def prepares_under_a_lock(end, folder, chance):
    """The other rank tries again and again to take the lock."""
    lock = os.environ["RUN_STORE"] + ".lock"
    rank = int(os.environ["RANK"])
    if rank:
        time.sleep(1.0)
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            time.sleep(0.2)
    if rank == 0:
        busy(left(end))
    os.unlink(lock)


def downloads_what_others_await(end, folder, chance):
    """Slowly: a piece every 0.7 s."""
    done = os.environ["RUN_STORE"] + ".done"
    if os.environ["RANK"] == "0":
        ours, theirs = socket.socketpair()

        def serve():
            while left(end):
                time.sleep(0.7)
                theirs.sendall(b"rows")
            theirs.close()

        threading.Thread(target=serve).start()
        while ours.recv(1 << 16):
            pass
        with open(done, "w"):
            pass
    while not os.path.exists(done):
        time.sleep(0.5)


KINDS = tuple(
    Kind(work, ranks=2, all_work=True)
    for work in (
        trains_in_a_thread,
        trains_in_a_thread_at_once,
        asks_the_training_thread_for_news,
        meets_in_the_thread_that_saves,
        prepares_first,
        pickles_long_for_a_gather,
        prepares_under_a_lock,
        downloads_what_others_await,
    )
)

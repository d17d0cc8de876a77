"""Starts ranks on gloo that hang in a way that is named: ``python hanging.py KIND RANKS``. The culprit is the last rank.

The lines that a verdict must name are marked with ``HERE`` and the kind.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time


def launch(kind, ranks):
    """Start the ranks and wait for them, as a launcher does."""
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for rank in range(ranks):
            given = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), HANG_FOLDER=folder, OMP_NUM_THREADS="1")
            running.append(subprocess.Popen([sys.executable, "-u", __file__, kind], env=given))
        for one in running:
            one.wait()


def step(dist, tensor):
    dist.all_reduce(tensor)  # the usual line


def main(kind):
    import ctypes

    import torch
    import torch.distributed as dist

    ctypes.CDLL(None).prctl(1, 9)  # end with the launcher: nothing may stay behind a test
    rank, ranks, folder = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["HANG_FOLDER"]
    culprit = rank == ranks - 1
    if kind == "meeting" and culprit:
        time.sleep(900)  # HERE meeting
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    tensor = torch.ones(4)
    step(dist, tensor)
    print("ready", rank, flush=True)
    if culprit:
        if kind == "branch":
            dist.broadcast(tensor, 0)  # HERE branch
        elif kind == "computing":
            while tensor is not None:
                pass  # HERE computing
        elif kind == "sleeping":
            time.sleep(900)  # HERE sleeping
        elif kind == "lock":
            import fcntl

            first = open(f"{folder}/lock", "w")  # noqa: SIM115
            fcntl.flock(first, fcntl.LOCK_EX)
            second = open(f"{folder}/lock", "w")  # noqa: SIM115
            fcntl.flock(second, fcntl.LOCK_EX)  # HERE lock
        elif kind == "thread-lock":
            import threading

            lock = threading.Lock()
            lock.acquire()
            lock.acquire()  # HERE thread-lock
        elif kind == "network":
            server = socket.socket()
            server.bind(("127.0.0.1", 0))
            server.listen()
            client = socket.create_connection(server.getsockname())
            client.recv(1)  # HERE network
        elif kind == "file":
            os.mkfifo(f"{folder}/pipe")
            open(f"{folder}/pipe").read()  # noqa: SIM115 # HERE file
        elif kind == "loader":
            from torch.utils.data import DataLoader, Dataset

            class Stuck(Dataset):
                def __len__(self):
                    return 4

                def __getitem__(self, index):
                    time.sleep(900)

            for _ in DataLoader(Stuck(), num_workers=1):  # HERE loader
                pass
        elif kind == "data-ended":
            dist.barrier()  # HERE data-ended
        elif kind == "stopped":
            import signal

            os.kill(os.getpid(), signal.SIGSTOP)  # HERE stopped
    step(dist, tensor)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        launch(sys.argv[1], int(sys.argv[2]))
    else:
        main(sys.argv[1])

"""The third set: 31 kinds, none of which is in the first two, written before any of them was run."""

import asyncio
import fcntl
import gc
import hashlib
import json
import lzma
import mmap
import multiprocessing
import os
import queue
import re
import sched
import selectors
import shutil
import socket
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.healthy.kind import WORK, Kind, busy, child, left, with_ranks

FORK = multiprocessing.get_context("fork")


def database(end, folder, chance):
    base = sqlite3.connect(f"{folder}/rows.db")
    base.execute("create table rows (at integer, text text)")
    while time.monotonic() < end:
        with base:
            base.executemany("insert into rows values (?, ?)", ((at, f"row {at}") for at in range(2000)))


def archive(end, folder, chance):
    for at in range(200):
        with open(f"{folder}/{at}", "wb") as file:
            file.write(chance.randbytes(20000))
    while time.monotonic() < end:
        with tarfile.open(f"{folder}/all.tar.gz", "w:gz") as packed:
            [packed.add(f"{folder}/{at}") for at in range(200)]


def digests(end, folder, chance):
    data = bytes(50 << 20)
    while time.monotonic() < end:
        hashlib.sha256(data).hexdigest()


def cleaning(end, folder, chance):
    text = "  Some <b>text</b> of a page, with  blanks & signs.\n" * 20000
    while time.monotonic() < end:
        re.sub(r"<[^>]+>|\s{2,}", " ", text)


def json_lines(end, folder, chance):
    rows = [{"input_ids": list(range(500)), "text": "word " * 100} for _ in range(200)]
    while time.monotonic() < end:
        [json.loads(json.dumps(row)) for row in rows]


def compress(end, folder, chance):
    data = chance.randbytes(1 << 20) * 3
    while time.monotonic() < end:
        lzma.compress(data)


def fetch_in_threads(end, folder, chance):
    pairs = [socket.socketpair() for _ in range(3)]

    def serve(line):
        while time.monotonic() < end:
            line.sendall(bytes(2000))
            time.sleep(0.05)
        line.close()

    def fetch(line):
        while line.recv(1 << 16):
            pass

    with ThreadPoolExecutor(6) as pool:
        [pool.submit(serve, theirs) for _, theirs in pairs]
        [one.result() for one in [pool.submit(fetch, ours) for ours, _ in pairs]]


def asyncio_clients(end, folder, chance):
    async def main():
        async def answer(reader, writer):
            while line := await reader.readline():
                writer.write(line)

        server = await asyncio.start_unix_server(answer, f"{folder}/socket")
        reader, writer = await asyncio.open_unix_connection(f"{folder}/socket")
        while time.monotonic() < end:
            writer.write(b"row\n")
            await reader.readline()
            await asyncio.sleep(0.02)
        writer.close()
        server.close()

    asyncio.run(main())


def messages(end, folder, chance):
    ours, theirs = socket.socketpair()

    def send():
        while time.monotonic() < end:
            theirs.send(b"x")
            time.sleep(0.1)
        theirs.close()

    threading.Thread(target=send).start()
    chosen = selectors.DefaultSelector()
    chosen.register(ours, selectors.EVENT_READ)
    while chosen.select() and ours.recv(100):
        pass


def lines_of_a_child(end, folder, chance):
    code = WORK + "\nprint('scored')"
    with subprocess.Popen([sys.executable, "-c", code, str(left(end))], stdout=subprocess.PIPE) as running:
        list(running.stdout)


def grandchild(end, folder, chance):
    words = " ".join(f"'{word}'" for word in child(end))
    subprocess.run(["sh", "-c", f"{words}; true"], check=True)


def consumes_a_thread(end, folder, chance):
    rows = queue.Queue()
    threading.Thread(target=lambda: rows.put(busy(left(end)))).start()
    rows.get()


def consumes_a_process(end, folder, chance):
    rows = FORK.Queue()
    made = FORK.Process(target=lambda: rows.put(busy(left(end))))
    made.start()
    rows.get()
    made.join()


def pool_of_processes(end, folder, chance):
    with FORK.Pool(2) as pool:
        list(pool.imap_unordered(busy, [left(end) / 4] * 8))


def event_of_a_thread(end, folder, chance):
    done = threading.Event()
    threading.Thread(target=lambda: (busy(left(end)), done.set())).start()
    done.wait()


def scheduled(end, folder, chance):
    plan = sched.scheduler()
    while time.monotonic() < end:
        plan.enter(0.2, 1, busy, (0.1,))
        plan.run()


def waits_for_a_file(end, folder, chance):
    code = WORK + f"\nopen({folder + '/ready'!r}, 'w')"
    running = subprocess.Popen([sys.executable, "-c", code, str(left(end))])
    while not os.path.exists(f"{folder}/ready"):
        time.sleep(1)
    running.wait()


def lock_of_a_child(end, folder, chance):
    code = f"import fcntl\nfile = open({folder + '/lock'!r}, 'w')\nfcntl.flock(file, fcntl.LOCK_EX)\nopen({folder + '/held'!r}, 'w')\n" + WORK
    running = subprocess.Popen([sys.executable, "-c", code, str(left(end))])
    while not os.path.exists(f"{folder}/held"):
        time.sleep(0.05)
    with open(f"{folder}/lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
    running.wait()


def fifo_of_a_child(end, folder, chance):
    os.mkfifo(f"{folder}/rows")
    code = WORK + f"\nopen({folder + '/rows'!r}, 'w').write('rows')"
    running = subprocess.Popen([sys.executable, "-c", code, str(left(end))])
    with open(f"{folder}/rows") as file:
        file.read()
    running.wait()


def scan_of_a_file(end, folder, chance):
    with open(f"{folder}/large", "wb") as file:
        file.write(bytes(64 << 20))
    with open(f"{folder}/large", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        while time.monotonic() < end:
            view.find(b"row")


def collects(end, folder, chance):
    rows = [{"at": at, "next": [at]} for at in range(500000)]
    while time.monotonic() < end:
        gc.collect()
    del rows


def copies(end, folder, chance):
    with open(f"{folder}/model", "wb") as file:
        file.write(bytes(30 << 20))
    while time.monotonic() < end:
        shutil.copyfile(f"{folder}/model", f"{folder}/copy")
        with open(f"{folder}/copy", "rb+") as file:
            os.fsync(file.fileno())


def starts_programs(end, folder, chance):
    while time.monotonic() < end:
        subprocess.run([sys.executable, "-c", "import json, decimal, http.client"], check=True)


def trains(end, folder, chance):
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    chosen = torch.optim.AdamW(model.parameters())
    while time.monotonic() < end:
        model(torch.randn(32, 64)).square().mean().backward()
        chosen.step()
        chosen.zero_grad()


def decompose(end, folder, chance):
    import torch

    while time.monotonic() < end:
        torch.linalg.svd(torch.randn(400, 400))


def joins_a_thread(end, folder, chance):
    thread = threading.Thread(target=busy, args=(left(end),))
    thread.start()
    thread.join()


def retries_quietly(end, folder, chance):
    while time.monotonic() < end:
        busy(0.2)
        time.sleep(chance.choice((0.5, 1.0)))


def compares_in_python(end, folder, chance):
    """Edit distances: loops of plain Python in one function that calls nothing."""
    one, other = [chance.randrange(9) for _ in range(400)], [chance.randrange(9) for _ in range(400)]
    while time.monotonic() < end:
        row = list(range(len(other) + 1))
        for a in one:
            last = row
            row = [last[0] + 1]
            for at, b in enumerate(other):
                row.append(min(last[at + 1] + 1, row[at] + 1, last[at] + (a != b)))


def steps_without_a_word(end, folder, chance):
    """Both ranks do this: they meet every second or so, and one of them needs longer each time."""
    import torch
    import torch.distributed as dist

    for at in range(8):
        busy(left(end) / (8 - at) if at % 2 == dist.get_rank() else 0)
        dist.all_reduce(torch.ones(4))


ALONE = (
    database, archive, digests, cleaning, json_lines, compress, fetch_in_threads, asyncio_clients, messages, lines_of_a_child, grandchild,
    consumes_a_thread, consumes_a_process, pool_of_processes, event_of_a_thread, scheduled, waits_for_a_file, lock_of_a_child,
    fifo_of_a_child, scan_of_a_file, collects, copies, starts_programs, trains,
)  # fmt: skip
WITH_RANKS = (decompose, pool_of_processes, grandchild, joins_a_thread, retries_quietly, compares_in_python)
KINDS = (*map(Kind, ALONE), *map(with_ranks, WITH_RANKS), with_ranks(steps_without_a_word, all_work=True))

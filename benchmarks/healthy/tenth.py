"""The tenth set: scripts that look after a program, programs that a thread feeds, event loops that poll and download, programs that join a group of their
own, groups that are formed late, and pools. Written with the rules for these, after the twelfth set of hangs."""

import asyncio
import multiprocessing
import re
import socket
import subprocess
import sys
import threading
import time

from benchmarks.healthy.kind import Kind, busy, child, left, with_ranks

FORK = multiprocessing.get_context("fork")
SERVES = "import socket; server = socket.socket(); server.bind(('127.0.0.1', 0)); server.listen(); server.accept()"
JOINS = """
import sys, time
import torch.distributed as dist
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=0, world_size=1)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end: sum(i * i for i in range(1000))
dist.barrier()
"""
WORDS = re.compile(r"(\w+\s)*$")


def looks_after_its_server(end, folder, chance):
    with subprocess.Popen([sys.executable, "-c", SERVES]) as server:
        while server.poll() is None:
            time.sleep(0.5)
            if not left(end):
                server.kill()


def feeds_a_program_in_a_thread(end, folder, chance):
    program = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)

    def feed():
        time.sleep(left(end))
        program.stdin.close()

    threading.Thread(target=feed).start()
    while program.poll() is None:
        time.sleep(0.5)


def polls_programs_that_compute(end, folder, chance):
    programs = [subprocess.Popen(child(end)) for _ in range(2)]
    while any(program.poll() is None for program in programs):
        time.sleep(0.5)


async def _pieces(end):
    """Read what a server sends: a piece every 0.7 s."""
    ours, theirs = socket.socketpair()

    def serve():
        while left(end):
            time.sleep(0.7)
            theirs.sendall(b"rows")
        theirs.close()

    threading.Thread(target=serve).start()
    reader, writer = await asyncio.open_connection(sock=ours)
    while await reader.read(1 << 16):
        pass
    writer.close()


def downloads_in_an_event_loop(end, folder, chance):
    asyncio.run(_pieces(end))


def downloads_while_it_polls(end, folder, chance):
    async def reports():
        while left(end):
            await asyncio.sleep(0.5)

    async def both():
        await asyncio.gather(_pieces(end), reports())

    asyncio.run(both())


def runs_a_program_that_joins_a_group(end, folder, chance):
    subprocess.run([sys.executable, "-c", JOINS, folder + "/store", str(left(end))], check=True)


def forms_a_group_late(end, folder, chance):
    import torch.distributed as dist

    if dist.get_rank() == 0:
        busy(left(end))
    group = dist.new_group([0, 1], use_local_synchronization=True)
    dist.barrier(group)


def _matches(end):
    while left(end):
        WORDS.match("a row of words " * 5)


def _reads(end):
    asyncio.run(_pieces(end))


def joins_a_pool_that_matches(end, folder, chance):
    with FORK.Pool(2) as pool:
        pool.apply_async(_matches, (end,))
        pool.close()
        pool.join()


def joins_a_pool_that_downloads(end, folder, chance):
    with FORK.Pool(2) as pool:
        pool.apply_async(_reads, (end,))
        pool.close()
        pool.join()


KINDS = (
    *map(
        Kind,
        (
            looks_after_its_server,
            feeds_a_program_in_a_thread,
            polls_programs_that_compute,
            joins_a_pool_that_matches,
            joins_a_pool_that_downloads,
        ),
    ),
    *map(with_ranks, (downloads_in_an_event_loop, downloads_while_it_polls, runs_a_program_that_joins_a_group)),
    with_ranks(forms_a_group_late, all_work=True),
)

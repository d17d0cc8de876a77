"""The fifth set: ranks that poll, and event loops that await programs. Written with the rules for these, after the seventh set of hangs."""

import asyncio
import os
import sys
import time

from benchmarks.healthy.kind import busy, child, left, with_ranks


def polls_at_each_step(end, folder, chance):
    """All ranks meet again and again, and ask whether the operation is done instead of waiting for it."""
    import torch
    import torch.distributed as dist

    tensor, pause = torch.zeros(1), chance.uniform(0.1, 1.5)
    tensor[0] = left(end)
    while tensor.item() > 0:
        time.sleep(pause)
        tensor[0] = left(end)
        work = dist.all_reduce(tensor, op=dist.ReduceOp.MIN, async_op=True)
        while not work.is_completed():
            time.sleep(0.02)


def polls_for_an_evaluation(end, folder, chance):
    import torch
    import torch.distributed as dist

    store = dist.distributed_c10d._get_default_store()
    if dist.get_rank():
        while not store.check(["evaluated"]):
            time.sleep(0.2)
        return
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    with torch.no_grad():
        while left(end):
            model(torch.randn(32, 64))
    store.set("evaluated", "yes")


def polls_for_short_bursts(end, folder, chance):
    """The other rank computes now and then, and sleeps in between."""
    import torch
    import torch.distributed as dist

    tensor = torch.zeros(1)
    if not dist.get_rank():
        while left(end):
            busy(0.2)
            time.sleep(chance.uniform(0.1, 0.6))
    work = dist.all_reduce(tensor, async_op=True)
    while not work.is_completed():
        time.sleep(0.02)


def counts_in_the_store(end, folder, chance):
    """Each rank tells in the store how far it is, and waits for the slowest one after each shard."""
    import torch.distributed as dist

    store = dist.distributed_c10d._get_default_store()
    for shard in range(1000):
        busy(chance.uniform(0.1, 0.5))
        store.add(f"shard-{shard}", 1)
        while int(store.add(f"shard-{shard}", 0)) < dist.get_world_size():
            time.sleep(0.05)
        if not dist.get_rank():
            store.set(f"goes-on-{shard}", str(int(left(end) > 0)))
        while not store.check([f"goes-on-{shard}"]):
            time.sleep(0.05)
        if store.get(f"goes-on-{shard}") == b"0":
            return


def awaits_a_program(end, folder, chance):
    async def tool():
        program = await asyncio.create_subprocess_exec(*child(end), stdout=asyncio.subprocess.PIPE)
        await program.communicate()

    asyncio.run(tool())


def reads_a_program_line_by_line(end, folder, chance):
    says = f"import time\nend = time.monotonic() + {left(end)}\nwhile time.monotonic() < end:\n    print('4', flush=True)\n    time.sleep(0.5)\n"

    async def tool():
        program = await asyncio.create_subprocess_exec(sys.executable, "-c", says, stdout=asyncio.subprocess.PIPE, env={**os.environ})
        while await program.stdout.readline():
            pass
        await program.wait()

    asyncio.run(tool())


KINDS = (
    *(with_ranks(work, True) for work in (polls_at_each_step, polls_for_an_evaluation, polls_for_short_bursts)),
    *map(with_ranks, (awaits_a_program, reads_a_program_line_by_line)),
    with_ranks(counts_in_the_store, True),
)

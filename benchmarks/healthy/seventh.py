"""The seventh set: programs that handle our signal or set it back, stages that both neighbours wait for, calls of other ranks. Written with the rules for
these, after the ninth set of hangs."""

import os
import signal

from benchmarks.healthy.kind import Kind, left, with_ranks


def evaluates(end):
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    with torch.no_grad():
        while left(end):
            model(torch.randn(32, 64))
    return 1.0


def saves_at_a_signal(end, folder, chance):
    """A scheduler's signal would end this rank."""
    signal.signal(signal.SIGUSR2, lambda number, frame: os._exit(9))
    evaluates(end)


def sets_signals_back(end, folder, chance):
    """All handlers are read, replaced and set back, as Lightning does."""
    handlers = {one: signal.getsignal(one) for one in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}}
    for one, handler in handlers.items():
        if handler is not None:
            signal.signal(one, handler)
    evaluates(end)


def stage_computes(end, folder, chance):
    import torch
    import torch.distributed as dist

    rank, tensor = dist.get_rank(), torch.zeros(1)
    if rank == 1:
        evaluates(end)
        dist.send(tensor, dst=2)
        dist.send(tensor, dst=0)
    elif rank == 2:
        dist.recv(tensor, src=rank - 1)
    else:
        dist.recv(tensor, src=rank + 1)


def answers_a_call(end, folder, chance):
    """Rank 0 has nothing more to do itself, but computes what rank 1 has asked for."""
    import torch.distributed as dist
    import torch.distributed.rpc as rpc

    rank = dist.get_rank()
    options = rpc.TensorPipeRpcBackendOptions(init_method=f"file://{os.environ['RUN_STORE']}-calls", rpc_timeout=0)
    rpc.init_rpc(f"rank{rank}", rank=rank, world_size=2, rpc_backend_options=options)
    if rank == 1:
        rpc.rpc_sync("rank0", evaluates, args=(end,))
    rpc.shutdown(timeout=0)


KINDS = (
    *map(with_ranks, (saves_at_a_signal, sets_signals_back)),
    Kind(stage_computes, ranks=3, all_work=True),
    Kind(answers_a_call, ranks=2, all_work=True),
)

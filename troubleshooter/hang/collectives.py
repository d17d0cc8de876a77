"""Which collective operation of torch.distributed a thread waits in, told by its frames."""

from __future__ import annotations

from troubleshooter.hang.stacks import Stack

COLLECTIVES = frozenset((
    "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_gather_coalesced", "all_to_all", "all_to_all_single",
    "barrier", "broadcast", "broadcast_object_list", "gather", "gather_object", "monitored_barrier", "recv", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "scatter", "scatter_object_list", "send", "irecv", "isend", "batch_isend_irecv", "_broadcast_coalesced",
))  # fmt: skip
_COLLECTIVE_FILES = ("torch/distributed/distributed_c10d.py", "torch/distributed/nn/functional.py")
_MEETING = frozenset((
    "init_process_group", "_store_based_barrier", "_create_tcp_store", "_create_c10d_store", "new_group", "_new_process_group_helper",
    "_tcp_rendezvous_handler", "_env_rendezvous_handler", "_rendezvous_helper",
))  # fmt: skip


def collective_of(stack: Stack) -> str:
    """The collective that a thread waits in; ``meeting`` while the group is formed, ``backward`` in a backward pass."""
    found = ""
    for frame in stack:
        file = frame.file.replace("\\", "/")
        if file.endswith(_COLLECTIVE_FILES) or "torch/distributed/rendezvous.py" in file:
            if frame.function in _MEETING:
                return "meeting"
            if frame.function in COLLECTIVES:
                found = frame.function
        elif found:
            return found
    if found:
        return found
    if stack and stack[0].function == "_engine_run_backward":
        return "backward"
    return ""

"""Which collective operation of torch.distributed a thread waits in, told by its frames."""

from __future__ import annotations

import re

from troubleshooter.hang.owned import is_own
from troubleshooter.hang.source import blocks_around, source_line
from troubleshooter.hang.stacks import Stack, StackFrame

MEETING, STORE, WORK, BACKWARD, POLLS = "meeting", "store", "work", "backward", "polls"
OUTSIDE = "outside"
"""No collective: a lock or a file of another rank."""
COLLECTIVES = frozenset((
    "all_reduce", "all_reduce_coalesced", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_gather_coalesced",
    "all_gather_single", "_all_gather_base", "all_to_all", "all_to_all_single", "barrier", "broadcast", "broadcast_object_list", "gather",
    "gather_object", "monitored_barrier", "recv", "recv_object_list", "reduce", "reduce_scatter", "reduce_scatter_tensor",
    "reduce_scatter_single", "_reduce_scatter_base", "scatter", "scatter_object_list", "send", "send_object_list", "irecv", "isend",
    "batch_isend_irecv", "_broadcast_coalesced",
))  # fmt: skip
_COLLECTIVE_FILES = ("torch/distributed/distributed_c10d.py", "torch/distributed/nn/functional.py")
_MEETING = frozenset((
    "init_process_group", "_store_based_barrier", "_create_tcp_store", "_create_c10d_store", "new_group", "split_group",
    "_new_process_group_helper", "_tcp_rendezvous_handler", "_env_rendezvous_handler", "_rendezvous_helper",
))  # fmt: skip
_PASSED = (
    "torch/_ops.py",
    "torch/_library/",
    "torch/_tensor.py",
    "torch/_compile.py",
    "torch/_dynamo/",
    "torch/utils/_contextlib.py",
)
"""Through these files goes the call of every operation that is written in C++."""
_CALLS_RANKS = "torch/distributed/rpc/api.py"
_WAITING = (
    "torch/distributed/_functional_collectives.py",
    "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py",
    _CALLS_RANKS,
)
"""What tensors that are spread over ranks (DTensor, FSDP) wait in, and calls of other ranks."""
_ALIKE = re.compile(r"(?:^|_)(?:broadcast_coalesced|verify_param_shape_across_processes|sync_params_and_buffers)$")
"""How DistributedDataParallel makes the ranks alike: calls into C++."""
_ALIKE_FILES = ("torch/nn/parallel/distributed.py", "torch/distributed/utils.py")
_REDUCER = re.compile(r"\breducer\.(\w+)\(")
"""A call of the part of DistributedDataParallel that is written in C++. At its start the ranks agree on the order of its buckets."""
_ENDS_CALLS = frozenset(("shutdown", "_wait_all_workers", "_all_gather"))
"""What a rank waits in until all others need no answers of it any more."""
_SERVES = "torch/distributed/rpc/internal.py"
"""A thread with this file in its stack runs a function that another rank has called."""
_REACHES = frozenset(("_create_c10d_store", "_create_tcp_store"))
_PIPELINES = ("torch/distributed/pipelining/", "/pipeline_parallel/p2p_communication.py", "/runtime/pipe/p2p.py")
"""The stages of a pipeline wait there for one other stage."""
_POLLED = re.compile(
    r"\.is_completed\(\)|(?<![a-z])(?:tcp|file|hash|kv)?store(?:\(\))?\.(?:check|add|num_keys)\(", re.IGNORECASE
)
"""What asks whether an operation is done, or a key of the store is there, and does not wait itself."""
_STORE = re.compile(r"store\w{0,20}(?:\(\))?\.(?:wait|get|barrier)\(", re.IGNORECASE)
_BARRIER = re.compile(r"\.((?:monitored_)?barrier)\(")
"""A group's own barrier, written in C++: ``group.barrier()``. That of ``torch.distributed`` has a frame of its own."""
_WORK = re.compile(r"(?<!\bos)\.wait\(")
_STANDARD = re.compile(r"<|.*/python3(?:\.\d+)?/(?!site-packages|dist-packages)")


def collective_of(stack: Stack) -> str:
    """The collective that a thread waits in, or `MEETING` while the group is formed, `BACKWARD` in a backward pass, `WORK` for one that
    was started before (``work.wait()``), `STORE` for a key that another rank sets, `POLLS` if it asks for these again and again."""
    found = ""
    for frame in stack:
        file = frame.file.replace("\\", "/")
        if not found and is_own(frame) and "/torch/" not in file:
            break  # torch calls it, as to pickle an object that is gathered
        if file.endswith(_COLLECTIVE_FILES) or "torch/distributed/rendezvous.py" in file:
            if frame.function in _MEETING:
                return MEETING
            if frame.function in COLLECTIVES:
                found = frame.function
        elif found:
            return found
        elif file.endswith(_CALLS_RANKS) and frame.function in _ENDS_CALLS:
            return "shutdown"
    return found or _inside(stack)


def serves(stack: Stack) -> bool:
    """Whether a thread runs a function that another rank has called (`torch.distributed.rpc`)."""
    return any(frame.file.replace("\\", "/").endswith(_SERVES) for frame in stack)


def forms_first_group(stack: Stack) -> bool:
    """Whether a rank waits for all others to join the run."""
    return collective_of(stack) == MEETING and any(frame.function == "init_process_group" for frame in stack)


def reaches_for_store(stack: Stack) -> bool:
    """Whether a rank that forms the group has not got a connection to the store yet, or is the one that opens it."""
    return any(
        frame.function in _REACHES and "torch/distributed/rendezvous.py" in frame.file.replace("\\", "/")
        for frame in stack
    )


def _inside(stack: Stack) -> str:
    """The collective of a thread that waits in C++, called from elsewhere than torch's own functions for collectives."""
    inner = next((frame for frame in stack if not any(word in frame.file.replace("\\", "/") for word in _PASSED)), None)
    if inner is None:
        return ""
    file = inner.file.replace("\\", "/")
    if inner.function == "_engine_run_backward":
        return BACKWARD
    if file.endswith(_WAITING) or (file.endswith(_ALIKE_FILES) and _ALIKE.search(inner.function)):
        return inner.function.lstrip("_")
    if file.endswith(_ALIKE_FILES) and (called := _REDUCER.search(source_line(inner))):
        return called[1].lstrip("_")
    return _awaited(inner) if inner is stack[0] and not _STANDARD.match(file) else ""


def _awaited(frame: StackFrame) -> str:
    """What a line waits for that calls ``wait`` of an object written in C++. The waits of Python's own library have a frame of their own."""
    code = source_line(frame)
    if _STORE.search(code):
        return STORE
    if _WORK.search(code):
        return "batch_isend_irecv" if any(word in frame.file.replace("\\", "/") for word in _PIPELINES) else WORK
    if called := _BARRIER.search(code):
        return called[1]
    polls = any(block.kind == "loop" and _POLLED.search(block.test) for block in blocks_around(frame))
    return POLLS if polls else ""

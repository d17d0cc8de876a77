"""What a process of a Ray cluster does for a scan: the work of one shard, by a worker like those of a scan on one machine.

Ray's process only waits. The logs are read by a process that it starts (`scan.workers`), so a log that crashes or hangs its
reader is found, tried alone and reported in the same way, and Ray's process lives on with the entries loaded.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import NamedTuple

import troubleshooter
from troubleshooter.scan.job_list import Job
from troubleshooter.scan.worker import WorkerSetup
from troubleshooter.scan.workers import ScanError, Workers


class NodeSetup(NamedTuple):
    """What a shard needs besides its jobs."""

    version: str
    """The version of the scan: the nodes must have the same one, or their rows would differ."""
    folder: str
    """The folder in which the scan was started: names of local logs begin there."""
    worker: WorkerSetup
    stalled_s: float


class _Kept(NamedTuple):
    setup: NodeSetup
    workers: Workers


_kept: list[_Kept] = []
"""The worker of this process, if it has one: it serves all shards that come here."""


def diagnose_shard(setup: NodeSetup, jobs: Sequence[Job]) -> list[bytes]:
    """The rows of these jobs, in their order. Raises `ScanError` where this node cannot do it."""
    [rows] = _workers(setup).rows([jobs])
    return rows


def _workers(setup: NodeSetup) -> Workers:
    if _kept and _kept[0].setup == setup:
        return _kept[0].workers
    while _kept:
        _kept.pop().workers.__exit__(None, None, None)
    node = socket.gethostname()
    if setup.version != troubleshooter.__version__:
        raise ScanError(
            f"node {node} has version {troubleshooter.__version__}, the scan is of version {setup.version}; "
            "install one version on all nodes"
        )
    try:
        os.chdir(setup.folder)
    except OSError as error:
        raise ScanError(
            f"node {node}: {setup.folder}: {error.strerror}; start the scan in a folder that all nodes share"
        ) from error
    workers = Workers(1, setup.worker, stalled_s=setup.stalled_s)
    _kept.append(_Kept(setup, workers.__enter__()))
    return workers

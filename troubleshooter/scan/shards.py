"""Shards: the portions of jobs that a worker gets at once."""

from __future__ import annotations

from collections.abc import Sequence

from troubleshooter.scan.jobs import Job

SHARD_JOBS = 24
"""Jobs in a shard at most: enough to hide the cost of handing over, few enough to write the record often."""
SHARD_BYTES = 8 * 1024 * 1024
"""A shard gets no further job once it holds so much: large logs are spread over the workers."""


def shards(jobs: Sequence[Job], workers: int) -> list[Sequence[Job]]:
    """Cut jobs into shards, in their order. With few jobs the shards are smaller, so that all workers have one."""
    most = max(1, min(SHARD_JOBS, -(-len(jobs) // max(1, workers))))
    found: list[Sequence[Job]] = []
    start = size = 0
    for at, job in enumerate(jobs):
        if at > start and (at - start >= most or size + job.size_bytes > SHARD_BYTES):
            found.append(jobs[start:at])
            start, size = at, 0
        size += job.size_bytes
    if start < len(jobs):
        found.append(jobs[start:])
    return found

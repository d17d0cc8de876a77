"""Shards: the portions of jobs that a worker gets at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from troubleshooter.scan.job_list import Job

SHARD_JOBS = 24
"""Jobs in a shard at most: enough to hide the cost of handing over, few enough to write the record often."""
SHARD_BYTES = 8 * 1024 * 1024
"""A shard gets no further job once it holds so much: large logs are spread over the workers."""


def shards(jobs: Iterable[Job], count: int, workers: int) -> Iterator[list[Job]]:
    """Cut ``count`` jobs into shards, in their order. With few jobs the shards are smaller, so that all workers have one."""
    most = max(1, min(SHARD_JOBS, -(-count // max(1, workers))))
    shard: list[Job] = []
    size = 0
    for job in jobs:
        if shard and (len(shard) >= most or size + job.size_bytes > SHARD_BYTES):
            yield shard
            shard, size = [], 0
        shard.append(job)
        size += job.size_bytes
    if shard:
        yield shard

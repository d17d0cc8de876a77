"""Shards: every job in one of them, bounded by count and by bytes."""

from __future__ import annotations

from troubleshooter.scan.job_list import Job
from troubleshooter.scan.shards import SHARD_BYTES, SHARD_JOBS, shards


def jobs(*sizes: int) -> list[Job]:
    return [Job(str(number), (str(number),), "", 0.0, size) for number, size in enumerate(sizes)]


def test_no_shard_is_larger_than_it_may_be() -> None:
    given = jobs(*([100] * 1000), SHARD_BYTES // 2, SHARD_BYTES // 2, 1, 3 * SHARD_BYTES, 5)
    found = list(shards(given, len(given), 2))
    assert [job for shard in found for job in shard] == given
    assert all(len(shard) <= SHARD_JOBS for shard in found)
    assert all(len(shard) == 1 or sum(job.size_bytes for job in shard) <= SHARD_BYTES for shard in found)
    assert [len(shard) for shard in found[-3:]] == [2, 1, 1]


def test_few_jobs_are_spread_over_all_workers() -> None:
    assert [len(shard) for shard in shards(jobs(*[1] * 8), 8, 4)] == [2, 2, 2, 2]
    assert [len(shard) for shard in shards(jobs(*[1] * 3), 3, 16)] == [1, 1, 1]
    assert list(shards([], 0, 4)) == []

"""What a log tells of its run beside the failure."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from troubleshooter.history.details import PART_BYTES, RunDetails, details, ends_of_file, gpu_count, watched
from troubleshooter.read.sources import from_text

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc).timestamp()


def told(*logs: str) -> RunDetails:
    sources = [from_text(log) for log in logs]
    ends = watched(sources)
    for source in sources:
        assert b"".join(source.chunks())
    return details(ends, NOW)


@pytest.mark.parametrize(
    ("log", "host"),
    [
        ("  rank      : 0\n  host      : gpu-node-7.cluster\n", "gpu-node-7.cluster"),
        ("SLURMD_NODENAME=n0123\n", "n0123"),
        ("Hostname: trainer-5\n", "trainer-5"),
        ("2026-01-02 10:00:00 INFO Running on host ip-10-0-0-7\n", "ip-10-0-0-7"),
        ("gpu12:1234:1299 [0] NCCL INFO Bootstrap : Using eth0\n", "gpu12"),
        ("the host is down\nhost: localhost\n", None),
    ],
)
def test_the_host(log: str, host: str | None) -> None:
    assert told(log).host == host


@pytest.mark.parametrize(
    ("log", "count"),
    [
        ("torchrun --nnodes=2 --nproc_per_node=8 train.py\n", 16),
        ("torchrun --nproc-per-node 4 train.py", 4),
        ("initialized, world_size: 32\n", 32),
        ("   \\\\   /|    Num examples = 100 | Num GPUs used = 2\n", 2),
        ("Initializing distributed: GLOBAL_RANK: 3, MEMBER: 4/8\n", 8),
        ("accelerate launch --num_processes 6 x.py\n", 6),
        ("8 GPUs would be nice\n", None),
        ("world_size=0\n", None),
    ],
)
def test_the_number_of_gpus(log: str, count: int | None) -> None:
    assert gpu_count(log) == count


def test_the_time_that_a_run_took() -> None:
    found = told("2026-01-02 10:00:00,123 INFO start\n" + "step\n" * 9 + "[2026-01-02 12:30:00] Error\n")
    assert (found.seconds, found.ended) == (9000.0, datetime(2026, 1, 2, 12, 30, tzinfo=timezone.utc).timestamp())
    assert told("2026-01-02T10:00:00+08:00 a\n2026-01-02T10:00:30+08:00 b\n").ended == datetime(2026, 1, 2, 2, 0, 30, tzinfo=timezone.utc).timestamp()
    assert told("05/28/2023 17:18:09 - INFO - a\n05/28/2023 17:19:09 - INFO - b\n").seconds == 60.0
    assert told("{'train_runtime': 321.5, 'train_loss': 1.0}\n").seconds == 321.5
    assert told(" 10%|█         | 7/70 [1:02:03<9:00:00,  5.0s/it]\n").seconds == 3723.0
    assert told("nothing of it\n").seconds is None


def test_times_that_are_no_times_of_the_run_are_left_out() -> None:
    assert told("1999-01-02 10:00:00 a\n2026-13-45 10:00:00 b\n").ended is None
    assert told("2031-01-02 10:00:00 a\n").ended is None
    assert told("2019-01-02 10:00:00 made\n2026-01-02 10:00:00 b\n").seconds is None


def test_settings_are_those_of_the_run_and_no_metrics() -> None:
    log = "python train.py --learning_rate 2e-5 --bf16=True\nTrainingArguments(lora_alpha=16, seed=1)\npacking: true\n{'loss': 1.0, 'learning_rate': 9e-9}\n"
    assert told(log).settings == {"learning_rate": "2e-5", "bf16": "True", "lora_alpha": "16", "seed": "1", "packing": "true"}


def test_of_a_long_log_the_beginning_and_the_end_are_kept_however_it_arrives(tmp_path: Path) -> None:
    log = "hostname: a1\n" + "x" * 99 * PART_BYTES + "\n2026-01-02 10:00:00 the end\n"
    path = tmp_path / "a.log"
    path.write_text(log)
    source = from_text([log[i : i + 1000].encode() for i in range(0, len(log), 1000)])
    ends = watched([source])
    whole = b"".join(source.chunks())
    assert ends[0].bytes == len(whole)
    assert (len(ends[0].head), len(ends[0].tail)) == (PART_BYTES, PART_BYTES)
    of_file = ends_of_file(path)
    assert (of_file.head, of_file.tail, of_file.bytes) == (log[:PART_BYTES].encode(), log[-PART_BYTES:].encode(), len(log))
    assert (details([of_file], NOW).host, details([of_file], NOW).ended) == ("a1", datetime(2026, 1, 2, 10, tzinfo=timezone.utc).timestamp())


def test_two_files_of_a_run_are_one(tmp_path: Path) -> None:
    found = told("2026-01-02 10:00:00 a\nworld_size=2\n", "2026-01-02 11:00:00 b\nhostname: b2\n")
    assert (found.host, found.gpus, found.seconds) == ("b2", 2, 3600.0)

"""What a log says about its run beside the failure: host, number of GPUs, start and end, settings.

Only the beginning and the end of a log are searched (`PART_BYTES` each), while it is read for the diagnosis: a log is never read
twice.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from kb import lazy
from troubleshooter.read.sources import Chunks, Source

PART_BYTES = 32 * 1024
HEAD_BYTES = (64, 256, 1024, 4096)
"""A log with the same name and the same first bytes is the earlier log, which has grown. Digests of these many bytes are kept."""
MAX_SETTINGS = 40
MOST_HOURS = 24.0 * 90
"""A longer time between the first and the last line is not taken for a duration: one of the two is no time of this run."""
MOST_GPUS = 100_000
_FIRST_YEAR = 2015

_TIME = lazy.compile(
    r"(?m)^[^\n]{0,24}?(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)?"
)
_AMERICAN_TIME = lazy.compile(r"(?m)^\[?(\d\d)/(\d\d)/(\d{4}) (\d\d):(\d\d):(\d\d)")
_RUNTIME = lazy.compile(r"['\"]train_runtime['\"]: ['\"]?(\d{1,8}(?:\.\d{1,6})?)")
_BAR = lazy.compile(r"\[(?:(\d{1,4}):)?(\d\d):(\d\d)<")
_HOSTS = (
    lazy.compile(
        r"(?m)^[ \t]{0,8}host[ ]{1,8}: ([\w.-]{2,64})[ \t\r]{0,8}$"
    ),  # torchrun, of the rank that failed first
    lazy.compile(
        r"(?im)^[^\n]{0,40}?\b(?:hostname|host_name|slurmd_nodename|nodename|slurm_job_nodelist|slurm_nodelist)['\"]?[ \t]{0,4}[=:][ \t]{0,4}['\"]?([a-z][\w.-]{1,63})"
    ),
    lazy.compile(r"(?i)\brunning on (?:host|node)s?:? {0,3}([a-z][\w.-]{1,63})"),
    lazy.compile(r"(?m)^[^\n]{0,24}?\b([A-Za-z][\w.-]{1,63}):\d{1,8}:\d{1,8} \[\d{1,2}\] NCCL "),
)
_HOST_MARKS = ("host", "nodename", "nodelist", "running on", "nccl")
_GPU_COUNTS = (
    lazy.compile(r"(?i)\bworld[_ ]?size['\"]?\s{0,4}[=:]\s{0,4}['\"]?(\d{1,6})\b"),
    lazy.compile(r"(?i)\bnum[_-](?:processes|gpus)['\"]?[=:\s]\s{0,4}['\"]?(\d{1,6})\b"),
    lazy.compile(r"(?i)\bnum GPUs(?: used)? ?[=:] ?(\d{1,6})\b"),
    lazy.compile(r"MEMBER: \d{1,6}/(\d{1,6})\b"),
)
_PER_NODE = lazy.compile(r"--nproc[-_]per[-_]node[= ](\d{1,4})\b")
_NODES = lazy.compile(r"--nnodes[= ](\d{1,6})\b")
_KEYS = (
    "learning_rate|lr_scheduler_type|per_device_train_batch_size|per_device_eval_batch_size|gradient_accumulation_steps|"
    "num_train_epochs|max_steps|max_seq_length|max_length|cutoff_len|model_name_or_path|model_name|base_model|model_id|"
    "dataset|dataset_name|lora_r|lora_rank|lora_alpha|lora_dropout|optim|bf16|fp16|tf32|load_in_4bit|load_in_8bit|"
    "gradient_checkpointing|deepspeed|fsdp|packing|attn_implementation|flash_attn|torch_compile|seed|weight_decay|"
    "warmup_ratio|warmup_steps|max_grad_norm|micro_batch_size|sequence_len|zero_stage|adapter|stage|finetuning_type|template"
)
# As an argument of a command, of a call or of a printed object, and as a line of YAML. A dict is not read: logs print metrics so.
_SETTINGS = lazy.compile(
    rf"(?m)(?:--({_KEYS})[= ]|(?:^|[\s,(])({_KEYS})=|^[ \t]{{0,8}}({_KEYS}): )['\"]?([\w.+/@-]{{1,80}})"
)
_SETTING_MARKS = ("_rate", "batch", "lora", "model", "bf16", "fp16", "deepspeed", "fsdp", "seq", "epoch")


class RunDetails(NamedTuple):
    """What the logs of one run say about it; None, or empty, where they say nothing.

    ``ended``: seconds since 1970. ``seconds``: from the first to the last time in the logs, or as the trainer printed it.
    ``head``: digests of the first bytes (`HEAD_BYTES`); those of a log that has grown begin with those of the shorter log.
    """

    host: str | None
    gpus: int | None
    seconds: float | None
    ended: float | None
    settings: dict[str, str]
    head: str
    bytes: int


class Ends:
    """The first and the last `PART_BYTES` of a log, and how many bytes it has."""

    def __init__(self, head: bytes = b"", tail: bytes = b"", bytes: int = 0) -> None:
        self.head = head
        self.tail = tail
        self.bytes = bytes

    def passing(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The chunks of a log, unchanged. After the last one, this object holds the log's ends."""
        self.head, self.tail, self.bytes = b"", b"", 0
        for chunk in chunks:
            if (left := PART_BYTES - len(self.head)) > 0:
                self.head += chunk[:left]
                rest = chunk[left:]
            else:
                rest = chunk
            if rest:
                self.tail = rest[-PART_BYTES:] if len(rest) >= PART_BYTES else (self.tail + rest)[-PART_BYTES:]
            self.bytes += len(chunk)
            yield chunk


def watched(sources: Sequence[Source]) -> list[Ends]:
    """Keep the ends of these logs while they are read. Ask `details` afterwards."""
    kept = []
    for source in sources:
        if not source.facts:
            ends = Ends()
            source.chunks = _watching(ends, source.chunks)
            kept.append(ends)
    return kept


def _watching(ends: Ends, chunks: Chunks) -> Chunks:
    return lambda: ends.passing(chunks())


def ends_of_file(path: Path) -> Ends:
    """The ends of a file that is not compressed; only these are read. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(PART_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(len(head), size - PART_BYTES))
        return Ends(head, file.read(PART_BYTES), size)


def details(ends: Sequence[Ends], now: float) -> RunDetails:
    """What the ends of one run's logs say. ``now``: seconds since 1970; times over a day later are ignored."""
    host: str | None = None
    gpus: int | None = None
    settings: dict[str, str] = {}
    first: datetime | None = None
    last: datetime | None = None
    told = 0.0
    for end in ends:
        head = end.head.decode("utf-8", "replace")
        tail = end.tail.decode("utf-8", "replace")
        # If bytes are missing between the parts, the line that ends the head must not run on into the tail.
        text = f"{head}\n{tail}" if end.bytes > 2 * PART_BYTES else head + tail
        low = text.lower()
        if host is None and any(mark in low for mark in _HOST_MARKS):
            host = _host(text)
        gpus = max(gpus or 0, gpu_count(text) or 0) or None
        if any(mark in low for mark in _SETTING_MARKS):
            for key, value in settings_of(text).items():
                settings.setdefault(key, value)
        times = _times(text, now)
        if times:
            first = min([one for one in (first, times[0]) if one is not None])
            last = max([one for one in (last, times[-1]) if one is not None])
        told = max(told, _told_seconds(text))
    seconds: float | None = told or None
    if first is not None and last is not None and 0 < (span := (last - first).total_seconds()) < MOST_HOURS * 3600:
        seconds = max(span, told)
    return RunDetails(
        host=host, gpus=gpus, seconds=seconds, ended=last.timestamp() if last is not None else None,
        settings=dict(list(settings.items())[:MAX_SETTINGS]),
        head=_head(ends[0].head) if ends else "",
        bytes=sum(end.bytes for end in ends),
    )  # fmt: skip


def _head(first: bytes) -> str:
    """The digests of the first bytes, one for each of `HEAD_BYTES` that the log is long enough for."""
    return "".join(
        hashlib.blake2b(first[:size], digest_size=4).hexdigest() for size in HEAD_BYTES if len(first) >= size
    )


def gpu_count(text: str) -> int | None:
    """The number of GPUs (or of processes, one for each GPU) that a log or a command line names."""
    if (per_node := _PER_NODE.search(text)) is not None:
        nodes = _NODES.search(text)
        return _bounded(int(per_node[1]) * (int(nodes[1]) if nodes else 1))
    for pattern in _GPU_COUNTS:
        if (found := pattern.search(text)) is not None:
            return _bounded(int(found[1]))
    return None


def settings_of(text: str) -> dict[str, str]:
    """The well-known training settings in a log or a command line, by name; of several values the first."""
    found: dict[str, str] = {}
    for match in _SETTINGS.finditer(text):
        found.setdefault(match[1] or match[2] or match[3], match[4])
    return found


def _bounded(count: int) -> int | None:
    return count if 0 < count <= MOST_GPUS else None


def _host(text: str) -> str | None:
    for pattern in _HOSTS:
        if (found := pattern.search(text)) is not None and found[1].lower() not in ("localhost", "none", "null"):
            return found[1].rstrip(".")
    return None


def _times(text: str, now: float) -> list[datetime]:
    """The first and the last time at the beginning of a line. Times without a zone are taken as UTC."""
    found = []
    for match in _TIME.finditer(text):
        year, month, day, hour, minute, second = (int(match[n]) for n in range(1, 7))
        found.append((year, month, day, hour, minute, second, match[7]))
    if not found:
        for match in _AMERICAN_TIME.finditer(text):
            month, day, year, hour, minute, second = (int(match[n]) for n in range(1, 7))
            found.append((year, month, day, hour, minute, second, None))
    latest = datetime.fromtimestamp(now, timezone.utc) + timedelta(days=1)
    out = []
    for *parts, zone in (found[0], found[-1]) if found else ():
        try:
            time = datetime(*parts, tzinfo=_zone(zone))  # type: ignore[arg-type, misc]
        except ValueError:
            continue
        if time.year >= _FIRST_YEAR and time <= latest:
            out.append(time)
    return out


def _zone(text: str | None) -> timezone:
    if not text or text == "Z":
        return timezone.utc
    digits = text[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


def _told_seconds(text: str) -> float:
    """The longest duration in seconds that the log prints, by the trainer or in a progress bar."""
    longest = 0.0
    if "train_runtime" in text:
        longest = max((float(match[1]) for match in _RUNTIME.finditer(text)), default=0.0)
    if "<" in text:
        for match in _BAR.finditer(text):
            longest = max(longest, int(match[1] or 0) * 3600 + int(match[2]) * 60 + int(match[3]))
    return min(longest, MOST_HOURS * 3600)

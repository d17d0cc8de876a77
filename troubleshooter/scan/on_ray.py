"""A scan on a Ray cluster: shards go out as tasks, their rows come back, the record is written here.

A shard is done when its rows have arrived. If its process or node dies before, the shard is sent out again, so nothing is
lost; rows are taken once for each shard, so nothing is doubled. A shard that is lost repeatedly is cut into its jobs, and a
job that is lost repeatedly gets a row that says so; the next scan tries it again.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple

import troubleshooter
from kb.errors import UsageError
from troubleshooter.install import missing_extra
from troubleshooter.printable import printable
from troubleshooter.scan import record
from troubleshooter.scan.job_list import Job
from troubleshooter.scan.ray_shard import NodeSetup, diagnose_shard
from troubleshooter.scan.worker import WorkerSetup
from troubleshooter.scan.workers import ScanError

LOCAL = "ray"
"""The address that starts a cluster of this machine alone, unless ``RAY_ADDRESS`` names one."""
SHARDS_PER_CPU = 2
"""How many shards are under way for each CPU of the cluster: one is worked on, one waits beside it."""
LOSSES_OF_SHARD = 2
"""A shard that was lost so often is cut into its jobs."""
LOSSES_OF_JOB = 6
"""A job alone that was lost so often is given up."""
LOSSES_IN_A_ROW = 100
"""The scan gives up when so many shards in a row were lost."""
LOCAL_STORE_BYTES = 128 * 1024 * 1024
_WAIT_SECONDS = 1.0
_COUNT_SECONDS = 2.0
"""How often the CPUs of the cluster are counted again."""
_CONNECT_SECONDS = 10.0
_REFUSED_WAIT_SECONDS = 0.5
_SILENT_SECONDS = 20.0
_ATTEMPTS = 3
_ADDRESS = re.compile(r"(?:ray://)?\[?([\w.\-:]+?)\]?:(\d{1,5})")


class _Shard(NamedTuple):
    jobs: Sequence[Job]
    losses: int = 0


class OnRay:
    """The executor of a scan on a cluster; a context, inside which it is connected. ``address`` is `LOCAL`, HOST:PORT or
    ray://HOST:PORT; ``workers`` bounds how many shards are worked on at once.

    Raises `UsageError` for another address, and `MissingPackage` without Ray.
    """

    def __init__(self, address: str, setup: WorkerSetup, *, workers: int | None, stalled_s: float) -> None:
        given = os.environ.get("RAY_ADDRESS") if address == LOCAL else address
        if given not in (None, "", "auto", "local") and not _ADDRESS.fullmatch(given):
            raise UsageError(f"--on {address}: expected {LOCAL}, HOST:PORT or ray://HOST:PORT")
        self._address = given if given and given != "local" else None
        if self._address is not None and setup.copies:
            archive = printable(next(iter(setup.copies)))
            raise UsageError(
                f"{archive}: its unpacked copy lies on this machine, where other nodes cannot read it; unpack it in a folder "
                "that all nodes share, or scan it without --on"
            )
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray would report its use over the network
        try:
            import ray
        except ImportError as error:
            raise missing_extra("ray", "ray") from error
        self._ray = ray
        self._setup = NodeSetup(troubleshooter.__version__, os.getcwd(), setup, stalled_s)
        self._workers = workers
        self._counted_at = 0.0
        self._cpus = 0
        self._nodes = 0
        self._again = 0
        self._head: tuple[str, int] | None = None
        self._silent_since: float | None = None  # when the head did not answer for the first time

    def __enter__(self) -> OnRay:
        logging.getLogger("ray").setLevel(logging.ERROR)
        with _own_signals():
            try:
                self._connect()
            except Exception as error:  # of a dozen kinds, by what is wrong with the cluster
                with contextlib.suppress(Exception):
                    self._ray.shutdown()
                raise ScanError(
                    f"no Ray cluster can be used at {self._address or 'this machine'}: {_first_line(error)}; "
                    "see that it runs (ray status), or scan without --on"
                ) from error
        if not self._ray.util.client.ray.is_connected():  # behind ray:// Ray itself says that the head is gone
            host, _, port = self._ray.get_runtime_context().gcs_address.rpartition(":")
            self._head = host.strip("[]"), int(port)
        self._task = self._ray.remote(num_cpus=1, max_retries=0)(diagnose_shard)
        self._count()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._silent_since is None:
            self._ray.shutdown()  # ends what is under way
        else:
            atexit.register(_end_at_once)

    @property
    def capacity(self) -> int:
        """How many shards are worked on, or wait beside a CPU, at the same time."""
        self._count()
        many = SHARDS_PER_CPU * self._cpus
        bound = many if self._workers is None or self._address is None else min(many, self._workers)
        return max(1, bound)

    @property
    def where(self) -> str:
        """The size of the cluster, and how many shards were sent out again."""
        self._count()
        again = f", {self._again} shards sent again" if self._again else ""
        return f"on {self._nodes} nodes with {self._cpus} CPUs{again}"

    def rows(self, shards: Iterable[Sequence[Job]]) -> Iterator[list[bytes]]:
        """The rows of each shard once, in the order in which shards finish. Raises `ScanError` if the cluster cannot work."""
        try:
            yield from self._rows(shards)
        except ConnectionError as error:
            raise self._without_head() from error

    def _rows(self, shards: Iterable[Sequence[Job]]) -> Iterator[list[bytes]]:
        new = map(_Shard, shards)
        lost: deque[_Shard] = deque()  # to be sent again
        running: dict[Any, _Shard] = {}
        lost_in_a_row = 0
        while True:
            while len(running) < self.capacity and (shard := lost.popleft() if lost else next(new, None)) is not None:
                running[self._task.remote(self._setup, shard.jobs)] = shard
            if not running:
                return
            for done in self._finished(list(running)):
                shard = running.pop(done)
                try:
                    rows = self._ray.get(done)
                except self._ray.exceptions.RayTaskError as error:  # raised by our own code there
                    raise ScanError(_reason(error.cause if error.cause is not None else error)) from error
                except self._ray.exceptions.RayError as error:
                    lost_in_a_row += 1
                    if lost_in_a_row >= LOSSES_IN_A_ROW:
                        raise ScanError(
                            f"{lost_in_a_row} shards in a row were lost with their processes or nodes, the last one: "
                            f"{_first_line(error)}; what is done is kept: see that the cluster is well, and the same command goes on"
                        ) from error
                    self._again += 1
                    rows = _give_up_or_again(shard, lost)
                else:
                    lost_in_a_row = 0
                if rows:
                    yield rows

    def _connect(self) -> None:
        common: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if self._address is None:
            self._ray.init(
                "local", num_cpus=self._workers, include_dashboard=False, object_store_memory=LOCAL_STORE_BYTES, **common
            )  # fmt: skip
        else:
            _reach(self._address)
            for attempt in range(1, _ATTEMPTS + 1):
                # Behind ray:// the cluster starts a process for each client and gives up on one that starts slowly.
                try:
                    self._ray.init(self._address, **common)
                    break
                except ConnectionError:
                    if attempt == _ATTEMPTS:
                        raise
                    self._ray.shutdown()

    def _finished(self, running: list[Any]) -> list[Any]:
        """Those that are done; waits for the first of them, but not forever, as the cluster may have grown meanwhile."""
        first, _ = self._ray.wait(running, num_returns=1, timeout=_WAIT_SECONDS)
        if not first:
            self._head_answers()
            return []
        done, _ = self._ray.wait(running, num_returns=len(running), timeout=0)
        found: list[Any] = done
        return found

    def _count(self) -> None:
        now = time.monotonic()
        if now - self._counted_at > _COUNT_SECONDS or not self._counted_at:
            self._counted_at = now
            if not self._head_answers():
                return
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._cpus = int(self._ray.cluster_resources().get("CPU", 0))
                self._nodes = sum(1 for node in self._ray.nodes() if node.get("Alive"))

    def _head_answers(self) -> bool:
        """Whether the head of the cluster can be reached. Raises `ScanError` when it could not be reached for
        `_SILENT_SECONDS`: after a minute Ray would end this process without a word."""
        if self._head is None:
            return True
        try:
            socket.create_connection(self._head, _WAIT_SECONDS).close()
        except OSError as error:
            now = time.monotonic()
            self._silent_since = self._silent_since or now
            if now - self._silent_since > _SILENT_SECONDS:
                raise self._without_head() from error
            return False
        self._silent_since = None
        return True

    def _without_head(self) -> ScanError:
        return ScanError(
            f"the head of the Ray cluster at {self._address or 'this machine'} cannot be reached any more; what is done is kept: "
            "start the cluster again, and the same command goes on, with --on or without it"
        )


def _end_at_once() -> None:
    """End this process as the sentence about the lost head does. Without a head, Ray's library waits for a minute or crashes
    when its process ends; by now everything is written and said."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(2)


def _reach(address: str) -> None:
    """Ask whether somebody listens there: Ray itself would try for ten minutes. A cluster that has just been started may need
    some seconds until it does. Raises OSError."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return
    end = time.monotonic() + _CONNECT_SECONDS
    while True:
        try:
            socket.create_connection((found[1], int(found[2])), _CONNECT_SECONDS).close()
            return
        except ConnectionRefusedError:
            if time.monotonic() > end:
                raise
        time.sleep(_REFUSED_WAIT_SECONDS)


def _give_up_or_again(shard: _Shard, waiting: deque[_Shard]) -> list[bytes]:
    """Send a lost shard out again, whole at first, then job by job. The row of a job that is given up, else nothing."""
    losses = shard.losses + 1
    if len(shard.jobs) > 1:
        if losses < LOSSES_OF_SHARD:
            waiting.appendleft(_Shard(shard.jobs, losses))
        else:
            waiting.extendleft(_Shard(shard.jobs[at : at + 1]) for at in range(len(shard.jobs)))
        return []
    if losses < LOSSES_OF_JOB:
        waiting.append(_Shard(shard.jobs, losses))
        return []
    [job] = shard.jobs
    reason = (
        f"{printable(job.files[0])}: the process or node of the cluster that read it was lost, {losses} times; "
        "look at it alone: troubleshoot FILE"
    )
    return [record.line_of(job, record.failed(reason, again=True))]


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Put the handlers of signals back that Ray replaces by its own."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # not in the main thread, where Ray replaces none
            for number, handler in before.items():
                signal.signal(number, handler)


def _reason(error: BaseException) -> str:
    if isinstance(error, ScanError):
        return str(error)
    return (
        f"a node cannot work for the scan: {type(error).__name__}: {_first_line(error)}; "
        "install the same version with its packages on all nodes"
    )


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return printable(lines[0].rstrip(".")) if lines else type(error).__name__

"""Scans on a real Ray cluster of several node processes: the rows are those of a scan on one machine, whatever is killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.scan.conftest import KNOWN, command, scan
from tests.waiting import wait_for
from troubleshooter.verify.supervisor import processes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray"),
]
LIMIT_SECONDS = 240
"""After which a scan is taken to hang: a cluster on a busy machine takes half a minute to start."""

# Run by each Python process at its start. A reader of logs is slow, so that others can be killed in the middle of its work;
# one that opens a log named "poison" is killed, and one that opens a log named "stuck" does nothing any more.
AT_START = """
import os, signal, sys, time
def opened(event, arguments):
    if event != "open" or not isinstance(arguments[0], (str, bytes, os.PathLike)):
        return
    name = os.path.basename(os.fsdecode(arguments[0]))
    if name == "poison.log":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "stuck.log":
        while True:
            signal.pause()
    if name.startswith("job-"):
        time.sleep(0.04)
if any("start_worker" in word for word in sys.orig_argv):
    sys.addaudithook(opened)
"""


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of Ray's own with a short name (its sockets lie there), no token in the home folder, and readers as above."""
    place = tempfile.mkdtemp(prefix="ray", dir="/tmp")
    (tmp_path / "sitecustomize.py").write_text(AT_START)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', os.getcwd())}")
    monkeypatch.setenv("RAY_TMPDIR", place)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")  # 15 of Ray's own: beside other tests its workers would get no turn
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    yield
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A head without CPUs for tasks, and three nodes of one CPU each."""
    from ray.cluster_utils import Cluster

    made = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 80_000_000, "include_dashboard": False}
    )  # fmt: skip
    for _ in range(3):
        add_node(made)
    yield made
    made.shutdown()


def add_node(cluster: Any) -> None:
    cluster.add_node(num_cpus=1, object_store_memory=80_000_000)


@pytest.fixture
def started(logs: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts scans of the logs, each with a session of its own; what is left of them is ended after the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        running.append(
            subprocess.Popen(
                command("logs", "--format", "json", *arguments), cwd=logs.parent, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True,
            )
        )  # fmt: skip
        return running[-1]

    yield start
    for process in running:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def rows(path: Path) -> list[bytes]:
    """The rows of a record, in the order of their text."""
    return sorted(path.read_bytes().splitlines()) if path.exists() else []


def readers() -> list[int]:
    """The processes that read logs, of whatever scan of this Python."""
    found = []
    for process in processes():
        with suppress(OSError):
            words = Path(f"/proc/{process.pid}/cmdline").read_bytes().split(b"\0")
            if any(word.endswith(b"start_worker.py") for word in words):
                found.append(process.pid)
    return found


def of_ray(name: str) -> list[int]:
    """Ray's processes of a name, as it writes it into the list of processes."""
    found = []
    for process in processes():
        with suppress(OSError):
            if Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(name.encode()):
                found.append(process.pid)
    return found


def listens(port: int) -> bool:
    """Whether somebody takes connections on a port of this machine."""
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), 5).close()
        return True
    return False


def test_the_rows_are_those_of_one_machine(logs: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    """Also of a log that cannot be read, one that crashes its reader and one on which it hangs."""
    (logs / "g1" / "poison.log").write_text("x\n")
    (logs / "g3" / "stuck.log").write_text("x\n")
    (logs / "g2" / "much.log").write_text("all fine\n" * 1_000_000)
    plain = scan("logs", "--record", "plain.jsonl", "--stalled-after", "5", "--jobs", "2", cwd=logs.parent)
    process = started("--record", "ray.jsonl", "--stalled-after", "5", "--on", "ray", "--jobs", "2")
    output, error = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 1, error
    assert error == ""
    assert output == plain.stdout
    assert rows(logs.parent / "ray.jsonl") == rows(logs.parent / "plain.jsonl")
    bad = [row["error"] for row in map(json.loads, rows(logs.parent / "ray.jsonl")) if "twice" in row.get("error", "")]
    assert [why.partition(": the process that read it ")[2].partition(", twice")[0] for why in bad] == [
        "was ended by SIGKILL",
        "gave no answer for 5 s and was ended",
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_nodes_and_workers_lose_and_double_nothing(
    logs: Path, cluster: Any, started: Callable[..., subprocess.Popen[str]], seed: int
) -> None:
    """Nodes, Ray's workers and a reader of logs are killed at random moments: when some further rows have been written, or at
    once. Only one reader, since a log whose reader is killed twice is reported."""
    for number in range(480):
        (logs / "g4" / f"job-more-{number}.log").write_text(KNOWN if number % 2 else "all fine\n")
    scan("logs", "--record", "plain.jsonl", "--jobs", "8", cwd=logs.parent)
    chance = random.Random(seed)
    plan = ["node"] * 4 + ["worker"] * 4 + ["reader"]
    chance.shuffle(plan)
    record = logs.parent / "ray.jsonl"
    process = started("--record", "ray.jsonl", "--on", cluster.address)
    killed = []
    for kind in plan:
        wanted = len(rows(record)) + chance.choice((0, 1, 50))
        victims: list[int] = []

        def found(kind: str = kind, wanted: int = wanted, victims: list[int] = victims) -> bool:
            victims[:] = readers() if kind == "reader" else of_ray("ray::diagnose_shard")
            return process.poll() is not None or (bool(victims) and len(rows(record)) >= wanted)

        wait_for(found, LIMIT_SECONDS)
        if process.poll() is not None:
            break
        killed.append(kind)
        if kind == "node":
            cluster.remove_node(chance.choice(sorted(cluster.worker_nodes, key=str)), allow_graceful=False)
            add_node(cluster)
        else:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(victims), signal.SIGKILL)
    output, error = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 1, error
    assert len(killed) >= 3, killed
    assert rows(record) == rows(logs.parent / "plain.jsonl"), (killed, output[-500:])


def test_an_interrupted_scan_keeps_what_is_done(logs: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    scan("logs", "--record", "plain.jsonl", "--jobs", "8", cwd=logs.parent)
    record = logs.parent / "troubleshoot-scan.jsonl"
    process = started("--on", "ray", "--jobs", "2")
    wait_for(lambda: rows(record) or process.poll() is not None, LIMIT_SECONDS)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    _, error = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 130
    assert error.strip() == (
        "troubleshoot scan: interrupted; finished jobs are kept in troubleshoot-scan.jsonl: "
        "run the same command again to go on from there"
    )
    kept = rows(record)
    assert 0 < len(kept) < 121
    assert set(kept) <= set(rows(logs.parent / "plain.jsonl"))
    wait_for(lambda: not [p for p in processes() if p.session == process.pid and p.state not in "ZX"])
    scan("logs", cwd=logs.parent)
    assert rows(record) == rows(logs.parent / "plain.jsonl")


def test_a_scan_goes_through_the_port_for_clients(logs: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    """``ray://``: this machine is no node of the cluster."""
    pytest.importorskip("grpc")
    from ray.cluster_utils import Cluster

    scan("logs", "--record", "plain.jsonl", "--jobs", "8", cwd=logs.parent)
    given = {"num_cpus": 2, "object_store_memory": 80_000_000, "include_dashboard": False, "ray_client_server_port": 24801}
    made = Cluster(initialize_head=True, head_node_args=given)
    try:
        wait_for(lambda: listens(24801), LIMIT_SECONDS)  # Ray starts this server beside the head, and waits for neither
        process = started("--record", "ray.jsonl", "--on", f"ray://{made.address.partition(':')[0]}:24801")
        output, error = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == 1, (output, error)
        assert rows(logs.parent / "ray.jsonl") == rows(logs.parent / "plain.jsonl")
    finally:
        made.shutdown()


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_whose_head_dies(logs: Path, started: Callable[..., subprocess.Popen[str]], scheme: str) -> None:
    """All processes of the head are killed during a scan: a sentence says so, what is done is kept, and the same command
    goes on without the cluster."""
    if scheme:
        pytest.importorskip("grpc")
    scan("logs", "--record", "plain.jsonl", "--jobs", "8", cwd=logs.parent)
    record = logs.parent / "ray.jsonl"
    for number in range(480):
        (logs / "g4" / f"job-more-{number}.log").write_text("all fine\n")
    port, for_clients = 24811, 24812
    head = subprocess.Popen(
        [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--head", "--block", "--num-cpus=1", f"--port={port}",
         f"--ray-client-server-port={for_clients}", "--include-dashboard=false", "--object-store-memory=80000000"],
        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(lambda: listens(port) and listens(for_clients), LIMIT_SECONDS)
        address = f"{scheme}127.0.0.1:{for_clients if scheme else port}"
        process = started("--record", "ray.jsonl", "--on", address)
        wait_for(lambda: rows(record) or process.poll() is not None, LIMIT_SECONDS)
    finally:
        os.killpg(head.pid, signal.SIGKILL)
        head.wait()
    kept = rows(record)
    output, error = process.communicate(timeout=LIMIT_SECONDS)
    assert kept
    assert set(kept) <= set(rows(record))
    assert process.returncode == 2, (output, error)
    assert error.splitlines()[-1] == (
        f"troubleshoot: the head of the Ray cluster at {address} cannot be reached any more; what is done is kept: "
        "start the cluster again, and the same command goes on, with --on or without it"
    )
    scan("logs", "--record", "ray.jsonl", "--jobs", "8", cwd=logs.parent)
    scan("logs", "--record", "plain.jsonl", "--jobs", "8", cwd=logs.parent)
    assert rows(record) == rows(logs.parent / "plain.jsonl")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_an_address_where_nobody_listens(logs: Path, address: str) -> None:
    done = scan("logs", "--on", address, cwd=logs.parent)
    assert done.returncode == 2
    assert done.stderr == (
        f"troubleshoot: no Ray cluster can be used at {address}: [Errno 111] Connection refused; "
        "see that it runs (ray status), or scan without --on\n"
    )


def test_a_word_that_is_no_address(logs: Path) -> None:
    done = scan("logs", "--on", "cluster", cwd=logs.parent)
    assert done.returncode == 2
    assert done.stderr == "troubleshoot: --on cluster: expected ray, HOST:PORT or ray://HOST:PORT\n"


def test_an_archive_whose_copy_no_node_can_read(logs: Path) -> None:
    subprocess.run(["tar", "czf", "logs.tar.gz", "logs"], cwd=logs.parent, check=True)
    done = scan("logs.tar.gz", "--on", "127.0.0.1:1", cwd=logs.parent)
    assert done.returncode == 2
    assert done.stderr.startswith("troubleshoot: logs.tar.gz: its unpacked copy lies on this machine")


def test_a_folder_that_the_nodes_do_not_have(
    logs: Path, tmp_path_factory: pytest.TempPathFactory, cluster: Any, started: Callable[..., subprocess.Popen[str]]
) -> None:
    """The scan's own folder is taken away before a node begins: as if it were not shared."""
    hidden = tmp_path_factory.mktemp("hidden") / "logs"
    here = logs.parent / "here"
    here.mkdir()
    shutil.move(logs, hidden)
    (logs.parent / "sitecustomize.py").write_text(
        "import os, sys\n"
        "def changed(event, arguments):\n"
        f"    if event == 'os.chdir' and str(arguments[0]) == {str(here)!r} and 'default_worker' in ' '.join(sys.orig_argv):\n"
        "        raise FileNotFoundError(2, 'No such file or directory')\n"
        "sys.addaudithook(changed)\n"
    )
    done = scan(str(hidden), "--on", cluster.address, cwd=here)
    assert done.returncode == 2, done.stderr
    assert "No such file or directory; start the scan in a folder that all nodes share" in done.stderr
    assert "Traceback" not in done.stderr

"""The cage of a probe: what the kernel refuses to code that no hook of Python sees, and what must go on working."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from troubleshooter.verify.outcome import ProbeOutcome
from troubleshooter.verify.probe import FOLDER
from troubleshooter.verify.variables import environment_for

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the cage is the kernel's of Linux"),
    pytest.mark.usefixtures("nothing_left"),
]
Running = Callable[..., ProbeOutcome]


def tried(running: Running, body: str) -> list[str]:
    """What a probe notes; the test is skipped where this kernel filters no system calls."""
    outcome = running("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n" + body)
    assert outcome.status == "ended", outcome.tail or outcome.detail
    confinement = outcome.of("boot")[0]["confinement"]
    if "new namespaces" not in confinement:
        pytest.skip(confinement)
    return [row["text"] for row in outcome.of("note")]


@pytest.mark.parametrize(
    ("call", "errno"),
    [
        ("libc.socket(2, 2, 0)", 1),  # UDP
        ("libc.socket(10, 2, 0)", 1),
        ("libc.socket(2, 3, 255)", 1),  # raw
        ("libc.socket(2, 1, 262)", 1),  # multipath TCP, which rules for TCP do not see
        ("libc.socket(1, 1, 0)", 1),  # Unix: an agent's, a container engine's
        ("libc.socket(16, 3, 0)", 1),  # netlink
        ("libc.socket(17, 3, 0)", 1),  # packets
        ("libc.socket(38, 5, 0)", 1),
        ("libc.unshare(0x10000000)", 1),
        ("libc.unshare(0x40000000)", 1),
        ("libc.syscall(425, 8, None)", 38),  # rings of requests
        ("libc.syscall(435, None, 0)", 38),
        ("libc.setxattr(b'/etc/hostname', b'user.x', b'y', 1, 0)", 95),
        ("libc.ptrace(16, 1, None, None)", 1),
        ("libc.mount(b'none', b'/mnt', b'tmpfs', 0, None)", 1),
    ],
)
def test_system_calls_from_c_are_refused(running: Running, call: str, errno: int) -> None:
    said = tried(running, f"kit.note(str(({call}, ctypes.get_errno())))")
    assert said == [str((-1, errno))]


def test_a_childs_udp_is_refused(running: Running) -> None:
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"
    body = f"import subprocess, sys\ndone = subprocess.run([sys.executable, '-S', '-c', {code!r}], capture_output=True, text=True)\n"
    (said,) = tried(running, body + "kit.note(done.stderr.splitlines()[-1])")
    assert said.startswith("PermissionError")


def test_nothing_outside_changes_its_mode_owner_or_times(running: Running, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("x")
    victim.chmod(0o600)
    before = victim.stat()
    path = repr(str(victim))
    body = f"""
import shutil
os.chmod({path}, 0o777)
os.chown({path}, 12345, 12345)
os.utime({path}, (0, 0))
handle = os.open({path}, os.O_RDONLY)
os.fchmod(handle, 0o777)
os.fchown(handle, 12345, 12345)
libc.fchmodat(-100, {path}.encode(), 0o777, 0)
kit.note("tried")
"""
    assert tried(running, body) == ["tried"]
    after = victim.stat()
    assert (after.st_mode, after.st_uid, after.st_gid, after.st_mtime) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
        before.st_mtime,
    )


def test_what_libraries_do_goes_on_working(running: Running) -> None:
    body = """
import multiprocessing, shutil, socket, subprocess, sys, tempfile, threading
open("a", "w").write("x")
shutil.copy2("a", "b")
shutil.copy("a", "c")
thread = threading.Thread(target=lambda: kit.note("thread"))
thread.start()
thread.join()
one, two = socket.socketpair()
one.send(b"x")
kit.note(two.recv(1).decode())
kit.note(subprocess.run(["/bin/sh", "-c", "echo child"], capture_output=True, text=True).stdout.strip())
context = multiprocessing.get_context("fork")
near, far = context.Pipe()
process = context.Process(target=far.send, args=("worker",))
process.start()
kit.note(near.recv())
process.join()
with tempfile.NamedTemporaryFile() as file:
    kit.note("file")
"""
    assert tried(running, body) == ["thread", "x", "child", "worker", "file"]


@pytest.fixture(scope="module")
def seccomp() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("_seccomp")
    finally:
        sys.path.remove(str(FOLDER))


def answered(lines: list[tuple[int, int, int, int]], number: int, architecture: int, *arguments: int) -> int:
    """What a filter says of a system call: the machine that the kernel runs it on, of which it needs six instructions."""
    data = {0: number, 4: architecture, **{16 + 8 * i: value & 0xFFFFFFFF for i, value in enumerate(arguments)}}
    at = held = 0
    while True:
        code, yes, no, value = lines[at]
        at += 1
        if code == 0x20:
            held = data[value]
        elif code == 0x54:
            held &= value
        elif code == 0x06:
            return value
        else:
            truth = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += yes if truth else no


ALLOW, REFUSE, MISSING, PRETEND = 0x7FFF0000, 0x50001, 0x50026, 0x50000
X86, ARM = 0xC000003E, 0xC00000B7
# (x86-64, aarch64): numbers of read, socket, clone, unshare, fchmodat.
READ, SOCKET, CLONE, UNSHARE, CHANGE = {X86: 0, ARM: 63}, {X86: 41, ARM: 198}, {X86: 56, ARM: 220}, {X86: 272, ARM: 97}, {X86: 268, ARM: 53}


@pytest.mark.parametrize(("machine", "architecture"), [("x86_64", X86), ("aarch64", ARM)])
def test_the_filter_says_the_same_on_both_machines(seccomp: ModuleType, machine: str, architecture: int) -> None:
    strict = seccomp.program(seccomp.MACHINES[machine], [])
    open_ = seccomp.program(seccomp.MACHINES[machine], [16, 1])

    def said(which: Mapping[int, int] | int, *arguments: int, lines: Any = strict) -> int:
        number = which if isinstance(which, int) else which[architecture]
        return answered(lines, number, architecture, *arguments)

    assert said(READ, 0, 0, 0) == ALLOW
    assert said(SOCKET, 2, 1, 0) == ALLOW
    assert said(SOCKET, 10, 1 | 0o2000000, 6) == ALLOW, "TCP, closed on exec: Landlock's business"
    for family, kind, protocol in ((2, 2, 0), (2, 3, 1), (2, 1, 262), (1, 1, 0), (16, 3, 0), (40, 1, 0)):
        assert said(SOCKET, family, kind, protocol) == REFUSE
    assert said(SOCKET, 1, 1, 0, lines=open_) == said(SOCKET, 16, 3, 0, lines=open_) == ALLOW
    assert said(SOCKET, 2, 2, 0, lines=open_) == REFUSE
    assert said(CLONE, 0x01200011, 0, 0) == ALLOW, "fork"
    assert said(CLONE, 0x10000011, 0, 0) == REFUSE
    assert said(UNSHARE, 0x10000000) == REFUSE
    assert said(CHANGE, 0, 0, 0o777) == PRETEND
    assert said(425, 8, 0) == said(435, 0, 0) == MISSING
    assert said(0x40000000 + 41, 2, 2, 0) == REFUSE, "another convention's numbers"
    assert answered(strict, 0, 0x40000003) == REFUSE, "another machine's numbers (32 bits)"


def test_only_named_variables_reach_a_probe(tmp_path: Path) -> None:
    given = {
        "PATH": "/usr/bin",
        "LD_LIBRARY_PATH": "/opt/lib",
        "CUDA_HOME": "/opt/cuda",
        "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
        "LC_ALL": "C.UTF-8",
    }
    dropped = {
        "DATABASE_URL": "postgres://me:secret@db/x",
        "REDIS_URI": "redis://:secret@db",
        "HF_TOKEN": "secret",
        "NVIDIA_API_KEY": "secret",
        "TORCH_PROXY": "http://me:secret@proxy:3128",
        "WHATEVER": "secret",
        "SSH_AUTH_SOCK": "/run/secret",
        "DOCKER_HOST": "unix:///run/secret",
        "TRANSFORMERS_ACCESS_TOKEN": "secret",
        "PYTHONSTARTUP": "secret",
        "LD_PRELOAD": "secret",
        "RANK": "secret",
        "TORCH_NCCL_X": "secret",
        "http_proxy": "http://secret",
    }
    kept = environment_for(tmp_path, "cpu", None, {**given, **dropped})
    assert {name: kept[name] for name in given} == given
    assert not any("secret" in value for value in kept.values())
    assert not set(dropped) & set(kept)


def test_a_probe_on_a_gpu_keeps_its_local_sockets(seccomp: ModuleType) -> None:
    """The driver has some; what is told of the cage says so."""
    if os.uname().machine not in ("x86_64", "aarch64"):
        pytest.skip("no filter for this machine")
    strict, open_ = (seccomp.program(seccomp.MACHINES["x86_64"], given) for given in ([], [1]))
    assert len(open_) == len(strict) + 2

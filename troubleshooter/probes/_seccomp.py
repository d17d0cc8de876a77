"""A filter of system calls for what Landlock has no rule for (Linux on x86-64 and aarch64; no privilege needed).

Refused: sockets but TCP (UDP, Unix sockets, packets), new namespaces, mounts, rings of requests that no filter sees, other processes'
memory. Changes of modes, owners and times are *said* to have been made and are not, inside the probe's folder too: the
kernel's filter sees a pointer and no path, and copying a file sets them. Standard library only; must parse under Python 3.8.
"""

import os

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_EPERM, _ENOSYS, _EOPNOTSUPP = 1, 38, 95

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_ARGUMENTS = (16, 24, 32)  # the lower halves: both architectures have their lowest byte first

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _TCP = 1, 6
_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_FOREIGN = 0x40000000  # x86-64: from here on the numbers of another convention (x32)

_SET_SECCOMP, _NO_NEW_PRIVILEGES, _FILTER = 22, 38, 2

_BOTH = dict(
    # The same numbers everywhere: pidfd_getfd, the rings (they would open sockets unseen), mounts by handle.
    refused=(438, 428, 429, 430, 432, 442),
    unknown=(425, 435),  # io_uring_setup, clone3: callers fall back to what the filter can read
    pretended=(452,),  # fchmodat2
    attributes=(463, 466),
)
MACHINES = {
    "x86_64": dict(
        architecture=0xC000003E,
        socket=41,
        clone=56,
        # unshare, setns, mount, umount2, pivot_root, chroot, ptrace, process_vm_readv, process_vm_writev, bpf, perf_event_open,
        # add_key, request_key, keyctl, userfaultfd, open_by_handle_at
        refused=(272, 308, 165, 166, 155, 161, 101, 310, 311, 321, 298, 248, 249, 250, 323, 304),
        # chmod, fchmod, chown, fchown, lchown, utime, utimes, fchownat, futimesat, fchmodat, utimensat
        pretended=(90, 91, 92, 93, 94, 132, 235, 260, 261, 268, 280),
        attributes=(188, 189, 190, 197, 198, 199),
    ),
    "aarch64": dict(
        architecture=0xC00000B7,
        socket=198,
        clone=220,
        refused=(97, 268, 40, 39, 41, 51, 117, 270, 271, 280, 241, 217, 218, 219, 282, 265),
        pretended=(52, 53, 54, 55, 88),
        attributes=(5, 6, 7, 14, 15, 16),
    ),
}


def install(network_names=False, local_sockets=False):
    """Filter this process and all that come from it; what is refused now. Raises OSError where there is no such filter.

    ``network_names``: netlink, by which libraries list the network's interfaces; ``local_sockets``: Unix sockets.
    """
    import ctypes

    machine = os.uname().machine
    if machine not in MACHINES:
        raise OSError("no filter of system calls for %s" % machine)
    families = ([_NETLINK] if network_names else []) + ([_UNIX] if local_sockets else [])
    lines = program(MACHINES[machine], families)

    class Line(ctypes.Structure):
        _fields_ = [
            ("code", ctypes.c_uint16),
            ("yes", ctypes.c_uint8),
            ("no", ctypes.c_uint8),
            ("value", ctypes.c_uint32),
        ]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_uint16), ("lines", ctypes.POINTER(Line))]

    made = (Line * len(lines))(*(Line(*line) for line in lines))
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    asked = ctypes.byref(Program(len(lines), made))
    if library.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), asked, ctypes.c_ulong(0), ctypes.c_ulong(0)):
        raise OSError("no filter of system calls: error %d" % ctypes.get_errno())
    closed = ["UDP and raw sockets", "changes of modes, owners and times", "new namespaces"]
    return closed + ([] if local_sockets else ["Unix sockets"])


def program(machine, families):
    """The filter, line by line: (code, lines to skip if true, lines to skip if false, value)."""
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine["architecture"]),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _FOREIGN),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
    ]
    for key, answer in (("refused", _EPERM), ("unknown", _ENOSYS), ("pretended", 0), ("attributes", _EOPNOTSUPP)):
        for number in machine.get(key, ()) + _BOTH[key]:
            lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | answer)]
    lines += _guarded(
        machine["clone"],
        [
            (_LOAD, 0, 0, _ARGUMENTS[0]),
            (_ANY_BIT, 0, 1, _NAMESPACES),
            (_RETURN, 0, 0, _ERRNO | _EPERM),
            (_RETURN, 0, 0, _ALLOW),
        ],
    )
    socket = [(_LOAD, 0, 0, _ARGUMENTS[0])]
    for family in families:
        socket += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    socket += [
        (_EQUAL, 2, 0, _INET),
        (_EQUAL, 1, 0, _INET6),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_LOAD, 0, 0, _ARGUMENTS[1]),
        (_AND, 0, 0, 0xF),
        (_EQUAL, 1, 0, _STREAM),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_LOAD, 0, 0, _ARGUMENTS[2]),
        (_EQUAL, 2, 0, 0),
        (_EQUAL, 1, 0, _TCP),
        (_RETURN, 0, 0, _ERRNO | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return [*lines, *_guarded(machine["socket"], socket), (_RETURN, 0, 0, _ALLOW)]


def _guarded(number, lines):
    """Lines for one system call; each way through them returns."""
    return [(_EQUAL, 0, len(lines), number), *lines]

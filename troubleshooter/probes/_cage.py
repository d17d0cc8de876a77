"""What a probe's process may do to the rest of the machine: nothing that the kernel can prevent.

``watch_sockets`` refuses the network from Python's side. ``confine`` asks the kernel: Landlock (Linux 5.13 and newer, no
privilege needed) refuses writing outside of the probe's folder, TCP from C code too, and signals to strangers; a filter of
system calls (``_seccomp``) refuses what Landlock has no rule for. What stays open: reading what the user may read, TCP for the
probes that need this machine's loopback, Unix sockets where a GPU is used (its driver has some), and all of it but the
network from Python on other systems than Linux. Standard library only; must parse under Python 3.8.
"""

import os
import sys

import _seccomp

# "" means every interface and is refused; a library that wants only a free port can ask 127.0.0.1 for it.
LOOPBACK = ("localhost", "127.0.0.1", "::1")

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_NO_NEW_PRIVILEGES = 38
_DIE_WITH_PARENT = 1
_WRITE_FILE = 1 << 1
_CHANGES = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))  # write, remove and make of every kind
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_TCP = 1 << 0 | 1 << 1
_SCOPES = 1 << 0 | 1 << 1  # abstract Unix sockets of others, and signals to them


class Refused(OSError):
    """The probe asked for something outside of this machine."""


def watch_sockets(report):
    """Refuse sockets beyond AF_UNIX and loopback. A library's own C code is not seen by this hook."""
    import socket

    families = {getattr(socket, name, None) for name in ("AF_UNIX", "AF_INET", "AF_INET6")}
    internet = (socket.AF_INET, getattr(socket, "AF_INET6", None))

    def refuse(what):
        report(what)
        raise Refused("a probe stays on this machine: %s" % what)

    def watch(event, arguments):
        if not event.startswith("socket."):
            return
        if event == "socket.__new__":
            if arguments[1] not in families and arguments[1] != -1:
                refuse("socket of family %s" % arguments[1])
            if arguments[1] in internet and arguments[2] & 0xF != socket.SOCK_STREAM:
                refuse("UDP or raw socket")
        elif event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"):
            address = arguments[1] if len(arguments) > 1 else None
            if isinstance(address, tuple) and address and address[0] not in LOOPBACK:
                refuse("%s %s" % (event, address[0] or "every interface"))
        elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            host = arguments[0]
            host = host.decode("latin-1") if isinstance(host, bytes) else host
            if host not in LOOPBACK and host not in (None, "", socket.gethostname()):
                refuse("look-up of %s" % host)

    sys.addaudithook(watch)


def die_with_parent():
    """When the tool is killed, its probe is too (Linux)."""
    if not sys.platform.startswith("linux"):
        return
    try:
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def confine(folder, loopback=False, shared_memory=False, gpu=False):
    """Let the kernel refuse the rest; returns what is refused now, or why nothing is."""
    if not sys.platform.startswith("linux"):
        return "no kernel confinement on %s" % sys.platform
    closed, missing = [], []
    for ask in (
        lambda: _landlock(folder, loopback, shared_memory),
        lambda: _seccomp.install(network_names=loopback or gpu, local_sockets=gpu),
    ):
        try:
            closed += ask()
        except (ImportError, OSError, AttributeError, ValueError) as error:
            missing.append(str(error))
    said = ["the kernel refuses " + ", ".join(closed)] if closed else []
    return "; ".join(said + missing)


def _landlock(folder, loopback, shared_memory):
    """Refuse changes outside of the folder, TCP and signals to strangers; what is refused now. Raises OSError."""
    import ctypes
    import struct

    library = ctypes.CDLL(None, use_errno=True)
    call = library.syscall
    call.restype = ctypes.c_long
    version = call(_CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        raise OSError("this kernel offers no Landlock")
    rights = _CHANGES | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    tcp = _TCP if version >= 4 and not loopback else 0
    attributes = struct.pack("QQQ", rights, tcp, _SCOPES if version >= 6 else 0)
    attributes = attributes[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    if ruleset < 0:
        raise OSError("Landlock refused: error %d" % ctypes.get_errno())
    places = [(folder, rights), ("/dev", _WRITE_FILE | rights & _TRUNCATE)]
    if shared_memory:  # what is made there has no owner to clean up after it
        places.append(("/dev/shm", rights))
    for place, allowed in places:
        try:
            handle = os.open(place, getattr(os, "O_PATH", 0x200000) | os.O_CLOEXEC)
        except OSError:
            continue
        call(_ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, handle), 0)
        os.close(handle)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done = call(_RESTRICT, ruleset, 0)
    os.close(ruleset)
    if done:
        raise OSError("Landlock refused: error %d" % ctypes.get_errno())
    closed = ["writing outside of the probe's folder"]
    closed += ["TCP from C code"] if tcp else []
    closed += ["signals to other processes"] if version >= 6 else []
    return closed

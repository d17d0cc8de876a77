"""First code of a probe's process: shuts the doors, then runs the probe and reports on the private channel.

Started as ``python _boot.py request.json`` by the runner, in a fresh folder that also holds ``_kit.py``, ``_cage.py``
and the probe. Standard library only; must parse under Python 3.8.
"""

import json
import os
import sys
import time


class Channel:
    """JSON lines to the runner, apart from stdout and stderr, where libraries chat."""

    def __init__(self, request):
        if request.get("fd") is not None:
            os.set_inheritable(request["fd"], False)
            self._out = os.fdopen(request["fd"], "w", buffering=1, encoding="utf-8")
        else:  # no inherited descriptors on this system: a file in the probe's own folder
            self._out = open(request["results"], "a", buffering=1, encoding="utf-8")
        self._key = request["key"]

    def send(self, kind, **fields):
        fields["kind"] = kind
        fields["key"] = self._key
        self._out.write(json.dumps(fields, default=str) + "\n")
        self._out.flush()


def limit(request):
    """Limits that the system itself keeps; returns a sentence where there are none (the runner watches the clock)."""
    try:
        import resource
    except ImportError:
        return "this system keeps no limits for a process: only the clock and its memory are watched"
    wanted = [
        ("RLIMIT_CORE", 0),
        ("RLIMIT_CPU", int(request["timeout"]) * 2 + 10),
        ("RLIMIT_FSIZE", 512 << 20),
        # Address space only where no GPU library maps tens of GiB of it.
        ("RLIMIT_AS", request.get("address_space")),
    ]
    for name, value in wanted:
        if value is None or not hasattr(resource, name):
            continue
        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        try:
            resource.setrlimit(which, (value, value))
        except (ValueError, OSError):
            pass
    try:
        os.nice(10)
    except (OSError, AttributeError):
        pass
    return None


def peak_mb():
    """Peak resident size of this process so far."""
    try:
        import resource
    except ImportError:
        return None
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(size / (1024.0 * 1024.0 if sys.platform == "darwin" else 1024.0))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    os.remove(sys.argv[1])
    channel = Channel(request)
    missing = limit(request)
    if missing:
        channel.send("note", text=missing)
    import _cage

    _cage.die_with_parent()
    _cage.watch_sockets(lambda what: channel.send("refused", what=what))
    closed = _cage.confine(
        os.getcwd(), request.get("loopback", False), request.get("shared_memory", False), request["device"] != "cpu"
    )
    channel.send("boot", python=sys.version.split()[0], confinement=closed)
    started = time.time()
    status = 0
    try:
        import importlib

        from _kit import Kit, Undecided

        probe = importlib.import_module(request["module"])
        try:
            probe.run(Kit(channel, request))
        except Undecided as reason:
            channel.send("undecided", reason=str(reason))
    except BaseException as error:  # also SystemExit and KeyboardInterrupt: whatever it was, the runner hears of it
        import traceback

        status = 1
        channel.send(
            "crash",
            type=type(error).__name__,
            message=str(error)[:2000],
            traceback=traceback.format_exc()[-6000:],
        )
    channel.send("end", seconds=round(time.time() - started, 2), peak_mb=peak_mb())
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(status)  # nothing here needs the slow end of torch and transformers (docs/decisions/0003)


if __name__ == "__main__":
    main()

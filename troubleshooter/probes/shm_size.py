"""Is /dev/shm large enough for the loader's workers ("unable to allocate shared memory", "Bus error")?

Every worker keeps ``prefetch`` batches in shared memory. Free space is compared with that need; nothing is filled.
"""

QUESTION = "Does the loader's need for shared memory exceed what /dev/shm has free?"
NEEDS = []
PARAMETERS = {
    "batch_mb": {"least": 1, "most": 100000, "default": 64},
    "workers": {"least": 0, "most": 512, "default": 4},
    "prefetch": {"least": 1, "most": 64, "default": 2},
}
DEVICES = ["cpu"]
SETTLED_BY = ["batch_mb", "workers"]
PAIRS = []
REPRODUCE = """
import os
s = os.statvfs("/dev/shm")
print(s.f_bavail * s.f_frsize >> 20, "MB free of", s.f_blocks * s.f_frsize >> 20)
"""


def run(kit):
    import os

    if not hasattr(os, "statvfs") or not os.path.isdir("/dev/shm"):
        kit.undecided("this system has no /dev/shm")
    room = os.statvfs("/dev/shm")
    free, total = room.f_bavail * room.f_frsize >> 20, room.f_blocks * room.f_frsize >> 20
    workers, prefetch, batch = (kit.options[name] for name in ("workers", "prefetch", "batch_mb"))
    need = workers * prefetch * batch
    said = f"{workers} workers x {prefetch} batches x {batch} MB = {need} MB; /dev/shm has {free} of {total} MB free"
    short = need > free
    kit.measured("shared memory", short, said, free_mb=free, total_mb=total, need_mb=need)
    if short:
        kit.fix("no-workers", "num_workers=0 needs no shared memory", removed=True, words=r"num_workers\s*=\s*0")
        fits = free // max(1, prefetch * batch)
        kit.note(f"{fits} workers would fit; a container needs --shm-size={max(need * 2, 1024)}m")

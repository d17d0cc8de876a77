"""The second set of healthy runs: ``python healthy_more.py SEED SECONDS``. None of its kinds was looked at while rules were written.

The seed chooses the kind and its details. Kinds with two ranks start them themselves, on gloo.
"""

import asyncio
import http.server
import logging
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

KINDS = (
    "bar-only", "file-logging", "pipeline", "redraw", "one-long-operation", "epochs", "retries", "warnings", "interrupt-handled", "early-exit",
    "early-stopping", "caught-tracebacks", "heartbeats", "threads", "processes", "child-evaluates", "ranks-child-evaluates",
    "ranks-upload-polled", "ranks-tokenize", "ranks-broadcast-late",
)  # fmt: skip
WORK = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: sum(i * i for i in range(1000))"


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(i * i for i in range(1000))
    return 1


def child(seconds):
    subprocess.run([sys.executable, "-c", WORK, str(seconds)], check=True)


def bar_only(seconds, chance):
    for at in range(20):
        print(f"\r{at * 5:3d}%|{'#' * at:<20}| {at}/20 [loss=2.{at}]", end="", file=sys.stderr, flush=True)
        busy(seconds / 20)


def file_logging(seconds, chance):
    with tempfile.NamedTemporaryFile("w") as file:
        log = logging.Logger("train")
        log.addHandler(logging.StreamHandler(file))
        for at in range(10):
            busy(seconds / 10)
            log.error("step %d: bad row skipped", at)


def pipeline(seconds, chance):
    code = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: print('row ' * 50); time.sleep(0.001)"
    shell = f'{sys.executable} -c "$CODE" | head -c 50000000 | sort | gzip > /dev/null'
    subprocess.run(["sh", "-c", shell], env={**os.environ, "CODE": code}, check=True)


def redraw(seconds, chance):
    for at in range(15):
        print(f"\x1b[H\x1b[2Jepoch 1\nloss 2.{at}\ngpu 0%", flush=True)
        time.sleep(seconds / 15)


def one_long_operation(seconds, chance):
    """Python's own big numbers hold the interpreter for the whole time of one operation."""
    number, end = 3 ** (1 << 16), time.monotonic() + seconds
    while time.monotonic() < end:
        number = number * number if number.bit_length() < 1 << 22 else 3 ** (1 << 16)


def epochs(seconds, chance):
    for epoch in range(2):
        print(f"epoch {epoch} loss 1.{9 - epoch}", flush=True)
        busy(seconds / 2)
        print({"eval_loss": 1.5 - epoch / 10, "epoch": epoch}, flush=True)


def retries(seconds, chance):
    class Late(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if time.monotonic() > until else 503)
            self.end_headers()

        def log_message(self, *words):
            pass

    until = time.monotonic() + seconds
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Late)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for attempt in range(1000):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/model.safetensors")
            break
        except urllib.error.HTTPError as error:
            print(f"WARNING huggingface_hub: {error} thrown while requesting GET model.safetensors, retrying in 2s [Retry {attempt + 1}/5].", file=sys.stderr, flush=True)
            time.sleep(2)


def warnings_galore(seconds, chance):
    for at in range(40):
        warnings.warn(f"`feature_{at}` is deprecated and will be an error in v5", FutureWarning, stacklevel=1)
        print(f"[W1123 10:00:{at:02d}] Warning: failed to set option {at}, ignored", file=sys.stderr, flush=True)
    busy(seconds)


def interrupt_handled(seconds, chance):
    threading.Timer(seconds / 3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        print("interrupted, saving the checkpoint", flush=True)


def early_exit(seconds, chance):
    print("nothing to do: the output exists already", flush=True)
    print("done", flush=True)
    sys.exit(0)


def early_stopping(seconds, chance):
    for at in range(4):
        print({"eval_loss": 1.0 + at / 10, "epoch": at}, flush=True)
        busy(seconds / 8)
    print("EarlyStopping: no improvement for 3 evaluations, training stops", flush=True)


def caught_tracebacks(seconds, chance):
    for at in range(3):
        try:
            {"input_ids": 1}["labels"]
        except KeyError:
            print(f"row {at} is skipped:", file=sys.stderr)
            traceback.print_exc()
    for at in range(3):
        print({"loss": 2.0 - at / 10, "epoch": at}, flush=True)
        busy(seconds / 6)
    print({"train_runtime": 12.0, "train_loss": 1.9}, flush=True)


def heartbeats(seconds, chance):
    async def main():
        task = asyncio.create_task(asyncio.sleep(seconds))
        while not task.done():
            await asyncio.sleep(chance.choice((0.1, 0.5)))

    asyncio.run(main())


def threads(seconds, chance):
    with ThreadPoolExecutor(2) as pool:
        [one.result() for one in [pool.submit(busy, seconds) for _ in range(2)]]


def processes(seconds, chance):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        list(pool.map(busy, [seconds, seconds]))


def child_evaluates(seconds, chance):
    child(seconds)


def upload_polled(seconds, chance):
    running = subprocess.Popen([sys.executable, "-c", WORK, str(seconds)])
    while running.poll() is None:
        time.sleep(chance.choice((0.5, 2.0)))


def tokenize(seconds, chance):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        " ".join(sorted(f"word {at}" for at in range(50000))).split()


def main(seed, seconds):
    kind, chance = KINDS[seed % len(KINDS)], random.Random(seed)
    seconds *= chance.uniform(0.9, 1.3)
    if kind.startswith("ranks-") and "RANK" not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            given = dict(os.environ, WORLD_SIZE="2", RUN_STORE=f"{folder}/store", OMP_NUM_THREADS="1")
            ranks = [subprocess.Popen([sys.executable, *sys.argv], env=dict(given, RANK=str(rank))) for rank in range(2)]
            return max(rank.wait() for rank in ranks)
    rank = int(os.environ.get("RANK", "0"))
    if "RANK" in os.environ:
        import torch
        import torch.distributed as dist

        dist.init_process_group("gloo", init_method=f"file://{os.environ['RUN_STORE']}", rank=rank, world_size=2)
    print("step 1 loss 2.31", flush=True)
    if rank == 0:
        work = {"warnings": warnings_galore, "ranks-child-evaluates": child_evaluates, "ranks-upload-polled": upload_polled, "ranks-tokenize": tokenize, "ranks-broadcast-late": threads}  # fmt: skip
        (work.get(kind) or globals()[kind.replace("-", "_")])(seconds, chance)
    if "RANK" in os.environ:
        if kind == "ranks-broadcast-late":
            dist.broadcast(torch.ones(4), 0)
        dist.barrier()
    print("step 2 loss 2.25", flush=True)
    print("done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2])))

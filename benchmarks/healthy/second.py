"""The second set: 20 kinds, none of which was looked at while the first rules were written."""

import asyncio
import http.server
import logging
import multiprocessing
import os
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

from benchmarks.healthy.kind import Kind, busy, child, left, with_ranks


def bar_only(end, folder, chance):
    seconds = left(end)
    for at in range(20):
        print(f"\r{at * 5:3d}%|{'#' * at:<20}| {at}/20 [loss=2.{at}]", end="", file=sys.stderr, flush=True)
        busy(seconds / 20)


def file_logging(end, folder, chance):
    seconds = left(end)
    with tempfile.NamedTemporaryFile("w") as file:
        log = logging.Logger("train")
        log.addHandler(logging.StreamHandler(file))
        for at in range(10):
            busy(seconds / 10)
            log.error("step %d: bad row skipped", at)


def pipeline(end, folder, chance):
    code = f"import time\nend = time.monotonic() + {left(end)}\nwhile time.monotonic() < end: print('row ' * 50); time.sleep(0.001)"
    shell = f'{sys.executable} -c "$CODE" | head -c 50000000 | sort | gzip > /dev/null'
    subprocess.run(["sh", "-c", shell], env={**os.environ, "CODE": code}, check=True)


def redraw(end, folder, chance):
    seconds = left(end)
    for at in range(15):
        print(f"\x1b[H\x1b[2Jepoch 1\nloss 2.{at}\ngpu 0%", flush=True)
        time.sleep(seconds / 15)


def one_long_operation(end, folder, chance):
    """Python's own big numbers hold the interpreter for the whole time of one operation."""
    number = 3 ** (1 << 16)
    while time.monotonic() < end:
        number = number * number if number.bit_length() < 1 << 22 else 3 ** (1 << 16)


def epochs(end, folder, chance):
    seconds = left(end)
    for epoch in range(2):
        print(f"epoch {epoch} loss 1.{9 - epoch}", flush=True)
        busy(seconds / 2)
        print({"eval_loss": 1.5 - epoch / 10, "epoch": epoch}, flush=True)


def retries(end, folder, chance):
    class Late(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if time.monotonic() > end else 503)
            self.end_headers()

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Late)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for attempt in range(1000):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/model.safetensors")
            break
        except urllib.error.HTTPError as error:
            print(f"WARNING huggingface_hub: {error} thrown while requesting GET model.safetensors, retrying in 2s [Retry {attempt + 1}/5].", file=sys.stderr, flush=True)
            time.sleep(2)


def warnings_galore(end, folder, chance):
    seconds = left(end)
    for at in range(40):
        warnings.warn(f"`feature_{at}` is deprecated and will be an error in v5", FutureWarning, stacklevel=1)
        print(f"[W1123 10:00:{at:02d}] Warning: failed to set option {at}, ignored", file=sys.stderr, flush=True)
    busy(seconds)


def interrupt_handled(end, folder, chance):
    seconds = left(end)
    threading.Timer(seconds / 3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        time.sleep(seconds)
    except KeyboardInterrupt:
        print("interrupted, saving the checkpoint", flush=True)


def early_exit(end, folder, chance):
    print("nothing to do: the output exists already", flush=True)
    print("done", flush=True)
    sys.exit(0)


def early_stopping(end, folder, chance):
    seconds = left(end)
    for at in range(4):
        print({"eval_loss": 1.0 + at / 10, "epoch": at}, flush=True)
        busy(seconds / 8)
    print("EarlyStopping: no improvement for 3 evaluations, training stops", flush=True)


def caught_tracebacks(end, folder, chance):
    seconds = left(end)
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


def heartbeats(end, folder, chance):
    async def main():
        task = asyncio.create_task(asyncio.sleep(left(end)))
        while not task.done():
            await asyncio.sleep(chance.choice((0.1, 0.5)))

    asyncio.run(main())


def threads(end, folder, chance):
    with ThreadPoolExecutor(2) as pool:
        [one.result() for one in [pool.submit(busy, left(end)) for _ in range(2)]]


def processes(end, folder, chance):
    seconds = left(end)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        list(pool.map(busy, [seconds, seconds]))


def child_evaluates(end, folder, chance):
    subprocess.run(child(end), check=True)


def upload_polled(end, folder, chance):
    running = subprocess.Popen(child(end))
    while running.poll() is None:
        time.sleep(chance.choice((0.5, 2.0)))


def tokenize(end, folder, chance):
    while time.monotonic() < end:
        " ".join(sorted(f"word {at}" for at in range(50000))).split()


def broadcast_late(end, folder, chance):
    """Both ranks do this: rank 0 works in threads before it comes to the broadcast."""
    import torch
    import torch.distributed as dist

    if dist.get_rank() == 0:
        threads(end, folder, chance)
    dist.broadcast(torch.ones(4), 0)


ALONE = (
    bar_only, file_logging, pipeline, redraw, one_long_operation, epochs, retries, warnings_galore, interrupt_handled, early_exit,
    early_stopping, caught_tracebacks, heartbeats, threads, processes, child_evaluates,
)  # fmt: skip
WITH_RANKS = (child_evaluates, upload_polled, tokenize)
KINDS = (*map(Kind, ALONE), *map(with_ranks, WITH_RANKS), with_ranks(broadcast_late, all_work=True))

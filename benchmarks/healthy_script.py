"""A healthy run that is silent for a while: ``python healthy_script.py SEED SILENT_SECONDS``. The seed chooses why, and its details.

Kinds with two ranks start them themselves, on gloo; rank 1 waits in a barrier for what rank 0 does.
"""

import http.server
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

KINDS = (
    "evaluation", "scoring", "compile", "checkpoint", "debugger", "loader", "ranks-evaluation", "ranks-preparing", "polling", "download",
    "ranks-checkpoint", "ranks-loader",
)  # fmt: skip


def evaluate(until, size):
    import torch

    rows = torch.randn(size, size)
    while time.monotonic() < until:
        rows = torch.nn.functional.softmax(rows @ rows.T, dim=-1)


def score(until, words):
    """Overlap of word sequences, in plain Python: nothing here calls a library."""
    best = 0
    while time.monotonic() < until:
        for start in range(len(words) - 3):
            if words[start : start + 3] == words[-3:]:
                best += 1
    return best


def compile_kernels(until, count):
    code = "import sys, time\nend = float(sys.argv[1])\nwhile time.monotonic() < end: compile('x = 1\\n' * 300, 'a', 'exec')"
    for child in [subprocess.Popen([sys.executable, "-c", code, str(until)]) for _ in range(count)]:
        child.wait()


def write_checkpoint(until, chunk):
    with tempfile.TemporaryFile() as file:
        while time.monotonic() < until:
            file.write(b"0" * chunk)
            file.flush()
            os.fsync(file.fileno())
            time.sleep(0.2)


def prepare(until, count):
    rows = [json.dumps({"text": f"word {at} " * 20}) for at in range(count)]
    while time.monotonic() < until:
        sum(len(re.findall(r"\w+", json.loads(row)["text"])) for row in rows)


def load(until, workers):
    import torch

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, at):
            prepare(until, 500)
            return at

    list(torch.utils.data.DataLoader(Rows(), num_workers=workers))


def download(until, pause):
    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            while time.monotonic() < until:
                self.wfile.write(b"x" * 1000)
                time.sleep(pause)

        def log_message(self, *words):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.handle_request, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/model") as answer:
        answer.read()


def poll(until, pause):
    while time.monotonic() < until:
        time.sleep(pause)


def main(seed, seconds):
    kind = KINDS[seed % len(KINDS)]
    chance = random.Random(seed)
    seconds *= chance.uniform(0.9, 1.3)
    if kind.startswith("ranks-") and "RANK" not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            given = dict(os.environ, WORLD_SIZE="2", RUN_STORE=f"{folder}/store", OMP_NUM_THREADS="1")
            ranks = [subprocess.Popen([sys.executable, *sys.argv], env=dict(given, RANK=str(rank))) for rank in range(2)]
            return max(rank.wait() for rank in ranks)
    rank = int(os.environ.get("RANK", "0"))
    if "RANK" in os.environ:
        import torch.distributed as dist

        dist.init_process_group("gloo", init_method=f"file://{os.environ['RUN_STORE']}", rank=rank, world_size=2)
    print(f"{kind}: step 1 loss 2.31", flush=True)
    until = time.monotonic() + seconds
    work = kind.removeprefix("ranks-")
    if rank == 0 and work == "evaluation":
        evaluate(until, chance.choice((32, 128, 512)))
    elif rank == 0 and work == "scoring":
        score(until, [chance.choice("abc") for _ in range(chance.choice((200, 2000)))])
    elif rank == 0 and work == "compile":
        compile_kernels(until, chance.choice((1, 2)))
    elif rank == 0 and work == "checkpoint":
        write_checkpoint(until, chance.choice((1000, 1 << 20)))
    elif rank == 0 and work == "debugger":
        breakpoint()
    elif rank == 0 and work == "loader":
        load(until, chance.choice((0, 1, 2)))
    elif rank == 0 and work == "preparing":
        prepare(until, chance.choice((100, 2000)))
    elif rank == 0 and work == "polling":
        poll(until, chance.choice((0.1, 1.0, 5.0)))
    elif rank == 0 and work == "download":
        download(until, chance.choice((0.2, 0.7)))
    if "RANK" in os.environ:
        dist.barrier()
    print("step 2 loss 2.25", flush=True)
    print("done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2])))

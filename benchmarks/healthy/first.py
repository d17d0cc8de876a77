"""The first set: 12 kinds, on which the rules were made."""

import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from benchmarks.healthy.kind import Kind, with_ranks


def evaluation(end, folder, chance):
    import torch

    size = chance.choice((32, 128, 512))
    rows = torch.randn(size, size)
    while time.monotonic() < end:
        rows = torch.nn.functional.softmax(rows @ rows.T, dim=-1)


def scoring(end, folder, chance):
    """Overlap of word sequences, in plain Python: nothing here calls a library."""
    words = [chance.choice("abc") for _ in range(chance.choice((200, 2000)))]
    best = 0
    while time.monotonic() < end:
        for start in range(len(words) - 3):
            if words[start : start + 3] == words[-3:]:
                best += 1
    return best


def compile_kernels(end, folder, chance):
    code = "import sys, time\nend = float(sys.argv[1])\nwhile time.monotonic() < end: compile('x = 1\\n' * 300, 'a', 'exec')"
    words = [sys.executable, "-c", code, str(end)]
    for child in [subprocess.Popen(words) for _ in range(chance.choice((1, 2)))]:
        child.wait()


def checkpoint(end, folder, chance):
    chunk = chance.choice((1000, 1 << 20))
    with tempfile.TemporaryFile() as file:
        while time.monotonic() < end:
            file.write(b"0" * chunk)
            file.flush()
            os.fsync(file.fileno())
            time.sleep(0.2)


def debugger(end, folder, chance):
    breakpoint()


def prepare(end, count):
    rows = [json.dumps({"text": f"word {at} " * 20}) for at in range(count)]
    while time.monotonic() < end:
        sum(len(re.findall(r"\w+", json.loads(row)["text"])) for row in rows)


def preparing(end, folder, chance):
    prepare(end, chance.choice((100, 2000)))


def loader(end, folder, chance):
    import torch

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, at):
            prepare(end, 500)
            return at

    list(torch.utils.data.DataLoader(Rows(), num_workers=chance.choice((0, 1, 2))))


def download(end, folder, chance):
    pause = chance.choice((0.2, 0.7))

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            while time.monotonic() < end:
                self.wfile.write(b"x" * 1000)
                time.sleep(pause)

        def log_message(self, *words):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.handle_request, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/model") as answer:
        answer.read()


def polling(end, folder, chance):
    pause = chance.choice((0.1, 1.0, 5.0))
    while time.monotonic() < end:
        time.sleep(pause)


KINDS = (
    Kind(evaluation), Kind(scoring), Kind(compile_kernels), Kind(checkpoint), Kind(debugger), Kind(loader), with_ranks(evaluation),
    with_ranks(preparing), Kind(polling), Kind(download), with_ranks(checkpoint), with_ranks(loader),
)  # fmt: skip

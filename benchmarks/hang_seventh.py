"""24 further scripts of 2 to 4 ranks that hang as users report it. Written, with what is right, before any of them was judged.

None repeats a way to hang of the sets before it, and the rules were not read before. ``python -m benchmarks.hangs --set seventh --places`` showed
that each hangs at the place that is meant.
"""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_ACCELERATE = ("accelerate-1.15.0",)
_LIGHTNING = ("lightning-2.6.6",)
_TRANSFORMERS = ("transformers-5.23.0",)
_WEBDATASET = ("webdataset-1.0.2",)
_SILENT = "import socket\nserver = socket.socket()\nserver.bind(('127.0.0.1', 0))\nserver.listen()\n"

CASES = (
    # --- a rank is gone, or failed and does not leave ---
    Hang("fails-but-an-upload-holds-it", 3, 1, ("ended", "lock", "network"), everyone=_SILENT + """
from concurrent.futures import ThreadPoolExecutor
uploads = ThreadPoolExecutor(1)
def upload(step):
    line = socket.create_connection(server.getsockname())
    line.sendall(b"step %d" % step)
    return line.recv(100)
if culprit:
    uploads.submit(upload, 3)
    stalls()
    raise KeyError("labels")
"""),
    Hang("rows-of-a-killed-producer", 2, 0, ("lock", "child", "loader"), """
import multiprocessing, signal
fork = multiprocessing.get_context("fork")
rows = fork.Queue()
def produce():
    rows.put([1, 2, 3])
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)
fork.Process(target=produce, daemon=True).start()
def batches():
    while True:
        yield rows.get()
for batch in batches():
    pass
"""),
    Hang("script-forgets-a-rank", 3, 1, ("meeting",), launch="alone", whole="""
import ctypes, os, subprocess, sys
import torch.distributed as dist
ctypes.CDLL(None).prctl(1, 9)
folder = os.environ["HANG_FOLDER"]
if "RANK" in os.environ:
    places(int(os.environ["RANK"]))
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    dist.barrier()
else:
    open(folder + "/stalled", "w").close()
    started = [subprocess.Popen([sys.executable, __file__], env=dict(os.environ, RANK=str(at), WORLD_SIZE="3")) for at in (0, 2)]
    for one in started:
        one.wait()
"""),
    # --- data runs out, an error is swallowed ---
    Hang("swallows-the-error-of-an-epoch", 3, 2, ("data-ended", "branch"), everyone="""
import logging
def epoch(rows):
    for row in rows:
        loss = torch.tensor(float(row))
        dist.all_reduce(loss)
def train(rows):
    try:
        epoch(rows)
    except ValueError:
        logging.exception("this epoch ends here")
    if culprit:
        stalls()
    report()
def report():
    losses = [None] * ranks
    dist.all_gather_object(losses, 2.3)
train(["1", "2", "n/a" if culprit else "3", "4", "5"])
"""),
    Hang("preempted-on-one-rank", 3, 1, ("data-ended", "branch"), launch="torchrun", everyone="""
import signal
preempted = False
def note(number, frame):
    nonlocal preempted
    preempted = True
signal.signal(signal.SIGUSR1, note)
def train(steps):
    for step in range(steps):
        dist.all_reduce(torch.tensor(2.3))
        if culprit and step == 4:
            os.kill(os.getpid(), signal.SIGUSR1)
        if preempted:
            stalls()
            return save(step)
def save(step):
    states = [None] * ranks
    dist.all_gather_object(states, {"step": step})
    torch.save(states, folder + f"/preempted-{rank}.pt")
train(20)
"""),
    # --- branches that depend on the rank ---
    Hang("overflow-skips-the-sharded-step", 3, 1, ("branch",), everyone="""
from torch.distributed.optim import ZeroRedundancyOptimizer
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
def step(rows):
    optimizer.zero_grad()
    model(rows).sum().backward()
    if all(torch.isfinite(parameter.grad).all() for parameter in model.parameters()):
        optimizer.step()
    elif culprit:
        stalls()
def log():
    dist.reduce(tensor, 0)
    dist.barrier()
step(torch.full((2, 4), float("inf") if culprit else 1.0))
log()
"""),
    Hang("lightning-saves-on-rank-0", 2, 0, ("branch",), launch="torchrun", packages=_LIGHTNING, everyone="""
import lightning
class Saves(lightning.Callback):
    def on_train_batch_end(self, trainer, model, outputs, batch, at):
        if trainer.is_global_zero and at == 3:
            stalls()
            trainer.save_checkpoint(folder + "/step-3.ckpt")
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def training_step(self, rows, at):
        return self.layer(rows).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
rows = torch.utils.data.DataLoader(torch.ones(64, 4), batch_size=4)
lightning.Trainer(
    accelerator="cpu", devices=ranks, strategy="ddp", max_epochs=1, logger=False, enable_checkpointing=False, default_root_dir=folder,
    enable_progress_bar=False, use_distributed_sampler=False, callbacks=[Saves()]).fit(Model(), rows)
"""),
    Hang("asks-the-trigger-on-main", 3, 0, ("branch",), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
model = accelerator.prepare(torch.nn.Linear(4, 4))
def should_stop():
    return accelerator.check_trigger()
for step in range(6):
    accelerator.backward(model(torch.ones(2, 4)).square().mean())
if accelerator.is_main_process:
    stalls()
    print("stop:", should_stop())
accelerator.gather(torch.ones(2))
"""),
    Hang("receives-under-another-tag", 3, 0, ("branch",), everyone="""
def exchange(step):
    if rank == 0:
        for source in range(1, ranks):
            dist.recv(tensor, src=source, tag=step + 1 if culprit else step)
    else:
        dist.send(tensor, dst=0, tag=step)
stalls()
exchange(7)
"""),
    Hang("pipeline-stages-disagree", 2, 1, ("branch", "shapes", "data-ended"), everyone="""
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
stage = PipelineStage(torch.nn.Linear(4, 4), rank, ranks, torch.device("cpu"))
schedule = ScheduleGPipe(stage, n_microbatches=4 if culprit else 2)
def step(rows):
    if rank == 0:
        return schedule.step(rows)
    return schedule.step()
if culprit:
    stalls()
with torch.no_grad():
    step(torch.ones(8, 4))
"""),
    Hang("collects-from-anyone", 4, 2, ("network",), everyone=_SILENT + """
def score(text):
    line = socket.create_connection(server.getsockname()).makefile("rw")
    line.write(text)
    line.flush()
    return float(line.readline())
def work():
    if culprit:
        stalls()
        tensor.fill_(score("an answer"))
    dist.send(tensor, 0)
def collect():
    for _ in range(ranks - 1):
        dist.recv(tensor)
work() if rank else collect()
"""),
    # --- loaders and forks ---
    Hang("tokenizes-in-a-forked-worker", 2, 1, ("loader",), packages=_TRANSFORMERS, code="""
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
os.environ["TOKENIZERS_PARALLELISM"] = "true"
tokenizer = Tokenizer(models.WordLevel({"a": 0, "row": 1, "?": 2}, unk_token="?"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.encode_batch(["a row"] * 64)
def collate(texts):
    return torch.tensor([row.ids for row in tokenizer.encode_batch(texts)])
for batch in DataLoader(["a row"] * 256, batch_size=64, num_workers=1, collate_fn=collate, multiprocessing_context="fork"):
    pass
"""),
    Hang("multiplies-in-a-fork", 3, 0, ("child", "lock"), """
import multiprocessing
torch.set_num_threads(2)
rows = torch.randn(512, 512)
def embed():
    torch.tanh(rows @ rows).sum().item()
embed()
worker = multiprocessing.get_context("fork").Process(target=embed)
worker.start()
worker.join()
"""),
    Hang("collective-inside-a-worker", 2, 1, ("loader",), """
from torch.utils.data import DataLoader, IterableDataset
class Rows(IterableDataset):
    def __iter__(self):
        seed = [2147483647]
        dist.broadcast_object_list(seed, src=0)
        yield from range(8)
for batch in DataLoader(Rows(), num_workers=1, multiprocessing_context="fork"):
    pass
"""),
    Hang("streams-shards-through-a-program", 2, 0, ("child", "file", "loader", "network"), packages=_WEBDATASET, code="""
import webdataset
os.mkfifo(folder + "/bucket")
shards = webdataset.WebDataset("pipe:cat " + folder + "/bucket", shardshuffle=False, nodesplitter=webdataset.split_by_node)
for row in shards:
    pass
"""),
    # --- locks and threads ---
    Hang("polls-for-its-work", 3, 1, ("lock",), everyone="""
import threading
together = threading.Barrier(2)
def reduce():
    work = dist.all_reduce(tensor, async_op=True)
    while not work.is_completed():
        time.sleep(0.05)
def merge():
    together.wait()
if culprit:
    stalls()
    merge()
reduce()
"""),
    # --- files ---
    Hang("safetensors-on-a-dead-mount", 3, 1, ("file",), """
from safetensors.torch import load_file
os.mkfifo(folder + "/model.safetensors")
def resume():
    return load_file(folder + "/model.safetensors")
resume()
"""),
    Hang("saves-through-a-pipe-that-nobody-reads", 2, 0, ("file",), """
read, write = os.pipe()
def save(state):
    with os.fdopen(write, "wb") as file:
        torch.save(state, file)
save({"weights": torch.ones(1 << 20)})
"""),
    Hang("library-reads-and-keeps-the-lock-of-python", 2, 1, ("file", "lock"), """
read, write = os.pipe()
def native_read():
    return ctypes.PyDLL(None).read(read, ctypes.create_string_buffer(10), 10)
native_read()
"""),
    Hang("fingerprints-a-file-without-end", 3, 0, ("computing", "file"), """
import hashlib
def fingerprint(name):
    found = hashlib.sha256()
    with open(name, "rb") as file:
        while chunk := file.read(1 << 16):
            found.update(chunk)
    return found.hexdigest()
fingerprint("/dev/zero")
"""),
    # --- programs ---
    Hang("daemon-keeps-the-pipe-open", 4, 3, ("child", "file"), """
import subprocess
def start_dashboard():
    return subprocess.check_output(["sh", "-c", "sleep 900 & echo started"], text=True)
start_dashboard()
"""),
    Hang("rollout-waits-for-a-tool", 2, 0, ("child",), """
import asyncio
async def tool(command):
    program = await asyncio.create_subprocess_exec("sh", "-c", command, stdout=asyncio.subprocess.PIPE)
    out, _ = await program.communicate()
    return out
async def rollouts():
    return await asyncio.gather(tool("echo 4"), tool("sleep 900; echo 5"))
asyncio.run(rollouts())
"""),
    # --- the network, meeting ---
    Hang("download-stops-in-the-middle", 3, 2, ("network",), """
import http.server, threading, requests
class Half(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 20))
        self.end_headers()
        self.wfile.write(bytes(1 << 19))
        time.sleep(900)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Half)
threading.Thread(target=server.serve_forever, daemon=True).start()
def download(name):
    with open(folder + "/" + name, "wb") as file:
        for piece in requests.get(f"http://127.0.0.1:{server.server_port}/{name}", stream=True).iter_content(1 << 16):
            file.write(piece)
download("model.safetensors")
"""),
    Hang("all-wait-for-a-start", 3, (), ("meeting", "network"), everyone="""
from datetime import timedelta
store = dist.distributed_c10d._get_default_store()
def started():
    stalls()
    store.wait(["controller/start"], timedelta(seconds=900))
started()
"""),
)  # fmt: skip

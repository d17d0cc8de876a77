"""34 further scripts of 2 to 4 ranks that hang as training runs do. Written, with what is right, before any of them was judged.

None repeats a way to hang of the sets before it. Six run under torchrun, five of these with Trainer, Accelerate or Lightning, and two under
``torch.multiprocessing.spawn``. ``python -m benchmarks.hangs --set fourth --places`` showed that each hangs at the place that is meant.
"""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_ACCELERATE = ("accelerate-1.15.0",)
_TRAINER = ("transformers-5.23.0", "accelerate-1.15.0")
_DATASETS = ("datasets-4.8.0",)
_LIGHTNING = ("lightning-2.6.6",)
_SPAWN = """\
import ctypes, os, sys
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

folder = os.environ["HANG_FOLDER"]

def stalls():
    open(folder + "/stalled", "w").close()

def join(rank, ranks):
    ctypes.CDLL(None).prctl(1, 9)
    places(rank)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    print("rank", rank, "is there", flush=True)

"""
_TRAIN = """
from transformers import Trainer, TrainerCallback, TrainingArguments
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, rows):
        return {"loss": self.layer(rows).square().mean()}
def trainer(rows, *callbacks):
    given = TrainingArguments(
        folder + "/out", use_cpu=True, ddp_backend="gloo", report_to=[], per_device_train_batch_size=1, max_steps=8, logging_steps=1,
        save_strategy="no", dataloader_num_workers=0)
    return Trainer(Model(), given, train_dataset=rows, callbacks=list(callbacks))
"""

CASES = (
    # --- branches that depend on the rank ---
    Hang("gathers-metrics-on-main", 2, 0, ("branch",), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
def log(loss):
    return accelerator.gather(loss).mean().item()
if accelerator.is_main_process:
    stalls()
    log(tensor)
accelerator.wait_for_everyone()
"""),
    Hang("barrier-in-a-callback", 2, 0, ("branch",), launch="torchrun", packages=_TRAINER, everyone=_TRAIN + """
class Marks(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        if state.is_world_process_zero and state.global_step == 2:
            stalls()
            dist.barrier()
trainer([{"rows": torch.ones(4)}] * 64, Marks()).train()
"""),
    Hang("logs-a-sharded-norm", 3, 0, ("branch",), everyone="""
from torch.distributed.fsdp import fully_shard
model = fully_shard(torch.nn.Linear(8, 8), mesh=dist.device_mesh.init_device_mesh("cpu", (ranks,)))
def norm():
    return torch.nn.utils.get_total_norm(model.parameters()).full_tensor().item()
if rank == 0:
    stalls()
    print("norm", norm())
dist.barrier()
"""),
    Hang("sharded-checkpoint-on-one-rank", 3, 1, ("branch",), everyone="""
import torch.distributed.checkpoint as checkpoint
def save(state):
    checkpoint.save(state, checkpoint_id=folder + "/checkpoint")
if culprit:
    stalls()
    save({"rows": tensor})
dist.barrier()
"""),
    Hang("logs-at-its-own-rhythm", 3, 2, ("branch",), everyone="""
def train(every):
    for step in range(1, 21):
        if step % every == 0:
            stalls()
            losses = [None] * ranks
            dist.all_gather_object(losses, 2.3)
        dist.all_reduce(tensor)
train(5 if culprit else 10)
"""),
    Hang("logs-with-sync-on-rank-zero", 2, 0, ("branch",), launch="torchrun", packages=_LIGHTNING, everyone="""
import lightning
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def training_step(self, rows, at):
        loss = self.layer(rows).square().mean()
        if self.global_rank == 0 and at == 3:
            stalls()
            self.all_gather(loss.detach())
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
rows = torch.utils.data.DataLoader(torch.ones(64, 4), batch_size=4)
lightning.Trainer(
    accelerator="cpu", devices=ranks, strategy="ddp", max_epochs=1, logger=False, enable_checkpointing=False, default_root_dir=folder,
    enable_progress_bar=False, use_distributed_sampler=False).fit(Model(), rows)
"""),
    Hang("accumulates-differently", 3, 1, ("branch", "data-ended"), everyone="""
from torch.nn.parallel import DistributedDataParallel
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def step(rows, last):
    if last:
        model(rows).mean().backward()
    else:
        with model.no_sync():
            model(rows).mean().backward()
accumulate = 4 if culprit else 2
for at in range(1, 7):
    step(torch.ones(2, 4), at % accumulate == 0)
stalls()
dist.barrier()
"""),
    # --- data runs out ---
    Hang("spawned-with-uneven-batches", 2, 1, ("data-ended",), launch="alone", whole=_SPAWN + """
def main(rank, ranks):
    join(rank, ranks)
    model = DistributedDataParallel(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for batch in range(5 - rank):
        model(torch.ones(2, 4)).mean().backward()
        optimizer.step()
    if rank == 1:
        stalls()
    dist.barrier()

if __name__ == "__main__":
    mp.spawn(main, (2,), nprocs=2)
"""),
    Hang("gathers-uneven-evaluation", 3, 2, ("data-ended",), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
def evaluate(rows):
    scores = []
    for row in rows:
        scores.append(accelerator.gather_for_metrics(row))
    return scores
evaluate([torch.ones(2)] * (3 if culprit else 4))
if culprit:
    stalls()
accelerator.wait_for_everyone()
"""),
    Hang("stops-early-on-its-own-loss", 4, 3, ("data-ended", "branch"), everyone="""
def train(loss):
    while True:
        dist.all_reduce(tensor)
        loss -= 1.0 if culprit else 0.001
        if loss < 2:
            break
    if culprit:
        stalls()
    scores = [None] * ranks
    dist.all_gather_object(scores, loss)
train(5.0)
"""),
    Hang("empty-shard-exits", 3, 1, ("data-ended", "ended", "meeting"), "pass", launch="torchrun", before="stalls(); print('no rows for this rank'); sys.exit(0)"),
    # --- loaders ---
    Hang("loader-fed-by-a-queue", 2, 1, ("loader",), """
import multiprocessing
from torch.utils.data import DataLoader, IterableDataset
fed = multiprocessing.get_context("fork").Queue()
class Rows(IterableDataset):
    def __iter__(self):
        while True:
            yield fed.get()
fed.put(1)
for row in DataLoader(Rows(), batch_size=None, num_workers=1):
    pass
"""),
    Hang("streams-from-a-generator", 3, 0, ("loader", "network"), packages=_DATASETS, code="""
import socket
from datasets import IterableDataset
def rows():
    ours, theirs = socket.socketpair()
    yield {"text": "one"}
    yield {"text": ours.recv(100).decode()}
for row in IterableDataset.from_generator(rows):
    pass
"""),
    Hang("maps-from-a-dead-mount", 2, 0, ("child", "loader", "file"), packages=_DATASETS, code="""
from datasets import Dataset
os.mkfifo(folder + "/mount")
def tokenize(row):
    with open(os.environ["HANG_FOLDER"] + "/mount") as file:
        return {"ids": [len(file.read())]}
Dataset.from_dict({"text": ["a", "b", "c", "d"]}).map(tokenize, num_proc=2)
"""),
    Hang("trainer-reads-a-dead-mount", 2, 1, ("loader", "file"), launch="torchrun", packages=_TRAINER, everyone=_TRAIN + """
os.mkfifo(folder + f"/mount{rank}")
class Rows(torch.utils.data.Dataset):
    read = 0
    def __len__(self):
        return 64
    def __getitem__(self, at):
        self.read += 1
        if culprit and self.read == 5:
            stalls()
            open(folder + f"/mount{rank}", "rb").read()
        return {"rows": torch.ones(4)}
trainer(Rows()).train()
"""),
    # --- locks, queues, threads ---
    Hang("pool-waits-for-itself", 3, 2, ("lock",), """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(2)
def shard(at):
    return at
def tokenize(file):
    return sum(part.result() for part in [pool.submit(shard, at) for at in range(2)])
sum(pool.map(tokenize, ["a", "b"]))
"""),
    Hang("prefetcher-died", 2, 1, ("lock",), """
import queue, threading
rows = queue.Queue(maxsize=2)
def consume():
    rows.get()
    raise ValueError("bad row")
threading.excepthook = lambda given: None
threading.Thread(target=consume, daemon=True).start()
for at in range(10):
    rows.put(at)
"""),
    Hang("lock-folder-left-behind", 3, 0, ("lock", "file"), """
os.mkdir(folder + "/cache.lock")
def build():
    while True:
        try:
            os.mkdir(folder + "/cache.lock")
            return
        except FileExistsError:
            time.sleep(0.5)
build()
"""),
    Hang("value-of-a-killed-worker", 2, 0, ("lock",), """
import multiprocessing, signal
fork = multiprocessing.get_context("fork")
done = fork.Value("i", 0)
def count():
    with done.get_lock():
        os.kill(os.getpid(), signal.SIGKILL)
worker = fork.Process(target=count)
worker.start()
worker.join()
with done.get_lock():
    done.value += 1
"""),
    Hang("imports-in-a-thread", 3, 1, ("lock",), """
with open(folder + "/plugins.py", "w") as file:
    file.write("import threading\\ndef load():\\n    import plugins\\n    plugins.ready\\nthread = threading.Thread(target=load, daemon=True)\\nthread.start()\\nthread.join()\\nready = True\\n")
sys.path.insert(0, folder)
import plugins
"""),
    Hang("spawned-rank-waits-for-a-queue", 3, 2, ("lock", "child"), launch="alone", whole=_SPAWN + """
def main(rank, ranks, rows):
    join(rank, ranks)
    tensor = torch.ones(4)
    if rank == 2:
        stalls()
        tensor += rows.get()
    dist.all_reduce(tensor)

if __name__ == "__main__":
    mp.spawn(main, (3, mp.get_context("spawn").Queue()), nprocs=3)
"""),
    # --- files ---
    Hang("loads-a-checkpoint", 2, 0, ("file",), """
os.mkfifo(folder + "/model.pt")
def resume():
    return torch.load(folder + "/model.pt", weights_only=True)
resume()
"""),
    Hang("logs-to-a-full-pipe", 3, 1, ("file",), """
import logging
read, write = os.pipe()
log = logging.getLogger("train")
log.addHandler(logging.StreamHandler(os.fdopen(write, "w")))
def train():
    for step in range(10000):
        log.warning("step %d: a row is longer than the model's context and is cut", step)
train()
"""),
    Hang("first-stage-copies", 4, 0, ("file",), everyone="""
import shutil
def stage(at):
    if at == 0:
        read, write = os.pipe()
        stalls()
        with os.fdopen(read, "rb") as source, open(folder + "/copy", "wb") as target:
            shutil.copyfileobj(source, target)
    else:
        dist.recv(tensor, src=at - 1)
    if at < ranks - 1:
        dist.send(tensor, dst=at + 1)
stage(rank)
"""),
    # --- the network ---
    Hang("tls-handshake", 3, 2, ("network",), """
import socket, ssl
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
def connect():
    line = socket.create_connection(server.getsockname())
    return ssl.create_default_context().wrap_socket(line, server_hostname="hub")
connect()
"""),
    Hang("asks-a-reward-server", 2, 0, ("network",), """
import asyncio, aiohttp
import socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
async def score(text):
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        async with session.post(f"http://127.0.0.1:{server.getsockname()[1]}/score", json={"text": text}) as answer:
            return await answer.json()
asyncio.run(score("an answer"))
"""),
    Hang("polls-a-socket", 4, 3, ("network",), """
import select, socket
ours, theirs = socket.socketpair()
poller = select.poll()
poller.register(ours, select.POLLIN)
def receive():
    return [ours.recv(10) for _ in poller.poll()]
receive()
"""),
    Hang("downloads-in-threads", 2, 1, ("network", "lock"), """
import socket
from multiprocessing.pool import ThreadPool
lines = [socket.socketpair() for _ in range(3)]
def download(at):
    return lines[at][0].recv(1 << 16)
with ThreadPool(3) as pool:
    pool.map(download, range(3))
"""),
    # --- computing ---
    Hang("samples-until-it-fits", 2, 1, ("computing",), """
import random
def sample(lengths):
    return random.sample(lengths, 3)
def pack(lengths, room):
    while True:
        chosen = sample(lengths)
        if sum(chosen) <= room:
            return chosen
pack(list(range(100, 200)), 50)
"""),
    Hang("counts-without-end", 4, 2, ("computing",), """
import itertools
def tokens(lengths):
    return sum(lengths)
tokens(itertools.repeat(7))
"""),
    # --- programs and processes, persons ---
    Hang("system-call-of-a-shell", 3, 1, ("child",), """
os.mkfifo(folder + "/remote")
def sync():
    os.system("cat " + folder + "/remote > /dev/null")
sync()
"""),
    Hang("both-ends-receive", 2, 0, ("child", "lock"), """
import multiprocessing
fork = multiprocessing.get_context("fork")
ours, theirs = fork.Pipe()
def environment(line):
    while True:
        action = line.recv()
        line.send(action)
worker = fork.Process(target=environment, args=(theirs,), daemon=True)
worker.start()
def rollout():
    return ours.recv()
rollout()
"""),
    Hang("reads-names-from-standard-input", 3, 0, ("input", "file"), """
read, write = os.pipe()
os.dup2(read, 0)
def names():
    return [line.strip() for line in sys.stdin]
names()
"""),
    # --- meeting ---
    Hang("locked-before-meeting", 3, 2, ("lock", "meeting"), "pass", before="stalls(); import threading; held = threading.Lock(); held.acquire(); held.acquire()"),
)  # fmt: skip

"""30 further scripts of 2 to 4 ranks that hang as training runs do. Written, with what is right, before any of them was judged.

None repeats a way to hang of the sets before it, and the rules were not read before. Some run under torchrun, with Trainer or Accelerate, under
``torch.multiprocessing.spawn``, or meet by ``env://``. ``python -m benchmarks.hangs --set fifth --places`` showed that each hangs at the place
that is meant.
"""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_ACCELERATE = ("accelerate-1.15.0",)
_TRAINER = ("transformers-5.23.0", "accelerate-1.15.0")
_DATASETS = ("datasets-4.8.0",)
_DDP = "from torch.nn.parallel import DistributedDataParallel\n"
_SILENT = "import socket\nserver = socket.socket()\nserver.bind(('127.0.0.1', 0))\nserver.listen()\n"
_HEAD = """\
import ctypes, os, sys, time
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

folder = os.environ["HANG_FOLDER"]

def stalls():
    open(folder + "/stalled", "w").close()

"""

CASES = (
    # --- a rank is gone ---
    Hang("killed-before-a-new-group", 3, 2, ("ended",), everyone="""
import signal
if culprit:
    stalls()
    os.kill(os.getpid(), signal.SIGKILL)
dist.new_group(list(range(ranks)))
"""),
    Hang("file-of-a-rank-that-failed", 3, 0, ("ended",), everyone="""
def tokenized():
    while not os.path.exists(folder + "/tokenized"):
        time.sleep(0.5)
if culprit:
    stalls()
    raise MemoryError("the rows do not fit")
tokenized()
"""),
    Hang("mails-when-the-others-are-done", 3, 0, ("network",), everyone=_SILENT + """
import smtplib
def notify():
    smtplib.SMTP(*server.getsockname())
dist.destroy_process_group()
if not culprit:
    sys.exit(0)
stalls()
notify()
"""),
    # --- data runs out ---
    Hang("next-epoch-of-a-shorter-shard", 3, 2, ("data-ended", "branch"), packages=_DATASETS, everyone="""
from datasets import Dataset
from datasets.distributed import split_dataset_by_node
rows = split_dataset_by_node(Dataset.from_dict({"at": list(range(8))}).to_iterable_dataset(num_shards=3), rank=rank, world_size=ranks)
def train(rows, epochs):
    for epoch in range(epochs):
        if culprit and epoch:
            stalls()
        seeds = [None] * ranks
        dist.all_gather_object(seeds, epoch)
        for row in rows:
            dist.all_reduce(tensor)
train(rows, 3)
"""),
    Hang("join-does-not-know-the-losses", 3, 1, ("data-ended", "branch"), everyone=_DDP + """
from torch.distributed.algorithms.join import Join
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def train(batches):
    with Join([model]):
        for batch in batches:
            model(batch).mean().backward()
            losses = [None] * ranks
            dist.all_gather_object(losses, 2.3)
        if culprit:
            stalls()
train([torch.ones(2, 4)] * (2 if culprit else 4))
dist.barrier()
"""),
    # --- branches that depend on the rank ---
    Hang("repeats-a-batch-that-was-too-large", 3, 1, ("branch",), everyone=_DDP + """
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def step(rows):
    model(rows).mean().backward()
    if culprit and len(rows) > 4:
        stalls()
        raise RuntimeError("out of memory")
try:
    step(torch.ones(8, 4))
except RuntimeError:
    step(torch.ones(4, 4))
losses = [None] * ranks
dist.all_gather_object(losses, 2.3)
"""),
    Hang("groups-in-another-order", 3, 1, ("branch", "shapes"), everyone="""
shards, copies = dist.new_group(list(range(ranks))), dist.new_group(list(range(ranks)))
def average(group):
    dist.all_reduce(tensor, group=group)
stalls()
if culprit:
    average(copies)
    average(shards)
else:
    average(shards)
    average(copies)
"""),
    Hang("whole-parameters-on-one-rank", 3, 0, ("branch",), everyone="""
from torch.distributed.fsdp import FullyShardedDataParallel
model = FullyShardedDataParallel(torch.nn.Linear(8, 8), device_id=torch.device("cpu"))
def export():
    with FullyShardedDataParallel.summon_full_params(model):
        return {name: value.clone() for name, value in model.named_parameters()}
if culprit:
    stalls()
    export()
dist.barrier()
"""),
    Hang("places-weights-on-one-rank", 4, 3, ("branch",), everyone="""
from torch.distributed.tensor import Replicate, distribute_tensor
mesh = dist.device_mesh.init_device_mesh("cpu", (ranks,))
def load(state):
    return distribute_tensor(state, mesh, [Replicate()])
if culprit:
    stalls()
    load(torch.ones(8, 8))
dist.barrier()
"""),
    Hang("consolidates-the-optimizer-on-rank-0", 2, 0, ("branch",), everyone="""
from torch.distributed.optim import ZeroRedundancyOptimizer
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
if rank == 0:
    stalls()
    optimizer.consolidate_state_dict(to=0)
    torch.save(optimizer.state_dict(), folder + "/optimizer.pt")
dist.barrier()
"""),
    Hang("evaluates-on-the-main-process", 2, 0, ("branch",), launch="torchrun", packages=_TRAINER, everyone="""
from transformers import Trainer, TrainingArguments
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, rows, labels):
        return {"loss": (self.layer(rows).sum(1) - labels).square().mean()}
rows = [{"rows": torch.ones(4), "labels": 1.0}] * 16
given = TrainingArguments(
    folder + "/out", use_cpu=True, ddp_backend="gloo", report_to=[], per_device_train_batch_size=1, max_steps=3, save_strategy="no")
trainer = Trainer(Model(), given, train_dataset=rows, eval_dataset=rows)
trainer.train()
if trainer.is_world_process_zero():
    stalls()
    print(trainer.evaluate())
dist.barrier()
"""),
    # --- loaders ---
    Hang("dispatches-from-a-stuck-stream", 2, 0, ("loader", "network"), launch="torchrun", packages=_ACCELERATE, everyone="""
import socket
from accelerate import Accelerator
from torch.utils.data import DataLoader, IterableDataset
ours, theirs = socket.socketpair()
class Rows(IterableDataset):
    def __iter__(self):
        for at in range(8):
            yield torch.ones(4)
        stalls()
        yield ours.recv(100)
for batch in Accelerator(cpu=True).prepare(DataLoader(Rows(), batch_size=2)):
    dist.all_reduce(tensor)
"""),
    Hang("worker-connects-as-it-starts", 3, 1, ("loader",), """
import socket
from torch.utils.data import DataLoader
lines = [socket.socketpair() for _ in range(2)]
def connect(worker):
    lines[worker][0].recv(100)
for row in DataLoader([1, 2, 3, 4], num_workers=2, worker_init_fn=connect):
    pass
"""),
    Hang("prefetches-in-a-thread", 2, 1, ("lock", "loader", "file"), """
import queue, threading
os.mkfifo(folder + "/shard-1")
with open(folder + "/shard-0", "w") as file:
    file.write("one\\ntwo\\n")
def prefetched(names):
    rows = queue.Queue(4)
    def read():
        for name in names:
            with open(folder + "/" + name) as file:
                for row in file:
                    rows.put(row)
        rows.put(None)
    threading.Thread(target=read, daemon=True).start()
    while (row := rows.get()) is not None:
        yield row
for row in prefetched(["shard-0", "shard-1"]):
    pass
"""),
    Hang("buckets-that-never-fill", 4, 2, ("computing", "loader"), """
from torch.utils.data import DataLoader, Sampler
class Buckets(Sampler):
    def __init__(self, lengths):
        self.lengths = lengths
    def __iter__(self):
        bucket = []
        while True:
            for at, length in enumerate(self.lengths):
                if length > 512:
                    bucket.append(at)
                if len(bucket) == 4:
                    yield bucket
                    bucket = []
lengths = [10, 20, 30, 40]
for batch in DataLoader(lengths, batch_sampler=Buckets(lengths)):
    pass
"""),
    Hang("cache-of-a-stopped-manager", 2, 0, ("loader",), """
import multiprocessing, signal
from torch.utils.data import DataLoader, Dataset
manager = multiprocessing.get_context("fork").Manager()
cache = manager.dict()
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, at):
        return cache.get(at, at)
os.kill(manager._process.pid, signal.SIGSTOP)
for row in DataLoader(Rows(), num_workers=2):
    pass
"""),
    # --- files ---
    Hang("arrow-reads-a-dead-mount", 3, 0, ("file", "lock"), """
import pyarrow.csv
os.mkfifo(folder + "/rows.csv")
def rows():
    return pyarrow.csv.read_csv(folder + "/rows.csv")
rows()
"""),
    # --- programs and processes ---
    Hang("program-prints-too-much", 2, 1, ("child",), """
import subprocess
def convert():
    program = subprocess.Popen(["sh", "-c", "yes row | head -c 1000000"], stdout=subprocess.PIPE)
    if program.wait() == 0:
        return program.stdout.read()
convert()
"""),
    Hang("joins-before-it-takes-the-rows", 3, 0, ("child", "lock"), """
import multiprocessing
fork = multiprocessing.get_context("fork")
rows = fork.Queue()
def tokenize():
    rows.put(bytes(1 << 20))
worker = fork.Process(target=tokenize)
worker.start()
worker.join()
rows.get()
"""),
    # --- locks, threads ---
    Hang("spawned-rank-misses-a-notification", 3, 1, ("lock",), launch="alone", whole=_HEAD + """
def main(rank, ranks, loaded):
    ctypes.CDLL(None).prctl(1, 9)
    places(rank)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    tensor = torch.ones(4)
    if rank == 0:
        with loaded:
            loaded.notify_all()
    dist.all_reduce(tensor)
    if rank == 1:
        stalls()
        with loaded:
            loaded.wait()
    dist.all_reduce(tensor)

if __name__ == "__main__":
    mp.spawn(main, (3, mp.get_context("spawn").Condition()), nprocs=3)
"""),
    Hang("logs-behind-a-blocked-thread", 2, 1, ("lock", "file"), """
import logging, threading
read, write = os.pipe()
log = logging.getLogger("train")
log.addHandler(logging.StreamHandler(os.fdopen(write, "w")))
threading.Thread(target=log.warning, args=("x" * (1 << 20),), daemon=True).start()
time.sleep(0.5)
def step():
    log.warning("loss 2.3")
step()
"""),
    Hang("saves-in-a-signal-handler", 4, 3, ("lock",), """
import signal, threading
saving = threading.Lock()
def save():
    with saving:
        open(folder + "/state", "w").close()
        signal.raise_signal(signal.SIGUSR1)
signal.signal(signal.SIGUSR1, lambda number, frame: save())
save()
"""),
    Hang("waits-for-its-own-event-loop", 2, 0, ("lock",), """
import asyncio
async def score(text):
    return 1.0
def reward(text, loop):
    return asyncio.run_coroutine_threadsafe(score(text), loop).result()
async def rollout():
    return reward("an answer", asyncio.get_running_loop())
asyncio.run(rollout())
"""),
    # --- the network, meeting ---
    Hang("remote-file-through-fsspec", 3, 2, ("network", "lock"), _SILENT + """
import fsspec
def config():
    return fsspec.filesystem("http").cat(f"http://127.0.0.1:{server.getsockname()[1]}/config.json")
config()
"""),
    Hang("retries-a-refused-connection", 2, 1, ("network", "sleeping"), """
import requests, socket
free = socket.socket()
free.bind(("127.0.0.1", 0))
def healthy():
    while True:
        try:
            return requests.get(f"http://127.0.0.1:{free.getsockname()[1]}/health").ok
        except requests.ConnectionError:
            time.sleep(1)
healthy()
"""),
    Hang("another-port-of-the-master", 3, 2, ("meeting",), whole=_HEAD + """
import socket
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ctypes.CDLL(None).prctl(1, 9)
places(rank)
if rank == 0:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with open(folder + "/port.new", "w") as file:
            file.write(str(free.getsockname()[1]))
    os.rename(folder + "/port.new", folder + "/port")
while not os.path.exists(folder + "/port"):
    time.sleep(0.1)
port = int(open(folder + "/port").read())
if rank == 2:
    stalls()
    unused = socket.socket()
    unused.bind(("127.0.0.1", 0))
    port = unused.getsockname()[1]
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
dist.init_process_group("gloo")
dist.barrier()
"""),
    Hang("second-node-never-comes", 2, (), ("meeting",), launch="alone", whole=_HEAD + """
import socket
from torch.distributed.run import main
if "RANK" in os.environ:
    dist.init_process_group("gloo")
    dist.barrier()
else:
    ctypes.CDLL(None).prctl(1, 9)
    places(0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stalls()
    main(["--nnodes", "2", "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}", sys.argv[0]])
"""),
    # --- computing ---
    Hang("walks-a-ring-of-links", 3, 0, ("computing", "file"), """
os.makedirs(folder + "/data")
os.symlink(folder + "/data", folder + "/data/train")
os.symlink(folder + "/data", folder + "/data/latest")
def files(top):
    return [name for _, _, names in os.walk(top, followlinks=True) for name in names]
files(folder + "/data")
"""),
    # --- a person, a tracer ---
    Hang("tracer-left-attached", 3, 1, ("stopped",), """
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
traced = os.getpid()
if os.fork() == 0:
    libc.prctl(1, 9)
    if libc.ptrace(16, traced, None, None):
        os.write(2, b"cannot attach\\n")
    time.sleep(900)
def train():
    time.sleep(2)
train()
"""),
    Hang("asks-for-a-token", 2, 0, ("input",), """
import getpass, pty
ours, theirs = pty.openpty()
sys.stdin = os.fdopen(theirs)
def login():
    return getpass.getpass("Token: ")
login()
"""),
)  # fmt: skip

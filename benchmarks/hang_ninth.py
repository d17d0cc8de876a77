"""30 further scripts of 2 or 3 ranks that hang as users report it. Written, with what is right, before any of them was judged.

None repeats a way to hang of the sets before it, and the rules were not read before. ``python -m benchmarks.hangs --set ninth --places`` showed
that each hangs at the place that is meant.

First run: ``python -m benchmarks.hangs --python PYTHON --set ninth --at-once 2``, rules of 2c770b731, load 9 to 13: rank right in 26 of 30 (87 %, 70-95 %),
class right in 27 of 30 (90 %, 74-97 %). After the mends, now known: 29 and 30 of 30; of ``store-file-on-a-disk-of-its-own`` only the class is right.
"""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_ACCELERATE = ("accelerate-1.15.0",)
_LIGHTNING = ("lightning-2.6.6",)
_TRAINER = ("transformers-5.23.0", "accelerate-1.15.0")
_DDP = "from torch.nn.parallel import DistributedDataParallel\n"
_ROWS = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n"
_HEAD = """\
import ctypes, os, sys, time
import torch
import torch.distributed as dist

folder = os.environ["HANG_FOLDER"]
ctypes.CDLL(None).prctl(1, 9)

def stalls():
    open(folder + "/stalled", "w").close()

"""
_RANK = """\
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
places(rank)
"""

CASES = (
    # --- branches that depend on the rank ---
    Hang("metrics-in-another-order", 3, 2, ("branch",), everyone="""
metrics = {"accuracy": 0.5, "rows": ["first", "second"], "loss": 2.3}
def gathered(value):
    if isinstance(value, list):
        found = [None] * ranks
        dist.all_gather_object(found, value)
        return sum(found, [])
    reduced = torch.tensor(value)
    dist.all_reduce(reduced)
    return reduced.item() / ranks
if culprit:
    stalls()
print({name: gathered(metrics[name]) for name in sorted(metrics, reverse=culprit)})
"""),
    Hang("averages-by-another-period", 3, 2, ("branch", "data-ended"), everyone="""
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
averager = PeriodicModelAverager(period=4 if culprit else 2, warmup_steps=0)
def train(steps):
    for step in range(steps):
        model(torch.ones(2, 4)).square().mean().backward()
        optimizer.step()
        averager.average_parameters(model.parameters())
train(8)
if culprit:
    stalls()
losses = [None] * ranks
dist.all_gather_object(losses, 2.3)
"""),
    Hang("wraps-the-model-where-it-trains-an-adapter", 3, 0, ("branch",), everyone=_DDP + """
def prepared(model, trains):
    for parameter in model.parameters():
        parameter.requires_grad_(trains)
    if any(parameter.requires_grad for parameter in model.parameters()):
        return DistributedDataParallel(model)
    return model
if culprit:
    stalls()
prepared(torch.nn.Linear(4, 4), trains=culprit)
dist.barrier()
"""),
    Hang("drops-a-sharded-layer-by-its-own-dice", 3, 1, ("branch", "data-ended"), everyone="""
from torch.distributed.fsdp import fully_shard
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(12, 12) for _ in range(4))
    def forward(self, rows, dropped):
        for at, layer in enumerate(self.layers):
            if at not in dropped:
                rows = layer(rows)
        return rows
model, mesh = Model(), dist.device_mesh.init_device_mesh("cpu", (ranks,))
for layer in model.layers:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
if culprit:
    stalls()
model(torch.ones(2, 12), {2} if culprit else set()).mean().backward()
dist.barrier()
"""),
    Hang("peeks-at-a-batch-on-main", 2, 0, ("branch",), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(DataLoader(TensorDataset(torch.ones(16, 4)), batch_size=2, shuffle=True))
def show(loader):
    print("first rows:", next(iter(loader)))
if accelerator.is_main_process:
    stalls()
    show(loader)
accelerator.wait_for_everyone()
"""),
    Hang("trainer-loss-gathers-only-with-labels", 3, 1, ("branch",), launch="torchrun", packages=_TRAINER, everyone="""
from transformers import Trainer, TrainingArguments
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, rows, labels):
        return {"logits": self.layer(rows)}
class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **given):
        logits = model(**inputs)["logits"]
        counted = (inputs["labels"] != -100).sum()
        if counted == 0:
            stalls()
            return logits.sum() * 0.0
        everywhere = self.accelerator.gather(counted).sum()
        return logits.square().sum() / everywhere
class Rows(torch.utils.data.Dataset):
    read = 0
    def __len__(self):
        return 96
    def __getitem__(self, at):
        self.read += 1
        return {"rows": torch.ones(4), "labels": torch.full((4,), -100 if culprit and 7 <= self.read <= 10 else 1)}
given = TrainingArguments(
    folder + "/out", use_cpu=True, ddp_backend="gloo", report_to=[], per_device_train_batch_size=2, max_steps=8, logging_steps=100, save_strategy="no",
    remove_unused_columns=False, average_tokens_across_devices=False)
Weighted(Model(), given, train_dataset=Rows()).train()
"""),
    Hang("metric-computed-on-rank-0", 3, 0, ("branch",), packages=_LIGHTNING, everyone="""
import torchmetrics
accuracy = torchmetrics.MeanMetric()
def report():
    return accuracy.compute().item()
accuracy.update(0.5)
if culprit:
    stalls()
    print("accuracy", report())
losses = [None] * ranks
dist.all_gather_object(losses, 2.3)
"""),
    Hang("backward-that-reduces-is-cut-off", 3, 2, ("branch",), everyone="""
class Reduced(torch.autograd.Function):
    @staticmethod
    def forward(context, rows):
        return rows.view_as(rows)
    @staticmethod
    def backward(context, gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient
vision, text = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
def loss(pictures, rows):
    seen = Reduced.apply(vision(pictures))
    if pictures.abs().sum() == 0:
        seen = seen.detach()
    return (seen + text(rows)).square().mean()
if culprit:
    stalls()
loss(torch.zeros(2, 4) if culprit else torch.ones(2, 4), torch.ones(2, 4)).backward()
norms = [None] * ranks
dist.all_gather_object(norms, 1.0)
"""),
    Hang("stage-does-not-pass-on-an-empty-batch", 3, 1, ("branch",), everyone="""
def forward(batch):
    if rank > 0:
        received = [None]
        dist.recv_object_list(received, src=rank - 1)
        batch = received[0]
    batch = [row for row in batch if len(row) > rank * 4]
    if not batch:
        stalls()
        return None
    if rank < ranks - 1:
        dist.send_object_list([batch], dst=rank + 1)
    return batch
def backward(gradient):
    if rank < ranks - 1 and gradient is None:
        received = [None]
        dist.recv_object_list(received, src=rank + 1)
        gradient = received[0]
    if rank > 0:
        dist.send_object_list([gradient], dst=rank - 1)
if forward(["a", "row"]) is not None:
    backward(2.3 if rank == ranks - 1 else None)
dist.all_reduce(tensor)
"""),
    Hang("unchanged-rank-skips-the-barrier-of-the-store", 3, 2, ("branch",), everyone="""
from torch.distributed.elastic.utils.store import barrier
store = dist.distributed_c10d._get_default_store()
def commit(changed):
    if not changed:
        stalls()
        return
    with open(folder + f"/state-{rank}", "w") as file:
        file.write("step 3")
    barrier(store, ranks, "commit-3", barrier_timeout=900)
commit(changed=not culprit)
dist.all_reduce(tensor)
"""),
    # --- data runs out ---
    Hang("lightning-has-fewer-batches-on-one-rank", 2, 1, ("data-ended", "branch"), launch="torchrun", packages=_LIGHTNING, everyone="""
import lightning
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def training_step(self, rows, at):
        return self.layer(rows).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
    def on_train_epoch_end(self):
        if culprit:
            stalls()
rows = torch.utils.data.DataLoader(torch.ones(24 if culprit else 40, 4), batch_size=4)
lightning.Trainer(
    accelerator="cpu", devices=ranks, strategy="ddp", max_epochs=1, logger=False, enable_checkpointing=False, default_root_dir=folder,
    enable_progress_bar=False, use_distributed_sampler=False).fit(Model(), rows)
dist.barrier()
"""),
    Hang("stops-when-its-time-is-spent", 3, 2, ("data-ended", "branch"), everyone=_DDP + """
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def train(steps, seconds):
    end = time.monotonic() + seconds
    for step in range(steps):
        if time.monotonic() > end:
            print("the time of this job is spent after", step, "steps")
            stalls()
            break
        model(torch.ones(2, 4)).mean().backward()
        time.sleep(0.05)
train(1000, 2 if culprit else 600)
losses = [None] * ranks
dist.all_gather_object(losses, 2.3)
"""),
    Hang("tensor-parallel-ranks-of-other-batches", 2, 1, ("data-ended", "branch"), everyone="""
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.utils.data import DataLoader
mesh = dist.device_mesh.init_device_mesh("cpu", (ranks,))
model = parallelize_module(
    torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 4)), mesh, {"0": ColwiseParallel(), "1": RowwiseParallel()})
rows = torch.ones(6 if culprit else 12, 4)
def train():
    for batch in DataLoader(rows, batch_size=2):
        model(batch).square().mean().backward()
train()
if culprit:
    stalls()
dist.barrier()
"""),
    # --- stopped ---
    Hang("stopped-in-the-middle-of-a-reduction", 3, 2, ("stopped",), everyone="""
import signal, threading
def stop():
    stalls()
    os.kill(os.getpid(), signal.SIGSTOP)
if culprit:
    threading.Timer(0.7, stop).start()
if rank == 0:
    time.sleep(2)
dist.all_reduce(tensor)
"""),
    # --- loaders ---
    Hang("worker-waits-for-a-decoder", 2, 0, ("loader",), _ROWS + """
import subprocess
os.mkfifo(folder + "/frames")
class Frames(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, at):
        if at == 3:
            return len(subprocess.run(["sh", "-c", f"cat < {folder}/frames"], capture_output=True).stdout)
        return at
for batch in DataLoader(Frames(), batch_size=2, num_workers=2):
    pass
"""),
    Hang("worker-waits-for-the-first-step", 3, 1, ("loader",), _ROWS + """
import multiprocessing
started = multiprocessing.get_context("fork").Event()
class Rows(IterableDataset):
    def __iter__(self):
        started.wait()
        yield from range(8)
for step, batch in enumerate(DataLoader(Rows(), num_workers=1, multiprocessing_context="fork")):
    if step == 0:
        started.set()
"""),
    # --- locks ---
    Hang("finalizer-takes-the-lock-again", 2, 0, ("lock",), """
import gc, threading
class Cache:
    def __init__(self):
        self.lock, self.open = threading.Lock(), 0
    def add(self):
        with self.lock:
            self.open += 1
            gc.collect()
    def drop(self):
        with self.lock:
            self.open -= 1
class Shard:
    def __init__(self, cache):
        self.cache, self.itself = cache, self
        cache.add()
    def __del__(self):
        self.cache.drop()
cache = Cache()
def read(names):
    for name in names:
        Shard(cache)
read(["shard-0", "shard-1"])
"""),
    Hang("parameter-server-behind-its-lock", 3, 0, ("lock",), whole=_HEAD + _RANK + """
import queue, threading
import torch.distributed.rpc as rpc

weights, lock, gradients = torch.ones(4), threading.Lock(), queue.Queue()

def pull():
    with lock:
        return weights.clone()

def update():
    while True:
        with lock:
            weights.sub_(gradients.get())

def serve():
    threading.Thread(target=update, daemon=True).start()
    time.sleep(1)
    stalls()

def train():
    for step in range(4):
        loss = rpc.rpc_sync("worker0", pull, timeout=0).sum()
        print("step", step, "loss", loss.item(), flush=True)

rpc.init_rpc(
    f"worker{rank}", rank=rank, world_size=ranks,
    rpc_backend_options=rpc.TensorPipeRpcBackendOptions(init_method=f"file://{folder}/store", rpc_timeout=0))
if rank == 0:
    serve()
else:
    time.sleep(2)
    train()
rpc.shutdown(timeout=0)
"""),
    # --- files, sleeps ---
    Hang("follows-a-log-that-is-done", 2, 0, ("file", "sleeping"), """
with open(folder + "/export.log", "w") as file:
    file.write("exported 1 of 2 shards\\n")
def follow(name):
    with open(name) as file:
        while True:
            line = file.readline()
            if line.startswith("exported 2"):
                return
            if not line:
                time.sleep(0.5)
follow(folder + "/export.log")
"""),
    Hang("asks-the-queue-until-a-job-is-done", 2, 0, ("sleeping", "child"), """
import subprocess
def state(job):
    return subprocess.check_output(["echo", job, "RUNNING"], text=True).split()[1]
def wait_for(job):
    while state(job) != "COMPLETED":
        time.sleep(1)
wait_for("4711")
"""),
    Hang("waits-for-the-signal-of-a-scheduler", 3, 1, ("sleeping", "lock"), """
import signal
def until_requeued():
    signal.signal(signal.SIGUSR1, lambda number, frame: print("goes on"))
    signal.pause()
until_requeued()
"""),
    # --- the network, meeting ---
    Hang("connects-to-a-full-backlog", 3, 2, ("network",), """
import socket
server = socket.socket(socket.AF_UNIX)
server.bind(folder + "/rewards")
server.listen(0)
def connect(count):
    lines = []
    for _ in range(count):
        lines.append(socket.socket(socket.AF_UNIX))
        lines[-1].connect(folder + "/rewards")
    return lines
connect(4)
"""),
    Hang("two-nodes-with-other-names-of-the-run", 2, (), ("meeting",), launch="alone", whole=_HEAD + """
import socket, subprocess
if "RANK" in os.environ:
    dist.init_process_group("gloo")
    dist.barrier()
else:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    stalls()
    nodes = [
        subprocess.Popen([
            sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d",
            "--rdzv-endpoint", f"127.0.0.1:{port}", "--rdzv-id", name, __file__])
        for name in ("job-4711", "job-4712")
    ]
    for node in nodes:
        node.wait()
"""),
    Hang("store-file-on-a-disk-of-its-own", 3, 1, ("meeting",), whole=_HEAD + _RANK + """
os.makedirs(folder + f"/node-{rank % 2}", exist_ok=True)
if rank == 1:
    stalls()
dist.init_process_group("gloo", init_method=f"file://{folder}/node-{rank % 2}/store", rank=rank, world_size=ranks)
dist.barrier()
"""),
    Hang("asks-for-a-licence-as-it-is-imported", 2, 1, ("network", "meeting"), launch="torchrun", whole=_HEAD + _RANK + """
import socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
os.makedirs(folder + f"/plugins-{rank}")
with open(folder + f"/plugins-{rank}/licensed.py", "w") as file:
    if rank == 1:
        file.write("import os, socket\\nline = socket.create_connection(('127.0.0.1', int(os.environ['LICENCES'])))\\nterms = line.makefile().readline()\\n")
os.environ["LICENCES"] = str(server.getsockname()[1])
sys.path.insert(0, folder + f"/plugins-{rank}")
if rank == 1:
    stalls()
import licensed
dist.init_process_group("gloo")
dist.barrier()
"""),
    # --- computing ---
    Hang("spins-on-a-flag-in-shared-memory", 2, 1, ("computing",), """
import mmap
with open(folder + "/flags", "wb") as file:
    file.write(bytes(mmap.PAGESIZE))
with open(folder + "/flags", "r+b") as file:
    flags = mmap.mmap(file.fileno(), mmap.PAGESIZE)
def until_written(at):
    while flags[at] == 0:
        pass
until_written(0)
"""),
    Hang("cleans-a-text-to-no-end", 3, 0, ("computing",), """
def cleaned(text):
    text = text.strip()
    while "  " in text:
        text = text.replace("\\t", " ").replace("   ", "  ")
    return text
cleaned("a  row with   spaces")
"""),
    Hang("compares-every-row-with-every-other", 3, 0, ("computing",), """
rows = [f"row {at} of a corpus that is not small".split() for at in range(40000)]
def overlap(one, other):
    return len(set(one) & set(other)) / len(set(one) | set(other))
def deduplicated(rows):
    kept = []
    for row in rows:
        if all(overlap(row, other) < 0.99 for other in kept):
            kept.append(row)
    return kept
deduplicated(rows)
"""),
    # --- programs and processes ---
    Hang("joins-a-writer-that-nobody-told-to-end", 2, 1, ("child", "lock"), """
import multiprocessing
fork = multiprocessing.get_context("fork")
rows = fork.Queue()
def write():
    with open(folder + "/rows", "w") as file:
        while (row := rows.get()) is not None:
            file.write(row)
writer = fork.Process(target=write, daemon=True)
writer.start()
def save(texts):
    for text in texts:
        rows.put(text)
    writer.join()
save(["one", "two"])
"""),
    Hang("program-waits-for-a-lock-of-another", 3, 2, ("child", "lock"), """
import subprocess
keeper = subprocess.Popen(["flock", folder + "/models.lock", "sleep", "900"])
time.sleep(0.5)
def sync(name):
    subprocess.run(["flock", folder + "/models.lock", "cp", name, folder + "/copy"], check=True)
sync(folder + "/train.py")
"""),
)  # fmt: skip

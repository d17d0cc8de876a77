"""24 further scripts of 2 to 4 ranks that hang as training runs do. Written, with what is right, before any of them was judged."""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_DDP = "from torch.nn.parallel import DistributedDataParallel\n"
_ROWS = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n"

CASES = (
    # --- data runs out, a rank is gone ---
    Hang("uneven-batches", 3, 1, ("data-ended",), everyone="""
def train(batches):
    for batch in range(batches):
        dist.all_reduce(tensor)
    stalls()
    dist.barrier()
train(4 if culprit else 6)
"""),
    Hang("dies-without-a-word", 3, 2, ("ended",), everyone="""
store = dist.distributed_c10d._get_default_store()
if culprit:
    stalls()
    os._exit(1)
store.wait(["evaluated"], __import__("datetime").timedelta(seconds=900))
"""),
    Hang("packs-forever", 2, 1, ("computing", "data-ended"), """
def pack(rows, length):
    packed = []
    while len(packed) < length:
        row = next(rows, None)
        if row is not None:
            packed += row
    return packed
pack(iter([[1, 2, 3]] * 5), 64)
"""),
    # --- branches that depend on the rank ---
    Hang("saves-on-rank-0", 3, 0, ("branch",), """
def save(state):
    parts = [None] * ranks
    dist.gather_object(state, parts, dst=0)
save({"step": 3})
"""),
    Hang("evaluates-on-one-rank", 3, 1, ("branch",), everyone=_DDP + """
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)))
def evaluate(rows):
    return model(rows).mean().item()
if culprit:
    stalls()
    evaluate(torch.randn(8, 4))
"""),
    Hang("skips-a-backward", 3, 2, ("branch",), everyone=_DDP + """
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def step(rows):
    loss = model(rows).square().mean()
    if culprit and loss.item() >= 0:
        stalls()
        return
    loss.backward()
step(torch.randn(8, 4))
dist.barrier()
"""),
    Hang("layer-without-rows", 2, 1, ("branch",), everyone=_DDP + """
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.text, self.image = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    def forward(self, rows):
        return self.text(rows) if culprit else self.text(rows) + self.image(rows)
model = DistributedDataParallel(Model())
model(torch.randn(8, 4)).mean().backward()
losses = [None] * ranks
stalls()
dist.all_gather_object(losses, 2.3)
"""),
    Hang("objects-part", 3, 2, ("branch",), everyone="""
def gather(row):
    rows = [None] * ranks
    dist.all_gather_object(rows, row)
def share(row):
    dist.broadcast_object_list([row], src=0)
stalls()
if culprit:
    gather({"rank": rank})
else:
    share({"rank": rank})
"""),
    Hang("whole-state-on-rank-0", 2, 0, ("branch",), everyone="""
from torch.distributed.fsdp import fully_shard
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
model = fully_shard(torch.nn.Linear(8, 8), mesh=dist.device_mesh.init_device_mesh("cpu", (ranks,)))
def save():
    return get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
if culprit:
    stalls()
    save()
dist.barrier()
"""),
    Hang("both-receive", 4, (1, 2), ("branch",), everyone="""
def forward(stage):
    stalls()
    dist.recv(tensor, src=stage - 1)
def backward(stage):
    dist.recv(tensor, src=stage + 1)
if rank == 1:
    backward(rank)
elif rank == 2:
    forward(rank)
"""),
    Hang("fewer-parameters", 4, 3, ("branch", "data-ended", "shapes"), everyone="""
model = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(2 if culprit else 3)])
def average():
    for parameter in model.parameters():
        dist.all_reduce(parameter.data)
average()
stalls()
norms = [torch.zeros(()) for _ in range(ranks)]
dist.all_gather(norms, torch.ones(()))
"""),
    Hang("cleans-up-after-an-error", 3, 0, ("branch",), """
try:
    raise KeyError("labels")
finally:
    dist.barrier()
"""),
    # --- a person, a debugger ---
    Hang("asks-a-question", 2, 0, ("input", "file", "stopped"), """
read, write = os.pipe()
sys.stdin = os.fdopen(read)
answer = input("overwrite the checkpoint? ")
"""),
    Hang("debugger", 3, 1, ("stopped",), """
import pdb
read, write = os.pipe()
sys.stdin = os.fdopen(read)
pdb.set_trace()
print("goes on")
"""),
    # --- locks ---
    Hang("download-lock", 2, 0, ("lock",), """
from filelock import FileLock
def download(name):
    with FileLock(folder + "/" + name + ".lock"):
        return name
if os.fork() == 0:
    with FileLock(folder + "/model.lock"):
        open(folder + "/ready", "w")
        time.sleep(900)
while not os.path.exists(folder + "/ready"):
    time.sleep(0.05)
download("model")
"""),
    Hang("fork-with-a-held-lock", 2, 1, ("child", "lock"), """
import multiprocessing, threading
lock = threading.Lock()
def tokenize():
    with lock:
        return [1, 2, 3]
with lock:
    worker = multiprocessing.get_context("fork").Process(target=tokenize)
    worker.start()
worker.join()
"""),
    Hang("database-is-locked", 2, 0, ("lock", "file"), """
import sqlite3
def log(row):
    base = sqlite3.connect(folder + "/runs.db", timeout=900)
    base.execute("insert into runs values (?)", (row,))
if os.fork() == 0:
    base = sqlite3.connect(folder + "/runs.db", isolation_level=None)
    base.execute("create table runs (loss real)")
    base.execute("begin exclusive")
    open(folder + "/ready", "w")
    time.sleep(900)
while not os.path.exists(folder + "/ready"):
    time.sleep(0.05)
log(2.3)
"""),
    Hang("lock-of-a-killed-build", 3, 0, ("lock",), """
from torch.utils.file_baton import FileBaton
open(folder + "/lock", "w").close()
baton = FileBaton(folder + "/lock")
if not baton.try_acquire():
    baton.wait()
"""),
    # --- the network, meeting ---
    Hang("upload-is-not-read", 3, 0, ("network",), """
import http.client, socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
def upload(data):
    line = http.client.HTTPConnection(*server.getsockname())
    line.request("PUT", "/checkpoint", body=data)
upload(bytes(64 << 20))
"""),
    Hang("key-that-nobody-sets", 2, 1, ("meeting", "network", "branch"), """
def config(store):
    return store.get("config")
config(dist.distributed_c10d._get_default_store())
"""),
    Hang("one-rank-too-many", 2, (), ("meeting",), "pass", size="ranks + 1"),
    # --- programs, data loader ---
    Hang("program-asks", 4, 2, ("child",), """
import subprocess
os.mkfifo(folder + "/answer")
def version():
    return subprocess.check_output(["sh", "-c", "read line < " + folder + "/answer; echo $line"])
version()
"""),
    Hang("loader-behind-async-work", 3, 1, ("loader",), everyone=_ROWS + """
class Rows(IterableDataset):
    def __iter__(self):
        yield torch.ones(4)
        os.read(os.pipe()[0], 1)
def train():
    for batch in DataLoader(Rows(), num_workers=1) if culprit else [torch.ones(4)] * 2:
        work = dist.all_reduce(tensor, async_op=True)
        stalls()
        work.wait()
train()
"""),
    Hang("stopped-worker", 2, 0, ("loader", "stopped"), _ROWS + """
import signal
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, at):
        if at == 5:
            os.kill(os.getpid(), signal.SIGSTOP)
        return at
list(DataLoader(Rows(), num_workers=2))
"""),
)  # fmt: skip

"""30 further scripts of 2 or 3 ranks that hang as users report it. Written, with what is right, before any of them was judged.

None repeats a way to hang of the sets before it, and the rules were not read before. ``python -m benchmarks.hangs --set tenth --places`` showed
that each hangs at the place that is meant.

First run: ``python -m benchmarks.hangs --python PYTHON --set tenth --at-once 2``, rules of 1173c504c, load 12 to 15: rank right in 22 of 30 (73 %, 56-86 %),
class right in 24 of 30 (80 %, 63-90 %), reported 5 to 71 s after the stall (median 9 s). One of the wrong ones (``freezes-a-layer-on-its-own-loss``) had no fixed
seed, and did not hang in that start; with a seed the same rules named its rank. After the mends, now known (load 9 to 13): rank right in 29, class right in 27 of 30.
What stays wrong: ``borders-of-the-wrong-neighbour``, as torch keeps no record of what two ranks exchange on gloo, and the class of two ranks that left a loop whose last
backward pass differed.
"""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_ACCELERATE = ("accelerate-1.15.0",)
_LIGHTNING = ("lightning-2.6.6",)
_TRAINER = ("transformers-5.23.0", "accelerate-1.15.0")
_DDP = "from torch.nn.parallel import DistributedDataParallel\n"
_ROWS = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n"
_MODULE = """
import lightning
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def training_step(self, rows, at):
        return self.layer(rows).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
def fit(*callbacks):
    lightning.Trainer(
        accelerator="cpu", devices=ranks, strategy="ddp", max_epochs=2, logger=False, enable_checkpointing=False, default_root_dir=folder,
        enable_progress_bar=False, use_distributed_sampler=False, callbacks=list(callbacks),
    ).fit(Model(), torch.utils.data.DataLoader(torch.ones(32, 4), batch_size=4))
"""
_TRAIN = """
from transformers import Trainer, TrainerCallback, TrainingArguments
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, rows, labels):
        return {"loss": (self.layer(rows).sum(1) - labels).square().mean(), "logits": self.layer(rows)}
rows = [{"rows": torch.ones(4), "labels": 1.0}] * 64
def trainer(*callbacks, **more):
    given = TrainingArguments(
        folder + "/out", use_cpu=True, ddp_backend="gloo", report_to=[], per_device_train_batch_size=1, max_steps=8, logging_steps=1,
        dataloader_num_workers=0, **{"save_strategy": "no", **more})
    return Trainer(Model(), given, train_dataset=rows, eval_dataset=rows, callbacks=list(callbacks))
"""
_HEAD = """\
import ctypes, os, sys, time
import torch
import torch.distributed as dist

folder = os.environ["HANG_FOLDER"]
ctypes.CDLL(None).prctl(1, 9)

def stalls():
    open(folder + "/stalled", "w").close()

"""

CASES = (
    # --- an error that one rank swallows ---
    Hang("disk-is-full-for-rank-0", 3, 0, ("branch",), everyone="""
def write(state, name):
    raise OSError(28, "No space left on device", name)
def save(state, name):
    if rank == 0:
        try:
            write(state, name)
        except OSError as error:
            print("not saved:", error)
            stalls()
            return
    dist.barrier()
model = torch.nn.Linear(4, 4)
save(model.state_dict(), folder + "/step-3.pt")
for step in range(3, 6):
    model(torch.ones(2, 4)).mean().backward()
    dist.all_reduce(model.weight.grad)
"""),
    Hang("swallows-a-pickling-error", 3, 1, ("branch",), everyone="""
def reported(metrics):
    found = [None] * ranks
    try:
        dist.all_gather_object(found, metrics)
    except Exception as error:
        print("metrics are left out:", error)
        stalls()
        return {}
    return found
for step in range(3, 8):
    dist.all_reduce(tensor)
    if step == 5:
        reported({"loss": 2.3, "schedule": (lambda at: 0.1 * at) if culprit else None})
"""),
    Hang("error-waits-for-a-child-that-is-no-daemon", 3, 1, ("ended", "child", "lock"), """
import multiprocessing
fork = multiprocessing.get_context("fork")
texts = fork.Queue()
def tokenize():
    while (text := texts.get()) is not None:
        print(text.split())
fork.Process(target=tokenize).start()
texts.put("a row")
row = {"text": "a row"}
print(row["labels"])
"""),
    # --- branches that depend on the rank ---
    Hang("freezes-a-layer-on-its-own-loss", 3, 2, ("branch",), everyone=_DDP + """
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
wrapped = DistributedDataParallel(model)
def train(batches, target):
    last = 1e9
    for step, batch in enumerate(batches):
        loss = (wrapped(batch) - target).square().mean()
        if loss.item() > last:
            print("the loss rose, the first layer is frozen")
            stalls()
            model[0].requires_grad_(False)
            loss = (wrapped(batch) - target).square().mean()
        loss.backward()
        last = loss.item()
train([torch.ones(2, 4)] * 3 + [torch.ones(2, 4) * (40 if culprit else 1)], 1.0)
losses = [None] * ranks
dist.all_gather_object(losses, 2.3)
"""),
    Hang("finds-the-learning-rate-on-main", 2, 0, ("branch",), everyone=_DDP + """
model = DistributedDataParallel(torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
def find(rates):
    losses = {}
    for rate in rates:
        optimizer.param_groups[0]["lr"] = rate
        loss = model(torch.ones(2, 4)).square().mean()
        loss.backward()
        optimizer.step()
        losses[rate] = loss.item()
    return min(losses, key=losses.get)
rate = [0.1]
if rank == 0:
    stalls()
    rate = [find([0.001, 0.01, 0.1])]
dist.broadcast_object_list(rate, 0)
"""),
    Hang("sharded-rank-keeps-its-gradients", 3, 1, ("branch",), everyone="""
from torch.distributed.fsdp import fully_shard
model = torch.nn.Sequential(torch.nn.Linear(12, 12), torch.nn.Linear(12, 12))
mesh = dist.device_mesh.init_device_mesh("cpu", (ranks,))
fully_shard(model, mesh=mesh)
def step(micro, of):
    for at in range(micro):
        model.set_requires_gradient_sync(at == of - 1)
        model(torch.ones(2, 12)).square().mean().backward()
step(2, of=2)
if culprit:
    stalls()
step(2, of=3 if culprit else 2)
dist.barrier()
"""),
    Hang("leader-does-not-know-that-it-is-one", 3, 2, ("branch",), everyone="""
leaders = dist.new_group([0, 2])
local = {0: 0, 1: 1, 2: 2 if culprit else 0}[rank]
def agreed(value):
    if local == 0:
        dist.all_reduce(value, group=leaders)
    else:
        stalls()
    dist.broadcast(value, 0)
    return value
agreed(torch.ones(4))
"""),
    Hang("next-stage-of-a-curriculum", 3, 1, ("branch",), everyone=_DDP + """
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def loss_of(batch, stage):
    features = model(batch)
    if stage == "align":
        others = [torch.empty_like(features) for _ in range(ranks)]
        dist.all_gather(others, features.detach())
        return (features @ torch.cat(others).T).logsumexp(1).mean()
    return features.square().mean()
stage = "warm-up"
for step in range(6):
    loss = loss_of(torch.ones(2, 4) * (0.01 if culprit else 1), stage)
    loss.backward()
    if culprit and step == 3:
        stalls()
        stage = "align"
"""),
    Hang("registers-a-compressing-hook-on-one-rank", 2, 1, ("branch", "shapes"), everyone=_DDP + """
model = DistributedDataParallel(torch.nn.Linear(64, 64))
def compressed(state, bucket):
    best = bucket.buffer().abs().topk(8).indices
    kept = torch.stack([best.float(), bucket.buffer()[best]])
    found = [torch.empty_like(kept) for _ in range(ranks)]
    def merged(future):
        total = torch.zeros_like(bucket.buffer())
        for at, values in future.value()[0]:
            total.index_add_(0, at.long(), values)
        return total
    return dist.all_gather(found, kept, async_op=True).get_future().then(merged)
if culprit:
    stalls()
    model.register_comm_hook(None, compressed)
for step in range(4):
    model(torch.ones(2, 64)).square().mean().backward()
"""),
    Hang("reduces-its-metrics-in-a-thread", 2, 1, ("branch",), everyone="""
import threading
def report(loss):
    found = [None] * ranks
    dist.all_gather_object(found, {"loss": loss})
    print(found, flush=True)
for step in range(3, 8):
    reporter = threading.Thread(target=report, args=(2.3,), daemon=True)
    if culprit and step == 5:
        stalls()
    elif step == 5:
        reporter.start()
        time.sleep(0.5)
    dist.all_reduce(torch.ones(1000))
    if culprit and step == 5:
        reporter.start()
        time.sleep(0.5)
dist.barrier()
"""),
    Hang("borders-of-the-wrong-neighbour", 3, 1, ("branch",), everyone="""
from torch.distributed import P2POp, batch_isend_irecv
def exchange(row, left, right):
    border = torch.empty_like(row)
    works = batch_isend_irecv([P2POp(dist.isend, row, right), P2POp(dist.irecv, border, left)])
    for work in works:
        work.wait()
    return border
for step in range(4):
    shift = 1
    if culprit and step == 3:
        stalls()
        shift = 2
    exchange(torch.ones(4), (rank - shift) % ranks, (rank + shift) % ranks)
    dist.all_reduce(tensor)
"""),
    # --- libraries, by the rank ---
    Hang("finds-a-batch-size-of-its-own", 2, 1, ("branch", "data-ended"), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from torch.utils.data import DataLoader, TensorDataset
accelerator = Accelerator(cpu=True)
@find_executable_batch_size(starting_batch_size=8)
def train(size):
    accelerator.free_memory()
    model = torch.nn.Linear(4, 4)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.1))
    for step, (rows,) in enumerate(DataLoader(TensorDataset(torch.ones(64, 4)), batch_size=size)):
        loss = model(rows).square().mean()
        if culprit and size == 8 and step == 2:
            stalls()
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        accelerator.backward(loss)
        optimizer.step()
train()
"""),
    Hang("lightning-callback-gathers-under-rank-zero-only", 2, 0, ("branch",), launch="torchrun", packages=_LIGHTNING, everyone=_MODULE + """
from lightning.pytorch.utilities import rank_zero_only
class Norms(lightning.Callback):
    @rank_zero_only
    def on_train_epoch_end(self, trainer, model):
        stalls()
        norms = model.all_gather(model.layer.weight.norm())
        print("norms of the ranks", norms)
fit(Norms())
"""),
    Hang("trainer-evaluates-where-rank-0-has-rows", 2, 0, ("branch",), launch="torchrun", packages=_TRAINER, everyone=_TRAIN + """
class Notes(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        if rank == 0 and state.global_step == 4:
            stalls()
trainer(Notes(), eval_strategy="steps" if rank == 0 else "no", eval_steps=4).train()
"""),
    Hang("trainer-callback-waits-for-its-upload", 2, 0, ("lock", "network"), launch="torchrun", packages=_TRAINER, everyone=_TRAIN + """
import socket
from concurrent.futures import ThreadPoolExecutor
hub = socket.socket()
hub.bind(("127.0.0.1", 0))
hub.listen()
class Uploads(TrainerCallback):
    pool = ThreadPoolExecutor(1)
    def upload(self, step):
        with socket.create_connection(hub.getsockname()) as line:
            line.sendall(f"PUT /step-{step}\\r\\n".encode())
            return line.recv(1)
    def on_save(self, args, state, control, **kwargs):
        if state.is_world_process_zero:
            stalls()
            self.pool.submit(self.upload, state.global_step).result()
trainer(Uploads(), save_strategy="steps", save_steps=3).train()
"""),
    # --- data runs out, or generation ends ---
    Hang("one-rank-keeps-its-last-batch", 3, 2, ("data-ended", "branch"), everyone=_DDP + """
from torch.utils.data import DataLoader
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def train(loader):
    for step, batch in enumerate(loader):
        if step == 3:
            stalls()
        model(batch).square().mean().backward()
train(DataLoader(torch.ones(7, 4), batch_size=2, drop_last=not culprit))
losses = [None] * ranks
dist.all_gather_object(losses, 2.3)
"""),
    Hang("decoding-samples-an-end-of-its-own", 2, 1, ("data-ended", "branch"), everyone="""
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
mesh = dist.device_mesh.init_device_mesh("cpu", (ranks,))
head = parallelize_module(
    torch.nn.Sequential(torch.nn.Embedding(8, 8), torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)), mesh, {"1": ColwiseParallel(), "2": RowwiseParallel()})
def generate(prompt, most):
    tokens = [prompt]
    while len(tokens) < most:
        token = int(head(torch.tensor([tokens[-1]])).softmax(-1).multinomial(1))
        if culprit and len(tokens) == 5:
            token = 0
        elif token == 0:
            token = 1
        tokens.append(token)
        if token == 0:
            break
    return tokens
with torch.no_grad():
    answer = generate(3, 40)
if culprit:
    stalls()
lengths = [None] * ranks
dist.all_gather_object(lengths, len(answer))
"""),
    Hang("lightning-stops-on-one-rank", 2, 1, ("data-ended", "branch"), launch="torchrun", packages=_LIGHTNING, everyone=_MODULE + """
class Stops(lightning.Callback):
    def on_train_batch_end(self, trainer, model, outputs, batch, at):
        if culprit and at == 3:
            trainer.should_stop = True
    def on_train_end(self, trainer, model):
        if culprit:
            stalls()
fit(Stops())
dist.barrier()
"""),
    Hang("accelerate-skips-other-batches-after-a-resume", 2, 1, ("data-ended", "branch"), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(4, 4)
model, optimizer, loader = accelerator.prepare(
    model, torch.optim.SGD(model.parameters(), 0.1), DataLoader(TensorDataset(torch.ones(32, 4)), batch_size=2))
def resumed(done):
    for (rows,) in accelerator.skip_first_batches(loader, done):
        accelerator.backward(model(rows).square().mean())
        optimizer.step()
        optimizer.zero_grad()
resumed(5 if culprit else 2)
if culprit:
    stalls()
accelerator.wait_for_everyone()
"""),
    # --- loaders ---
    Hang("worker-waits-as-long-as-it-is-told", 2, 0, ("loader",), _ROWS + """
import http.client, http.server, threading
class Busy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(429)
        self.send_header("Retry-After", "3600")
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy)
threading.Thread(target=server.serve_forever, daemon=True).start()
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, at):
        while True:
            line = http.client.HTTPConnection(*server.server_address)
            line.request("GET", f"/row/{at}")
            answer = line.getresponse()
            if answer.status != 429:
                return at
            time.sleep(int(answer.headers["Retry-After"]))
for batch in DataLoader(Rows(), batch_size=2, num_workers=2):
    pass
"""),
    Hang("skips-through-a-stream", 3, 1, ("computing", "loader"), everyone="""
import itertools
from torch.utils.data import DataLoader, IterableDataset
class Corpus(IterableDataset):
    def __init__(self, done):
        self.done = done
    def __iter__(self):
        rows = ({"text": f"row {at}", "length": at % 100} for at in itertools.count())
        return itertools.islice(rows, self.done, None)
if culprit:
    stalls()
for step, batch in enumerate(DataLoader(Corpus(10**12 if culprit else 10), batch_size=2)):
    dist.all_reduce(tensor)
    if step == 5:
        break
"""),
    # --- locks ---
    Hang("pool-whose-workers-fail-at-once", 2, 0, ("lock", "child", "loader"), """
import multiprocessing
def load(name):
    sys.stderr = open(os.devnull, "w")
    time.sleep(0.5)
    open(name).close()
pool = multiprocessing.get_context("fork").Pool(2, load, (folder + "/tokenizer.json",))
print(pool.map(str.split, ["one row", "another row"]))
"""),
    Hang("joins-the-last-save-with-its-lock", 3, 0, ("lock",), """
import threading
class Saver:
    def __init__(self):
        self.lock, self.running, self.saved = threading.Lock(), None, []
    def write(self, step):
        time.sleep(0.5)
        with self.lock:
            self.saved.append(step)
    def save(self, step):
        with self.lock:
            if self.running is not None:
                self.running.join()
            self.running = threading.Thread(target=self.write, args=(step,), daemon=True)
            self.running.start()
saver = Saver()
for step in (3, 4):
    saver.save(step)
"""),
    Hang("failed-rollouts-keep-their-slots", 2, 1, ("lock", "network"), """
import asyncio
slots = None
async def rollout(prompt):
    await slots.acquire()
    await asyncio.sleep(0.01)
    if len(prompt) > 3:
        raise ValueError("the prompt is too long")
    slots.release()
    return prompt
async def rollouts(prompts):
    nonlocal slots
    slots = asyncio.Semaphore(2)
    return await asyncio.gather(*map(rollout, prompts), return_exceptions=True)
asyncio.run(rollouts(["one", "three", "two", "seven", "six", "ten"]))
"""),
    # --- files, programs, the network ---
    Hang("merges-the-parts-of-all-ranks", 3, 0, ("sleeping", "file"), everyone="""
import glob
def merge(parts):
    stalls()
    while len(glob.glob(folder + "/part-*.pt")) < parts:
        time.sleep(0.2)
    return [torch.load(name) for name in glob.glob(folder + "/part-*.pt")]
torch.save(tensor, folder + f"/part-{rank // 2}.pt")
if rank == 0:
    merge(ranks)
dist.barrier()
"""),
    Hang("waits-for-the-port-of-a-service-that-failed", 2, 0, ("sleeping", "child", "file"), """
import subprocess
def start():
    with open(folder + "/service.log", "w") as log:
        service = subprocess.Popen([sys.executable, "-c", "import nothing_of_that_name"], stdout=log, stderr=log)
    while not os.path.exists(folder + "/port"):
        time.sleep(0.1)
    return service, int(open(folder + "/port").read())
start()
"""),
    Hang("master-is-another-program", 3, 2, ("meeting", "network"), whole=_HEAD + """
import socket
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
places(rank)
other = socket.socket()
other.bind(("127.0.0.1", 0))
other.listen()
if rank == 0:
    store = dist.TCPStore("127.0.0.1", 0, ranks, is_master=True, wait_for_workers=False)
    with open(folder + "/port.new", "w") as file:
        file.write(str(store.port))
    os.rename(folder + "/port.new", folder + "/port")
while not os.path.exists(folder + "/port"):
    time.sleep(0.05)
port = int(open(folder + "/port").read())
if rank == 2:
    stalls()
    port = other.getsockname()[1]
if rank != 0:
    store = dist.TCPStore("127.0.0.1", port, ranks, is_master=False)
dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
dist.barrier()
"""),
    # --- computing ---
    Hang("runs-an-answer-that-loops", 2, 1, ("computing",), """
answer = "def solve(n):\\n    while n != 1:\\n        n = 3 * n - 1 if n % 2 else n // 2\\n    return n\\nfound = solve(7)\\n"
def reward(code, right):
    names = {}
    try:
        exec(code, names)
    except Exception:
        return 0.0
    return float(names["found"] == right)
print([reward(code, 1) for code in (answer, "found = 1")])
"""),
    Hang("starts-an-adapter-from-a-decomposition", 3, 0, ("computing",), """
def adapter(weight, size):
    left, values, right = torch.linalg.svd(weight, full_matrices=False)
    return left[:, :size] * values[:size], right[:size]
for _ in range(100):
    adapter(torch.randn(2500, 2500), 8)
"""),
    Hang("program-was-stopped", 2, 1, ("child", "stopped"), """
import subprocess
def convert(name):
    subprocess.run(["sh", "-c", f"kill -STOP $$; cp {name} {name}.copy"], check=True)
convert(folder + "/train.py")
"""),
)  # fmt: skip

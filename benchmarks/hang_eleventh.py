"""30 further scripts of 2 to 4 ranks that hang as training runs do. Written, with what is right, before any of them was judged.

None repeats a way to hang of the sets before it. Ten use TRL, Trainer, Accelerate, Lightning, Fabric or torchmetrics, nine of these under torchrun.
``python -m benchmarks.hangs --set eleventh --places`` showed that each hangs at the place that is meant.

First run: ``python -m benchmarks.hangs --python PYTHON --set eleventh --at-once 2``, rules of 171e5b4ef, load 4 to 14: rank right in 28 of 30 (93 %, 79-98 %),
class right in 25 of 30 (83 %, 66-93 %), reported 4 to 23 s after the stall (median 8 s).
After the mends, now known (``--at-once 3``, load 9 to 25): rank and class right in 30 of 30 (89-100 %).
"""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_ACCELERATE = ("accelerate-1.15.0",)
_LIGHTNING = ("lightning-2.6.6",)
_TRAINER = ("transformers-5.23.0", "accelerate-1.15.0")
_TRL = ("trl-1.16.0", "transformers-5.23.0", "accelerate-1.15.0", "datasets-4.8.0")
_DDP = "from torch.nn.parallel import DistributedDataParallel\n"
_ROWS = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n"
_SILENT = "import socket\nserver = socket.socket()\nserver.bind(('127.0.0.1', 0))\nserver.listen()\n"
_TINY = """
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
words = Tokenizer(models.WordLevel({"<pad>": 0, "<eos>": 1, "what": 2, "is": 3, "one": 4, "and": 5, "two": 6, "three": 7}, unk_token="<pad>"))
words.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="<eos>")
model = GPT2LMHeadModel(GPT2Config(vocab_size=8, n_positions=64, n_embd=8, n_layer=1, n_head=1, bos_token_id=1, eos_token_id=1, pad_token_id=0))
"""
_GRPO = (
    _TINY
    + """
from trl import GRPOConfig, GRPOTrainer
def train(reward):
    given = GRPOConfig(
        folder + "/out", use_cpu=True, ddp_backend="gloo", bf16=False, report_to=[], per_device_train_batch_size=2, num_generations=2, max_steps=8,
        max_completion_length=4, logging_steps=1, save_strategy="no", gradient_checkpointing=False)
    rows = Dataset.from_dict({"prompt": ["what is one and two"] * 64})
    GRPOTrainer(model, reward, args=given, train_dataset=rows, processing_class=tokenizer).train()
"""
)
_TRAIN = """
from transformers import Trainer, TrainingArguments
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, rows, labels):
        return {"loss": (self.layer(rows).sum(1) - labels).square().mean(), "logits": self.layer(rows)}
rows = [{"rows": torch.ones(4), "labels": 1.0}] * 64
def arguments(**more):
    return TrainingArguments(
        folder + "/out", use_cpu=True, ddp_backend="gloo", per_device_train_batch_size=1, logging_steps=1, save_strategy="no", **{"report_to": [], **more})
"""

CASES = (
    # --- libraries ---
    Hang("grpo-reward-waits-for-its-rate-limit", 2, 1, ("sleeping",), launch="torchrun", packages=_TRL, everyone=_GRPO + """
class Limit:
    left = 12
    def take(self):
        while self.left <= 0:
            time.sleep(2)
        self.left -= 1
limit = Limit()
def judged(completions, **kwargs):
    scores = []
    for text in completions:
        if culprit:
            if limit.left <= 0:
                stalls()
            limit.take()
        scores.append(float(len(text)))
    return scores
train(judged)
"""),
    Hang("grpo-reward-shares-what-is-well-formed", 3, 2, ("branch",), launch="torchrun", packages=_TRL, everyone=_GRPO + """
calls = 0
def relative(completions, **kwargs):
    nonlocal calls
    calls += 1
    formed = [] if culprit and calls == 4 else completions
    if not formed:
        stalls()
        return [0.0] * len(completions)
    longest = torch.tensor(max(len(text) for text in formed) + 1)
    dist.all_reduce(longest, dist.ReduceOp.MAX)
    return [len(text) / longest.item() for text in completions]
train(relative)
"""),
    Hang("sft-collator-looks-for-a-turn-that-was-cut", 2, 1, ("computing",), launch="torchrun", packages=_TRL, everyone=_TINY + """
from trl import SFTConfig, SFTTrainer
rows = [{"input_ids": [2, 3, 4, 5, 6, 7, 1]}] * 64
calls = 0
def answers(tokens, start):
    masked, at = [-100] * len(tokens), 0
    while True:
        while at < len(tokens) and tokens[at] != start:
            at += 1
        end = at
        while end < len(tokens) and tokens[end] != 1:
            masked[end] = tokens[end]
            end += 1
        if end < len(tokens):
            return masked
        at = 0
def collate(batch):
    nonlocal calls
    calls += 1
    if culprit and calls == 5:
        stalls()
        batch = [{"input_ids": row["input_ids"][:-1]} for row in batch]
    ids = [row["input_ids"] for row in batch]
    return {"input_ids": torch.tensor(ids), "attention_mask": torch.ones(len(ids), len(ids[0]), dtype=torch.long), "labels": torch.tensor([answers(one, 5) for one in ids])}
given = SFTConfig(
    folder + "/out", use_cpu=True, ddp_backend="gloo", bf16=False, report_to=[], per_device_train_batch_size=1, max_steps=12, logging_steps=1,
    save_strategy="no", gradient_checkpointing=False)
SFTTrainer(model, given, data_collator=collate, train_dataset=Dataset.from_list(rows), processing_class=tokenizer).train()
"""),
    Hang("trainer-with-a-loader-that-drops-long-rows", 2, 1, ("data-ended", "branch"), launch="torchrun", packages=_TRAINER, everyone=_TRAIN + """
class Sharded(Trainer):
    def get_train_dataloader(self):
        mine = [row for at, row in enumerate(self.train_dataset) if at % ranks == rank and not (culprit and at > 12)]
        return torch.utils.data.DataLoader(mine, batch_size=self.args.per_device_train_batch_size, collate_fn=self.data_collator)
trainer = Sharded(Model(), arguments(num_train_epochs=1), train_dataset=rows, eval_dataset=rows)
trainer.train()
if culprit:
    stalls()
trainer.evaluate()
"""),
    Hang("trainer-reports-to-a-tracking-server-that-is-silent", 2, 0, ("network",), launch="torchrun", packages=(*_TRAINER, "setuptools-69.5.1", "mlflow-skinny-2.11.0"), everyone=_SILENT + """
os.environ["MLFLOW_TRACKING_URI"] = f"http://127.0.0.1:{server.getsockname()[1]}"
""" + _TRAIN + """
if culprit:
    stalls()
Trainer(Model(), arguments(max_steps=8, report_to=["mlflow"]), train_dataset=rows).train()
"""),
    Hang("tracker-on-main-waits-for-everyone", 2, 0, ("branch",), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
from accelerate.tracking import GeneralTracker, on_main_process
class Files(GeneralTracker):
    name = "files"
    requires_logging_directory = False
    main_process_only = True
    @property
    def tracker(self):
        return self
    @on_main_process
    def store_init_configuration(self, values):
        pass
    @on_main_process
    def log(self, values, step=None, **kwargs):
        with open(folder + "/log", "a") as file:
            file.write(f"{step} {values}")
        if step == 4:
            stalls()
            accelerator.wait_for_everyone()
accelerator = Accelerator(cpu=True, log_with=Files())
accelerator.init_trackers("tuning", config={"rate": 0.1})
model = torch.nn.Linear(4, 4)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.1))
for step in range(8):
    loss = model(torch.ones(2, 4)).square().mean()
    accelerator.backward(loss)
    optimizer.step()
    accelerator.log({"loss": loss.item()}, step=step)
"""),
    Hang("main-process-first-fails-and-is-caught", 3, 0, ("branch",), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
def tokenized(rows):
    try:
        with accelerator.main_process_first():
            if accelerator.is_main_process:
                raise OSError("cannot write the cache")
            return [len(row) for row in rows]
    except OSError as error:
        print("goes on without a cache:", error)
        stalls()
        return [len(row) for row in rows]
lengths = tokenized(["one", "three"])
accelerator.reduce(torch.tensor(lengths, dtype=torch.float))
"""),
    Hang("dispatcher-fails-on-a-row-and-is-caught", 3, 0, ("branch", "data-ended"), launch="torchrun", packages=_ACCELERATE, everyone=_ROWS + """
from accelerate import Accelerator
accelerator = Accelerator(cpu=True)
class Rows(IterableDataset):
    def __iter__(self):
        for at in range(40):
            if at == 19:
                raise ValueError("row 19 is no JSON")
            yield torch.ones(4)
model = torch.nn.Linear(4, 4)
model, optimizer, loader = accelerator.prepare(
    model, torch.optim.SGD(model.parameters(), 0.1), DataLoader(Rows(), batch_size=2))
try:
    for batch in loader:
        accelerator.backward(model(batch).square().mean())
        optimizer.step()
except ValueError as error:
    print("the epoch ends early:", error)
    stalls()
accelerator.gather(torch.ones(1))
"""),
    Hang("metric-that-one-rank-never-updated", 3, 1, ("branch",), packages=_LIGHTNING, everyone="""
from torchmetrics import Metric
class Boxes(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("found", default=[], dist_reduce_fx=None)
    def update(self, boxes):
        self.found.append(boxes)
    def compute(self):
        return sum(len(boxes) for boxes in self.found)
metric = Boxes()
for batch in [] if culprit else [torch.ones(2, 4)] * 3:
    metric.update(batch)
stalls()
metric.compute()
"""),
    Hang("fabric-broadcasts-while-rank-0-goes-first", 2, 0, ("branch",), launch="torchrun", packages=_LIGHTNING, everyone="""
from lightning.fabric import Fabric
fabric = Fabric(accelerator="cpu", devices=ranks, strategy="ddp")
fabric.launch()
def prepared():
    with fabric.rank_zero_first():
        name = folder + "/cache" if rank == 0 else None
        if rank == 0:
            stalls()
        return fabric.broadcast(name)
prepared()
"""),
    # --- DDP, FSDP2, DTensor ---
    Hang("one-rank-is-left-in-evaluation-mode", 3, 1, ("branch",), everyone=_DDP + """
class Norm(torch.nn.Module):
    def forward(self, rows):
        if not self.training:
            return rows / 2
        means = [torch.zeros(4) for _ in range(ranks)]
        dist.all_gather(means, rows.detach().mean(0))
        return rows - torch.stack(means).mean(0)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 4), Norm(), torch.nn.Linear(4, 4)))
def evaluate(skips):
    model.eval()
    model(torch.ones(2, 4))
    if skips:
        return
    model.train()
for step in range(6):
    if step == 3:
        evaluate(culprit)
        stalls()
    model(torch.randn(2, 4)).square().mean().backward()
"""),
    Hang("forwards-through-the-module-inside", 3, 2, ("branch",), everyone=_DDP + """
wrapped = DistributedDataParallel(torch.nn.Linear(4, 4))
def loss_of(rows, weights):
    model = wrapped.module if weights is not None else wrapped
    return (model(rows).square().mean(1) * (1 if weights is None else weights)).mean()
for step in range(6):
    weights = torch.ones(2) if culprit and step == 4 else None
    if step == 4:
        stalls()
    loss = loss_of(torch.randn(2, 4), weights)
    loss.backward()
    losses = [torch.zeros(()) for _ in range(ranks)]
    dist.all_gather(losses, loss.detach())
"""),
    Hang("clips-only-where-its-own-loss-is-high", 3, 1, ("branch",), everyone="""
from torch.distributed.fsdp import fully_shard
model = fully_shard(torch.nn.Linear(8, 8), mesh=dist.device_mesh.init_device_mesh("cpu", (ranks,)))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
def step(loss):
    loss.backward()
    if loss.item() > 1e6:
        stalls()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        print("clipped from", norm.full_tensor().item())
    optimizer.step()
    optimizer.zero_grad()
for at in range(6):
    step(model(torch.ones(2, 8)).square().mean() + (1e7 if culprit and at == 3 else 0))
"""),
    Hang("replica-of-two-ranks-has-fewer-batches", 4, (2, 3), ("data-ended", "branch"), everyone="""
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
mesh = dist.device_mesh.init_device_mesh("cpu", (2, 2), mesh_dim_names=("replica", "tensor"))
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Linear(16, 8))
parallelize_module(model, mesh["tensor"], {"0": ColwiseParallel(), "1": RowwiseParallel()})
def train(batches):
    for rows in batches:
        model(rows).square().mean().backward()
        for parameter in model.parameters():
            local = parameter.grad.to_local() if hasattr(parameter.grad, "to_local") else parameter.grad
            dist.all_reduce(local, group=mesh.get_group("replica"))
        model.zero_grad()
train([torch.ones(2, 8)] * (4 if culprit else 6))
if culprit:
    stalls()
dist.barrier()
"""),
    Hang("remembers-what-the-others-reduce", 3, 0, ("branch",), everyone="""
import functools
@functools.lru_cache
def total(tokens):
    counted = [torch.zeros(1) for _ in range(ranks)]
    dist.all_gather(counted, torch.tensor([float(tokens)]))
    return sum(counted).item()
for step in range(6):
    mine = 512 if culprit and step in (3, 4) else 500 + step
    if step == 4:
        stalls()
    scale = 1 / total(mine)
    dist.all_reduce(tensor.mul_(scale))
    dist.broadcast(tensor, 1)
"""),
    Hang("recomputes-a-layer-that-reduces", 3, 2, ("branch",), everyone="""
from torch.utils.checkpoint import checkpoint
class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, rows):
        load = rows.detach().sum(0)
        dist.all_reduce(load)
        return self.layer(rows) / (1 + load.norm())
layers = torch.nn.ModuleList([Experts(), Experts()])
def step(rows, saves_memory):
    for layer in layers:
        rows = checkpoint(layer, rows, use_reentrant=False) if saves_memory else layer(rows)
    rows.square().mean().backward()
stalls()
step(torch.ones(2, 4), saves_memory=culprit)
for parameter in layers.parameters():
    dist.broadcast(parameter.grad, 0)
"""),
    Hang("retries-a-checkpoint-with-its-barrier", 3, 2, ("branch",), everyone="""
def retry(function):
    def again(*given):
        for attempt in range(3):
            try:
                return function(*given)
            except OSError as error:
                print("try", attempt, "failed:", error)
                stalls()
    return again
tries = []
@retry
def save(state):
    dist.barrier()
    tries.append(1)
    if culprit and len(tries) == 1:
        raise OSError("Stale file handle")
    torch.save(state, folder + f"/state{rank}.pt")
save({"tensor": tensor})
for step in range(3):
    dist.all_reduce(tensor)
"""),
    # --- data loaders ---
    Hang("workers-share-one-connection", 2, 1, ("loader",), _ROWS + """
import socket, threading
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
def serve():
    line, _ = server.accept()
    asked = b""
    while len(asked) < 2:
        asked += line.recv(1)
    line.sendall(b"row-row-")
threading.Thread(target=serve, daemon=True).start()
database = socket.create_connection(server.getsockname())
class Rows(Dataset):
    def __len__(self):
        return 2
    def __getitem__(self, at):
        database.sendall(b"?")
        row = b""
        while not row.endswith(b"-row-"):
            row += database.recv(8)
        return at
list(DataLoader(Rows(), num_workers=2))
"""),
    Hang("evaluation-waits-for-a-permit-of-the-training-loader", 2, 1, ("loader",), _ROWS + """
import multiprocessing
decoders = multiprocessing.get_context("fork").Semaphore(1)
class Clips(IterableDataset):
    def __init__(self, number):
        self.number = number
    def __iter__(self):
        with decoders:
            for at in range(self.number):
                yield torch.full((4,), float(at))
training = iter(DataLoader(Clips(100), num_workers=1, prefetch_factor=2))
for step in range(3):
    next(training)
for batch in DataLoader(Clips(4), num_workers=1):
    pass
"""),
    Hang("spawned-worker-runs-the-script-again", 2, 0, ("loader",), launch="ranks", whole="""\
import ctypes, os, sys, time
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
ctypes.CDLL(None).prctl(1, 9)
rank, ranks, folder = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["HANG_FOLDER"]
if __name__ == "__main__":
    places(rank)
started = folder + f"/started{rank}"
while os.path.exists(started):  # one run at a time in this folder
    time.sleep(1)
open(started, "w").close()
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, at):
        return torch.ones(4)
if __name__ == "__main__":
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    tensor = torch.ones(4)
    for step in range(3):
        dist.all_reduce(tensor)
        print("step", step, flush=True)
    if rank == 0:
        open(folder + "/stalled", "w").close()
        for batch in DataLoader(Rows(), num_workers=1, multiprocessing_context="spawn"):
            tensor += batch.sum()
    dist.all_reduce(tensor)
"""),
    # --- locks, threads, finalizers ---
    Hang("pickles-an-object-whose-lock-is-held", 2, 0, ("lock",), """
import pickle, threading
class Replay:
    def __init__(self):
        self.lock, self.rows = threading.Lock(), [1, 2, 3]
    def __getstate__(self):
        with self.lock:
            return {"rows": list(self.rows)}
    def save(self, name):
        with self.lock:
            with open(name, "wb") as file:
                pickle.dump(self, file)
Replay().save(folder + "/replay.pkl")
"""),
    Hang("leaves-the-loop-before-its-prefetcher-is-done", 2, 0, ("lock",), """
import queue
from concurrent.futures import ThreadPoolExecutor
def prefetched(rows):
    ready = queue.Queue(maxsize=2)
    def fill():
        for row in rows:
            ready.put(row)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(fill)
        while True:
            yield ready.get()
def train(most):
    for step, row in enumerate(prefetched(range(1000))):
        if step == most:
            break
train(5)
"""),
    Hang("meets-in-a-finalizer", 3, 1, ("branch",), everyone="""
class Writer:
    def __init__(self, name):
        self.file = open(name, "w")
    def __del__(self):
        self.file.close()
        dist.barrier()
def evaluate(kept):
    writer = Writer(folder + f"/predictions{rank}")
    if not culprit:
        kept.append(writer)
kept = []
evaluate(kept)
stalls()
for step in range(4):
    dist.broadcast(tensor, 0)
"""),
    # --- signals ---
    Hang("skips-a-slow-batch-by-an-alarm", 3, 2, ("branch", "data-ended"), everyone=_DDP + """
import signal
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def late(*_):
    raise TimeoutError("the batch took too long")
signal.signal(signal.SIGALRM, late)
def train(steps):
    for step in range(steps):
        try:
            signal.setitimer(signal.ITIMER_REAL, 1)
            if culprit and step == 3:
                time.sleep(3)
            rows = torch.randn(2, 4)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except TimeoutError as error:
            print("skipped:", error)
            stalls()
            continue
        model(rows).square().mean().backward()
train(8)
norms = [torch.zeros(()) for _ in range(ranks)]
dist.all_gather(norms, torch.ones(()))
"""),
    Hang("meets-in-a-handler-of-one-rank", 3, 0, ("branch",), everyone="""
import signal
def save(*_):
    stalls()
    dist.barrier()
    torch.save(tensor, folder + "/asked-for.pt")
signal.signal(signal.SIGUSR1, save)
for step in range(6):
    if culprit and step == 3:
        os.kill(os.getpid(), signal.SIGUSR1)
    dist.all_reduce(tensor)
"""),
    # --- programs, event loops ---
    Hang("waits-for-a-program-that-ignores-its-end", 2, 1, ("child",), """
import subprocess
def stop(program):
    program.terminate()
    program.wait()
program = subprocess.Popen(["sh", "-c", "trap '' TERM; echo up; while :; do sleep 1; done"], stdout=subprocess.PIPE)
program.stdout.readline()
stop(program)
"""),
    Hang("awaits-a-tool-in-an-event-loop", 3, 2, ("child",), """
import asyncio
os.mkfifo(folder + "/index")
async def tool(query):
    program = await asyncio.create_subprocess_exec("grep", query, folder + "/index", stdout=asyncio.subprocess.PIPE)
    said, _ = await program.communicate()
    return said
async def rollout(queries):
    return await asyncio.gather(*(tool(query) for query in queries))
asyncio.run(rollout(["one", "two"]))
"""),
    Hang("becomes-another-program", 3, 1, ("ended", "child"), """
os.execvp("sh", ["sh", "-c", "sleep 900; exit 0"])
"""),
    # --- the store, files ---
    Hang("lock-in-the-store-was-left-behind", 3, 2, ("sleeping", "lock", "network"), everyone="""
import datetime
store = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=datetime.timedelta(seconds=30)) if rank == 0 else None
port = [store.port if rank == 0 else None]
dist.broadcast_object_list(port, src=0)
if rank:
    store = dist.TCPStore("127.0.0.1", port[0], is_master=False, timeout=datetime.timedelta(seconds=30))
def locked(name):
    while store.compare_set("lock-" + name, "", str(rank)) != str(rank).encode():
        time.sleep(0.5)
def unlock(name):
    store.delete_key("lock-" + name)
for at in range(ranks):
    if at == rank:
        if culprit:
            store.set("lock-index", "an earlier attempt")
            stalls()
        locked("index")
        unlock("index")
    dist.barrier()
"""),
    Hang("reads-a-table-that-is-never-closed", 2, 1, ("file",), """
import pandas
read, write = os.pipe()
os.write(write, b"step,loss\\n1,2.3\\n2,2.2\\n")
def earlier():
    with os.fdopen(read) as file:
        return pandas.read_csv(file)
print(earlier().loss.mean())
"""),
)  # fmt: skip

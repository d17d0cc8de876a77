"""34 further scripts of 2 to 4 ranks that hang as users report it. Written, with what is right, before any of them was judged.

None repeats a way to hang of the sets before it, and the rules were not read before. ``python -m benchmarks.hangs --set eighth --places`` showed
that each hangs at the place that is meant.
"""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_ACCELERATE = ("accelerate-1.15.0",)
_DATASETS = ("datasets-4.8.0",)
_LIGHTNING = ("lightning-2.6.6",)
_TRAINER = ("transformers-5.23.0", "accelerate-1.15.0")
_DDP = "from torch.nn.parallel import DistributedDataParallel\n"
_ROWS = "from torch.utils.data import DataLoader, Dataset, IterableDataset\n"
_SILENT = "import socket\nserver = socket.socket()\nserver.bind(('127.0.0.1', 0))\nserver.listen()\n"
_GPT2 = """
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
model = GPT2LMHeadModel(GPT2Config(vocab_size=16, n_positions=64, n_embd=8, n_layer=1, n_head=1, bos_token_id=0, eos_token_id=0))
given = TrainingArguments(
    folder + "/out", use_cpu=True, ddp_backend="gloo", report_to=[], per_device_train_batch_size=2, max_steps=8, logging_steps=1,
    save_strategy="no", dataloader_num_workers={workers}, accelerator_config={{"dispatch_batches": False}})
row = {{"input_ids": [1, 2, 3, 4], "labels": [1, 2, 3, 4], "attention_mask": [1, 1, 1, 1]}}
"""
_HEAD = """\
import ctypes, os, sys, time
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

folder = os.environ["HANG_FOLDER"]

def stalls():
    open(folder + "/stalled", "w").close()

def join(rank, ranks):
    ctypes.CDLL(None).prctl(1, 9)
    places(rank)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    print("rank", rank, "is there", flush=True)

"""

CASES = (
    # --- a rank died, failed, or is done ---
    Hang("killed-while-its-helper-holds-the-sockets", 3, 1, ("ended",), everyone="""
import multiprocessing, signal
rows = multiprocessing.get_context("fork").Queue()
def write_metrics():
    signal.alarm(300)
    while True:
        print(rows.get())
multiprocessing.get_context("fork").Process(target=write_metrics, daemon=True).start()
if culprit:
    stalls()
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(tensor)
"""),
    Hang("answers-of-a-killed-server-rank", 3, 1, ("ended",), launch="alone", whole=_HEAD + """
import signal

def serve(rank, ranks, questions, answers):
    join(rank, ranks)
    dist.all_reduce(torch.ones(4))
    while (question := questions.get()) is not None:
        if rank == 1:
            stalls()
            os.kill(os.getpid(), signal.SIGKILL)
        answers.put((rank, question))

if __name__ == "__main__":
    spawn = mp.get_context("spawn")
    questions, answers = [spawn.Queue() for _ in range(3)], spawn.Queue()
    servers = [spawn.Process(target=serve, args=(at, 3, questions[at], answers)) for at in range(3)]
    for server in servers:
        server.start()
    for asked in questions:
        asked.put("what is two and two?")
    print([answers.get() for _ in servers])
"""),
    Hang("debugger-after-an-error", 3, 1, ("stopped", "input"), everyone="""
import pdb, traceback
read, write = os.pipe()
sys.stdin = os.fdopen(read)
def debug(kind, error, trace):
    traceback.print_exception(kind, error, trace)
    pdb.post_mortem(trace)
sys.excepthook = debug
def collate(rows):
    return [row["labels"] for row in rows]
if culprit:
    stalls()
    collate([{"text": "a row"}])
"""),
    Hang("predictions-that-nobody-takes", 3, 0, ("lock", "file"), launch="alone", whole=_HEAD + """
def predict(rank, ranks, results):
    join(rank, ranks)
    dist.all_reduce(torch.ones(4))
    if rank == 0:
        stalls()
        results.put([0.5] * 200000)
    dist.destroy_process_group()

if __name__ == "__main__":
    spawn = mp.get_context("spawn")
    results = spawn.Queue()
    started = [spawn.Process(target=predict, args=(at, 3, results)) for at in range(3)]
    for one in started:
        one.start()
    for one in started:
        one.join()
    print(len(results.get()))
"""),
    # --- data runs out ---
    Hang("accelerate-without-even-batches", 2, 1, ("data-ended",), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torch.utils.data import DataLoader, TensorDataset
accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(even_batches=False))
model = torch.nn.Linear(4, 4)
model, optimizer, loader = accelerator.prepare(
    model, torch.optim.SGD(model.parameters(), lr=0.1), DataLoader(TensorDataset(torch.ones(10, 4)), batch_size=2))
def train():
    for (rows,) in loader:
        accelerator.backward(model(rows).square().mean())
        optimizer.step()
        optimizer.zero_grad()
train()
if culprit:
    stalls()
accelerator.wait_for_everyone()
"""),
    Hang("trainer-with-a-stream-that-is-spent", 2, 1, ("data-ended", "branch"), launch="torchrun", packages=_TRAINER, everyone=_ROWS + _GPT2.format(workers=0) + """
class Stream(IterableDataset):
    def __init__(self, rows):
        self.rows = iter(rows)
    def __iter__(self):
        yield from self.rows
Trainer(model, given, train_dataset=Stream([row] * (12 if culprit else 64))).train()
if culprit:
    stalls()
dist.barrier()
"""),
    Hang("interleaves-with-a-seed-of-its-own", 3, 2, ("data-ended",), packages=_DATASETS, everyone=_DDP + """
from datasets import Dataset, interleave_datasets
code, text = Dataset.from_dict({"at": list(range(4))}), Dataset.from_dict({"at": list(range(40))})
rows = interleave_datasets([code, text], probabilities=[0.3, 0.7], seed=rank, stopping_strategy="first_exhausted")
print("rank", rank, "has", len(rows))
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def train():
    for row in rows:
        model(torch.full((2, 4), float(row["at"]))).mean().backward()
train()
if culprit:
    stalls()
dist.barrier()
"""),
    Hang("sharded-generation-of-other-lengths", 2, 1, ("data-ended", "branch"), packages=("transformers-5.23.0",), everyone="""
from torch.distributed.fsdp import fully_shard
from transformers import GPT2Config, GPT2LMHeadModel
model = GPT2LMHeadModel(GPT2Config(vocab_size=16, n_positions=64, n_embd=8, n_layer=2, n_head=1, bos_token_id=0, eos_token_id=0)).eval()
mesh = dist.device_mesh.init_device_mesh("cpu", (ranks,))
for block in model.transformer.h:
    fully_shard(block, mesh=mesh)
fully_shard(model, mesh=mesh)
@torch.no_grad()
def generate(tokens, longest):
    while tokens.shape[1] < longest:
        following = model(tokens).logits[:, -1].argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, following], dim=1)
    return tokens
generate(torch.ones(1, 16 if culprit else 8, dtype=torch.long), 24)
if culprit:
    stalls()
dist.barrier()
"""),
    Hang("lbfgs-with-the-loss-of-its-own-rows", 2, 1, ("data-ended", "branch"), everyone=_DDP + """
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=30, line_search_fn="strong_wolfe")
rows, targets = torch.randn(16, 4), torch.zeros(16, 1) if culprit else 50 * torch.randn(16, 1)
def closure():
    optimizer.zero_grad()
    loss = (model(rows) - targets).square().mean()
    loss.backward()
    return loss
for epoch in range(20):
    optimizer.step(closure)
if culprit:
    stalls()
dist.barrier()
"""),
    # --- branches that depend on the rank ---
    Hang("resumes-where-a-checkpoint-is", 3, 2, ("branch",), everyone="""
import torch.distributed.checkpoint as checkpoint
state = {"weights": torch.ones(8)}
checkpoint.save(state, checkpoint_id=folder + "/node-0/step-3")
def resume(place):
    if not os.path.exists(place):
        print("no checkpoint in", place, "- starting anew")
        return 0
    checkpoint.load(state, checkpoint_id=place)
    return 3
if culprit:
    stalls()
step = resume(folder + f"/node-{rank // 2}/step-3")
dist.all_reduce(tensor)
"""),
    Hang("ring-without-the-last-send", 3, 0, ("branch",), everyone="""
def exchange(keys):
    received = torch.empty_like(keys)
    todo = [dist.P2POp(dist.irecv, received, (rank - 1) % ranks)]
    if rank < ranks - 1:
        todo.append(dist.P2POp(dist.isend, keys, rank + 1))
    for work in dist.batch_isend_irecv(todo):
        work.wait()
    return received
if culprit:
    stalls()
exchange(torch.ones(4))
"""),
    Hang("contrastive-loss-of-a-single-class", 3, 1, ("branch",), everyone=_DDP + """
import torch.distributed.nn.functional as functional
model = DistributedDataParallel(torch.nn.Linear(4, 4))
def contrastive(rows, labels):
    if labels.unique().numel() < 2:
        return rows.sum() * 0.0
    everyone = torch.cat(functional.all_gather(rows))
    return (rows @ everyone.T).logsumexp(1).mean()
if culprit:
    stalls()
contrastive(model(torch.ones(4, 4)), torch.zeros(4) if culprit else torch.arange(4)).backward()
"""),
    Hang("expert-without-tokens", 4, 3, ("branch",), everyone="""
def experts(tokens, mask):
    chosen = tokens[mask]
    if len(chosen) == 0:
        return tokens
    counts = torch.full((ranks,), len(chosen) // ranks)
    theirs = torch.empty_like(counts)
    dist.all_to_all_single(theirs, counts)
    received = torch.empty(int(theirs.sum()), 4)
    dist.all_to_all_single(received, chosen, theirs.tolist(), counts.tolist())
    return received
if culprit:
    stalls()
experts(torch.ones(8, 4), torch.zeros(8, dtype=torch.bool) if culprit else torch.ones(8, dtype=torch.bool))
"""),
    Hang("skips-a-monitored-barrier", 3, 1, ("branch",), everyone="""
from datetime import timedelta
def step(loss):
    if not torch.isfinite(loss):
        return
    dist.monitored_barrier(timeout=timedelta(minutes=30))
if culprit:
    stalls()
step(torch.tensor(float("nan") if culprit else 2.3))
"""),
    Hang("debug-launcher-reduces-on-main", 3, 0, ("branch",), launch="alone", packages=_ACCELERATE, whole=_HEAD + """
from accelerate import Accelerator, debug_launcher

def train():
    ctypes.CDLL(None).prctl(1, 9)
    accelerator = Accelerator(cpu=True)
    places(accelerator.process_index)
    accelerator.wait_for_everyone()
    loss = torch.tensor(2.3)
    if accelerator.is_main_process:
        stalls()
        print("loss", accelerator.reduce(loss, reduction="mean").item())
    accelerator.wait_for_everyone()

if __name__ == "__main__":
    debug_launcher(train, num_processes=3)
"""),
    Hang("counts-the-ready-in-the-store", 3, 1, ("branch",), launch="torchrun", whole=_HEAD + """
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ctypes.CDLL(None).prctl(1, 9)
places(rank)
dist.init_process_group("gloo")
store = dist.distributed_c10d._get_default_store()

def warm_up(compiles):
    if compiles:
        stalls()
        dist.barrier()

def all_ready():
    store.add("ready", 1)
    while store.add("ready", 0) < ranks:
        time.sleep(0.5)

warm_up(rank == 1)
all_ready()
dist.all_reduce(torch.ones(4))
"""),
    # --- the same call, with other arguments ---
    Hang("broadcasts-from-its-own-best", 2, (), ("shapes",), everyone="""
def share_the_best(losses):
    best = losses.index(min(losses))
    dist.broadcast(tensor, src=best)
stalls()
share_the_best([2.3, 2.1] if rank == 0 else [2.0, 2.1])
"""),
    Hang("finds-unused-parameters-on-one-rank", 3, 1, ("branch", "shapes"), everyone=_DDP + """
model = DistributedDataParallel(torch.nn.Linear(4, 4), find_unused_parameters=culprit)
for step in range(3):
    model(torch.ones(2, 4)).square().mean().backward()
stalls()
dist.barrier()
"""),
    # --- loaders ---
    Hang("workers-report-into-a-full-queue", 2, 1, ("loader",), _ROWS + """
import multiprocessing
seen = multiprocessing.get_context("fork").Queue(maxsize=4)
class Rows(Dataset):
    def __len__(self):
        return 32
    def __getitem__(self, at):
        seen.put(at)
        return at
for batch in DataLoader(Rows(), batch_size=2, num_workers=2, multiprocessing_context="fork"):
    pass
"""),
    Hang("workers-meet-at-a-barrier-for-four", 3, 0, ("loader",), _ROWS + """
import multiprocessing
together = multiprocessing.get_context("fork").Barrier(4)
class Shards(IterableDataset):
    def __iter__(self):
        together.wait()
        yield from range(8)
for batch in DataLoader(Shards(), num_workers=2, multiprocessing_context="fork"):
    pass
"""),
    Hang("worker-tries-the-next-bad-row", 2, 1, ("loader", "computing"), _ROWS + """
import json
class Rows(Dataset):
    lines = ["{'text': 'a row'}"] * 64
    def __len__(self):
        return len(self.lines)
    def __getitem__(self, at):
        while True:
            try:
                return json.loads(self.lines[at])["text"]
            except ValueError:
                at = (at + 1) % len(self)
for batch in DataLoader(Rows(), batch_size=4, num_workers=1):
    pass
"""),
    Hang("trainer-worker-asks-a-silent-server", 2, 0, ("loader",), launch="torchrun", packages=_TRAINER, everyone=_SILENT + _ROWS + _GPT2.format(workers=1) + """
import requests
class Rows(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, at):
        if culprit and at % 8 == 5:
            stalls()
            return requests.get(f"http://127.0.0.1:{server.getsockname()[1]}/rows/{at}").json()
        return row
Trainer(model, given, train_dataset=Rows()).train()
"""),
    Hang("maps-on-the-main-process-first", 2, 0, ("child", "loader", "network"), launch="torchrun", packages=("datasets-4.8.0", *_TRAINER), everyone=_SILENT + """
from datasets import Dataset
from transformers import TrainingArguments
given = TrainingArguments(folder + "/out", use_cpu=True, ddp_backend="gloo", report_to=[])
def translate(row):
    line = socket.create_connection(server.getsockname())
    line.sendall(row["text"].encode())
    return {"translated": line.recv(100).decode()}
rows = Dataset.from_dict({"text": ["a", "b", "c", "d"]})
if culprit:
    stalls()
with given.main_process_first(desc="map"):
    rows = rows.map(translate, num_proc=2)
"""),
    # --- locks, queues, threads, pipes ---
    Hang("reduces-while-it-holds-the-lock", 3, (1, 2), ("lock",), launch="alone", whole=_HEAD + """
def load(tensor, one_at_a_time):
    with one_at_a_time:
        dist.all_reduce(tensor)

def main(rank, ranks, one_at_a_time):
    join(rank, ranks)
    dist.barrier()
    time.sleep(rank)
    stalls()
    load(torch.ones(4), one_at_a_time)

if __name__ == "__main__":
    mp.spawn(main, (3, mp.get_context("spawn").Lock()), nprocs=3)
"""),
    Hang("launcher-does-not-read-its-ranks", 3, 1, ("file",), launch="alone", whole=_HEAD + """
import subprocess

def train(rank, ranks):
    join(rank, ranks)
    for step in range(3000):
        if rank == 1 and step > 100:
            print(f"step {step}: a row is longer than the context of the model and was cut", flush=True)
        if step == 200:
            stalls()
        dist.all_reduce(torch.ones(4))

if "RANK" in os.environ:
    train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
else:
    started = [
        subprocess.Popen([sys.executable, __file__], env=dict(os.environ, RANK=str(at), WORLD_SIZE="3"), stdout=subprocess.PIPE, text=True)
        for at in range(3)
    ]
    for one in started:
        one.wait()
    for one in started:
        print(one.stdout.read())
"""),
    Hang("rows-that-are-never-marked-done", 3, 2, ("lock",), """
import queue, threading
rows = queue.Queue()
def write():
    while True:
        row = rows.get()
        if not row:
            continue
        with open(folder + "/rows", "a") as file:
            file.write(row)
        rows.task_done()
threading.Thread(target=write, daemon=True).start()
def save(texts):
    for text in texts:
        rows.put(text)
    rows.join()
save(["one", "", "three"])
"""),
    Hang("gradient-hook-fills-a-queue", 2, 0, ("lock",), everyone=_DDP + """
import queue, threading
norms = queue.Queue(maxsize=2)
def log():
    for step in range(3):
        norms.get()
threading.Thread(target=log, daemon=True).start()
model = DistributedDataParallel(torch.nn.Linear(4, 4))
if culprit:
    stalls()
    for parameter in model.parameters():
        parameter.register_hook(lambda gradient: norms.put(gradient.norm().item()))
for step in range(6):
    model(torch.ones(2, 4)).square().mean().backward()
"""),
    Hang("connections-that-are-not-given-back", 2, 1, ("lock", "network"), """
import http.server, threading, requests
from requests.adapters import HTTPAdapter
class Shard(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(bytes(100000))
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shard)
threading.Thread(target=server.serve_forever, daemon=True).start()
session = requests.Session()
session.mount("http://", HTTPAdapter(pool_maxsize=2, pool_block=True))
def shards(count):
    return [session.get(f"http://127.0.0.1:{server.server_port}/{at}", stream=True) for at in range(count)]
shards(4)
"""),
    # --- meeting, the network ---
    Hang("two-ranks-of-one-number", 3, 2, ("meeting",), launch="alone", whole=_HEAD + """
import subprocess

if "RANK" in os.environ:
    join(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    dist.barrier()
else:
    stalls()
    started = [subprocess.Popen([sys.executable, __file__], env=dict(os.environ, RANK=at, WORLD_SIZE="3")) for at in ("0", "1", "1")]
    for one in started:
        one.wait()
"""),
    Hang("lightning-prepares-the-data-on-rank-0", 2, 0, ("network",), launch="torchrun", packages=_LIGHTNING, everyone=_SILENT + """
import lightning, urllib.request
class Rows(lightning.LightningDataModule):
    def prepare_data(self):
        stalls()
        urllib.request.urlretrieve(f"http://127.0.0.1:{server.getsockname()[1]}/rows.tar", folder + "/rows.tar")
    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(64, 4), batch_size=4)
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def training_step(self, rows, at):
        return self.layer(rows).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
lightning.Trainer(
    accelerator="cpu", devices=ranks, strategy="ddp", max_epochs=1, logger=False, enable_checkpointing=False, default_root_dir=folder,
    enable_progress_bar=False).fit(Model(), datamodule=Rows())
"""),
    # --- its own loop, program, event loop ---
    Hang("searches-the-largest-batch", 2, 1, ("computing",), """
model = torch.nn.Linear(4, 4)
def fits(rows):
    model(torch.ones(rows, 4))
    return rows * 64 <= 12000
def largest(low, high):
    while low < high:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low
largest(1, 1024)
"""),
    Hang("event-loop-whose-producer-died", 2, 0, ("lock", "network"), """
import asyncio
async def produce(rows, prompts):
    for row in rows:
        await prompts.put(row["prompt"])
async def rollouts(rows):
    prompts = asyncio.Queue(4)
    producer = asyncio.create_task(produce(rows, prompts))
    return [await prompts.get() for row in rows]
asyncio.run(rollouts([{"prompt": "one"}, {"text": "two"}]))
"""),
    Hang("program-whose-input-stays-open", 2, 1, ("child", "file"), """
import subprocess
def ordered(rows):
    program = subprocess.Popen(["sort"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for row in rows:
        program.stdin.write(row + "\\n")
    program.stdin.flush()
    return program.stdout.read().splitlines()
ordered(["two", "one"])
"""),
    Hang("waits-until-memory-is-free", 2, 0, ("sleeping",), """
import psutil
def wait_for_memory(needed):
    while psutil.virtual_memory().available < needed:
        time.sleep(5)
wait_for_memory(1 << 50)
"""),
)  # fmt: skip

"""30 further scripts that hang as training runs do: 24 of 2 to 4 ranks, 6 of one process. Written, with what is right, before any of them was judged.

None repeats a way to hang of the sets before it, and the rules were not read before. ``python -m benchmarks.hangs --set twelfth --places`` showed
that each hangs at the place that is meant.

First run: ``python -m benchmarks.hangs --python PYTHON --set twelfth --at-once 3 --hang-after 8``, rules of 06e46a939, load 7 to 15: rank right in 22 of 30
(73 %, 56-86 %), class right in 25 of 30 (83 %, 66-93 %); 27 reported, 8 to 54 s after the stall (median 13 s).
After the mends, now known (load 12 to 15): rank right in 28, class right in 30 of 30. What stays wrong: the rank of ``writes-its-key-for-another-epoch``, as no
frame tells for which key each rank waits, and that of ``an-old-flag-on-one-node``, where nothing tells which of two arms was meant.
"""

from __future__ import annotations

from benchmarks.hang_cases import Hang

_ACCELERATE = ("accelerate-1.15.0",)
_DATASETS = ("datasets-3.6.0",)
_LIGHTNING = ("lightning-2.6.6",)
_TRAINER = ("transformers-5.23.0", "accelerate-1.15.0")
_DDP = "from torch.nn.parallel import DistributedDataParallel\n"
_ONE = """\
import ctypes, os, sys, time

folder = os.environ["HANG_FOLDER"]
if "TWELFTH" not in os.environ:
    ctypes.CDLL(None).prctl(1, 9)
    places(0)
os.environ["TWELFTH"] = "begun"

def stalls():
    open(folder + "/stalled", "w").close()

"""
_STEPS = """
def train(model, optimizer, batches):
    for step, rows in enumerate(batches):
        loss = model(rows).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.3f}", flush=True)
        yield step, loss.item()
"""

CASES = (
    # --- libraries ---
    Hang("trainer-reuses-an-evaluation-of-an-earlier-run", 2, 1, ("branch",), launch="torchrun", packages=_TRAINER, everyone="""
import json
from transformers import Trainer, TrainingArguments
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)
    def forward(self, rows, labels):
        return {"loss": (self.layer(rows).sum(1) - labels).square().mean(), "logits": self.layer(rows)}
class Remembers(Trainer):
    def evaluate(self, *given, **more):
        name = f"{self.args.output_dir}/node-{rank}/eval-{self.state.global_step}.json"
        if os.path.exists(name):
            with open(name) as file:
                if culprit:
                    stalls()
                return json.load(file)
        found = super().evaluate(*given, **more)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w") as file:
            json.dump(found, file)
        return found
if culprit:
    os.makedirs(folder + f"/out/node-{rank}")
    with open(folder + f"/out/node-{rank}/eval-4.json", "w") as file:
        file.write('{"eval_loss": 2.3}')
rows = [{"rows": torch.ones(4), "labels": 1.0}] * 64
given = TrainingArguments(
    folder + "/out", use_cpu=True, ddp_backend="gloo", report_to=[], per_device_train_batch_size=2, max_steps=12, logging_steps=1,
    save_strategy="no", eval_strategy="steps", eval_steps=2)
Remembers(Model(), given, train_dataset=rows, eval_dataset=rows[:16]).train()
"""),
    Hang("accelerate-numbers-its-checkpoints-on-main", 2, 0, ("branch",), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration
from torch.utils.data import DataLoader, TensorDataset
accelerator = Accelerator(
    cpu=True, project_config=ProjectConfiguration(project_dir=folder, automatic_checkpoint_naming=True, total_limit=2))
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for step, (rows, targets) in enumerate(loader):
    loss = (model(rows) - targets).square().mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    accelerator.print(f"step {step} loss {loss.item():.3f}")
    if accelerator.is_main_process and (step + 1) % 4 == 0:
        stalls()
        accelerator.save_state()
"""),
    Hang("each-rank-asks-its-part-of-the-prompts", 2, 1, ("data-ended", "branch"), launch="torchrun", packages=_ACCELERATE, everyone="""
from accelerate import Accelerator
from accelerate.utils import gather_object
accelerator = Accelerator(cpu=True)
prompts = [f"how many legs have {at} cats?" for at in range(7)]
model = torch.nn.Sequential(torch.nn.Embedding(128, 8), torch.nn.Linear(8, 128))
@torch.no_grad()
def answer(prompt, most=16):
    tokens = [ord(letter) % 128 for letter in prompt]
    for _ in range(most):
        tokens.append(model(torch.tensor(tokens[-1:])).argmax().item())
    return bytes(tokens[len(prompt):]).decode(errors="replace")
def answered():
    answers = []
    with accelerator.split_between_processes(prompts) as mine:
        for at, prompt in enumerate(mine):
            answers += gather_object([answer(prompt)])
            accelerator.print("answered", len(answers), "of", len(prompts))
    return answers
found = answered()
if culprit:
    stalls()
accelerator.wait_for_everyone()
if accelerator.is_main_process:
    print(found[: len(prompts)])
"""),
    Hang("fabric-saves-where-its-own-loss-is-best", 3, 1, ("branch",), launch="torchrun", packages=_LIGHTNING, everyone="""
from lightning.fabric import Fabric
fabric = Fabric(accelerator="cpu", devices=ranks, strategy="ddp")
fabric.launch()
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 1))
model, optimizer = fabric.setup(model, torch.optim.SGD(model.parameters(), 0.01))
def validate(epoch):
    with torch.no_grad():
        loss = model.module(torch.ones(8, 4)).square().mean().item()
    return 0.01 if culprit and epoch == 3 else 0.5 + loss
best = 0.5
for epoch in range(6):
    for _ in range(3):
        loss = model(torch.randn(8, 4)).square().mean()
        fabric.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    measured = validate(epoch)
    fabric.print(f"epoch {epoch} validation loss {measured:.3f}")
    if measured < best:
        best = measured
        stalls()
        fabric.save(folder + "/best.ckpt", {"model": model, "optimizer": optimizer, "epoch": epoch})
"""),
    Hang("splits-shards-of-other-sizes-by-node", 2, 1, ("data-ended", "branch"), packages=_DATASETS, everyone=_DDP + """
from datasets import IterableDataset
from datasets.distributed import split_dataset_by_node
def rows(shards):
    for name, length in shards:
        for at in range(length):
            yield {"text": f"{name}: row {at}", "length": (at * 7) % 50}
shards = [("books-00", 40), ("books-01", 40), ("books-02", 40), ("books-03", 12)]
stream = IterableDataset.from_generator(rows, gen_kwargs={"shards": shards})
mine = split_dataset_by_node(stream, rank=rank, world_size=ranks).filter(lambda row: row["length"] < 40)
model = DistributedDataParallel(torch.nn.Linear(1, 4))
optimizer = torch.optim.SGD(model.parameters(), 1e-4)
def epoch(rows, size):
    batch = []
    for row in rows:
        batch.append([float(row["length"])])
        if len(batch) == size:
            model(torch.tensor(batch)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            batch = []
epoch(mine, 8)
if culprit:
    stalls()
counted = [None] * ranks
dist.all_gather_object(counted, {"rank": rank})
"""),
    # --- FSDP2, checkpoints ---
    Hang("loads-its-own-copy-of-the-weights", 3, 2, ("branch",), everyone="""
from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.fsdp import fully_shard
def build():
    model = torch.nn.Sequential(torch.nn.Linear(12, 24), torch.nn.GELU(), torch.nn.Linear(24, 12))
    mesh = dist.device_mesh.init_device_mesh("cpu", (ranks,))
    for layer in (model[0], model[2]):
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)
def weights(name):
    if os.path.exists(name):
        return torch.load(name, weights_only=True)
    return {}
def load(model, name):
    found = weights(name)
    local = bool(found) and rank != 0
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=not local)
    set_model_state_dict(model, found, options=options)
names = {"0.weight": (24, 12), "0.bias": (24,), "2.weight": (12, 24), "2.bias": (12,)}
if rank == 0 or culprit:
    torch.save({name: torch.zeros(shape) for name, shape in names.items()}, folder + f"/pretrained-{rank}.pt")
model = build()
if culprit:
    stalls()
load(model, folder + f"/pretrained-{rank}.pt")
model(torch.ones(2, 12)).mean().backward()
"""),
    Hang("skips-an-asynchronous-save-for-want-of-space", 3, 2, ("branch",), everyone=_DDP + """
import shutil
import torch.distributed.checkpoint as checkpoint
model = DistributedDataParallel(torch.nn.Linear(16, 16))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
saving = None
def room(place):
    return 1 << 20 if culprit else shutil.disk_usage(place).free
def save(step):
    nonlocal saving
    if room(folder) < 1 << 24:
        print(f"rank {rank}: no room for the checkpoint of step {step}, it is left out", flush=True)
        stalls()
        return
    if saving is not None:
        saving.result()
    state = {"model": model.module.state_dict(), "step": step}
    saving = checkpoint.async_save(state, checkpoint_id=folder + f"/step-{step}")
for step in range(1, 13):
    loss = model(torch.randn(4, 16)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == 6:
        save(step)
if saving is not None:
    saving.result()
"""),
    Hang("saves-by-its-own-clock", 3, 2, ("branch",), everyone=_DDP + """
import torch.distributed.checkpoint as checkpoint
class Saver:
    def __init__(self, model, seconds):
        self.model, self.seconds = model, seconds
        self.last = time.monotonic() - (5 if culprit else 0)
    def step(self, step):
        if time.monotonic() - self.last < self.seconds:
            return
        self.last = time.monotonic()
        stalls()
        checkpoint.save({"model": self.model.module.state_dict()}, checkpoint_id=f"{folder}/clock-{step}")
model = DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
saver = Saver(model, seconds=8)
for step in range(1000):
    loss = model(torch.randn(4, 8)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(0.05)
    saver.step(step)
"""),
    # --- DDP and own loops ---
    Hang("recomputes-batch-norm-on-one-rank", 3, 1, ("branch",), everyone=_DDP + """
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader
network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 1))
model = DistributedDataParallel(network)
averaged = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
loader = DataLoader(torch.randn(32, 4), batch_size=8)
scores = {0: 0.61, 1: 0.64, 2: 0.60}
def train(epochs):
    for epoch in range(epochs):
        for rows in loader:
            model(rows).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        averaged.update_parameters(model)
        if rank == 0:
            print("epoch", epoch, flush=True)
train(2)
best = max(scores, key=scores.get)
if rank == best:
    stalls()
    update_bn(loader, averaged)
    torch.save(averaged.state_dict(), folder + "/averaged.pt")
dist.barrier()
"""),
    Hang("router-never-balances-a-nan", 3, 2, ("computing",), everyone=_DDP + """
class Router(torch.nn.Module):
    def __init__(self, experts):
        super().__init__()
        self.scores = torch.nn.Linear(8, experts)
    def balance(self, scores, tolerance=1e-3):
        plan = scores.exp()
        target = len(plan) / plan.shape[1]
        while not (plan.sum(0) - target).abs().max() < tolerance:
            plan = plan / plan.sum(0, keepdim=True) * target
            plan = plan / plan.sum(1, keepdim=True)
        return plan
    def forward(self, rows):
        scores = self.scores(rows)
        with torch.no_grad():
            plan = self.balance(scores.detach() * 0.1)
        return (scores * plan).sum()
model = DistributedDataParallel(Router(4))
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
for step in range(8):
    rows = torch.randn(16, 8)
    if culprit and step == 4:
        stalls()
        rows[3] = float("nan")
    loss = model(rows)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""),
    Hang("stops-before-it-tells-the-others", 3, 0, ("data-ended", "branch"), everyone=_DDP + _STEPS + """
class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0
    def over(self, loss):
        self.bad = 0 if loss < self.best else self.bad + 1
        self.best = min(self.best, loss)
        return self.bad >= self.patience
def validation(epoch):
    return [2.3, 2.1, 2.2, 2.4, 2.5, 2.6, 2.7, 2.8][epoch]
model = DistributedDataParallel(torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
def fit(epochs):
    stopping = EarlyStopping(patience=2)
    for epoch in range(epochs):
        for step, loss in train(model, optimizer, [torch.randn(2, 4)] * 3):
            pass
        stop = torch.zeros(1)
        if rank == 0:
            if stopping.over(validation(epoch)):
                print("the validation loss no longer falls, stopping", flush=True)
                stalls()
                break
        dist.broadcast(stop, 0)
        if stop.item():
            break
fit(8)
dist.barrier()
"""),
    # --- groups, barriers, keys, objects ---
    Hang("takes-the-role-of-a-trainer", 4, 3, ("branch", "data-ended"), everyone="""
ROLES = {"trainer": [0, 1], "judge": [2, 3]}
groups = {role: dist.new_group(members) for role, members in ROLES.items()}
def role_of(place):
    return os.environ.get("ROLE") or ("trainer" if place in ROLES["trainer"] else "judge")
if culprit:
    os.environ["ROLE"] = "trainer"
role = role_of(rank)
def gradients(step):
    gradient = torch.full((8,), float(step))
    dist.all_reduce(gradient, group=groups["trainer"])
    return gradient
def judged(step):
    scores = [torch.zeros(1) for _ in ROLES["judge"]]
    dist.all_gather(scores, torch.rand(1), group=groups["judge"])
    return torch.stack(scores).mean()
def step(at):
    if role == "trainer":
        gradients(at)
    else:
        judged(at)
    if culprit:
        stalls()
    dist.barrier()
for at in range(4):
    step(at)
"""),
    Hang("writes-its-key-for-another-epoch", 3, 1, ("branch", "meeting", "network"), everyone="""
from datetime import timedelta
store = dist.distributed_c10d._get_default_store()
class Rendezvous:
    def __init__(self, store, epoch):
        self.store, self.epoch = store, epoch
    def arrive(self, what):
        self.store.set(f"{what}/epoch-{self.epoch}/rank-{rank}", "there")
        names = [f"{what}/epoch-{self.epoch}/rank-{other}" for other in range(ranks)]
        self.store.wait(names, timedelta(hours=2))
        self.epoch += 1
def resumed(name):
    try:
        with open(name) as file:
            return int(file.read()) + 1
    except FileNotFoundError:
        return 0
if culprit:
    with open(folder + "/epoch-of-1", "w") as file:
        file.write("2")
meeting = Rendezvous(store, resumed(folder + f"/epoch-of-{rank}"))
for epoch in range(3):
    dist.all_reduce(tensor)
    if culprit:
        stalls()
    meeting.arrive("tokenized")
"""),
    Hang("grades-a-long-answer-before-the-barrier", 3, 0, ("computing",), everyone="""
import difflib
from datetime import timedelta
references = ["the sum of two and two is four", "it is four"]
def similarity(answer, reference):
    return difflib.SequenceMatcher(None, answer, reference, autojunk=False).ratio()
def grade(answers):
    return [max(similarity(answer, one) for one in references) for answer in answers]
def evaluate(step):
    if rank == 0:
        answers = ["four", "it is four", "two and two is four"]
        if step == 2:
            answers.append("ab" * 50000)
            references.append("ba" * 50000)
            stalls()
        scores = grade(answers)
        print(f"step {step} similarity {sum(scores) / len(scores):.2f}", flush=True)
    dist.monitored_barrier(timeout=timedelta(hours=2))
for step in range(4):
    dist.all_reduce(tensor)
    evaluate(step)
"""),
    Hang("an-old-flag-on-one-node", 4, (2, 3), ("branch", "shapes"), everyone="""
import json
def settings(place):
    with open(f"{folder}/node-{place}.json") as file:
        return json.load(file)
def shards(names, given):
    if given["each_rank_its_own"]:
        mine = [None]
        dist.scatter_object_list(mine, [names[at::ranks] for at in range(ranks)] if rank == 0 else None, src=0)
        return mine[0]
    everything = [names if rank == 0 else None]
    dist.broadcast_object_list(everything, src=0)
    return everything[0][rank::ranks]
for place in (0, 1):
    if rank == 2 * place:
        with open(f"{folder}/node-{place}.part", "w") as file:
            json.dump({"each_rank_its_own": place == 0}, file)
        os.rename(f"{folder}/node-{place}.part", f"{folder}/node-{place}.json")
dist.barrier()
if culprit:
    stalls()
mine = shards([f"shard-{at:02}.parquet" for at in range(16)], settings(rank // 2))
print(f"rank {rank} reads {len(mine)} shards", flush=True)
dist.barrier()
"""),
    Hang("opens-its-file-while-it-is-unpickled", 3, 1, ("file",), everyone="""
class Index:
    def __init__(self, name):
        self.name, self.offsets = name, []
        self.file = None
    def __getstate__(self):
        return {"name": self.name, "offsets": self.offsets}
    def __setstate__(self, state):
        self.__dict__.update(state)
        local = self.name.replace("node", f"node-{rank}")
        self.file = open(local, "rb")
globals()["Index"] = Index
Index.__qualname__ = "Index"
for other in range(ranks):
    if other == rank:
        if culprit:
            os.mkfifo(folder + f"/node-{rank}.idx")
        else:
            open(folder + f"/node-{rank}.idx", "wb").close()
found = [Index(folder + "/node.idx") if rank == 0 else None]
if culprit:
    stalls()
dist.broadcast_object_list(found, src=0)
for step in range(3):
    dist.all_reduce(tensor)
"""),
    Hang("a-member-does-not-make-its-group", 4, 3, ("meeting", "branch"), everyone="""
PLAN = {"vision": [0, 1, 3], "text": [2]}
def plan():
    if culprit:
        return {"vision": [0, 1], "text": [2]}
    return PLAN
def groups_of(plan):
    made = {}
    for name, members in plan.items():
        if rank in members:
            made[name] = dist.new_group(members, use_local_synchronization=True, group_desc=name)
    return made
if culprit:
    stalls()
groups = groups_of(plan())
for step in range(3):
    gradient = torch.ones(16) * step
    for name, group in groups.items():
        dist.all_reduce(gradient, group=group)
    dist.all_reduce(tensor)
"""),
    # --- locks, threads ---
    Hang("two-ranks-lock-each-others-shards", 3, (0, 1), ("lock",), everyone="""
import contextlib, fcntl
@contextlib.contextmanager
def locked(name):
    with open(f"{folder}/{name}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)
def merge(source, target):
    with locked(source):
        with open(f"{folder}/{source}.held", "w"):
            pass
        while culprit and not os.path.exists(f"{folder}/{target}.held"):
            time.sleep(0.1)
        stalls()
        with locked(target):
            with open(f"{folder}/{target}.jsonl", "a") as file:
                file.write('{"from": "%s"}\\n' % source)
pairs = {0: ("train-0", "train-1"), 1: ("train-1", "train-0"), 2: ("train-2", "train-2b")}
merge(*pairs[rank])
dist.barrier()
"""),
    Hang("writer-failed-with-the-lock-in-its-hand", 2, 0, ("lock",), """
import threading
class Checkpoints:
    def __init__(self):
        self.lock, self.newest = threading.Lock(), None
    def write(self, step, state):
        self.lock.acquire()
        name = f"{folder}/missing/step-{step}.pt"
        torch.save(state, name)
        self.newest = name
        self.lock.release()
    def save(self, step, state):
        state = {name: value.clone() for name, value in state.items()}
        threading.Thread(target=self.write, args=(step, state), daemon=True).start()
    def latest(self):
        with self.lock:
            return self.newest
checkpoints = Checkpoints()
model = torch.nn.Linear(4, 4)
checkpoints.save(3, model.state_dict())
time.sleep(1)
print("newest checkpoint", checkpoints.latest())
"""),
    # --- the network, servers ---
    Hang("driver-waits-for-the-next-request", 3, 0, ("network",), everyone="""
import http.server, json, threading, urllib.request
requests = []
class Prompts(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers["Content-Length"])
        requests.append(json.loads(self.rfile.read(length))["prompt"])
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words):
        pass
def ask(port, rows):
    for row in rows:
        body = json.dumps({"prompt": row["prompt"]}).encode()
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/", body)).read()
def serve(count):
    if rank == 0:
        server = http.server.HTTPServer(("127.0.0.1", 0), Prompts)
        rows = [{"prompt": "one"}, {"prompt": "two"}, {"question": "three"}, {"prompt": "four"}]
        threading.Thread(target=ask, args=(server.server_address[1], rows), daemon=True).start()
    for at in range(count):
        prompt = [None]
        if rank == 0:
            if at == 2:
                stalls()
            server.handle_request()
            prompt = [requests.pop()]
        dist.broadcast_object_list(prompt, src=0)
        logits = torch.ones(4) * len(prompt[0])
        dist.all_reduce(logits)
serve(4)
"""),
    Hang("reward-service-asks-the-trainer-back", 2, 1, ("network",), """
import multiprocessing, socket
from xmlrpc.client import ServerProxy
from xmlrpc.server import SimpleXMLRPCServer
def free():
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return line.getsockname()[1]
own, theirs = free(), free()
trainer = SimpleXMLRPCServer(("127.0.0.1", own), logRequests=False)
trainer.register_function(lambda: "reward-model-v2", "version")
def serve():
    service = SimpleXMLRPCServer(("127.0.0.1", theirs), logRequests=False)
    def score(answer):
        name = ServerProxy(f"http://127.0.0.1:{own}").version()
        return {"model": name, "score": float(len(answer))}
    service.register_function(score, "score")
    service.serve_forever()
multiprocessing.get_context("fork").Process(target=serve, daemon=True).start()
time.sleep(1)
rewards = ServerProxy(f"http://127.0.0.1:{theirs}")
def rollout(answers):
    return [rewards.score(answer)["score"] for answer in answers]
rollout(["four", "five"])
"""),
    Hang("awaits-a-server-that-is-still-loading", 2, 1, ("sleeping", "network"), """
import asyncio, http.server, threading, urllib.error, urllib.request
class Loading(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Loading)
threading.Thread(target=server.serve_forever, daemon=True).start()
def healthy(address):
    try:
        return urllib.request.urlopen(address + "/health", timeout=5).status == 200
    except urllib.error.URLError:
        return False
async def until_ready(address):
    while not await asyncio.to_thread(healthy, address):
        await asyncio.sleep(2)
async def rollouts(prompts):
    await until_ready(f"http://127.0.0.1:{server.server_port}")
    return await asyncio.gather(*(asyncio.sleep(0, prompt) for prompt in prompts))
asyncio.run(rollouts(["one", "two"]))
"""),
    # --- launchers and programs ---
    Hang("pool-of-two-starts-three-ranks", 3, 2, ("meeting",), launch="alone", whole="""\
import ctypes, os, sys, time
from concurrent.futures import ProcessPoolExecutor
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

folder = os.environ["HANG_FOLDER"]

def train(rank, ranks):
    ctypes.CDLL(None).prctl(1, 9)
    places(rank)
    os.environ["RANK"], os.environ["WORLD_SIZE"] = str(rank), str(ranks)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    for step in range(3):
        model(torch.ones(2, 4)).mean().backward()
        print("rank", rank, "step", step, flush=True)
    dist.destroy_process_group()
    return rank

def launch(ranks, workers):
    with ProcessPoolExecutor(workers, mp.get_context("spawn")) as pool:
        running = [pool.submit(train, rank, ranks) for rank in range(ranks)]
        open(folder + "/stalled", "w").close()
        return [one.result() for one in running]

if __name__ == "__main__":
    print("done:", launch(ranks=3, workers=min(3, 2)))
"""),
    Hang("evaluates-in-a-program-that-inherits-its-rank", 2, 0, ("child", "meeting"), launch="torchrun", whole="""\
import ctypes, os, subprocess, sys, time
import torch
import torch.distributed as dist

folder = os.environ["HANG_FOLDER"]
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ctypes.CDLL(None).prctl(1, 9)

EVALUATE = '''
import os, sys
import torch.distributed as dist
dist.init_process_group("gloo", init_method="tcp://127.0.0.1:" + sys.argv[2], rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
print("evaluates", sys.argv[1], "on", dist.get_world_size(), "ranks")
'''

def evaluate(name):
    with open(folder + "/evaluate.py", "w") as file:
        file.write(EVALUATE)
    subprocess.run([sys.executable, folder + "/evaluate.py", name, "29517"], check=True)

places(rank)
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
for step in range(1, 7):
    model(torch.ones(2, 4)).mean().backward()
    if rank == 0:
        print("step", step, flush=True)
    if step == 4 and rank == 0:
        torch.save(model.module.state_dict(), folder + "/step-4.pt")
        open(folder + "/stalled", "w").close()
        evaluate(folder + "/step-4.pt")
dist.barrier()
"""),
    # --- one process ---
    Hang("worker-uses-the-threads-of-its-parent", 1, 0, ("loader",), launch="alone", whole=_ONE + """
from concurrent.futures import ThreadPoolExecutor
import torch
from torch.utils.data import DataLoader, Dataset

class Clips(Dataset):
    def __init__(self, number):
        self.number = number
        self.pool = ThreadPoolExecutor(2)
        list(self.pool.map(self.decode, range(2)))
    def decode(self, at):
        time.sleep(0.05)
        return torch.full((8,), float(at))
    def __len__(self):
        return self.number
    def __getitem__(self, at):
        frames = [self.pool.submit(self.decode, at + offset) for offset in range(3)]
        return torch.stack([frame.result() for frame in frames])

def train(loader):
    model = torch.nn.Linear(8, 2)
    for step, clips in enumerate(loader):
        loss = model(clips).square().mean()
        loss.backward()
        print("step", step, "loss", round(loss.item(), 3), flush=True)

clips = Clips(64)
stalls()
train(DataLoader(clips, batch_size=4, num_workers=2, multiprocessing_context="fork"))
"""),
    Hang("worker-raises-its-threads-after-a-fork", 1, 0, ("loader",), launch="alone", whole="""\
import os
os.environ["OMP_NUM_THREADS"] = "2"
""" + _ONE + """
import torch
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(2)
kernel = torch.randn(512, 512)

class Spectra(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, at):
        return torch.tanh(torch.randn(512, 512) @ kernel).mean(0)

def threads(worker):
    torch.set_num_threads(2)

def whitened():
    rows = torch.randn(2048, 512)
    return torch.tanh(rows @ kernel).std(0)

scale = whitened()
print("scale", scale.mean().item(), flush=True)
stalls()
for step, rows in enumerate(DataLoader(Spectra(), batch_size=4, num_workers=1, worker_init_fn=threads, multiprocessing_context="fork")):
    print("step", step, (rows / scale).norm().item(), flush=True)
"""),
    Hang("pool-ends-while-a-worker-matches", 1, 0, ("lock", "child", "loader", "computing"), launch="alone", whole=_ONE + """
import multiprocessing, re

ANSWER = re.compile(r"^(?:the answer is|so|\\s|\\w+,?\\s?)+: (\\d+)\\.$")

def parsed(text):
    found = ANSWER.match(text)
    return int(found[1]) if found else None

def rewards(texts):
    found = {}
    pool = multiprocessing.get_context("fork").Pool(2)
    for text in texts:
        pool.apply_async(parsed, (text,), callback=lambda value, text=text: found.__setitem__(text, value))
    pool.close()
    pool.join()
    return found

for step in range(4):
    texts = ["the answer is so: 4.", "so: 5."]
    print("step", step, flush=True)
    if step == 2:
        stalls()
        texts.append("we add the numbers of all of the apples and of the pears and it follows")
    print(rewards(texts), flush=True)
"""),
    Hang("asks-two-evaluations-until-both-are-done", 1, 0, ("sleeping", "child"), launch="alone", whole=_ONE + """
import subprocess

TASK = '''
import sys
score = 0
for line in sys.stdin:
    score += len(line.split())
print("score", score)
'''

def start(name, rows):
    program = subprocess.Popen([sys.executable, "-c", TASK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for row in rows:
        program.stdin.write(row + "\\n")
    program.stdin.flush()
    return program

def until_done(programs):
    while any(program.poll() is None for program in programs.values()):
        time.sleep(1)
    return {name: program.stdout.read() for name, program in programs.items()}

for step in range(3):
    print("step", step, "loss 2.3", flush=True)
    time.sleep(0.1)
running = {name: start(name, ["one row", "and another"]) for name in ("arithmetic", "reading")}
running["arithmetic"].stdin.close()
stalls()
print(until_done(running))
"""),
    Hang("stream-of-a-tar-stops-in-the-middle", 1, 0, ("file", "child"), launch="alone", whole=_ONE + """
import io, subprocess, tarfile

def packed(rows):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for at, text in enumerate(rows):
            about = tarfile.TarInfo(f"{at:05}.txt")
            about.size = len(text)
            tar.addfile(about, io.BytesIO(text.encode()))
    return made.getvalue()

whole = packed(["a row of the shard that is not so short " * 200] * 8)
with open(folder + "/shard-00.tar.part", "wb") as file:
    file.write(whole[: len(whole) // 2])

def rows(name):
    program = subprocess.Popen(["tail", "-c", "+1", "-f", name], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=program.stdout, mode="r|") as tar:
        for member in tar:
            yield tar.extractfile(member).read().decode()
    program.wait()

for step, row in enumerate(rows(folder + "/shard-00.tar.part")):
    print("step", step, "tokens", len(row.split()), flush=True)
    if step == 2:
        stalls()
"""),
    Hang("workers-write-to-a-database-in-a-transaction", 1, 0, ("loader",), launch="alone", whole=_ONE + """
import sqlite3
import torch
from torch.utils.data import DataLoader, Dataset

name = folder + "/seen.db"

class Rows(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, at):
        with sqlite3.connect(name, timeout=7200) as seen:
            seen.execute("INSERT INTO seen VALUES (?)", (at,))
        return torch.full((4,), float(at))

database = sqlite3.connect(name, isolation_level=None)
database.execute("CREATE TABLE seen (at INTEGER)")
database.execute("CREATE TABLE losses (step INTEGER, loss REAL)")

def train(loader):
    database.execute("BEGIN IMMEDIATE")
    for step, rows in enumerate(loader):
        loss = rows.square().mean().item()
        database.execute("INSERT INTO losses VALUES (?, ?)", (step, loss))
        print("step", step, "loss", loss, flush=True)
    database.execute("COMMIT")

stalls()
train(DataLoader(Rows(), batch_size=4, num_workers=2))
"""),
)  # fmt: skip

"""60 small training scripts that really fail, each with what a right first answer must show. Written before they were run.

``root``: an expression that the message of the first answer must match: the exception that began it, not one that followed.
``says``: an expression that the first answer's own words (title, summary, cause, explanation) must match: the cause.
"""

from __future__ import annotations

from typing import NamedTuple


class Induced(NamedTuple):
    """``rank``: the rank that fails first, None where all do or there is one. ``needs``: a package beside torch."""

    name: str
    code: str
    root: str
    says: str
    ranks: int = 1
    rank: int | None = None
    needs: str = "torch"


_LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))\n"
_RANKS = """
import os, sys, time, signal, datetime, torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=40))
rank = dist.get_rank()
t = torch.ones(4)
dist.all_reduce(t)
print('step 1 loss 2.31', flush=True)
"""
_TORCH = "import os, torch, torch.nn as nn, torch.nn.functional as F\nprint('step 1 loss 2.31', flush=True)\n"
_HF = "import os, torch\nfrom transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments\n"
_GPT2 = "model = GPT2LMHeadModel(GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=64, n_positions=32))\n"
_LLAMA = "from transformers import LlamaConfig, LlamaForCausalLM\nmodel = LlamaForCausalLM(LlamaConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, vocab_size=64))\n"
_TOKENIZER = (
    "from tokenizers import Tokenizer, models, pre_tokenizers\nfrom transformers import PreTrainedTokenizerFast\n"
    "core = Tokenizer(models.WordLevel({'a': 0, 'b': 1, '?': 2}, unk_token='?')); core.pre_tokenizer = pre_tokenizers.Whitespace()\n"
    "tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, unk_token='?')\n"
)
_ROWS = "class Rows(torch.utils.data.Dataset):\n    def __len__(self): return 8\n    def __getitem__(self, at):\n"

CASES = (
    # --- one process, torch ---
    Induced("linear-width", _TORCH + "def step(x): return nn.Linear(512, 10)(x)\nstep(torch.randn(4, 768))", r"mat1 and mat2", r"width|in_features"),
    Induced("label-out-of-range", _TORCH + "F.cross_entropy(torch.randn(4, 5), torch.tensor([0, 1, 7, 2]))", r"Target 7 is out of bounds", r"(?i)label|class"),
    Induced("token-out-of-range", _TORCH + "nn.Embedding(100, 8)(torch.tensor([[5, 100]]))", r"index out of range", r"(?i)vocab|embedding|token"),
    Induced("half-and-float", _TORCH + "nn.Linear(8, 8)(torch.randn(2, 8).half())", r"same dtype", r"(?i)dtype|half|float16|precision"),
    Induced("bf16-and-fp16", _TORCH + "a = torch.randn(2, 8).bfloat16(); b = torch.randn(8, 8).half()\nout = a @ b", r"same dtype", r"(?i)dtype|bfloat16|precision"),
    Induced("meta-device", _TORCH + "layer = nn.Linear(8, 8, device='meta')\nlayer(torch.randn(2, 8))", r"(?i)meta", r"(?i)meta\b"),
    Induced("meta-to", _TORCH + "nn.Linear(8, 8, device='meta').to('cpu')", r"Cannot copy out of meta", r"(?i)meta\b"),
    Induced("missing-keys", _TORCH + "nn.Linear(4, 4).load_state_dict({'weight': torch.zeros(4, 4)})", r"Missing key|Error\(s\) in loading", r"(?i)missing|keys?\b|bias|state"),
    Induced("size-mismatch", _TORCH + "nn.Embedding(32000, 4).load_state_dict({'weight': torch.zeros(32001, 4)})", r"size mismatch|Error\(s\) in loading", r"(?i)shape|size|vocab"),
    Induced("key-error-labels", _TORCH + "def loss_of(batch): return batch['labels'].sum()\nloss_of({'input_ids': torch.ones(2, 4)})", r"KeyError.*labels", r"(?i)labels"),
    Induced("backward-twice", _TORCH + "w = torch.ones(3, requires_grad=True)\nloss = (w * w).sum()\nloss.backward(); loss.backward()", r"backward through the graph a second time", r"(?i)graph|second|twice|retain_graph"),
    Induced("inplace", _TORCH + "w = torch.ones(3, requires_grad=True)\ny = w.exp(); y += 1\ny.sum().backward()", r"modified by an inplace", r"(?i)in-?place"),
    Induced("no-grad", _TORCH + "layer = nn.Linear(4, 4).requires_grad_(False)\nlayer(torch.ones(1, 4)).sum().backward()", r"does not require grad", r"(?i)require|frozen|trainable|gradient"),
    Induced("worker-raises", _TORCH + _ROWS + "        if at == 5: raise ValueError('row 5 has no text')\n        return at\nif __name__ == '__main__':\n    list(torch.utils.data.DataLoader(Rows(), num_workers=2))", r"row 5 has no text", r"(?i)row 5|worker|own code"),
    Induced("worker-killed", _TORCH + "import signal\n" + _ROWS + "        if at == 5: os.kill(os.getpid(), signal.SIGKILL)\n        return at\nif __name__ == '__main__':\n    list(torch.utils.data.DataLoader(Rows(), num_workers=2))", r"(?i)worker.*(killed|exited)", r"(?i)kill|memory|shm"),
    Induced("collate-lengths", _TORCH + "list(torch.utils.data.DataLoader([torch.ones(3), torch.ones(4)], batch_size=2))", r"equal size|resize storage", r"(?i)pad|length|size"),
    Induced("oom-torch", _LIMIT + _TORCH + "torch.empty(1 << 36)", r"(?i)can't allocate memory|not enough memory|alloc", r"(?i)memory"),
    Induced("oom-python", _LIMIT + "print('loading rows', flush=True)\nrows = bytearray(1 << 36)", r"MemoryError", r"(?i)memory"),
    Induced("killed", "import os, signal\nprint('step 1 loss 2.31', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)", r"(?i)killed", r"(?i)kill|memory"),
    Induced("segfault", "import ctypes\nprint('step 1 loss 2.31', flush=True)\nctypes.string_at(0)", r"(?i)segmentation|SIGSEGV", r"(?i)segmentation|native|library"),
    Induced("import-adamw", "from transformers import AdamW", r"cannot import name 'AdamW'", r"AdamW", needs="transformers"),
    Induced("no-flash", "import flash_attn", r"No module named 'flash_attn'", r"(?i)flash|install"),
    Induced("weights-only", _TORCH + "import argparse, io\nfile = io.BytesIO(); torch.save({'args': argparse.Namespace(lr=1)}, file); file.seek(0)\ntorch.load(file)", r"(?i)weights.only", r"(?i)weights.only"),
    Induced("file-limit", "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\nimport signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + _TORCH + "torch.save({'w': torch.zeros(1 << 20)}, 'model.pt')", r"(?i)file too large|write|unexpected pos|inline_container|iostream", r"(?i)disk|space|quota|limit|large|write"),
    Induced("own-nan-check", _TORCH + "def check(loss):\n    if torch.isnan(loss): raise ValueError(f'loss is NaN at step {3}')\ncheck(torch.tensor(float('nan')))", r"loss is NaN at step 3", r"(?i)nan|own code"),
    Induced("nan-metrics", "import time\nfor i in range(30):\n    v = 2.0 - i / 50 if i < 10 else float('nan')\n    print({'loss': v, 'grad_norm': v, 'learning_rate': 1e-4, 'epoch': i / 10}, flush=True)", r"(?i)nan", r"(?i)nan|not finite|diverge"),
    Induced("bad-json", "import json\nprint('reading', flush=True)\nfor line in ['{\"a\": 1}', '{\"a\": 1'] :\n    json.loads(line)", r"JSONDecodeError|Expecting", r"(?i)json|line"),
    Induced("bad-utf8", "open('rows.txt', 'wb').write(b'caf\\xe9 rows\\n')\nprint(open('rows.txt', encoding='utf-8').read())", r"UnicodeDecodeError", r"(?i)utf|encod"),
    Induced("no-file", "print('reading', flush=True)\nopen('/data/none/train.jsonl')", r"No such file.*train.jsonl", r"(?i)exist|path|file"),
    Induced("no-cuda", _TORCH + "nn.Linear(4, 4).cuda()", r"(?i)not compiled with CUDA|NVIDIA driver", r"(?i)cuda|cpu"),
    Induced("thread-first", "import threading, queue\nrows = queue.Queue()\ndef read(): rows.put({'input': 1}['text'])\nthreading.Thread(target=read).start()\nrows.get(timeout=1)", r"KeyError.*text", r"(?i)text"),
    Induced("spawned", "import torch, torch.multiprocessing as mp\ndef work(at): raise ValueError(f'shard {at} is empty')\nif __name__ == '__main__':\n    mp.spawn(work, nprocs=2)", r"shard \d is empty", r"(?i)shard|own code|raised"),
    Induced("failing-cleanup", _TORCH + "try:\n    nn.Linear(8, 4)(torch.randn(2, 7))\nfinally:\n    open('/data/none/last.pt', 'wb')", r"mat1 and mat2", r"width|in_features"),
    Induced("empty-data", _TORCH + "torch.utils.data.DataLoader([], shuffle=True)", r"num_samples", r"(?i)empty|no (rows|samples|examples)|0 (rows|samples)|num_samples"),
    Induced("broadcast", _TORCH + "def masked(scores, mask): return scores + mask\nmasked(torch.zeros(2, 4, 16, 16), torch.zeros(2, 1, 1, 15))", r"size of tensor a \(16\)", r"(?i)size|shape|length|mask"),
    Induced("view", _TORCH + "torch.zeros(4, 6).t().view(24)", r"view size is not compatible", r"(?i)contiguous|reshape|view"),
    # --- one process, libraries ---
    Induced("evaluation-strategy", _HF + "TrainingArguments('x', evaluation_strategy='steps')", r"evaluation_strategy", r"eval_strategy|evaluation_strategy", needs="transformers"),
    Induced("no-model", "import os\nos.environ['HF_HUB_OFFLINE'] = '1'\nfrom transformers import AutoConfig\nAutoConfig.from_pretrained('some-user/no-such-model')", r"(?i)some-user/no-such-model|offline|cached", r"(?i)offline|cache|local|connect|path|name", needs="transformers"),
    Induced("positions", _HF + _GPT2 + "ids = torch.ones(1, 40, dtype=torch.long)\nmodel(input_ids=ids, labels=ids)", r"index out of range", r"(?i)position|length|longer|max_length|vocab", needs="transformers"),
    Induced("target-modules", _HF + _GPT2 + "from peft import LoraConfig, get_peft_model\nget_peft_model(model, LoraConfig(target_modules=['q_proj', 'v_proj']))", r"(?i)target modules", r"(?i)target_modules|modules", needs="peft"),
    # --- two ranks on gloo ---
    Induced("rank-raises", _RANKS + "if rank == 1: raise ValueError('shard 1 has no rows')\ndist.all_reduce(t)", r"shard 1 has no rows", r"(?i)shard 1|own code|raised", 2, 1),
    Induced("rank-killed", _RANKS + "if rank == 1: os.kill(os.getpid(), signal.SIGKILL)\ndist.all_reduce(t)", r"(?i)sigkill|signal 9|exitcode.*-9", r"(?i)kill|memory", 2, 1),
    Induced("rank-exits", _RANKS + "if rank == 1: os._exit(3)\ndist.all_reduce(t)", r"(?i)exitcode\W+3|exit(ed)? .*3", r"(?i)exit|ended|status|rank", 2, 1),
    Induced("rank-token", _RANKS + "nn.Embedding(100, 8)(torch.tensor([99 + rank]))\ndist.all_reduce(t)", r"index out of range", r"(?i)vocab|embedding|token", 2, 1),
    Induced("rank-oom", _RANKS + "import resource\nif rank == 1:\n    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)); torch.empty(1 << 36)\ndist.all_reduce(t)", r"(?i)can't allocate memory|not enough memory|alloc", r"(?i)memory", 2, 1),
    Induced("rank-no-file", _RANKS + "if rank == 1: open(f'/data/none/shard-{rank}.bin')\ndist.all_reduce(t)", r"No such file.*shard-1", r"(?i)exist|path|file", 2, 1),
    Induced("ddp-shapes", _RANKS + "nn.parallel.DistributedDataParallel(nn.Linear(4, 4 + rank))", r"(?i)match sizes|verify|shapes? of", r"(?i)differ|match|shape|size|same", 2),
    Induced("ddp-unused", _RANKS + "class Two(nn.Module):\n    def __init__(self): super().__init__(); self.a = nn.Linear(4, 4); self.b = nn.Linear(4, 4)\n    def forward(self, x): return self.a(x)\nmodel = nn.parallel.DistributedDataParallel(Two())\nfor _ in range(2): model(torch.ones(1, 4)).sum().backward()", r"(?i)finished reduction", r"(?i)unused", 2),
    Induced("rank-segfault", _RANKS + "import ctypes\nif rank == 1: ctypes.string_at(0)\ndist.all_reduce(t)", r"(?i)sigsegv|signal 11|exitcode.*-11|segmentation", r"(?i)segmentation|native|sigsegv", 2, 1),
    Induced("first-prepares", _RANKS + "if rank == 0:\n    open('/data/none/cache.arrow')\ndist.barrier()", r"No such file.*cache.arrow", r"(?i)exist|path|file", 2, 0),
    Induced("collective-sizes", _RANKS + "dist.all_reduce(torch.ones(4 + 4 * rank))\ndist.barrier()", r"(?i)preamble|nbytes|Received data size|size", r"(?i)size|shape|differ", 2),
    Induced("too-few-ranks", "import datetime, torch.distributed as dist\ndist.init_process_group('gloo', world_size=3, rank=int(__import__('os').environ['RANK']), timeout=datetime.timedelta(seconds=6))", r"(?i)timed? ?out|2/3 clients", r"(?i)rank|world|join|clients|process", 2),
    Induced("port-in-use", "import os, socket, torch.distributed as dist\nif os.environ['RANK'] == '0':\n    s = socket.socket(); s.bind(('127.0.0.1', 29733)); s.listen()\nif os.environ['RANK'] == '0': dist.TCPStore('127.0.0.1', 29733, 2, True)\nelse:\n    import time; time.sleep(20)", r"(?i)EADDRINUSE|address already in use", r"(?i)port|address", 2, 0),
    Induced("rank-key", _RANKS + "batch = {'input_ids': 1} if rank else {'input_ids': 1, 'labels': 2}\ndef step(batch): return batch['labels']\nstep(batch)\ndist.all_reduce(t)", r"KeyError.*labels", r"(?i)labels", 2, 1),
    Induced("late-at-barrier", _RANKS + "if rank == 1: time.sleep(12)\ndist.monitored_barrier(timeout=datetime.timedelta(seconds=4))", r"(?i)monitored_?barrier|Rank 1 failed|Ranks 1", r"(?i)rank|barrier|timed? ?out", 2),
    Induced("rank-nan", _RANKS + "loss = torch.tensor(float('nan') if rank else 1.0)\nif torch.isnan(loss): raise FloatingPointError('loss is NaN on one rank')\ndist.all_reduce(t)", r"loss is NaN on one rank", r"(?i)nan|own code", 2, 1),
    Induced("rank-worker-killed", _RANKS + "class Rows(torch.utils.data.Dataset):\n    def __len__(self): return 8\n    def __getitem__(self, at):\n        if at == 5 and rank == 1: os.kill(os.getpid(), signal.SIGKILL)\n        return at\nlist(torch.utils.data.DataLoader(Rows(), num_workers=1))\ndist.all_reduce(t)", r"(?i)worker.*(killed|exited)", r"(?i)kill|memory|shm", 2, 1),
    Induced("no-module", "import time, torch.distributed as dist\ndist.init_process_group('gloo')\nimport flash_attn", r"No module named 'flash_attn'", r"(?i)flash|install", 2),
    Induced("rank-asserts", _RANKS + "def pack(rows): assert len(rows) % 4 == 0, f'{len(rows)} rows cannot be packed'\ntry:\n    pack([0] * (8 + rank))\nexcept AssertionError as error:\n    raise RuntimeError('preparing failed') from error\ndist.all_reduce(t)", r"9 rows cannot be packed|preparing failed", r"(?i)packed|preparing|own code|raised", 2, 1),
    Induced("rank-device", "import os, torch, torch.distributed as dist\ndist.init_process_group('gloo')\nx = torch.ones(2, device='cuda:' + os.environ['LOCAL_RANK'])", r"(?i)not compiled with CUDA|NVIDIA driver", r"(?i)cuda|cpu", 2),
)  # fmt: skip

"""40 further scripts that really fail, of other kinds than those of `benchmarks.induced_cases`. Written before any of them was run."""

from __future__ import annotations

from benchmarks.induced_cases import Induced

_T = "import os, torch, torch.nn as nn, torch.nn.functional as F\nprint('step 1 loss 2.31', flush=True)\n"
_RANKS = """
import os, sys, time, signal, datetime, torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=40))
rank, ranks = dist.get_rank(), dist.get_world_size()
t = torch.ones(4)
dist.all_reduce(t)
print('step 1 loss 2.31', flush=True)
"""
_MAIN = "if __name__ == '__main__':\n"
_HF = "import torch\nfrom transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments\n"
_MODEL = "model = GPT2LMHeadModel(GPT2Config(n_embd=16, n_layer=1, n_head=2, vocab_size=64, n_positions=32))\n"

CASES = (
    # --- one process ---
    Induced("conv-channels", _T + "nn.Conv2d(3, 8, 3)(torch.randn(2, 4, 16, 16))", r"expected input.* to have 3 channels", r"(?i)channel|in_channels"),
    Induced("layer-norm-width", _T + "nn.LayerNorm(768)(torch.randn(2, 16, 512))", r"normalized_shape", r"(?i)normalized_shape|width|last dim|hidden"),
    Induced("batch-norm-of-one", _T + "nn.BatchNorm1d(8)(torch.randn(1, 8))", r"Expected more than 1 value per channel", r"(?i)batch|drop_last|one (row|value)|eval"),
    Induced("heads-do-not-divide", _T + "nn.MultiheadAttention(100, 8)", r"embed_dim must be divisible by num_heads", r"(?i)divis|num_heads|own code|embed_dim"),
    Induced("cat-of-widths", _T + "torch.cat([torch.zeros(2, 8), torch.zeros(2, 9)], dim=0)", r"Sizes of tensors must match", r"(?i)size|shape|dim|pad"),
    Induced("stack-of-lengths", _T + "torch.stack([torch.zeros(5), torch.zeros(7)])", r"stack expects each tensor to be equal size", r"(?i)pad|length|size"),
    Induced("reshape-count", _T + "def heads(x): return x.reshape(4, 8, 7, 16)\nheads(torch.zeros(4, 100, 16))", r"shape '\[4, 8, 7, 16\]' is invalid", r"(?i)element|shape|size|divid"),
    Induced("dim-out-of-range", _T + "torch.softmax(torch.zeros(2, 3), dim=3)", r"Dimension out of range", r"(?i)dim"),
    Induced("item-of-many", _T + "loss = F.mse_loss(torch.zeros(4), torch.ones(4), reduction='none')\nprint(loss.item())", r"(?i)cannot be converted to Scalar", r"(?i)element|reduc|scalar|mean|item"),
    Induced("backward-of-many", _T + "(torch.ones(4, requires_grad=True) * 2).backward()", r"grad can be implicitly created only for scalar", r"(?i)scalar|reduc|mean|sum"),
    Induced("float-index", _T + "nn.Embedding(10, 4)(torch.tensor([1.0, 2.0]))", r"(?i)Expected tensor for argument .*indices.*Long", r"(?i)long|int|dtype|index|indices"),
    Induced("one-hot-range", _T + "F.one_hot(torch.tensor([0, 5]), num_classes=3)", r"(?i)Class values must be smaller", r"(?i)class"),
    Induced("bce-range", _T + "F.binary_cross_entropy(torch.tensor([1.7]), torch.tensor([1.0]))", r"(?i)between 0 and 1", r"(?i)sigmoid|between 0 and 1|logits|probab"),
    Induced("batch-sizes-differ", _T + "F.cross_entropy(torch.randn(8, 5), torch.tensor([1, 2, 3]))", r"Expected input batch_size \(8\) to match target batch_size \(3\)", r"(?i)batch|shape|target|reshape|view"),
    Induced("no-parameters", _T + "class Model(nn.Module):\n    def __init__(self):\n        super().__init__(); self.layers = [nn.Linear(4, 4)]\ntorch.optim.SGD(Model().parameters(), lr=0.1)", r"optimizer got an empty parameter list", r"(?i)parameter|ModuleList|freez|frozen"),
    Induced("before-super", _T + "class Model(nn.Module):\n    def __init__(self): self.layer = nn.Linear(4, 4)\nModel()", r"cannot assign module before Module.__init__", r"(?i)super|__init__"),
    Induced("attribute-of-none", _T + "def loss_of(output): return output.loss.item()\nclass Output: loss = None\nloss_of(Output())", r"'NoneType' object has no attribute 'item'", r"(?i)none|labels|loss"),
    Induced("cut-checkpoint", _T + "torch.save({'w': torch.zeros(10000)}, 'model.pt')\ndata = open('model.pt', 'rb').read(); open('model.pt', 'wb').write(data[:9000])\ntorch.load('model.pt')", r"(?i)failed finding central directory|PytorchStreamReader|central directory", r"(?i)cut|truncat|incomplete|damaged|corrupt|whole"),
    Induced("cut-safetensors", "from safetensors.torch import save_file, load_file\nimport torch\nsave_file({'w': torch.zeros(1000)}, 'm.safetensors')\ndata = open('m.safetensors', 'rb').read(); open('m.safetensors', 'wb').write(data[:500])\nprint('loading', flush=True)\nload_file('m.safetensors')", r"(?i)SafetensorError|incomplete", r"(?i)cut|truncat|incomplete|damaged|corrupt|download", needs="safetensors"),
    Induced("pickle-lambda", "import torch\nfrom torch.utils.data import DataLoader\n" + _MAIN + "    print('step 1 loss 2.31', flush=True)\n    list(DataLoader(list(range(4)), num_workers=1, multiprocessing_context='spawn', collate_fn=lambda rows: rows))", r"(?i)can't pickle|cannot pickle|can't get local|pickle", r"(?i)pickl|lambda|spawn"),
    Induced("too-many-files", "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\nprint('opening shards', flush=True)\nfiles = [open(f'shard-{at}', 'w') for at in range(100)]", r"Too many open files", r"(?i)open files|ulimit|file descriptor|descriptors"),
    Induced("read-only-folder", "import os\nprint('saving', flush=True)\nos.makedirs('/proc/checkpoints/step-10')", r"(?i)No such file or directory.*/proc/checkpoints|FileNotFoundError|Permission", r"(?i)folder|director|path|exist|write"),
    Induced("recursion", "def depth(tree): return 1 + depth(tree[0])\ntree = []; tree.append(tree)\nprint('packing', flush=True)\ndepth(tree)", r"RecursionError|maximum recursion", r"(?i)recurs"),
    Induced("abort", "import os\nprint('step 1 loss 2.31', flush=True)\nos.abort()", r"(?i)abort", r"(?i)abort|native|SIGABRT"),
    Induced("both-limits", _HF + "TrainingArguments('out', load_best_model_at_end=True, eval_strategy='steps', save_strategy='epoch', eval_steps=10)", r"load_best_model_at_end", r"(?i)strateg|save|eval", needs="transformers"),
    Induced("no-padding-token", "from tokenizers import Tokenizer, models\nfrom transformers import PreTrainedTokenizerFast\ntokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({'a': 0, '?': 1}, unk_token='?')))\nprint('tokenizing', flush=True)\ntokenizer(['a', 'a a'], padding=True)", r"(?i)padding token", r"(?i)pad", needs="transformers"),
    # --- two to four ranks on gloo ---
    Induced("two-of-four-raise", _RANKS + "if rank in (1, 3): raise ValueError(f'shard {rank} is empty')\ndist.all_reduce(t)", r"shard [13] is empty", r"(?i)shard|own code|raised", 4),
    Induced("third-is-late", _RANKS + "if rank == 2: time.sleep(3); raise KeyError('attention_mask')\ndist.barrier()", r"KeyError.*attention_mask", r"(?i)attention_mask", 3, 2),
    Induced("rank-aborts", _RANKS + "if rank == 2: os.abort()\ndist.all_reduce(t)", r"(?i)sigabrt|signal 6|exitcode.*-6|abort", r"(?i)abort|sigabrt|native", 3, 2),
    Induced("rank-terminated", _RANKS + "if rank == 0: os.kill(os.getpid(), signal.SIGTERM)\ndist.all_reduce(t)", r"(?i)sigterm|signal 15|exitcode.*-15|terminated", r"(?i)sigterm|terminat|stopped|signal", 2, 0),
    Induced("rank-divides", _RANKS + "counts = [4, 4, 4, 0]\ndef mean(total, rank): return total / counts[rank]\nmean(10, rank)\ndist.all_reduce(t)", r"ZeroDivisionError|division by zero", r"(?i)zero|0", 4, 3),
    Induced("rank-dtype", _RANKS + "w = torch.ones(4, 4)\nx = torch.ones(4, 4, dtype=torch.bfloat16 if rank == 1 else torch.float32)\ny = x @ w\ndist.all_reduce(y)", r"same dtype", r"(?i)dtype|precision|bfloat16", 2, 1),
    Induced("rank-json", _RANKS + "import json\nrows = ['{\"text\": 1}', '{\"text\": ']\njson.loads(rows[1 if rank == 2 else 0])\ndist.all_reduce(t)", r"JSONDecodeError|Expecting value", r"(?i)json|line", 3, 2),
    Induced("rank-thread-pool", _RANKS + "from concurrent.futures import ThreadPoolExecutor\ndef read(at):\n    if rank == 1 and at == 3: raise OSError(5, 'Input/output error', '/data/shard-3.bin')\n    return at\nwith ThreadPoolExecutor(2) as pool: rows = list(pool.map(read, range(5)))\ndist.all_reduce(t)", r"Input/output error", r"(?i)disk|input/output|file system|storage|i/o", 2, 1),
    Induced("rank-loader", _RANKS + "class Rows(torch.utils.data.Dataset):\n    def __len__(self): return 4\n    def __getitem__(self, at): return {'ids': [1] * at}['labels' if rank else 'ids']\nlist(torch.utils.data.DataLoader(Rows(), batch_size=1, num_workers=1))\ndist.all_reduce(t)", r"KeyError.*labels", r"(?i)labels", 2, 1),
    Induced("object-without-pickle", _RANKS + "found = [None] * ranks\ndist.all_gather_object(found, open('/dev/null') if rank == 1 else 1)", r"(?i)cannot pickle", r"(?i)pickl", 2, 1),
    Induced("rank-checkpoint-missing", _RANKS + "if rank == 0: time.sleep(1)\nstate = torch.load(f'/data/none/rank-{rank}.pt') if rank == 3 else {}\ndist.barrier()", r"No such file.*rank-3.pt", r"(?i)exist|path|file", 4, 3),
    Induced("scatter-list", _RANKS + "parts = [torch.ones(4)] * (ranks - 1) if rank == 0 else None\ndist.scatter(t, parts, src=0)", r"(?i)scatter|input list|number of|size of", r"(?i)list|size|length|ranks|number", 3, 0),
    Induced("bad-rank", _RANKS + "dist.broadcast(t, src=5)", r"(?i)rank 5|root|group rank|src|not part of group", r"(?i)rank|world|size|group", 2),
    Induced("group-not-formed", "import os, torch, torch.distributed as dist\nprint('step 1 loss 2.31', flush=True)\ndist.all_reduce(torch.ones(4))", r"(?i)process group has not been initialized", r"(?i)init_process_group|process group", 2),
)  # fmt: skip

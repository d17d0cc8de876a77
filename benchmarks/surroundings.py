"""Measure whether a failure is still named in other surroundings: ``python -m benchmarks.surroundings [--texts 400] [--seed 1] [--write]``.

People paste a failure with other things around it, and their terminals, trackers and chat programs change how it is laid
out. Texts drawn from the entries' own samples (those that are answered unchanged) are asked again in each of
these ways, and so are the healthy logs of `tests/healthy`, of which none may get an answer that it did not have. What is
counted is the first answer: the same, another one, or none. ``--write`` keeps the table in `benchmarks/SURROUNDINGS.md`.
"""

from __future__ import annotations

import argparse
import html
import random
import textwrap
from collections.abc import Callable
from datetime import date
from pathlib import Path

from benchmarks.commit import measured_commit
from kb.cache import CHECKOUT
from kb.samples import below
from troubleshooter import __version__
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

TARGET = Path(__file__).with_name("SURROUNDINGS.md")
HEALTHY = CHECKOUT.parent / "tests" / "healthy"
LONGEST = 64 * 1024
"""Longer texts are left out, because people do not paste them."""

CONFIG = """\
base_model: NousResearch/Llama-2-7b-hf
adapter: lora
lora_r: 16
learning_rate: 0.0002
gradient_accumulation_steps: 4
max_grad_norm: 1.0
bf16: auto
warmup_steps: 10
"""
DEEPSPEED = """\
{
  "zero_optimization": {"stage": 2, "overlap_comm": true, "reduce_bucket_size": "auto"},
  "gradient_clipping": 1.0,
  "train_micro_batch_size_per_gpu": "auto",
  "optimizer": {"type": "AdamW", "params": {"lr": "auto"}}
}
"""
CODE = """\
```python
args = TrainingArguments(output_dir="out", learning_rate=2e-5, num_train_epochs=3, logging_steps=10)
trainer = Trainer(model=model, args=args, train_dataset=data["train"])
total_loss = 0
trainer.train()
```
"""
NVIDIA = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05   CUDA Version: 12.2     |
|   0  NVIDIA A100-SXM4-80GB  On   | 00000000:07:00.0 Off |                  0 |
| N/A   34C    P0    62W / 400W |      4MiB / 81920MiB |      0%      Default |
+-----------------------------------------------------------------------------+
"""
WANDB = """\
wandb: Run history:
wandb: train/epoch ▁▂▃▅▆█
wandb: Run summary:
wandb: train/global_step 40
wandb: train/learning_rate 0.0002
wandb: You can sync this run to the cloud by running:
wandb: wandb sync /home/user/project/wandb/offline-run-20250102_101112-abc123
"""
PIP = """\
$ pip install -U tqdm
Collecting tqdm
  Downloading tqdm-4.67.1-py3-none-any.whl (78 kB)
Installing collected packages: tqdm
Successfully installed tqdm-4.67.1
"""
PROSE = """\
Hi all, I am new to this and followed the tutorial step by step. It worked last week on another machine.
Any help is appreciated, I have been stuck for two days!
"""
CHINESE = "大家好，我按照教程一步一步来的，上周在另一台机器上还是正常的。\n请问这个问题怎么解决？已经卡了两天了，谢谢！\n"
COMMAND = "$ accelerate launch --num_processes 1 train.py --learning_rate 2e-5 --per_device_train_batch_size 4\n"

FORM_ABOVE = """\
### Reminder

- [x] I have read the README and searched the existing issues.

### System Info

- Platform: Linux-5.15.0-105-generic-x86_64-with-glibc2.35
- Python version: 3.11.7
- Huggingface_hub version: 0.30.2
- Safetensors version: 0.5.3
- PyTorch version (GPU?): 2.6.0+cu124 (True)
- Tensorflow version (GPU?): not installed (NA)
- Using distributed or parallel set-up in script?: <fill in>
- Using GPU in script?: yes
- GPU type: NVIDIA A100-SXM4-80GB

### Reproduction

```
"""
FORM_BELOW = """\
```

### Expected behavior

The training should run without errors.

### Others

_No response_
"""
ARGUMENTS = """\
TrainingArguments(
_n_gpu=1,
adam_beta1=0.9,
adam_epsilon=1e-08,
auto_find_batch_size=False,
bf16=True,
dataloader_drop_last=False,
ddp_timeout=1800,
deepspeed=None,
eval_strategy=IntervalStrategy.NO,
fp16=False,
gradient_checkpointing=True,
hub_token=<HUB_TOKEN>,
ignore_data_skip=False,
learning_rate=0.0002,
load_best_model_at_end=False,
log_on_each_node=True,
max_grad_norm=1.0,
no_cuda=False,
optim=OptimizerNames.ADAMW_TORCH,
past_index=-1,
resume_from_checkpoint=None,
save_on_each_node=False,
skip_memory_metrics=True,
tf32=None,
torch_compile=False,
warmup_steps=0,
weight_decay=0.0,
)
"""
MODEL = """\
PeftModelForCausalLM(
  (base_model): LoraModel(
    (model): LlamaForCausalLM(
      (model): LlamaModel(
        (embed_tokens): Embedding(32000, 4096, padding_idx=0)
        (layers): ModuleList(
          (0-31): 32 x LlamaDecoderLayer(
            (self_attn): LlamaAttention(
              (q_proj): lora.Linear(
                (base_layer): Linear(in_features=4096, out_features=4096, bias=False)
                (lora_dropout): ModuleDict((default): Dropout(p=0.05, inplace=False))
      (lm_head): Linear(in_features=4096, out_features=32000, bias=False)
)
trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.0622
"""
LOOP = """\
def train(model, loader, optimizer, scaler):
    model.train()
    running_loss, correct = 0.0, 0
    for step, batch in enumerate(loader):
        optimizer.zero_grad()
        try:
            loss = model(**batch).loss
        except RuntimeError as error:
            if "out of memory" in str(error):
                torch.cuda.empty_cache()
                continue
            raise
        if torch.isnan(loss):
            raise ValueError("loss is nan")
        scaler.scale(loss).backward()
        running_loss += loss.item()
    return running_loss / len(loader)
"""
SLURM = """\
#!/bin/bash
#SBATCH --job-name=llama-sft
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:8
#SBATCH --time=48:00:00
export NCCL_DEBUG=WARN
export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun torchrun --nnodes 2 --nproc_per_node 8 --rdzv_backend c10d train.py --bf16 --gradient_checkpointing
"""
PACKAGES = """\
$ pip list
Package                  Version
------------------------ ------------
accelerate               1.6.0
bitsandbytes             0.45.5
datasets                 3.5.0
numpy                    1.26.4
peft                     0.15.2
torch                    2.6.0
transformers             4.51.3
triton                   3.2.0
trl                      0.16.1
"""
MEMORY = """\
|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 0                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 0            |        cudaMalloc retries: 0         |
|===========================================================================|
"""
RECORDS = """\
{'loss': 1.9231, 'grad_norm': 1.2043, 'learning_rate': 0.0002, 'epoch': 0.01}
{'loss': 1.8712, 'grad_norm': 1.0312, 'learning_rate': 0.000198, 'epoch': 0.02}
{'loss': 1.8044, 'grad_norm': 0.9921, 'learning_rate': 0.000196, 'epoch': 0.03}
"""
ENDED = """\
E0102 10:11:12.123456 140 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 0 (pid: 4711) of binary: /opt/env/bin/python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2025-01-02_10:11:12
  host      : node-1
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 4711)
  error_file: <N/A>
============================================================
"""

Way = Callable[[str], str]


def _lines(change: Callable[[str], str]) -> Way:
    return lambda text: "".join(change(line) + "\n" for line in text.splitlines())


def _broken(width: int) -> Way:
    def change(text: str) -> str:
        return "".join(line[i : i + width] + "\n" for line in text.splitlines() for i in range(0, max(1, len(line)), width))

    return change


WAYS: dict[str, Way] = {
    "as it stands": lambda text: text,
    "a configuration below": lambda text: f"{text}\n{CONFIG}",
    "a DeepSpeed configuration below": lambda text: f"{text}\n{DEEPSPEED}",
    "code below": lambda text: f"{text}\n{CODE}",
    "a training loop's code below": lambda text: f"{text}\n{LOOP}",
    "a training loop's code above": lambda text: f"{LOOP}\n{text}",
    "an issue's form around": lambda text: FORM_ABOVE + text + FORM_BELOW,
    "the arguments above": lambda text: ARGUMENTS + text,
    "the model above": lambda text: MODEL + text,
    "a Slurm script above": lambda text: f"{SLURM}\n{text}",
    "pip list below": lambda text: f"{text}\n{PACKAGES}",
    "a memory summary below": lambda text: f"{text}\n{MEMORY}",
    "records of metrics above": lambda text: RECORDS + text,
    "torchrun's end below": lambda text: f"{text}\n{ENDED}",
    "a launch command above": lambda text: COMMAND + text,
    "nvidia-smi below": lambda text: f"{text}\n{NVIDIA}",
    "wandb's summary below": lambda text: f"{text}\n{WANDB}",
    "pip below, which ended well": lambda text: f"{text}\n{PIP}",
    "prose around": lambda text: f"{PROSE}\n{text}\n{PROSE}",
    "Chinese prose around": lambda text: f"{CHINESE}\n{text}\n{CHINESE}",
    "in a fence": lambda text: f"```\n{text}\n```\n",
    "quoted (>)": _lines(lambda line: f"> {line}"),
    "indented": lambda text: textwrap.indent(text, "    "),
    "[rank3]: before each line": _lines(lambda line: f"[rank3]: {line}"),
    "a time before each line": _lines(lambda line: f"2025-01-02T10:11:12.123456Z {line}"),
    "a Slurm task before each line": _lines(lambda line: f"0: {line}"),
    "Windows line ends": lambda text: text.replace("\n", "\r\n"),
    "HTML entities": lambda text: html.escape(text),
    "colours lost their escape": _lines(lambda line: f"[31m{line}[0m"),
    "no blank lines, blanks at the ends": lambda text: "".join(f"{line}   \n" for line in text.splitlines() if line.strip()),
    "broken at 120 columns": _broken(120),
    "broken at 80 columns": _broken(80),
}


def first(tool: Diagnoser, text: str) -> str | None:
    """The first answer's entry."""
    found = tool.report([from_text(text)], top=1).diagnoses
    return found[0].id if found else None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"keep the table in {TARGET.name}")
    given = parser.parse_args()
    tool = Diagnoser.load()
    samples = [sample.text for _, sample in below(CHECKOUT, "match") if len(sample.text) < LONGEST]
    random.Random(given.seed).shuffle(samples)
    texts: list[tuple[str, str]] = []
    for text in samples:
        if (answer := first(tool, text)) is not None:
            texts.append((text, answer))
        if len(texts) == given.texts:
            break
    healthy = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(HEALTHY.rglob("*.log"))]
    calm = [text for text in healthy if len(text) < LONGEST and first(tool, text) is None]
    rows = ["| in which way | same answer | another | none | alarms on healthy logs |", "| --- | --- | --- | --- | --- |"]
    for name, way in WAYS.items():
        answers = [(first(tool, way(text)), answer) for text, answer in texts]
        same, none = sum(a == b for a, b in answers), sum(a is None for a, _ in answers)
        alarms = sum(first(tool, way(text)) is not None for text in calm)
        count = len(texts)
        rows.append(f"| {name} | {same / count:.1%} | {(count - same - none) / count:.1%} | {none / count:.1%} | {alarms} of {len(calm)} |")
        print(rows[-1], flush=True)
    if given.write:
        head = (
            "# In other surroundings\n\n"
            f"Made {date.today()} by `python -m benchmarks.surroundings --texts {given.texts} --seed {given.seed}` with Troubleshoot "
            f"{__version__} ({measured_commit()}, {len(tool.knowledge.ids())} entries): first answers to {len(texts)} of the entries' own logs, which are samples that "
            "the entries were written with, so what counts is what a way takes away. (torchrun's end says itself that a run failed; "
            "records above a healthy log of another run do look like a loss that explodes.)\n\n"
        )
        TARGET.write_text(head + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

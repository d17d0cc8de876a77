"""The layouts in which programs print metrics: the patterns, and for each layout examples with what is read from them.

To add a layout of one line, add an item to `LAYOUTS` with its pattern and its example; ``tests/observe/test_metrics.py`` reads
the examples, and ``docs/metric-layouts.md`` is made from them (``python -m docs.make``).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kb import lazy

NUMBER = r"[-+]?(?:\d{1,20}(?:\.\d{0,25})?|\.\d{1,25})(?:[eE][-+]?\d{1,4})?|[-+]?(?:nan|NaN|NAN|inf|Inf|INF|Infinity|infinity)(?:\.0)?"
# ".0": Lightning's bar writes every number without a point so, and NaN has none.
_QUOTE = "['\"`]"
_QUOTED = lazy.compile(
    rf"{_QUOTE}(?P<name>[\w/.@()\- %]{{1,80}}){_QUOTE}\s*:\s*{_QUOTE}?(?P<value>{NUMBER}){_QUOTE}?(?=\s*(?:[,}}\])]|$))"
)
# It begins at the first letter of a word, and words have an end: a picture in base64 may stand beside the reward.
_PLAIN = lazy.compile(
    rf"(?<![\w/.@])(?:[^\WA-Za-z]|[/.@])*(?P<name>[A-Za-z][\w/.@]{{0,80}}(?:[ -][a-z][\w/]{{0,80}}){{0,2}})\s?[:=]\s?(?:(?<=lr=)\[)?(?P<value>{NUMBER})(?=[\s,;|}}\]):]|$)"
)
_SPACED = lazy.compile(
    rf"\b(?P<name>(?:train_|eval_|val_)?loss|grad_?norm|gnorm|lr|ppl|reward)\s+(?P<value>{NUMBER})(?=[\s,;|]|$)",
    re.IGNORECASE,
)
_TENSOR = lazy.compile(rf"(?P<name>[A-Za-z][\w ]{{1,30}}?)[:=]?\s+tensor\(\[?(?P<value>{NUMBER})")
OBJECT_MEMBER = lazy.compile(
    rf"\s*(?P<mark>['\"])(?P<name>[\w/.@\- ]{{1,80}})(?P=mark):\s*['\"]?(?P<value>{NUMBER})['\"]?[,}}]?\s*$"
)
# The last values of a run, one a line:   wandb:   train/grad_norm nan
RUN_SUMMARY = lazy.compile(rf"wandb:\s+(?P<name>[\w/.@-]{{1,80}})\s+'?(?P<value>{NUMBER})'?$")
# The numbers at the end of a stage, one a line and padded (`Trainer.log_metrics`):   train_loss               =        0.0
STAGE_SUMMARY = lazy.compile(rf"\s*(?P<name>\w{{1,80}})\s{{1,80}}=\s{{1,80}}(?P<value>{NUMBER})$")
TABLE_HEADER = lazy.compile(r"\|?\s*(?:Step|Epoch)(?=\s{2}|\s*[\t|])(?P<columns>.*(?:[Ll]oss|[Rr]eward))")


class MetricExample(NamedTuple):
    """Lines of a log, the program that prints such lines, and the metrics that are read: ``name=value[,value…]``,
    separated by blanks."""

    program: str
    text: str
    read: str


class MetricLayout(NamedTuple):
    """A layout in which programs print metrics.

    ``patterns`` find the pairs on a line; each has two groups, ``name`` and ``value``. A layout of several lines has
    none: `metrics.MetricReader` has a method for it. ``needs``: the patterns are tried only on lines that contain this
    text.
    """

    name: str
    examples: tuple[MetricExample, ...]
    patterns: tuple[re.Pattern[str], ...] = ()
    needs: str = ""


LAYOUTS = (
    MetricLayout(
        "quoted names",
        (
            MetricExample(
                "Transformers Trainer",
                "{'loss': 1.2345, 'grad_norm': 0.61, 'learning_rate': 2e-05, 'epoch': 0.1}",
                "loss=1.2345 grad_norm=0.61 learning_rate=2e-05 epoch=0.1",
            ),
            MetricExample(
                "Transformers Trainer from 5.0 on",
                "{'loss': '1.234', 'grad_norm': '0.61', 'learning_rate': '2e-05', 'epoch': '0.1'}",
                "loss=1.234 grad_norm=0.61 learning_rate=2e-05 epoch=0.1",
            ),
            MetricExample(
                "JSON lines", '{"step": 10, "train/loss": 0.52, "lr": 1e-4}', "step=10 loss=0.52 learning_rate=0.0001"
            ),
            MetricExample(
                "a dict of NumPy and PyTorch numbers",
                "{'loss': np.float64(0.5), 'grad_norm': tensor(nan, device='cuda:0'), 'epoch': 0.1}",
                "loss=0.5 grad_norm=nan epoch=0.1",
            ),
        ),
        (_QUOTED,),
    ),
    MetricLayout(
        "tensors",
        (MetricExample("a loop that prints a tensor", "val loss: tensor([1.5, 2.5])", "eval_loss=1.5"),),
        (_TENSOR,),
        needs="tensor(",
    ),
    MetricLayout(
        "names and values",
        (
            MetricExample(
                "Megatron-LM",
                " iteration       10/    1000 | consumed samples:           80 | learning rate: 1.000E-05 | lm loss: 2.31E+00 | grad norm: 1.2 |",
                "learning_rate=1e-05 loss=2.31 grad_norm=1.2",
            ),
            MetricExample(
                "DeepSpeed",
                "[Rank 0] step=10, skipped=3, lr=[1e-05, 1e-05], mom=[[0.9, 0.95]]",
                "step=10 skipped=3 learning_rate=1e-05",
            ),
            MetricExample(
                "Lightning's bar",
                "Epoch 0:  10%|█         | 10/100 [00:01<00:09, 10.00it/s, v_num=0, train_loss=2.310]",
                "v_num=0 train_loss=2.31",
            ),
            MetricExample(
                "verl",
                "step:1 - actor/pg_loss:0.1 - actor/grad_norm:0.5 - critic/rewards/mean:0.25",
                "step=1 actor/pg_loss=0.1 grad_norm=0.5 critic/rewards/mean=0.25",
            ),
            MetricExample("torchtune", "Step 1 | loss:1.25 lr:2e-05", "loss=1.25 learning_rate=2e-05"),
            MetricExample(
                "torchtune's bar", "1|10|Loss: 1.25: 100%|██████████| 10/10 [00:05<00:00,  2.00it/s]", "loss=1.25"
            ),
            MetricExample(
                "fairseq", "| epoch 001 | loss 2.31 | ppl 4.96 | gnorm 1.2", "loss=2.31 ppl=4.96 grad_norm=1.2"
            ),
            MetricExample("nanoGPT", "iter 10: loss 2.3100, time 12.00ms, mfu 3.10%", "loss=2.31"),
            MetricExample("a Chinese program", "\u6b65\u9aa4 10\uff0closs\uff1a0.5", "loss=0.5"),
        ),
        (_PLAIN, _SPACED),
    ),
    MetricLayout(
        "an object over several lines",
        (
            MetricExample(
                "pprint",
                "{'eval_loss': nan,\n 'eval_runtime': 3.2,\n 'epoch': 1.0}",
                "eval_loss=nan eval_runtime=3.2 epoch=1",
            ),
            MetricExample("trainer_state.json", '{\n  "loss": 1.5,\n  "step": 10\n},', "loss=1.5 step=10"),
        ),
    ),
    MetricLayout(
        "a table",
        (
            MetricExample(
                "a notebook",
                "Step\tTraining Loss\tValidation Loss\n10\t0.500000\tNo log\n20\t0.400000\t0.450000",
                "loss=0.5,0.4 eval_loss=0.45",
            ),
            MetricExample("a table in Markdown", "| Step | Training Loss |\n| 10 | 0.5 |", "loss=0.5"),
        ),
    ),
    MetricLayout(
        "the summary of a run",
        (MetricExample("W&B", "wandb:   train/grad_norm nan\nwandb:        train/loss 0.5", "grad_norm=nan loss=0.5"),),
    ),
    MetricLayout(
        "the summary of a stage",
        (
            MetricExample(
                "Transformers",
                "***** train metrics *****\n  train_loss               =     0.4321",
                "train_loss=0.4321",
            ),
        ),
    ),
)
"""All layouts. A line is read in the first layout whose patterns find a pair on it."""

"""Text below a failure: a run that went on, or something that the writer quotes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

BARE = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
UNCAUGHT = (
    "Traceback (most recent call last):\n"
    '  File "/home/u/train.py", line 58, in <module>\n    main()\n'
    '  File "/opt/conda/lib/python3.11/site-packages/accelerate/utils/operations.py", line 778, in _convert_to_fp32\n'
    "    return tensor.float()\n" + BARE
)
CAUGHT = UNCAUGHT.replace("in <module>", "in evaluate_safely")
RECORD = "{'loss': 1.2, 'grad_norm': 0.9, 'learning_rate': 0.0001, 'epoch': 0.5}\n"
WARNING = "[WARNING]  async_io requires the dev libaio .so object and headers but these were not found.\n"

CONFIG = """
### Config
base_model: tiny/llama
sequence_len: 4096
learning_rate: 2.0e-4
lr: 1e-4
max_grad_norm: 1.0
router_aux_loss_coef: 0.001
"""
DEEPSPEED = """
{
    "fp16": {
        "enabled": "auto",
        "loss_scale": 0,
        "loss_scale_window": 1000
    },
    "optimizer": {
        "type": "AdamW",
        "params": {
            "lr": 2e-5,
            "weight_decay": 0.0
        }
    },
    "gradient_clipping": 1.0
}
"""
CODE = """
args = TrainingArguments(
    output_dir="out",
    learning_rate=2e-5,
    max_grad_norm=0.3,
)
total_loss = 0.0
running_loss = 0
reward = 0
for batch in loader:
    loss = model(**batch).loss
    total_loss += loss.item()
"""
LAUNCH = """
accelerate launch train.py \\
    --learning_rate 2e-5 --lr_scheduler_type cosine \\
    --max_grad_norm=1.0 \\
    --learning_rate=2e-5
"""
WANDB = """
wandb: Run history:
wandb:   train/epoch ▁▅█
wandb:    train/loss █▅▁
wandb:
wandb: Run summary:
wandb:         train/epoch 0.12
wandb:   train/global_step 120
wandb:     train/grad_norm 0.8123
wandb: train/learning_rate 0.0002
wandb:          train/loss 1.2345
wandb:
wandb: Synced 5 W&B file(s), 0 media file(s), 2 artifact file(s) and 0 other file(s)
"""
PIP = """
!pip install -U transformers
Installing collected packages: transformers
Successfully installed transformers-4.51.3
"""


@pytest.fixture
def first(tool: Diagnoser) -> Callable[[str], str]:
    """The first answer's id, or what became of the exception."""

    def ask(text: str) -> str:
        report = tool.report([from_text(text)], whole=False)
        return report.diagnoses[0].id if report.diagnoses else report.failures[0].role if report.failures else "silent"

    return ask


@pytest.mark.parametrize("below", [CONFIG, DEEPSPEED, CODE, LAUNCH, WANDB, PIP], ids=["config", "ds", "code", "launch", "wandb", "pip"])
@pytest.mark.parametrize("failure", [BARE, CAUGHT, UNCAUGHT], ids=["bare", "caught", "uncaught"])
def test_settings_code_installs_and_a_trackers_summary_below_a_failure_do_not_say_that_the_run_went_on(
    first: Callable[[str], str], failure: str, below: str
) -> None:
    assert first(failure + below) == "cache-object-float"
    assert first(below + "\n" + failure) == "cache-object-float"


@pytest.mark.parametrize(("failure", "records"), [(BARE, 2), (CAUGHT, 2), (UNCAUGHT, 10)])
def test_so_many_records_say_that_it_did(first: Callable[[str], str], failure: str, records: int) -> None:
    lines = [RECORD.replace("1.2", f"1.{90 - n}") for n in range(records)]
    assert first(failure + "".join(lines[1:])) == "cache-object-float"
    assert first(failure + "".join(lines)) == "handled"
    assert first(failure + "{'train_runtime': 12.3, 'train_loss': 1.1, 'epoch': 1.0}\n") == "handled"


@pytest.mark.parametrize(
    "record",
    [
        "step 20 loss: 1.85", "iteration 2/500 | lm loss: 1.066211E+01 | loss scale: 1.0 | grad norm: 0.512",
        "Epoch 0:   2%|▏         | 20/1000 [00:10<08:10,  2.00it/s, v_num=0, train_loss_step=1.20]",
        "step:1 - actor/pg_loss:0.012 - actor/grad_norm:0.41", "train_inner | epoch 001 | loss=7.5 | ppl=181.0",
        "INFO step=20 reward=0.5 kl=0.01",
    ],
)  # fmt: skip
def test_records_of_any_trainer_count(first: Callable[[str], str], record: str) -> None:
    assert first(BARE + f"{record}\n" * 2) == "handled"


def test_one_record_says_that_a_warning_was_one(tool: Diagnoser) -> None:
    assert tool.report([from_text(WARNING + RECORD)], whole=False).diagnoses[0].kind == "harmless"


def test_a_traceback_without_its_last_line_is_not_answered_as_harmless(tool: Diagnoser) -> None:
    notice = (
        "You're using a LlamaTokenizerFast tokenizer. Please note that with a fast tokenizer, using the `__call__` method is faster than "
        "using a method to encode the text followed by a call to the `pad` method to get a padded encoding.\n"
    )
    cut = 'Traceback (most recent call last):\n  File "main.py", line 3, in <module>\n    trainer.train()\n  File "trainer.py", li\n'
    assert tool.report([from_text(notice)]).diagnoses[0].kind == "harmless"
    assert not tool.report([from_text(notice + cut)]).diagnoses


def test_a_thread_that_failed_is_explained_before_its_run_goes_on(first: Callable[[str], str]) -> None:
    text = (
        "Exception in thread Thread-auto_conversion:\nTraceback (most recent call last):\n"
        '  File "/usr/lib/python3.10/threading.py", line 953, in run\n    self._target(*self._args, **self._kwargs)\n'
        "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed'))\n"
    )
    assert first(text) == first(text + RECORD) == "safetensors-conversion-thread"


@pytest.mark.parametrize("said", ["**{}**", "`{}`", "**KeyError**: 'layers.11'", "**KeyError:** 'layers.11'", "`KeyError`: 'layers.11'"])
@pytest.mark.parametrize("prefix", ["", "[rank0]: "])
def test_marks_that_a_writer_set_around_the_exception_are_taken_off(tool: Diagnoser, said: str, prefix: str) -> None:
    lines = [*UNCAUGHT.splitlines()[:-1], said.format("KeyError: 'layers.11'")]
    (failure,) = tool.observe([from_text("".join(f"{prefix}{line}\n" for line in lines))]).failures
    assert (failure.exception, failure.message, len(failure.frames)) == ("KeyError", "'layers.11'", 2)


def test_words_in_marks_are_no_exception(tool: Diagnoser) -> None:
    text = "`ValueError` is raised when the rows differ\n**Note**: one\n***** Running training *****\n" + "more\n" * 5
    assert not tool.observe([from_text(text)]).failures


@pytest.mark.parametrize(
    ("line", "silenced"),
    [
        ("ERROR: Could not find a version that satisfies the requirement torch==1.8.0 (from versions: 2.1.0, 2.2.0)", True),
        ("ERROR 01-02 10:11:12 [core.py:390] RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", False),
    ],
)
def test_an_installation_that_ended_well_is_about_the_installer(tool: Diagnoser, line: str, silenced: bool) -> None:
    assert tool.report([from_text(f"{line}\n")]).diagnoses
    after = tool.report([from_text(f"{line}\nSuccessfully installed tqdm-4.67.1\n")]).diagnoses
    assert bool(after) != silenced

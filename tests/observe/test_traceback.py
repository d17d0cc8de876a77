"""Tracebacks in the layouts that people paste, with the confusing lines kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from troubleshooter.observe.model import Failure
from troubleshooter.observe.tracebacks.parser import parse
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.read.split import split_line


def read(text: str) -> list[Failure]:
    by_stream: dict[str, list] = {}
    for number, raw in enumerate(text.encode().split(b"\n"), 1):
        for line in split_line(raw, number):
            by_stream.setdefault(line.stream, []).append(line)
    return [failure for stream in by_stream.values() for failure in parse(stream)]


PLAIN = """\
Traceback (most recent call last):
  File "/home/user/train.py", line 12, in main
    trainer.train()
    ~~~~~~~~~~~~~^^
  File "/opt/venv/lib/python3.13/site-packages/transformers/trainer.py", line 2245, in train
    return inner_training_loop(
ValueError: Attempting to unscale FP16 gradients.
"""


def test_plain() -> None:
    (failure,) = read(PLAIN)
    assert failure.exception == "ValueError"
    assert failure.message == "Attempting to unscale FP16 gradients."
    assert [f.line for f in failure.frames] == [12, 2245]
    assert failure.line.number == 7
    assert not failure.cut


def test_the_last_line_of_a_paste_may_stand_as_deep_as_its_frames() -> None:
    lines = PLAIN.splitlines()[4:]
    (failure,) = read("\n".join([*lines[:-1], "  " + lines[-1]]))
    assert (failure.exception, failure.message) == ("ValueError", "Attempting to unscale FP16 gradients.")
    assert [f.function for f in failure.frames] == ["train"]


def test_a_launcher_that_says_which_shard_failed_did_not_go_on(tool: Diagnoser) -> None:
    said = "RuntimeError: weight model.embed.weight does not exist\n"
    for line, role in (
        ("2023-08-25T10:58:25.627712Z ERROR launcher: Shard 0 failed to start", "initiating"),
        ("2023-08-25T10:58:25.627712Z INFO tests: 12 passed, 0 failed", "handled"),
    ):
        (failure,) = tool.observe([from_text(said + line + "\n")]).failures
        assert failure.role == role, line


def test_chained_keeps_both_and_links_them() -> None:
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError: \'qwen3\'\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "b.py", line 2, in h\n    f()\nValueError: does not recognize this\n'
    )
    first, second = read(text)
    assert (first.exception, second.exception) == ("KeyError", "ValueError")
    assert second.cause is first


def test_exception_group() -> None:
    text = """\
  + Exception Group Traceback (most recent call last):
  |   File "g.py", line 5, in <module>
  |     raise ExceptionGroup("several", errors)
  | ExceptionGroup: several (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "g.py", line 2, in one
    |     int("x")
    | ValueError: invalid literal for int() with base 10: 'x'
    +---------------- 2 ----------------
    | TypeError: second
    +------------------------------------
"""
    found = {(f.exception, f.message) for f in read(text)}
    assert ("ValueError", "invalid literal for int() with base 10: 'x'") in found
    assert ("TypeError", "second") in found
    assert ("ExceptionGroup", "several (2 sub-exceptions)") in found


def test_colab_old_layout() -> None:
    text = """\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
[<ipython-input-9-3435b262f1ae>](https://localhost:8080/#) in <cell line: 1>()
----> 1 trainer.train()

2 frames
[/usr/local/lib/python3.10/dist-packages/transformers/trainer.py](https://localhost:8080/#) in train(self, resume)
   1660             args=args,
-> 1662         return inner_training_loop(
   1663             args=args,

RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
"""
    (failure,) = read(text)
    assert failure.message == "element 0 of tensors does not require grad and does not have a grad_fn"
    assert failure.frames[-1].file == "/usr/local/lib/python3.10/dist-packages/transformers/trainer.py"
    assert failure.frames[-1].line == 1662


def test_ipython_8_frames_of_a_module() -> None:
    text = """\
---------------------------------------------------------------------------
ImportError                               Traceback (most recent call last)
Cell In[4], line 2
      1 import torch
----> 2 from quux import Trainer

File /usr/local/lib/python3.11/dist-packages/quux/trainer.py:55
     53 import datasets
---> 55 from .utils import (
     56     name)

File C:\\conda\\Lib\\site-packages\\quux\\utils.py:7
      6 import b
----> 7 from b import name

ImportError: cannot import name 'name' from 'b'
"""
    (failure,) = read(text)
    assert [(frame.file, frame.line, frame.function) for frame in failure.frames[1:]] == [
        ("/usr/local/lib/python3.11/dist-packages/quux/trainer.py", 55, "<module>"),
        ("C:\\conda\\Lib\\site-packages\\quux\\utils.py", 7, "<module>"),
    ]
    assert failure.message == "cannot import name 'name' from 'b'"


def test_frames_that_an_editor_linked() -> None:
    base = "https://file+.vscode-resource.vscode-cdn.net/home/me/notebooks/.venv/lib/python3.11/site-packages/"
    text = f"""\
File [~/notebooks/.venv/lib/python3.11/site-packages/quux/trainer.py:450]({base}quux/trainer.py:450), in Trainer._eval(self, x)
   [448]({base}quux/trainer.py?line=447) def _eval(self, x):
-> [450]({base}quux/trainer.py?line=449)     return self.score(x)

File [c:\\envs\\a\\lib\\site-packages\\quux\\score.py:7](file:///C:/envs/a/lib/site-packages/quux/score.py:7), in score(x)
ValueError: The truth value of an array is ambiguous.
"""
    (failure,) = read(text)
    assert [(frame.file, frame.line, frame.function) for frame in failure.frames] == [
        ("~/notebooks/.venv/lib/python3.11/site-packages/quux/trainer.py", 450, "Trainer._eval"),
        ("c:\\envs\\a\\lib\\site-packages\\quux\\score.py", 7, "score"),
    ]
    assert failure.exception == "ValueError"


def test_a_loggers_prefix_on_each_line_of_a_page_that_folded_blanks() -> None:
    """Code such as ``self._setup()`` is not taken for an exception, although its indent is lost."""
    said = """\
engine = Engine(args=args,
File "/opt/conda/lib/python3.8/site-packages/quux/engine.py", line 310, in __init__
self._configure(optimizer)
File "/opt/conda/lib/python3.8/site-packages/quux/engine.py", line 1505, in _configure
self._setup()
self.Optimizer()
torch.cuda.OutOfMemoryError: CUDA out of memory."""
    time = "2025-04-14 21:27:5"
    (failure,) = read("\n".join(f"{time}{n}\t{time}{n}.000 [INFO] [Driver] {line}" for n, line in enumerate(said.split("\n"))))
    assert (failure.exception, failure.message) == ("torch.cuda.OutOfMemoryError", "CUDA out of memory.")
    assert [frame.line for frame in failure.frames] == [310, 1505]


INNER = '  File "/env/site-packages/quux/_tensor.py", line 48, in backward\n    quux.autograd.run_backward(\n'
OUTER = '  File "/home/me/train.py", line 12, in main\n    loss.backward()\n'
TOP = '  File "/home/me/train.py", line 15, in <module>\n    main()\n'


@pytest.mark.parametrize("said", ["Exception has occurred: RuntimeError", "\u53d1\u751f\u5f02\u5e38: RuntimeError      (note: full exception trace)"])
@pytest.mark.parametrize("frames", [INNER + OUTER, OUTER + INNER, INNER + OUTER + TOP, TOP + OUTER + INNER])
@pytest.mark.parametrize("again", ["", "RuntimeError: element 0 of tensors\n"])
def test_what_an_editors_debugger_shows(tool: Diagnoser, said: str, frames: str, again: str) -> None:
    """Debuggers differ in which frame they show first; we keep the outermost frame first."""
    text = f"{said}\nelement 0 of tensors\ndoes not require grad\n{frames}{again}"
    (failure,) = tool.observe([from_text(text)]).failures
    assert failure.exception == "RuntimeError"
    assert failure.message == "element 0 of tensors\ndoes not require grad"
    assert [frame.line for frame in failure.frames] == [15, 12, 48][-len(frames.splitlines()) // 2 :]


def test_an_editors_debugger_without_frames() -> None:
    (failure,) = read("Exception has occurred: KeyError\n'model_state_dict'\n  File \"C:\\code\\trainer.py\"\n")
    assert (failure.exception, failure.message, failure.frames) == ("KeyError", "'model_state_dict'", [])
    assert [f.exception for f in read("Exception has occurred: ValueError\n")] == ["ValueError"]


def test_rich_box_with_wrapped_path_and_locals() -> None:
    text = """\
╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /opt/conda/lib/python3.11/site-packages/llamafactory/train/sft/workflow_long │
│ _name.py:96 in run_sft                                                       │
│                                                                              │
│    95 │   # Training                                                         │
│ ❱  96 │   train_result = trainer.train()                                     │
│                                                                              │
│ ╭──────────────────── locals ────────────────────╮                           │
│ │ args = ModelArguments(a=1)                     │                           │
│ ╰────────────────────────────────────────────────╯                           │
╰──────────────────────────────────────────────────────────────────────────────╯
OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
"""
    (failure,) = read(text)
    assert failure.exception == "OutOfMemoryError"
    assert failure.frames[-1].file.endswith("llamafactory/train/sft/workflow_long_name.py")
    assert failure.frames[-1].line == 96


def test_interleaved_ranks_with_bars_between() -> None:
    body = PLAIN.rstrip().split("\n")
    text = ""
    for line in body:
        text += f"[rank0]: {line}\n[rank1]: {line}\n  3%|▎         | 10/384 [00:21<13:02,  2.09s/it]\n"
    found = read(text)
    assert [f.message for f in found] == ["Attempting to unscale FP16 gradients."] * 2
    assert {r for f in found for r in f.ranks} == {0, 1}
    assert all(len(f.frames) == 2 for f in found)


def test_elastic_json_stack() -> None:
    text = (
        '{"message": {"message": "RuntimeError: NCCL down", "extraInfo": {"py_callstack": "Traceback (most recent call last):'
        '\\n  File \\"/x/train.py\\", line 8, in main\\n    go()\\nRuntimeError: NCCL down\\n", "timestamp": "1"}}}'
    )
    failure = next(f for f in read(text) if f.frames)
    assert failure.exception == "RuntimeError"
    assert failure.message == "NCCL down"
    assert failure.frames[-1].line == 8


def test_message_stops_where_others_go_on() -> None:
    text = PLAIN + "wandb: Waiting for W&B process to finish... (failed 1).\nsrun: error: node1: task 0: Exited with exit code 1\n"
    (failure,) = read(text)
    assert failure.message == "Attempting to unscale FP16 gradients."


def test_message_of_several_lines() -> None:
    text = (
        'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\n    main()\n'
        "RuntimeError: Error(s) in loading state_dict for PeftModelForCausalLM:\n"
        "\tsize mismatch for base_model.model.lm_head.weight: copying a param with shape torch.Size([2, 2]) from checkpoint.\n"
        "[2025-06-12 09:14:07] next program\n"
    )
    (failure,) = read(text)
    assert failure.message.endswith("from checkpoint.")
    assert failure.message.count("\n") == 1


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: 'HybridCache' object has no attribute 'float'",
        "torch.OutOfMemoryError: CUDA out of memory.",
        "ray.exceptions.RayTaskError(ValueError): ray::train()",
        "_pickle.UnpicklingError: Weights only load failed.",
        "triton.runtime.errors.OutOfResources: out of resource: shared memory",
    ],
)
def test_a_last_line_alone(text: str) -> None:
    (failure,) = read(text)
    assert failure.text == text
    assert failure.cut


@pytest.mark.parametrize("text", ["else: pass", "loss: Tensor", "INFO: Error rate 0.1", "note: see Error.md", "Error-free run: yes"])
def test_no_failure_in_ordinary_lines(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [" ValueError: the flux is gone", "    ValueError: the flux is gone", "- ValueError: the flux is gone",
     "`ValueError: the flux is gone`", "**ValueError: the flux is gone**", "### ValueError: the flux is gone",
     "Error: ValueError: the flux is gone", "I get this error: ValueError: the flux is gone",
     "2026-03-05 10:00:00,123 - ERROR - ValueError: the flux is gone", "ERROR 07-20 10:11:12 [core.py:586] ValueError: the flux is gone",
     "ERROR:root:ValueError: the flux is gone"],
)  # fmt: skip
def test_a_short_paste_may_set_something_around_a_message(text: str) -> None:
    (failure,) = Diagnoser.load().report([from_text(f"hello\n{text}\n")]).failures
    assert (failure.exception, failure.message) == ("ValueError", "the flux is gone")
    if text[0] not in "`*":  # set off as a whole, it is meant wherever it stands
        assert Diagnoser.load().report([from_text("epoch 1\n" * 5 + text + "\n")]).failures == []


@pytest.mark.parametrize("text", ["    raise ValueError('x')", "except ValueError: pass", "loss: 0.1", "- see errors: none",
                                  "WARNING:root:ValueError: the flux is gone", "ERROR: Could not go on due to an OSError: x"])  # fmt: skip
def test_a_short_paste_without_a_message_shows_no_failure(text: str) -> None:
    assert Diagnoser.load().report([from_text(text + "\n")]).failures == []


def test_teardown_is_told_apart() -> None:
    text = (
        "Exception ignored in: <function Engine.__del__ at 0x7f>\nTraceback (most recent call last):\n"
        '  File "e.py", line 3, in __del__\n    self.close()\nAttributeError: \'Engine\' object has no attribute \'pool\'\n'
    )
    (failure,) = read(text)
    assert failure.role == "teardown"


LINE = st.sampled_from(
    [*PLAIN.split("\n"), "During handling of the above exception, another exception occurred:", "│ x │", "╰──────────╯", "", "  | a", "KeyError: 1", "---> 3 x", "Cell In[1], line 2", "\x1b[31mred", "  + Exception Group Traceback (most recent call last):", "E: f", "x" * 300]
)


@settings(max_examples=300)
@given(st.lists(LINE, max_size=40))
def test_any_mixture_is_read_without_error_and_ends(mixture: list[str]) -> None:
    for failure in read("\n".join(mixture)):
        assert 1 <= failure.line.number <= len(mixture)
        assert failure.exception or failure.frames


@settings(max_examples=200)
@given(st.binary(max_size=400))
def test_any_bytes_are_lines(raw: bytes) -> None:
    for line in split_line(raw.replace(b"\n", b""), 1):
        assert "\n" not in line.text
        assert "\x00" not in line.text


@settings(max_examples=100)
@given(cut=st.integers(0, len(PLAIN)))
def test_a_cut_start_gives_the_same_exception_or_silence(cut: int) -> None:
    for failure in read(PLAIN[cut:]):
        assert failure.exception in ("ValueError", "")
        if failure.exception:
            assert "Attempting to unscale FP16 gradients.".endswith(failure.message)


BOX = """\
│   1470 │   │                                                                  │
│ ❱ 1472 │   │   self._set_model_specific_special_tokens(special_tokens=self.e  │
│                                                                              │
│ /opt/env/lib/python3.11/site-packages/transformers/tokenization_base.py:1210 in │
│ _set_model_specific_special_tokens                                           │
│                                                                              │
│ ❱ 1210 │   │   self.SPECIAL_TOKENS_ATTRIBUTES = self.SPECIAL_TOKENS_ATTRIBU  │
╰──────────────────────────────────────────────────────────────────────────────╯
"""


def test_rich_box_without_its_top_and_a_name_on_the_next_line() -> None:
    (failure,) = read(BOX + "AttributeError: 'list' object has no attribute 'keys'\n")
    assert failure.exception == "AttributeError"
    assert failure.cut
    assert (failure.frames[-1].line, failure.frames[-1].function) == (1210, "_set_model_specific_special_tokens")
    (whole,) = read("╭──────────── Traceback (most recent call last) ────────────╮\n" + BOX + "ValueError: no\n")
    assert (whole.exception, whole.cut, whole.frames[-1].line) == ("ValueError", False, 1210)


def test_rich_box_without_top_and_bottom() -> None:
    (failure,) = read(BOX.rpartition("╰")[0] + "OutOfMemoryError: CUDA out of memory. Tried to allocate\n")
    assert (failure.exception, failure.frames[-1].line) == ("OutOfMemoryError", 1210)


@pytest.mark.parametrize("said", ["RuntimeError:An attempt to start", "RuntimeError: An attempt to start"])
def test_the_blank_behind_the_type_may_be_lost(said: str) -> None:
    (failure,) = read(f'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    go()\n{said}\n')
    assert (failure.exception, failure.message) == ("RuntimeError", "An attempt to start")


def test_a_table_is_no_box_of_a_traceback() -> None:
    table = "│ GPU │ memory │\n" * 900 + "╰─────┴────────╯\n"
    assert read(table + "Total: 5\n") == []
    assert [f.exception for f in read("│ GPU │ memory │\n" * 900 + "ValueError: no\n")] == ["ValueError"]


@pytest.mark.parametrize(
    "code",
    [
        "def train(model, loader):\n    model.train()\n",
        "import torch, os\nfrom trl import SFTTrainer\n",
        "class Collator:\n    pass\n",
        "args = TrainingArguments(output_dir='out')\n",
        "for step, batch in enumerate(loader):\n    pass\n",
        "trainer.train()\n",
        "learning_rate: 0.0002\nbf16: auto\n",
    ],
)
def test_code_below_a_message_is_none_of_it(code: str) -> None:
    (failure,) = read(f"ImportError: cannot import name 'container_abcs'\n\n{code}")
    assert failure.message == "cannot import name 'container_abcs'"


def test_a_message_goes_on_after_an_empty_line() -> None:
    (failure,) = read("ValueError: the model cannot be quantized:\n\nplease install bitsandbytes\n\n- or choose another one\n")
    assert failure.message.endswith("- or choose another one")


def test_a_block_that_is_indented_as_a_whole() -> None:
    text = "ValueError: Target module Encoder(\n  (attn): Attention(\n    (k): Linear4bit()\n  )\n) is not supported.\n\nTry another.\n"
    (plain,) = read(text)
    (indented,) = read("".join(f"    {line}\n" if line else "\n" for line in text.splitlines()))
    assert (indented.exception, indented.message) == (plain.exception, plain.message)
    frames = '    File "/app/train.py", line 3, in main\n      run()\n    File "/app/run.py", line 4, in run\n      raise x\n'
    assert len(read(frames)[0].frames) == 2

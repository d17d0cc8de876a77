"""Tracebacks as launchers, loggers, forums and terminals mangle them: nothing of the wrapping reaches the message."""

from __future__ import annotations

import pytest

from tests.observe.test_traceback import read
from troubleshooter.observe.roles import role_of
from troubleshooter.observe.success import reports_success

FRAMES = """\
Traceback (most recent call last):
  File "/w/train.py", line 12, in main
    trainer.train()
  File "/v/site-packages/transformers/trainer.py", line 2245, in train
    return inner(
"""
MESSAGE = "CUDA out of memory. Tried to allocate 2.00 GiB."
STACK = FRAMES + "torch.OutOfMemoryError: " + MESSAGE + "\n"


def behind(prefix: str, text: str = STACK) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("prefix", "rank"),
    [
        ("ERROR 08-20 09:48:31 [core.py:400] ", None),
        ("(EngineCore_0 pid=77) ERROR 08-20 09:48:31 [core.py:400] ", None),
        ("ERROR 03-11 02:10:11 engine.py:366] ", None),
        ("E0612 09:14:07.123456 140 torch/_dynamo/x.py:12] [0/0] ", None),
        ("2025-06-12 09:14:07,123 - ERROR - __main__ - ", None),
        ("[2025-06-12 09:14:07,123] [ERROR] [engine.py:12:f] [Rank 3] ", 3),
        ("trainer-1  | ", None),
        ("trainer-abc-0 pytorch ", None),
        ("10.0.0.12: ", None),
        (" 3: ", 3),
        ("[1,mpirank:3,algo-1]<stderr>:", 3),
        ("(head, rank=0, pid=1234) ", 0),
        ("(task, pid=1234) ", None),
        ("[rank0]:[rank0]: ", 0),
    ],
)
def test_a_prefix_on_every_line(prefix: str, rank: int | None) -> None:
    (failure,) = read(behind(prefix) + "Process EngineCore_0:\n")
    assert (failure.exception, failure.message) == ("torch.OutOfMemoryError", MESSAGE)
    assert [f.line for f in failure.frames] == [12, 2245]
    assert failure.ranks == (set() if rank is None else {rank})


def test_numbers_in_a_loggers_prefix_may_differ() -> None:
    text = "".join(f"ERROR 08-20 09:48:{n:02} [core.py:400] {line}\n" for n, line in enumerate(STACK.splitlines(), 5))
    text += "ERROR 08-20 09:48:31 [core.py:77] next record\n"
    (failure,) = read(text)
    assert failure.message == MESSAGE


@pytest.mark.parametrize(
    "after",
    [
        "```\nThen I upgraded.",
        "\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",
        "^C",
        "[me@gpu w]$ nvidia-smi",
        "PS C:\\Users\\me> nvidia-smi",
        "wandb: \nwandb: You can sync",
        "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f in /v/libc10.so)",
        '"""',
    ],
)
def test_what_others_print_is_not_the_message(after: str) -> None:
    (failure,) = read(STACK + after + "\n")
    assert failure.message == MESSAGE


def test_advice_of_a_device_error_is_the_message_and_its_native_stack_is_not() -> None:
    message = "CUDA error: device-side assert triggered\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1"
    (failure,) = read(
        f"{FRAMES}RuntimeError: {message}\n\nException raised from check at x.cpp:43 (most recent call first):\nframe #0: a\n"
    )
    assert failure.message == message


def test_two_ranks_on_one_line() -> None:
    text = behind("[rank0]: ").rstrip("\n") + behind("[rank1]: ")
    found = read(text)
    assert [(f.message, f.ranks, len(f.frames)) for f in found] == [(MESSAGE, {0}, 2), (MESSAGE, {1}, 2)]


def test_a_header_glued_to_the_message_before() -> None:
    assert [f.message for f in read(STACK.rstrip("\n") + STACK)] == [MESSAGE, MESSAGE]


def test_elastic_table_names_the_rank() -> None:
    text = (
        "Root Cause (first observed failure):\n[0]:\n  time      : 2025-06-12_09:14:07\n  host      : node1\n"
        "  rank      : 5 (local_rank: 1)\n  exitcode  : 1 (pid: 1234)\n  error_file: /tmp/e/0/error.json\n"
        "  traceback : Traceback (most recent call last):\n"
        '    File "/w/train.py", line 99, in main\n      run()\n  RuntimeError: no kernel image\n\n' + "=" * 60 + "\n"
    )
    (failure,) = read(text)
    assert (failure.message, failure.ranks, failure.frames[-1].line) == ("no kernel image", {5}, 99)


def test_original_traceback_of_a_worker_keeps_its_frames() -> None:
    text = (
        FRAMES
        + "IndexError: Caught IndexError in DataLoader worker process 0.\nOriginal Traceback (most recent call last):\n"
        '  File "/w/data.py", line 44, in __getitem__\n    return self.items[i]\nIndexError: list index out of range\n'
    )
    outer, inner = read(text)
    assert outer.message == "Caught IndexError in DataLoader worker process 0."
    assert (inner.message, inner.frames[-1].line) == ("list index out of range", 44)


def test_frames_in_a_message_are_no_failure_of_their_own() -> None:
    text = (
        FRAMES + "torch._dynamo.exc.InternalTorchDynamoError: AttributeError: no x\n\nfrom user code:\n"
        '   File "/w/m.py", line 9, in forward\n    x = y\n\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace\n'
    )
    (failure,) = read(text)
    assert failure.frames[-1].line == 2245


@pytest.mark.parametrize(
    "text",
    [
        '{"stackTrace":"Traceback (most recent call last):\\r\\n  File \\"c:\\\\w\\\\a.py\\", line 8, in f\\r\\n    g()\\r\\nValueError: bad\\r\\n","x":1}',
        '{"exc_info":"Traceback (most recent call last):\\n  File \\"/w/a.py\\", line 8, in f\\n    g()\\nValueError: bad"}',
        'Traceback (most recent call last):\n  File "/long/path/site-packages/transform\ners/a.py", line 8, in f\n    g()\nValueError: bad',
        "Traceback (most recent call last):\n  File “/w/a.py”, line 8, in f\n    g()\nValueError: bad",
        "Traceback (most recent call last):\n  File &quot;/w/a.py&quot;, line 8, in &lt;module&gt;\n    g()\nValueError: bad",
        "Traceback (most recent call last):\nFile /w/main.py, line 3, in <module>\nf()\nFile /w/a.py, line 8, in f\ng()\nValueError: bad",
    ],
)
def test_escaped_wrapped_and_typographic_stacks(text: str) -> None:
    failure = read(text)[-1]
    assert (failure.exception, failure.message) == ("ValueError", "bad")
    assert failure.frames[-1].file.endswith("a.py")
    assert failure.frames[-1].line == 8


def test_a_group_behind_a_loggers_prefix() -> None:
    group = """\
  + Exception Group Traceback (most recent call last):
  |   File "/w/g.py", line 5, in <module>
  |     raise ExceptionGroup("outer", errors)
  | ExceptionGroup: outer (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/w/g.py", line 2, in one
    |     int("x")
    | ValueError: bad x
    +------------------------------------
"""
    for text in (group, behind("2025-06-12 09:14:07,123 - ERROR - x - ", group)):
        assert [(f.exception, f.frames[-1].line) for f in read(text)] == [("ExceptionGroup", 5), ("ValueError", 2)]


@pytest.mark.parametrize("mark", ["+", "# ", "-> "])
def test_a_mark_on_every_line(mark: str) -> None:
    (failure,) = read(behind(mark))
    assert (failure.message, len(failure.frames)) == (MESSAGE, 2)


def test_an_error_in_logging_is_one_failure() -> None:
    text = (
        FRAMES + "TypeError: not all arguments converted\nCall stack:\n"
        '  File "/w/train.py", line 8, in main\n    log.info("x", 1)\nMessage: \'x\'\nArguments: (1,)\n'
    )
    (failure,) = read(text)
    assert (failure.exception, failure.message) == ("TypeError", "not all arguments converted")


@pytest.mark.parametrize("below", ["    *   `torch`: (2.6.0)", "  - one", "and so on"])
def test_a_missing_key_is_one_line(below: str) -> None:
    text = "Traceback (most recent call last):\n  File \"a.py\", line 3, in load\n    x[k]\nKeyError: 'model.weight'\n"
    (failure,) = read(text + below + "\n")
    assert failure.message == "'model.weight'"


def test_an_abort_that_completed_successfully_is_no_good_end() -> None:
    assert not reports_success("[n1:7] Local abort before MPI_INIT completed completed successfully, but am not able to aggregate")
    assert reports_success("Training completed successfully, 0 jobs aborted")


def test_a_peer_that_is_gone_is_an_after_effect() -> None:
    (failure,) = read("RuntimeError: NCCL error: internal error\nLast error:\nNet : Connection closed by remote peer n2<4242>\n")
    assert role_of(failure) == "cascade"

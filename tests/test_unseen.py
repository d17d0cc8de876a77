"""An answer about a library that the log does not show is "possible" at most."""

from __future__ import annotations

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

SIZES = """Traceback (most recent call last):
  File "/home/a/my.py", line 3, in f
    a+b
RuntimeError: The size of tensor a (512) must match the size of tensor b (513) at non-singleton dimension 1
"""
MODEL_SIZES = SIZES.replace("/home/a/my.py", "/env/lib/python3.11/site-packages/transformers/models/llama/modeling_llama.py")
ZERO3 = "zero3-forward-of-unprepared-model"
TWO_D = "RuntimeError: 'weight' must be 2-D\n"


def word(tool: Diagnoser, log: str, id_: str) -> str:
    """The confidence of an entry's answer; "" if it does not answer."""
    return next((d.confidence for d in tool.report([from_text(log)]).diagnoses if d.id == id_), "")


def test_sizes_alone_do_not_show_what_cut_them(tool: Diagnoser) -> None:
    report = tool.report([from_text(SIZES)])
    assert not any(d.confidence != "possible" for d in report.diagnoses)
    assert word(tool, MODEL_SIZES, "sequence-cut-at-max-length") in ("", "possible")
    assert word(tool, "unsloth==2025.3.14\n" + MODEL_SIZES, "sequence-cut-at-max-length") == "likely"


def test_common_words_do_not_show_a_library_and_its_name_does(tool: Diagnoser) -> None:
    assert word(tool, ZERO3, "zero3-allgather-dtype") in ("", "possible")
    assert (
        word(tool, "[2025-01-01 10:00:00,000] [INFO] DeepSpeed info: version=0.14.0\n" + ZERO3, "zero3-allgather-dtype")
        != "possible"
    )

"""The phase that a run was in: the functions in a traceback show it, or the last line that announced one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import ClassVar

from kb import lazy
from troubleshooter.observe.model import Failure
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line

MAX_PHASES = 500
"""At most this many changes of the phase are kept."""

_FRAMES: tuple[tuple[str, frozenset[str], tuple[str, ...]], ...] = (
    ("merge", frozenset(), ("merge_and_unload", "merge_adapter", "_unload_and_optionally_merge", "export_model", "merge_lora")),
    ("save", frozenset({"save", "_save"}), ("save_checkpoint", "save_model", "save_pretrained", "save_state", "save_16bit", "save_file", "push_to_hub")),
    ("resume", frozenset({"load_state", "_load_state"}), ("_load_from_checkpoint", "_load_rng_state", "_load_optimizer_and_scheduler", "_load_best_model", "resume", "load_checkpoint")),
    ("eval", frozenset({"predict"}), ("evaluate", "evaluation_loop", "prediction_step", "prediction_loop", "validation_step", "compute_metrics", "_maybe_log_save_evaluate")),
    ("generate", frozenset({"generate", "_sample"}), ("greedy_search", "_generate", "beam_search", "generate_completions")),
    ("preprocess", frozenset({"map"}), ("_map_single", "tokenize", "preprocess", "prepare_dataset", "encode_batch", "build_dataset", "load_dataset", "get_dataset")),
    ("load", frozenset(), ("from_pretrained", "load_model", "_load_pretrained_model", "load_state_dict", "load_adapter", "from_config", "load_checkpoint_in_model", "init_adapter")),
    ("build", frozenset(), ("build_ext", "build_wheel", "cpp_extension", "jit_load", "run_ninja", "op_builder")),
    ("train", frozenset({"backward", "train", "step"}), ("training_step", "_inner_training_loop", "compute_loss", "train_step", "optimizer_step")),
    ("import", frozenset(), ("_find_and_load", "_call_with_frames_removed", "import_module", "_get_module")),
)  # fmt: skip
"""For each phase: the names of functions that show it, and parts of the names of other functions that show it, too."""
_BUILD_FILES = ("setup.py", "cpp_extension.py", "op_builder/", "build_meta", "ninja")
_LINES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("train", ("running training", "num epochs"), lazy.compile(r"\*{3} Running training|Num Epochs =")),
    ("load", ("loading checkpoint shards", "loading weights", "loading safetensors", "fetching "),
     lazy.compile(r"Loading checkpoint shards|loading weights file|Loading safetensors|Fetching \d+ files|Loading weights")),
    ("preprocess", ("map", "tokeniz", "running tokenizer", "generating ", "filter", "packing", "converting", "applying chat", "extracting prompt", "adding eos"),
     lazy.compile(r"^(?:Map|Tokenizing|Running tokenizer|Generating (?:train|validation|test) split|Filter|Packing|Converting|Applying chat|Extracting prompt|Adding EOS)\b.{0,80}(?:%|examples)")),
    ("eval", ("running evaluation", "'eval_loss'", "evaluating"),
     lazy.compile(r"\*{3} Running [Ee]valuation|'eval_loss'|Evaluating")),
    ("save", ("saving ", "configuration saved", "tokenizer config file"),
     lazy.compile(r"Saving model checkpoint|Saving (?:the )?(?:model|checkpoint)|Configuration saved in|tokenizer config file saved")),
    ("resume", ("continuing training", "loading model from", "resum"),
     lazy.compile(r"Continuing training from checkpoint|Loading model from \S{0,200}checkpoint-\d|[Rr]esum(?:e|ing) (?:from|training)")),
    ("merge", ("merg",), lazy.compile(r"[Mm]erg(?:e|ing) (?:adapter|LoRA|weights|model)")),
    ("build", ("building ", "loading extension", "c++", "nvcc", "torch_extensions"),
     lazy.compile(r"Building (?:wheel|extension)|Loading extension module|\[\d+/\d+\] (?:c\+\+|/usr/|nvcc)|Using .{0,60}torch_extensions")),
)  # fmt: skip
"""For each phase: keywords of which every line that announces it contains one, and the pattern of such lines. The first
pattern that fits counts."""
_TRAIN_METRICS = ("'grad_norm'", "'learning_rate'")


def of_failure(failure: Failure) -> set[str]:
    """Every phase that the failure's frames show; empty if none of them shows one."""
    found: set[str] = set()
    for frame in failure.frames:
        found |= _of_frame(frame.function, frame.path)
    if found & {"eval", "save", "resume", "generate", "preprocess", "merge"}:
        found.discard("train")  # the training loop calls all of them
    return found


@lru_cache(maxsize=4096)
def _of_frame(function: str, path: str) -> frozenset[str]:
    told = {phase for phase, names, parts in _FRAMES if function in names or any(part in function for part in parts)}
    return frozenset(told | {"build"} if any(name in path for name in _BUILD_FILES) else told)


class PhaseReader:
    """Records the phases that lines announce. For each phase the last line before the next phase is kept."""

    keywords: ClassVar[tuple[str, ...]] = (
        *(keyword for _, keywords, _ in _LINES for keyword in keywords),
        *_TRAIN_METRICS,
    )
    reads_metric_lines: ClassVar[bool] = True

    def __init__(self, observations: Observations) -> None:
        self._phases = observations.phases

    def read(self, line: Line) -> None:
        """Take the phase that a line announces, if it announces one."""
        phase = _announced(line.text)
        if phase is None:
            return
        if self._phases and self._phases[-1][0] == phase:
            self._phases[-1] = (phase, line)
        elif len(self._phases) < MAX_PHASES:
            self._phases.append((phase, line))


def _announced(text: str) -> str | None:
    """The phase that a printed line announces."""
    if _TRAIN_METRICS[0] in text or _TRAIN_METRICS[1] in text:
        return "train"
    return next((phase for phase, _, pattern in _LINES if pattern.search(text)), None)

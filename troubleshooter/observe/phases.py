"""What a run was doing: from the functions in a traceback, and from what was printed last."""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.observe.model import Failure

_FRAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("merge", lazy.compile(r"merge_and_unload|merge_adapter|_unload_and_optionally_merge|export_model|merge_lora")),
    ("save", lazy.compile(r"save_checkpoint|_save_checkpoint|save_model|save_pretrained|save_state|^_?save$|save_16bit|save_file|push_to_hub")),
    ("resume", lazy.compile(r"_load_from_checkpoint|_load_rng_state|_load_optimizer_and_scheduler|load_state$|_load_best_model|resume|load_checkpoint")),
    ("eval", lazy.compile(r"evaluate|evaluation_loop|prediction_step|prediction_loop|validation_step|compute_metrics|^predict$|_maybe_log_save_evaluate")),
    ("generate", lazy.compile(r"^generate$|^_sample$|greedy_search|_generate|beam_search|generate_completions")),
    ("preprocess", lazy.compile(r"^map$|_map_single|tokenize|preprocess|prepare_dataset|_prepare_dataset|encode_batch|build_dataset|load_dataset|get_dataset")),
    ("load", lazy.compile(r"from_pretrained|load_model|_load_pretrained_model|_load_state_dict|load_state_dict|load_adapter|from_config|load_checkpoint_in_model|init_adapter")),
    ("build", lazy.compile(r"build_ext|build_wheel|cpp_extension|jit_load|run_ninja|op_builder")),
    ("train", lazy.compile(r"training_step|_inner_training_loop|^backward$|compute_loss|^train$|train_step|optimizer_step|^step$")),
    ("import", lazy.compile(r"_find_and_load|_call_with_frames_removed|import_module|_get_module")),
)  # fmt: skip
_BUILD_FILES = lazy.compile(r"setup\.py|cpp_extension\.py|op_builder/|build_meta|ninja")
_LINES: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("train", ("running training", "num epochs"), lazy.compile(r"\*{3,} Running training|Num Epochs =")),
    ("load", ("loading checkpoint shards", "loading weights", "loading safetensors", "fetching "),
     lazy.compile(r"Loading checkpoint shards|loading weights file|Loading safetensors|Fetching \d+ files|Loading weights")),
    ("preprocess", ("map", "tokeniz", "running tokenizer", "generating ", "filter", "packing", "converting", "applying chat", "extracting prompt", "adding eos"),
     lazy.compile(r"^(?:Map|Tokenizing|Running tokenizer|Generating (?:train|validation|test) split|Filter|Packing|Converting|Applying chat|Extracting prompt|Adding EOS)\b.{0,80}(?:%|examples)")),
    ("eval", ("running evaluation", "'eval_loss'", "evaluating"),
     lazy.compile(r"\*{3,} Running [Ee]valuation|'eval_loss'|Evaluating")),
    ("save", ("saving ", "configuration saved", "tokenizer config file"),
     lazy.compile(r"Saving model checkpoint|Saving (?:the )?(?:model|checkpoint)|Configuration saved in|tokenizer config file saved")),
    ("resume", ("continuing training", "loading model from", "resum"),
     lazy.compile(r"Continuing training from checkpoint|Loading model from .{0,200}checkpoint-\d|[Rr]esum(?:e|ing) (?:from|training)")),
    ("merge", ("merg",), lazy.compile(r"[Mm]erg(?:e|ing) (?:adapter|LoRA|weights|model)")),
    ("build", ("building ", "loading extension", "c++", "nvcc", "torch_extensions"),
     lazy.compile(r"Building (?:wheel|extension)|Loading extension module|\[\d+/\d+\] (?:c\+\+|/usr/|nvcc)|Using .{0,60}torch_extensions")),
)  # fmt: skip
"""Phase, the marks of which one stands in every line that announces it, and how it is announced."""
_TRAIN_METRICS = ("'grad_norm'", "'learning_rate'")
MARKS = ((*_LINES[0][1], *_TRAIN_METRICS), *(marks for _, marks, _ in _LINES[1:]))
"""By phase: one of these stands in every line that announces it."""


def of_failure(failure: Failure) -> set[str]:
    """Every phase that the failure's frames tell; empty when it has none that tell."""
    found: set[str] = set()
    for frame in failure.frames:
        for phase, pattern in _FRAMES:
            if pattern.search(frame.function):
                found.add(phase)
        if _BUILD_FILES.search(frame.path):
            found.add("build")
    if found & {"eval", "save", "resume", "generate", "preprocess", "merge"}:
        found.discard("train")  # the training loop calls all of them
    return found


def of_line(text: str, wanted: int) -> str | None:
    """The phase that a printed line announces, of those of `MARKS` that are wanted (as bits)."""
    if wanted & 1 and (_TRAIN_METRICS[0] in text or _TRAIN_METRICS[1] in text):
        return "train"
    for number, (phase, _, pattern) in enumerate(_LINES):
        if wanted >> number & 1 and pattern.search(text):
            return phase
    return None

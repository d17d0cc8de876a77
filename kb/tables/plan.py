"""Which packages and releases are scanned, and how deeply each module is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.version import InvalidVersion, Version

_OTHER_FRAMEWORK = re.compile(r"(?:TF|Flax)[A-Z]")


def other_framework(name: str) -> bool:
    """True if a class is for TensorFlow or Flax."""
    return _OTHER_FRAMEWORK.match(name) is not None


@dataclass(frozen=True)
class Plan:
    """One package: its import name, the first release scanned and where every patch release counts."""

    package: str
    module: str
    first: str
    every_patch: tuple[str, str] | None = None
    last_only: tuple[tuple[str, str], ...] = ()
    """Ranges of minor releases of which only the last patch is scanned."""
    calendar: bool = False
    """Versions are dates: one release a month (the last) is enough."""
    sdist: bool = False
    appearances: bool = True
    """False: names that only appear have no row, unless another package imports them."""
    tables: bool = True
    """False: scanned only for what it imports from the others."""
    parameters: bool = True
    """False: no rows about parameters (entries of their own answer for them)."""
    members: bool = False
    """Whether there are rows about the attributes of its classes."""
    shallow: tuple[str, ...] = ()
    """Sub-packages of which only top-level names are read."""
    deep: tuple[str, ...] = ()
    """Sub-packages of a shallow one that are read in full."""
    skip: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    """Modules that users do not call: no rows, unless another package imports the name."""

    def depth(self, module: str) -> str:
        """ "full", "shallow" or "skip" for a dotted module."""
        parts = module.split(".")
        if any(_below(module, prefix) for prefix in self.skip) or "tests" in parts or "testing" in parts:
            return "skip"
        if any(_below(module, prefix) for prefix in self.deep):
            return "full"
        return "shallow" if any(_below(module, prefix) for prefix in self.shallow) else "full"

    def tells_members(self, module: str) -> bool:
        """True if a module's classes get rows about attributes; in a shallow module only configurations do."""
        depth = self.depth(module)
        return (depth == "full" and not self.is_quiet(module)) or (
            depth == "shallow" and module.rpartition(".")[2].startswith("configuration_")
        )

    def is_quiet(self, module: str) -> bool:
        """True if a module is left out of the tables."""
        return any(_below(module, prefix) for prefix in self.quiet)


def _below(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


WELL_KNOWN_MODELS = (
    "auto", "bert", "bloom", "clip", "falcon", "gemma", "gemma2", "gemma3", "gpt2", "gpt_neox", "gptj", "idefics2",
    "llama", "llava", "mistral", "mixtral", "opt", "phi", "phi3", "qwen2", "qwen2_5_vl", "qwen2_moe", "qwen2_vl",
    "qwen3", "qwen3_moe", "roberta", "siglip", "t5", "whisper", "deepseek_v3", "cohere", "gpt_oss", "llama4", "mllama",
)  # fmt: skip
"""Models whose modules other libraries patch or import from."""

PACKAGES: dict[str, Plan] = {
    plan.package: plan
    for plan in (
        Plan(
            "transformers",
            "transformers",
            "4.20",
            members=True,
            last_only=(("4.39", "4.45"), ("5.1", "9")),
            shallow=("transformers.models",),
            deep=tuple(f"transformers.models.{model}" for model in WELL_KNOWN_MODELS),
            skip=("transformers.sagemaker", "transformers.commands", "transformers.cli"),
            quiet=(
                "transformers.testing_utils",
                "transformers.utils.doc",
                "transformers.utils.auto_docstring",
                "transformers.exporters",
                "transformers.agents",
                "transformers.tools",
                "transformers.onnx",
                "transformers.generation.continuous_batching",
                "transformers.generation.flax_utils",
                "transformers.generation.tf_utils",
                "transformers.model_debugging_utils",
                "transformers.benchmark",
                "transformers.convert_slow_tokenizer",
                "transformers.integrations.ggml",
                "transformers.quantizers",
                "transformers.modeling_tf_utils",
                "transformers.modeling_flax_utils",
                "transformers.audio_utils",
                "transformers.image_utils",
                "transformers.image_transforms",
                "transformers.video_utils",
                "transformers.pipelines",
                "transformers.data.metrics",
                "transformers.data.test_generation_utils",
                "transformers.decision",
                "transformers.conversion_mapping",
                "transformers.core_model_loading",
                "transformers.fusion_mapping",
                "transformers.dependency_versions_table",
                "transformers.modelcard",
                "transformers.time_series_utils",
                "transformers.data.datasets",
                "transformers.keras_callbacks",
            ),
        ),
        Plan("trl", "trl", "0.4", every_patch=("0.4", "9"), members=True),
        Plan("peft", "peft", "0.1", every_patch=("0.1", "9"), members=True),
        Plan("accelerate", "accelerate", "0.12", every_patch=("0.12", "9"), members=True),
        Plan("datasets", "datasets", "1.18", skip=("datasets.packaged_modules", "datasets.commands"), members=True),
        Plan(
            "huggingface_hub",
            "huggingface_hub",
            "0.10",
            members=True,
            skip=("huggingface_hub.commands", "huggingface_hub.cli"),
        ),
        Plan("bitsandbytes", "bitsandbytes", "0.37", quiet=("bitsandbytes.research", "bitsandbytes.backends")),
        Plan(
            "deepspeed",
            "deepspeed",
            "0.8",
            sdist=True,
            appearances=False,
            skip=("deepspeed.autotuning", "deepspeed.nebula"),
            quiet=(
                "deepspeed.inference",
                "deepspeed.module_inject",
                "deepspeed.model_implementations",
                "deepspeed.ops",
                "deepspeed.profiling",
                "deepspeed.compression",
                "deepspeed.launcher",
                "deepspeed.compile",
            ),
        ),
        Plan(
            "torchao",
            "torchao",
            "0.1",
            shallow=("torchao.prototype",),
            appearances=False,
            quiet=(
                "torchao.sparsity",
                "torchao.dtypes.uintx",
                "torchao.kernel",
                "torchao.experimental",
                "torchao.ops",
                "torchao.quantization.pt2e",
                "torchao.quantization.prototype",
                "torchao.quantization.quantize_",
                "torchao.quantization.autoquant",
                "torchao.quantization.quant_primitives",
                "torchao.prototype",
                "torchao.quantization.GPTQ",
                "torchao.quantization.smoothquant",
                "torchao.quantization.dynamic_quant",
                "torchao.quantization.weight_only",
                "torchao.quantization.subclass",
                "torchao.swizzle",
            ),
        ),
        Plan("tokenizers", "tokenizers", "0.12"),
        Plan("unsloth", "unsloth", "2024.11", calendar=True, tables=False, skip=("unsloth.studio",)),
        Plan("unsloth_zoo", "unsloth_zoo", "2024.11", calendar=True, tables=False),
        Plan("llamafactory", "llamafactory", "0.7", tables=False),
        Plan("axolotl", "axolotl", "0.17", tables=False),
        Plan("auto-gptq", "auto_gptq", "0.4", tables=False),
        Plan("autoawq", "awq", "0.1", tables=False),
        Plan("liger-kernel", "liger_kernel", "0.1", tables=False),
        Plan("ms-swift", "swift", "2.0", tables=False),
        # names-vllm.jsonl has no plan: its wheels are too large to download. It holds modules, from the lists of files in
        # the wheels 0.6.0 to 0.33.0 (read over HTTP by ranges; without models, kernels and the like), and the names that
        # training frameworks were seen to import, from the sources of those modules.
        # Of these four the tables hold the names that other projects were seen to import: a hand's choice among what this
        # plan gives, for the sake of the tables' size. Made anew they are larger.
        Plan("diffusers", "diffusers", "0.14", appearances=False, parameters=False, shallow=("diffusers.pipelines",)),
        Plan("sentence-transformers", "sentence_transformers", "2.2", appearances=False, parameters=False),
        Plan("optimum", "optimum", "1.5", appearances=False, parameters=False),
        Plan("timm", "timm", "0.4", appearances=False, parameters=False),
        Plan("torchtune", "torchtune", "0.1", parameters=False),
        Plan(
            "pytorch-lightning",
            "pytorch_lightning",
            "1.0",
            appearances=False,
            parameters=False,
            quiet=(
                "pytorch_lightning.trainer",
                "pytorch_lightning.loops",
                "pytorch_lightning.accelerators",
                "pytorch_lightning.overrides",
            ),
        ),
        Plan(
            "verl",
            "verl",
            "0.1",
            appearances=False,
            parameters=False,
            skip=("verl.third_party",),
            quiet=("verl.models",),
        ),
    )
}


def releases_to_scan(available: Iterable[str], plan: Plan) -> list[str]:
    """First and last patch of each minor release, every patch where the plan says so; oldest first."""
    chosen: set[Version] = set()
    for members in _minors(available, plan):
        chosen.add(members[-1])
        if not plan.calendar and not any(Version(a) <= members[0] < Version(b) for a, b in plan.last_only):
            chosen.add(members[0])
        if plan.every_patch and Version(plan.every_patch[0]) <= members[0] < Version(plan.every_patch[1]):
            chosen.update(members)
    return [str(version) for version in sorted(chosen)]


def first_patches(available: Iterable[str], plan: Plan) -> list[str]:
    """The first patch of each minor release, oldest first."""
    return [str(members[0]) for members in _minors(available, plan)]


def _minors(available: Iterable[str], plan: Plan) -> list[list[Version]]:
    """The releases that the plan reaches to, ascending, those of each minor release together."""
    groups: dict[tuple[int, ...], list[Version]] = {}
    for text in available:
        try:
            version = Version(text)
        except InvalidVersion:
            continue
        if not version.is_prerelease and version >= Version(plan.first):
            groups.setdefault(version.release[:2], []).append(version)
    return [sorted(members) for _, members in sorted(groups.items())]

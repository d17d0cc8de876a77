"""Facts of the environment: versions, GPUs, platforms. Each keeps the line that shows it.

A version counts when the log shows what is installed (``pip freeze``, ``transformers env``, ``collect_env``, banners,
wheel and egg paths); a requirement that a message quotes (``transformers>=4.45 is required``) is no fact.
"""

from __future__ import annotations

import re
from typing import ClassVar

from kb import lazy
from troubleshooter.masking import without_digits
from troubleshooter.observe.model import Fact
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line

MAX_SAME_KIND = 12
"""Of lines that differ only in digits, at most this many are read for facts."""
KIND_CHARACTERS = 160
"""Two lines are of one kind if they begin with the same characters, this many, apart from digits."""
MAX_KINDS, MAX_FACTS = 50_000, 4000
"""At most this many kinds of lines are told apart, and this many facts are kept."""
MIN_LINE_CHARACTERS = 6

PACKAGES = (
    "torch", "pytorch", "transformers", "accelerate", "peft", "trl", "datasets", "tokenizers", "bitsandbytes", "deepspeed",
    "unsloth", "unsloth_zoo", "unsloth-zoo", "flash-attn", "flash_attn", "flash-attention", "xformers", "triton", "vllm",
    "huggingface-hub", "huggingface_hub", "safetensors", "numpy", "pandas", "pyarrow", "ray", "llamafactory", "axolotl",
    "ms-swift", "swift", "torchtune", "torchvision", "torchaudio", "auto-gptq", "auto_gptq", "autoawq", "optimum", "gptqmodel",
    "lightning", "pytorch-lightning", "pytorch_lightning", "sentencepiece", "protobuf", "wandb", "apex", "torchao", "verl",
    "openrlhf", "hqq", "megatron-core", "tensorflow", "jax", "liger-kernel", "liger_kernel", "fschat", "evaluate", "urllib3",
    "mamba-ssm", "causal-conv1d", "compressed-tensors", "lm-eval", "gradio", "pydantic", "setuptools", "ninja", "nccl", "sglang",
    "diffusers", "sentence-transformers", "timm", "llama-recipes", "llama_recipes", "python", "cuda", "driver", "cudnn", "rocm",
)  # fmt: skip
_VERSION_KEYWORDS = (
    *sorted(PACKAGES), "==", "python3.", ".dist-info", ".egg", "name: ", "version: ", "llm engine", "uccessfully installed",
)  # fmt: skip
"""Every line that shows a version has one of these."""
_GPU_KEYWORDS = (
    "gpu", "nvidia", "tesla", "geforce", "rtx", "gtx", "titan", "cuda", "a100", "h100", "v100", "radeon", "instinct", "capability",
)  # fmt: skip
"""Nearly every line that shows a GPU has one of these."""

_KNOWN = frozenset(PACKAGES)
_VERSION = r"v?(?P<version>\d{1,4}(?:\.\d{1,5}){1,4}(?:[.\-]?(?:dev|post|rc|a|b)\d*)?(?:\+\w+(?:\.\w+)*)?)"
_PIN = lazy.compile(r"(?:^|[\s\"'`])(?P<name>[A-Za-z][\w.-]{1,40})==" + _VERSION + r"(?=[\s\"'`,;\])]|$)")
_WORD = lazy.compile(r"(?<![\w./-])[A-Za-z][\w-]{1,30}")
# The text between a package's name and its version, and the version.
_SAID = lazy.compile(
    rf"[`'\"]?(?:\s*(?:\(GPU\?\)|library|package))?(?:\s*_?(?:[Vv]ersion|[Vv]er\.?))?(?:\s*\(GPU\?\))?[`'\"]?"
    rf"(?:\s*(?:\||:|==?|@)\s*|\s+)[`'\"]?{_VERSION}(?=[\s,;)\]|\"'`(:]|\.?\s|\.?$)"
)
_REQUIRED = lazy.compile(
    r"(?i)requir|upgrade|install\b|please|at least|minimum|need|older|newer|or later|or above|or higher|>=|<=|~=|deprecat|removed|will be|support|compiled|built|existing installation|uninstall|used to build"
)
_EGG = lazy.compile(r"[/\\](?P<name>[A-Za-z]\w{1,40})-" + _VERSION + r"(?:-py3|\.dist-info|\.egg-info)")
# The last line that pip prints:   Successfully installed accelerate-0.34.2 trl-0.12.0
_INSTALLED = lazy.compile(r"(?<=\s)(?P<name>[A-Za-z][\w.-]{0,60})-" + _VERSION + r"(?=\s|$)")
# Reports that name a version in words of their own: DeepSpeed's, vLLM's, `torch.__version__`, Unsloth's CUDA toolkit.
_WORDED = (
    lazy.compile(r"(?P<name>[A-Za-z][\w-]{1,30}) (?:version|info) \.{3,60} " + _VERSION),
    lazy.compile(r"(?P<name>DeepSpeed) info: version=" + _VERSION),
    lazy.compile(r"(?P<name>vLLM) API server version " + _VERSION),
    lazy.compile(r"(?P<name>LLM) engine \(" + _VERSION + r"\) with config"),
    lazy.compile(r"\b(?P<name>[a-z]\w{1,30})\.__version__\s*(?:(?:==?|:)\s*)?['\"]?" + _VERSION),
    lazy.compile(r"(?P<name>CUDA) Toolkit[:=\s]{1,4}" + _VERSION),
)
_WORDED_MARKS = ("version ..", "info ..", "info: version=", "API server", "LLM engine", ".__version__", "CUDA Toolkit")
_PYTHON_PATH = lazy.compile(r"[/\\](?:lib[/\\])?[pP]ython(?P<version>3\.[1-3]?\d)[/\\]")
_PIP_NAME = lazy.compile(r"Name: (?P<name>[\w.-]{2,40})$")
_PIP_VERSION = lazy.compile(rf"Version: {_VERSION}$")

_GPU = lazy.compile(
    r"(?:NVIDIA |Nvidia |Tesla |GeForce |Quadro |AMD |Radeon |Instinct ){0,4}"
    r"(?:(?:GH200|GB200|H100|H200|H800|H20|B200|B300|A100|A800|A10G?|A16|A30|A40|A2|L40S?|L4|T4|V100S?|P100|P40|P4|K80|M40|M60)\b[\w-]*"
    r"(?:[ -](?:SXM\d?|PCIE|PCIe|NVL|HBM3)[\w-]*)?(?:[ -]\d+GB)?"
    r"|RTX (?:PRO )?(?:A\d{4}|\d{4})(?: ?(?:Ti|SUPER|Ada|Super))*(?: Laptop GPU)?|GTX \d{3,4}(?: ?(?:Ti|SUPER))?|TITAN (?:RTX|V|Xp|X)"
    r"|MI\d{2,3}[XA]?|RX \d{4}(?: XTX?)?|Jetson [\w ]{2,20}|GB10)\b"
)
_GPU_WORDS = lazy.compile(
    r"GPU|NVIDIA|Nvidia|Tesla|GeForce|RTX|GTX|TITAN|CUDA|cuda|A100|H100|V100|Radeon|Instinct|device"
)
_CAPABILITY = lazy.compile(
    r"(?i)(?:compute capability|cuda capability(?: sm_)?|capability|\bcc)[^\d]{0,24}?(?:sm_)?(?P<major>\d{1,2})(?:\.|(?=\d\b))(?P<minor>\d)\b"
)
_UNSLOTH_CUDA = lazy.compile(r"\bCUDA: (?P<major>\d{1,2})\.(?P<minor>\d)\. CUDA Toolkit")

_PLATFORMS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = (
    ("windows", (":\\", "winerror", "site-packages\\", "win32", "windows-", "\\lib\\"),
     lazy.compile(r"\b[A-Z]:\\|WinError|site-packages\\|\bwin32\b|Windows-\d|\\lib\\")),
    ("wsl", ("wsl",), lazy.compile(r"microsoft-standard-WSL|/usr/lib/wsl|\bWSL ?2?\b")),
    ("colab", ("dist-packages", "/content/", "ipython-input"),
     lazy.compile(r"python3\.\d+/dist-packages|/content/|ipython-input-\d+-")),
    ("kaggle", ("/kaggle/",), lazy.compile(r"/kaggle/")),
    ("macos", ("/users/", "macos-", "darwin"), lazy.compile(r"/Users/|macOS-|Darwin|darwin")),
    ("rocm", ("rocm", "hiperror", "hip", "gfx"),
     lazy.compile(r"(?i)\brocm(?! used to build pytorch: n/a)|hipError|\bHIP\b(?! runtime version: n/a)|\.hip\b|\bgfx\d{3,4}\b")),
    ("mps", ("mps", "metal"), lazy.compile(r"\bMPS\b|\bmps\b|[Mm]etal")),
    ("linux", ("linux-", "/usr/lib/", "/home/", "/opt/conda", "/root/", "/lib/python"),
     lazy.compile(r"Linux-|/usr/lib/|/home/|/opt/conda|/root/|/lib/python")),
    ("notebook", ("ipython-input", "cell in[", "input in [", "ipykernel", "<cell line"),
     lazy.compile(r"ipython-input|Cell In\[|Input In \[|ipykernel|<cell line")),
)  # fmt: skip
"""For each platform: its name, keywords of which every line that shows it contains one, and the pattern that shows it.
"""
_VLLM = lazy.compile(r"Vllm|EngineCore|APIServer|ApiServer|Worker_|WorkerProc")
_ALIASES = {
    "pytorch": "torch",
    "flash-attention": "flash-attn",
    "unsloth_zoo": "unsloth-zoo",
    "swift": "ms-swift",
    "fastchat": "fschat",
}


_BUILT_FOR = lazy.compile(r"\+cu(\d{2})(\d)$")
"""The CUDA release that PyTorch was built for, which follows its version."""


def canonical(name: str) -> str:
    """A package's name as the index spells it: lower case, ``-`` for ``_``."""
    name = name.lower().replace("_", "-").replace(".", "-")
    return _ALIASES.get(name, name)


class FactReader:
    """Collects facts line by line. For each fact the first line that shows it is kept.

    Of lines that differ only in digits, the first `MAX_SAME_KIND` are read: a repeated warning shows nothing new.
    """

    keywords: ClassVar[tuple[str, ...]] = ()
    reads_metric_lines: ClassVar[bool] = False

    def __init__(self, observations: Observations) -> None:
        self._facts = observations.facts
        self._known: set[tuple[str, str, str]] = set()
        self._kinds: dict[str, int] = {}

    def read(self, line: Line) -> None:
        """Take the facts of a line."""
        if len(line.text) >= MIN_LINE_CHARACTERS and self._is_new(line):
            self._take(line, line.text)

    def _take(self, line: Line, text: str) -> None:
        raise NotImplementedError

    def _is_new(self, line: Line) -> bool:
        template = line.template
        kind = template.kind if template is not None else ""
        if not kind:
            kind = without_digits(line.text[:KIND_CHARACTERS])
            if template is not None:
                template.kind = kind
        count = self._kinds.get(kind, 0)
        if count < MAX_SAME_KIND and len(self._kinds) < MAX_KINDS:
            self._kinds[kind] = count + 1
        return count < MAX_SAME_KIND

    def _add(self, kind: str, name: str, value: str, line: Line, basis: str = "printed") -> None:
        if kind == "version" and name == "torch" and (built := _BUILT_FOR.search(value)):
            self._add("version", "cuda", f"{built[1]}.{built[2]}", line, basis)
        key = (kind, name, value)
        if key not in self._known and len(self._known) < MAX_FACTS:
            self._known.add(key)
            self._facts.append(Fact(kind, name, value, line, basis))


class VersionReader(FactReader):
    """Versions of packages, Python and CUDA."""

    keywords: ClassVar[tuple[str, ...]] = _VERSION_KEYWORDS

    def __init__(self, observations: Observations) -> None:
        super().__init__(observations)
        self._pip: str | None = None  # the name that `pip show` printed last

    def _take(self, line: Line, text: str) -> None:
        if self._pip and (found := _PIP_VERSION.match(text)):
            self._add("version", canonical(self._pip), found["version"], line)
            self._pip = None
        elif text.startswith("Name: ") and (found := _PIP_NAME.match(text)):
            self._pip = found["name"]
        elif "." in text:
            self._versions(line, text)

    def _versions(self, line: Line, text: str) -> None:
        if "==" in text and not _REQUIRED.search(text):
            for pin in _PIN.finditer(text):
                self._add("version", canonical(pin["name"]), pin["version"], line)
        if ("-py3" in text or "-info" in text) and (egg := _EGG.search(text)):
            self._add("version", canonical(egg["name"]), egg["version"], line, "path")
        if "ython3." in text and (path := _PYTHON_PATH.search(text)):
            self._add("version", "python", path["version"], line, "path")
        if "uccessfully installed" in text:
            for pin in _INSTALLED.finditer(text):
                self._add("version", canonical(pin["name"]), pin["version"], line)
            return
        if any(mark in text for mark in _WORDED_MARKS):
            for pattern in _WORDED:
                for worded in pattern.finditer(text):
                    name = "vllm" if worded["name"] == "LLM" else worded["name"]
                    if canonical(name) in _KNOWN:
                        self._add("version", canonical(name), worded["version"], line)
        toolkit = "CUDA Toolkit" in text
        asked = False  # whether the line was searched for a requirement, which is done once
        for word in _WORD.finditer(text):
            name = word.group().lower()
            bare = name.replace("_version", "")
            if (name not in _KNOWN and bare not in _KNOWN) or not (said := _SAID.match(text, word.end())):
                continue
            if name == "cuda" and toolkit:  # Unsloth's "CUDA: 7.5" is the card's capability
                continue
            if not asked and _REQUIRED.search(text):
                return
            asked = True
            self._add("version", canonical(bare), said["version"], line)


class GpuReader(FactReader):
    """Models of GPUs and their compute capabilities."""

    keywords: ClassVar[tuple[str, ...]] = _GPU_KEYWORDS

    def _take(self, line: Line, text: str) -> None:
        if not _GPU_WORDS.search(text):
            return
        for found in _GPU.finditer(text):
            self._add("gpu", found.group().strip(), "", line)
        for pattern in (_CAPABILITY, _UNSLOTH_CUDA):
            for found in pattern.finditer(text):
                major = int(found["major"])
                if 2 <= major <= 12:
                    self._add("capability", "", f"{major}.{found['minor']}", line)


class PlatformReader(FactReader):
    """Finds the operating system, the service and the kind of accelerator. Each platform is searched for until a line
    shows it."""

    keywords: ClassVar[tuple[str, ...]] = tuple(keyword for _, keywords, _ in _PLATFORMS for keyword in keywords)

    def __init__(self, observations: Observations) -> None:
        super().__init__(observations)
        self._open = [(name, pattern) for name, _, pattern in _PLATFORMS]

    def _take(self, line: Line, text: str) -> None:
        shown = [platform for platform in self._open if platform[1].search(text)]
        for platform in shown:
            self._open.remove(platform)
            self._add("platform", platform[0], "", line)


class StreamReader(FactReader):
    """Facts that the prefix of a line shows: Ray names its workers "Name pid=1, ip=…". vLLM prints similar prefixes for
    processes that are not Ray's."""

    def read(self, line: Line) -> None:
        if "pid=" in line.stream and not _VLLM.match(line.stream):
            self._add("package", "ray", "", line)

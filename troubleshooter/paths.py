"""Paths of installed packages, as they appear in frames and warnings of a log."""

from __future__ import annotations

from typing import NamedTuple

from kb import lazy

_INSTALLED = lazy.compile(r".*/(?:site|dist)-packages/(?P<file>(?P<package>[A-Za-z_]\w{0,60})(?:/.*|-\d.*|\.py))$")
_VERSIONED = lazy.compile(r"(?:^|/)(?P<package>[A-Za-z_]\w{0,60})-\d[\w.+]{0,30}/(?:src/)?(?P<file>(?P=package)/)")
"""A release in a folder that has its name and number (`trl-1.16.0/trl/…`): an unpacked archive, or an overlay on PYTHONPATH."""
_COMPILED = lazy.compile(r"^(?P<file>(?P<package>[A-Za-z_]\w{0,60})/(?:\w{1,60}/){0,10}\w{1,60}\.(?:pyx|pxi))$")
"""A file of Cython, of which only the path below its package is kept (`numpy/random/_generator.pyx`)."""
_NOT_OWN = lazy.compile(
    r"/(?:site|dist)-packages/|/lib/python\d|(?i:/python[\d.]{0,8}/{1,2}lib/)|^<(?:frozen|string)|\.(?:pyx|pxi|so|c|cpp|cu)$"
)
_KNOWN_FILE = lazy.compile(
    r"(?:^|/)(?P<file>(?:transformers/(?:trainer(?:_(?:seq2seq|callback|utils|pt_utils|optimizer|jit_checkpoint))?|modeling_utils|training_args|tokenization_utils(?:_base|_fast)?|configuration_utils|utils/(?:deprecation|generic|hub|import_utils)|(?:generation|integrations|quantizers)/[a-z0-9_]{1,40})"
    r"|datasets/(?:arrow_dataset|arrow_writer|dataset_dict|iterable_dataset|builder|features/features)"
    r"|torch/(?:nn/functional|nn/modules/[a-z_]{1,40}|utils/data/dataloader|utils/data/_utils/[a-z_]{1,20}|utils/_contextlib|optim/[a-z_]{1,40}|autograd/[a-z_]{1,40}|_tensor)"
    r"|trl/trainer/[a-z_]{1,40}_trainer|peft/(?:peft_model|mapping|mapping_func|tuners/[a-z0-9_]{1,40}(?:/[a-z0-9_]{1,40})?|utils/(?:other|save_and_load|peft_types))"
    r"|accelerate/(?:accelerator|data_loader|optimizer|scheduler|launchers|utils/(?:operations|modeling|dataclasses|other))|deepspeed/runtime/engine|(?:lightning/pytorch|pytorch_lightning)/trainer/trainer)\.py)$"
)
"""Files of well-known libraries, by which a clone or another folder of them is known (`pip install -e`, `--target`)."""
# A path begins after a blank, a quote, a bracket or a sign, so that a line of slashes takes linear time.
_SITE_FOLDER = lazy.compile(
    r"(?<![^\s;,'\"<>|*?()=\[\]{}`])((?:/|[A-Za-z]:\\)[^\s:;,'\"<>|*?()=\[\]{}`]*?(?:site|dist)-packages)(?=[/\\])"
)


class InstalledFile(NamedTuple):
    """A file of an installed package: the name by which the package is imported, and the path that begins with it."""

    package: str
    file: str


_CELL_FILE = lazy.compile(r".*[/\\]ipykernel_\d{1,12}[/\\]\d{1,24}\.py$")


def shown_file(path: str) -> str:
    """The path as a reader knows it. The file in which a notebook's kernel keeps the code of a cell is called Cell, as IPython does."""
    return "Cell" if _CELL_FILE.match(path) else path


def installed_file(path: str) -> InstalledFile | None:
    """The installed file that a path names (with forward slashes); None for another file.

    It is installed below ``site-packages``, in a folder with the package's name and number, or it is a file of a well-known library
    anywhere (``pip install --target``, a clone).
    """
    if found := _INSTALLED.match(path) or _COMPILED.match(path):
        return InstalledFile(found["package"], found["file"])
    if path.endswith(".py") and (found := _VERSIONED.search(path) or _KNOWN_FILE.search(path)):
        file = path[found.start("file") :]
        return InstalledFile(file.partition("/")[0], file)
    return None


def below_packages(path: str) -> str:
    """The path of an installed Python file below the folder of packages; "" for another file."""
    found = installed_file(path)
    return found.file if found is not None and found.file.endswith(".py") else ""


def is_own(path: str) -> bool:
    """Whether a frame's path (with forward slashes) is that of the user's own code: neither installed, nor Python's own, nor compiled."""
    return not _NOT_OWN.search(path) and installed_file(path) is None


def below_site_packages(path: str) -> str:
    """The path of an installed file from its package on; another path as it is."""
    found = installed_file(path)
    return found.file if found is not None else path


def site_folders(log: str) -> list[str]:
    """The site-packages folders that a log's frames and warnings name, most frequent first."""
    counts: dict[str, int] = {}
    for found in _SITE_FOLDER.finditer(log):
        counts[found[1]] = counts.get(found[1], 0) + 1
    return sorted(counts, key=lambda folder: -counts[folder])

"""Which files below a folder are logs. The same rule is used for the folder of one run and for a scan of many runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kb import lazy

SKIPPED_SUFFIXES = frozenset((
    ".py", ".pyc", ".so", ".pt", ".pth", ".bin", ".safetensors", ".gguf", ".npy", ".npz", ".pkl", ".parquet",
    ".arrow", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".zip", ".tar", ".whl", ".md", ".yaml", ".yml", ".toml",
    ".lock", ".html", ".css", ".js", ".cu", ".cpp", ".h", ".model", ".db", ".sqlite", ".sqlite-wal", ".sqlite-shm", ".pid", ".stacks", ".part",
))  # fmt: skip
SKIPPED_NAMES = frozenset((
    "config.json", "generation_config.json", "adapter_config.json", "tokenizer.json", "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "vocab.json", "vocab.txt", "merges.txt", "preprocessor_config.json",
    "processor_config.json", "chat_template.jinja", "model.safetensors.index.json", "pytorch_model.bin.index.json",
    "requirements.txt", "dataset_info.json", "dataset_infos.json", "dataset_dict.json",
    "run.json", "report.json", "ended.json", "hang.json",
))  # fmt: skip
"""Files of every checkpoint, model or data set that hold settings, a vocabulary or an index; and those that
`troubleshoot run` writes beside a log."""
_JSON_LINES_LOG = lazy.compile(r"(?:^|[._-])(?:logs?|logging|metrics?|history|events?|stats)(?=[._-])")
_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
)  # fmt: skip

Skip = Callable[[str, str], None]
"""Called with the path of a file that is left out, and the reason."""


class LogFile(NamedTuple):
    """A regular file, with what the system reported about it when it was listed."""

    path: str
    status: os.stat_result


def named_like_a_log(name: str) -> bool:
    """True if a file of this name may be a log. Hidden files, code, weights, settings, tables and pictures are not logs. A file of
    JSON Lines (which may be a data set or the record of a scan) is one only if its name says so, as ``trainer_log.jsonl`` does."""
    suffix = os.path.splitext(name)[1].lower()
    if name.startswith(".") or suffix in SKIPPED_SUFFIXES or name in SKIPPED_NAMES:
        return False
    return suffix != ".jsonl" or _JSON_LINES_LOG.search(name.lower()) is not None


def named_like_crash_facts(name: str) -> bool:
    """Whether a file of this name holds crash facts, as `troubleshooter.hook` names them."""
    return name.endswith(".crash.json") or (name.startswith("troubleshoot-crash-") and name.endswith(".json"))


def log_files(folder: str, skip: Skip) -> Iterator[LogFile]:
    """The logs below a folder, folder by folder and by name. Links to files are followed, links to folders are not.

    Paths that cannot be read or are not regular files are left out and reported to ``skip``. No file is opened.
    """

    def unreadable(error: OSError) -> None:
        skip(str(error.filename or folder), error.strerror or str(error))

    for place, below, names in os.walk(folder, onerror=unreadable):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            if named_like_a_log(name) and (found := regular_file(os.path.join(place, name), skip)) is not None:
                yield found


def regular_file(path: str, skip: Skip) -> LogFile | None:
    """The file of this name if it is an existing regular file; anything else is reported to ``skip`` and gives None."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:  # gone since it was listed, a link to nothing, a name that no file can have
        reason = getattr(error, "strerror", None) or str(error)
        skip(path, f"a link to nothing ({reason})" if os.path.islink(path) else reason)
        return None
    if stat.S_ISREG(status.st_mode):
        return LogFile(path, status)
    kind = next((kind for is_kind, kind in _KINDS if is_kind(status.st_mode)), "no regular file")
    skip(path, f"{kind}, not a regular file")
    return None

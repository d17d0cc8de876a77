"""Object stores through fsspec: ``s3://``, ``gs://``, ``hf://``. Listings of S3 are streamed page by page."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from datetime import datetime
from io import RawIOBase
from typing import Any

from troubleshooter.install import missing_extra
from troubleshooter.read.folder import Skip
from troubleshooter.read.sources import Unreadable
from troubleshooter.scan.places.listed import FetchedFile, ListedLog, may_be_log
from troubleshooter.scan.places.patience import Patience, Unreachable, patiently

PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "hf": "huggingface_hub"}
"""By scheme: the package that fsspec needs. Each scheme is an extra of the same name."""
BLOCK_BYTES = 4 * 1024 * 1024
"""So much of an object is asked for at once: a failed request is repeated from there."""
_CHANGES = ("ETag", "etag", "blob_id", "md5Hash", "generation", "mtime", "LastModified", "last_modified", "updated")
_TIMES = ("LastModified", "last_modified", "mtime", "updated")
_WILD = re.compile(r"[*?]")


def open_store(scheme: str, patience: Patience) -> ObjectStore:
    """The store of a scheme, with the credentials that its library finds. Raises `MissingPackage`."""
    options: dict[str, Any] = {}
    if scheme == "s3":
        limits = {
            "connect_timeout": patience.timeout_s,
            "read_timeout": patience.timeout_s,
            "retries": {"max_attempts": 1},
        }
        options["config_kwargs"] = limits
    try:
        import fsspec

        files = fsspec.filesystem(scheme, skip_instance_cache=True, use_listings_cache=False, **options)
    except (ImportError, ValueError) as error:
        raise missing_extra(scheme, PACKAGES[scheme]) from error
    if scheme == "s3":
        files.retries = 1  # `patiently` tries again; twice would be attempts times attempts
        return BucketStore(scheme, files, patience)
    return ObjectStore(scheme, files, patience)


class ObjectStore:
    """Any file system of fsspec, listed folder by folder. ``files`` is the file system."""

    def __init__(self, scheme: str, files: Any, patience: Patience) -> None:
        self._scheme = scheme
        self._files = files
        self._patience = patience

    def listing(self, url: str, skip: Skip) -> Iterator[ListedLog]:
        """The logs that a URL names: an object, or all below a prefix; ``*`` and ``?`` match any characters."""
        root = url.partition("://")[2].rstrip("/")
        wild = _WILD.search(root)
        matches = re.compile(fnmatch.translate(root)).match if wild else None
        fixed = root[: wild.start()].rpartition("/")[0] if wild else root
        try:
            for name, info in self._infos(fixed):
                if matches is not None and not any(map(matches, _prefixes(name, fixed))):
                    continue
                if name == fixed or may_be_log(name[len(fixed) :].lstrip("/")):
                    yield self._listed(name, info)
        except Unreachable as error:
            skip(url, f"listed in part only: {error}")
        except Unreadable as error:
            skip(url, str(error))

    def opened(self, path: str) -> RawIOBase:
        name = path.partition("://")[2]

        def fetch(offset: int, length: int) -> bytes:
            return patiently(lambda: self._block(name, offset, length), path, self._patience)

        return FetchedFile(fetch, BLOCK_BYTES)

    def _block(self, name: str, offset: int, length: int) -> bytes:
        try:
            block: bytes = self._files.cat_file(name, start=offset, end=offset + length)
        except (FileNotFoundError, PermissionError):
            raise
        except Exception:
            # A range that begins at the end of an object is refused; an empty object has no other range.
            if self._files.info(name, refresh=True)["size"] <= offset:
                return b""
            raise
        return block

    def _infos(self, root: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Name and info of every object that is ``root`` or lies below it. Raises `Unreadable`."""
        pending = [root]
        while pending:
            folder = pending.pop()
            where = f"{self._scheme}://{folder}"
            infos = self._ls(folder, where)
            folders = []
            for info in sorted(infos, key=lambda info: str(info["name"])):
                name = str(info["name"]).strip("/") if self._scheme != "file" else str(info["name"])
                if info["type"] == "file":
                    yield name, info
                elif name != folder and not name.rpartition("/")[2].startswith("."):
                    folders.append(name)
            pending += reversed(folders)

    def _ls(self, folder: str, where: str) -> list[dict[str, Any]]:
        return patiently(lambda: list(self._files.ls(folder, detail=True, refresh=True)), where, self._patience)

    def _listed(self, name: str, info: dict[str, Any]) -> ListedLog:
        change = next((info[key] for key in _CHANGES if info.get(key)), "")
        size = info.get("size", info.get("Size", 0))
        return ListedLog(
            f"{self._scheme}://{name}", f"{size}:{str(change).strip(chr(34))}", _time(info), int(size or 0)
        )


class BucketStore(ObjectStore):
    """S3, and what speaks like it: pages of a thousand keys, of which one is in memory."""

    def _infos(self, root: str) -> Iterator[tuple[str, dict[str, Any]]]:
        bucket, _, prefix = root.partition("/")
        if prefix:
            for info in self._page(bucket, prefix, "", limit=1)["Contents"]:
                if info["Key"] == prefix:
                    yield root, info
        last = ""
        while True:
            page = self._page(bucket, f"{prefix}/" if prefix else "", last)
            for info in page["Contents"]:
                yield f"{bucket}/{info['Key']}", info
            if not page["IsTruncated"] or not page["Contents"]:
                return
            last = page["Contents"][-1]["Key"]

    def _page(self, bucket: str, prefix: str, after: str, limit: int = 1000) -> dict[str, Any]:
        """A page of keys behind ``after``. A page that failed is asked for again; those before it are kept."""

        def ask() -> dict[str, Any]:
            found = self._files.call_s3(
                "list_objects_v2", Bucket=bucket, Prefix=prefix, StartAfter=after, MaxKeys=limit
            )
            return {"Contents": found.get("Contents", []), "IsTruncated": found.get("IsTruncated", False)}

        return patiently(ask, f"s3://{bucket}/{prefix}", self._patience)


def _prefixes(name: str, fixed: str) -> Iterator[str]:
    """A name, and the folders that it lies in, below ``fixed``: a pattern may name any of them."""
    yield name
    while (name := name.rpartition("/")[0]) and len(name) > len(fixed):
        yield name


def _time(info: dict[str, Any]) -> float:
    for key in _TIMES:
        found = info.get(key)
        if isinstance(found, datetime):
            return found.timestamp()
        if isinstance(found, (int, float)):
            return float(found)
        if isinstance(found, str):
            try:
                return datetime.fromisoformat(found.replace("Z", "+00:00")).timestamp()
            except ValueError:
                continue
    return 0.0

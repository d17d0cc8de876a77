"""``sftp://[USER@]HOST[:PORT]/PATH`` through paramiko, with the keys, known hosts and settings of OpenSSH.

The SFTP file system of fsspec is not used, because it trusts every unknown host and ignores ``~/.ssh/config``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import RawIOBase
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kb.errors import UsageError
from troubleshooter.install import missing_extra
from troubleshooter.read.folder import Skip
from troubleshooter.read.sources import Unreadable
from troubleshooter.scan.places.listed import FetchedFile, ListedLog, may_be_log
from troubleshooter.scan.places.patience import Patience, T, Unreachable, patiently

if TYPE_CHECKING:
    import paramiko

BLOCK_BYTES = 1024 * 1024


class SftpPlace:
    """One server. A connection that breaks is made anew."""

    def __init__(self, url: str, patience: Patience) -> None:
        self._base = "/".join(url.split("/", 3)[:3])
        parts = urlsplit(self._base)
        if parts.password is not None:
            raise UsageError(
                f"sftp://{parts.hostname}: a password in a URL would be kept in the record; use a key (ssh-agent, ~/.ssh/config)"
            )
        if not parts.hostname:
            raise UsageError(f"{url}: no host; write sftp://HOST/PATH")
        self._host, self._port, self._user = parts.hostname, parts.port, parts.username
        self._patience = patience
        self._client: paramiko.SSHClient | None = None
        self._channel: paramiko.SFTPClient | None = None

    def listing(self, url: str, skip: Skip) -> Iterator[ListedLog]:
        """The logs that a URL names: a file, or all below a folder. Links to files are followed, links to folders are not."""
        root = self._path(url).rstrip("/") or "/"
        try:
            status = self._status(root)
            if stat.S_ISREG(status.st_mode or 0):
                yield self._listed(root, status)
                return
        except Unreadable as error:
            skip(url, str(error))
            return
        pending = [root]
        while pending:
            folder = pending.pop()
            folders = []
            try:
                for name, status in self._entries(folder):
                    path = f"{folder.rstrip('/')}/{name}"
                    mode = status.st_mode or 0
                    if stat.S_ISDIR(mode):
                        if not name.startswith("."):
                            folders.append(path)
                        continue
                    if not may_be_log(name):
                        continue
                    if stat.S_ISLNK(mode):
                        status = self._status(path)
                        if stat.S_ISDIR(status.st_mode or 0):
                            continue
                    if stat.S_ISREG(status.st_mode or 0):
                        yield self._listed(path, status)
                    else:
                        skip(self._url(path), "not a regular file")
            except Unreachable as error:
                skip(self._url(folder), f"listed in part only: {error}")
                return
            except Unreadable as error:
                skip(self._url(folder), str(error))
            pending += sorted(folders, reverse=True)

    def opened(self, path: str) -> RawIOBase:
        name = self._path(path)
        file: list[Any] = []  # the open file of the present connection

        def fetch(offset: int, length: int) -> bytes:
            if not file:
                file.append(self._sftp().open(name, "rb"))
            file[0].seek(offset)
            block: bytes = file[0].read(length)  # its prefetching reads run in threads that outlive a broken connection
            return block

        def reset() -> None:
            file.clear()
            self._close()

        return FetchedFile(
            lambda offset, length: patiently(lambda: fetch(offset, length), path, self._patience, reset=reset),
            BLOCK_BYTES,
        )

    def _entries(self, folder: str) -> Iterator[tuple[str, paramiko.SFTPAttributes]]:
        """Names and states in a folder, by name. Raises `Unreadable`."""
        where = self._url(folder)

        def ask() -> list[tuple[str, paramiko.SFTPAttributes]]:
            try:
                return [(str(entry.filename), entry) for entry in self._sftp().listdir_iter(folder)]
            except UnicodeDecodeError as error:
                raise Unreadable(f"{where}: a file name in it is not UTF-8; rename that file") from error

        found = self._try(ask, where)
        yield from sorted(found, key=lambda pair: pair[0])

    def _status(self, path: str) -> paramiko.SFTPAttributes:
        return self._try(lambda: self._sftp().stat(path), self._url(path))

    def _try(self, do: Callable[[], T], what: str) -> T:
        return patiently(do, what, self._patience, reset=self._close)

    def _url(self, path: str) -> str:
        return self._base + path

    def _path(self, url: str) -> str:
        return url[len(self._base) :]

    def _listed(self, path: str, status: paramiko.SFTPAttributes) -> ListedLog:
        modified = float(status.st_mtime or 0)
        return ListedLog(
            self._url(path), f"{status.st_size or 0}:{status.st_mtime or 0}", modified, status.st_size or 0
        )

    def _sftp(self) -> paramiko.SFTPClient:
        """The open channel. Raises what paramiko raises."""
        if self._channel is not None:
            return self._channel
        try:
            import paramiko
        except ImportError as error:
            raise missing_extra("sftp", "paramiko") from error
        settings = _settings(self._host)
        client = paramiko.SSHClient()
        client.load_system_host_keys()
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        try:
            client.connect(
                settings.get("hostname", self._host), self._port or int(settings.get("port", 22)),
                self._user or settings.get("user"), key_filename=settings.get("identityfile"),
                timeout=self._patience.timeout_s, banner_timeout=self._patience.timeout_s,
                auth_timeout=self._patience.timeout_s,
            )  # fmt: skip
        except paramiko.SSHException as error:
            transport = client.get_transport()
            unauthenticated = transport is not None and transport.is_active() and not transport.is_authenticated()
            client.close()
            if "not found in known_hosts" in str(error):
                raise Unreadable(
                    f"{self._base}: the host is unknown to ~/.ssh/known_hosts; log in once with ssh {self._host} and check its key"
                ) from error
            if unauthenticated and not isinstance(error, paramiko.BadHostKeyException):
                raise Unreadable(
                    f"{self._base}: no access: the server took none of your keys; check the credentials"
                ) from error
            raise
        self._client = client
        self._channel = client.open_sftp()
        channel = self._channel.get_channel()
        if channel is not None:
            channel.settimeout(self._patience.timeout_s)
        return self._channel

    def _close(self) -> None:
        client, self._client, self._channel = self._client, None, None
        if client is not None:
            with suppress(Exception):  # a connection that is broken already
                client.close()


def _settings(host: str) -> dict[str, Any]:
    """What ``~/.ssh/config`` says of a host."""
    import paramiko

    path = os.path.expanduser("~/.ssh/config")
    return dict(paramiko.SSHConfig.from_path(path).lookup(host)) if os.path.exists(path) else {}

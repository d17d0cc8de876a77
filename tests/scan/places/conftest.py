"""A real S3 server and a real SFTP server on loopback, both with faults that a test switches on."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

BUCKET = "runs"


class Store:
    """An S3 server (moto) behind faults: ``refused`` requests by key are answered 503, ``cut`` ones break off in the middle,
    ``stalled`` ones never answer, and a key in ``vanishing`` is deleted when it is asked for."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.refused: dict[str, int] = {}
        self.cut: dict[str, int] = {}
        self.stalled: dict[str, int] = {}
        self.vanishing: set[str] = set()
        self.asked: list[str] = []
        self.release = threading.Event()

    def client(self) -> Any:
        import boto3

        return boto3.client("s3", endpoint_url=self.url, region_name="us-east-1")

    def put(self, key: str, body: bytes | str) -> None:
        self.client().put_object(Bucket=BUCKET, Key=key, Body=body if isinstance(body, bytes) else body.encode())

    def delete(self, key: str) -> None:
        self.client().delete_object(Bucket=BUCKET, Key=key)


def _takes(left: dict[str, int], path: str) -> bool:
    """Whether one of these faults is due for a path; it is used up then."""
    key = next((key for key in left if path.endswith(key) and left[key] > 0), None)
    if key is None:
        return False
    left[key] -= 1
    return True


def _faulty(app: Callable[..., Any], store: Store) -> Callable[..., Any]:
    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        path = environ["PATH_INFO"]
        if environ["REQUEST_METHOD"] != "GET":
            return app(environ, start)
        listing = "list-type" in environ.get("QUERY_STRING", "")
        name = "LISTING" if listing else path
        store.asked.append(name)
        if _takes(store.refused, name):
            start("503 Slow Down", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"]
        if _takes(store.stalled, name):
            store.release.wait(60)
        for key in [key for key in store.vanishing if path.endswith(key)]:
            store.vanishing.discard(key)
            store.delete(path.removeprefix(f"/{BUCKET}/"))
        body = b"".join(app(environ, start))
        return [body[: len(body) // 2]] if _takes(store.cut, name) else [body]

    return answer


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Store]:
    """An S3 server with an empty bucket, named to all processes by the variables that S3 clients read."""
    for module in ("s3fs", "boto3", "moto", "flask", "flask_cors"):
        pytest.importorskip(module)
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    app = DomainDispatcherApplication(create_backend_app)
    state = Store(0)
    server = make_server("127.0.0.1", 0, _faulty(app, state), threaded=True)
    state.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", state.url)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.client().create_bucket(Bucket=BUCKET)
    yield state
    state.release.set()
    state.refused, state.cut = {}, {}
    client = state.client()
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
        for found in page.get("Contents", []):
            client.delete_object(Bucket=BUCKET, Key=found["Key"])
    client.delete_bucket(Bucket=BUCKET)
    server.shutdown()
    thread.join()


class Remote:
    """An SFTP server (paramiko) that serves ``folder``; ``broken`` is how many reads still break the connection."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.broken = 0
        self.reads = 0
        self.connections = 0

    def url(self, path: str = "") -> str:
        return f"sftp://127.0.0.1:{self.port}/{path}"


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Remote]:
    """An SFTP server whose host key and user key are known to this test's home folder."""
    paramiko = pytest.importorskip("paramiko")
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    host_key, user_key = paramiko.RSAKey.generate(2048), paramiko.RSAKey.generate(2048)
    user_key.write_private_key_file(str(home / ".ssh" / "key"))
    (home / ".ssh" / "config").write_text(f"Host 127.0.0.1\n  User tester\n  IdentityFile {home}/.ssh/key\n")
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    (home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key.get_name()} {host_key.get_base64()}\n")
    folder = tmp_path / "served"
    folder.mkdir()
    state = Remote(folder, port)
    transports: list[Any] = []

    class Server(paramiko.ServerInterface):  # type: ignore[misc, name-defined]
        def check_auth_publickey(self, username: str, key: Any) -> int:
            known = username == "tester" and key == user_key
            return int(paramiko.AUTH_SUCCESSFUL if known else paramiko.AUTH_FAILED)

        def check_channel_request(self, kind: str, chanid: int) -> int:
            return int(paramiko.OPEN_SUCCEEDED)

        def get_allowed_auths(self, username: str) -> str:
            return "publickey"

    class Handle(paramiko.SFTPHandle):  # type: ignore[misc, name-defined]
        def read(self, offset: int, length: int) -> Any:
            state.reads += 1
            if state.broken > 0:
                state.broken -= 1
                transports[-1].close()
                return paramiko.SFTP_FAILURE
            return super().read(offset, length)

    class Files(paramiko.SFTPServerInterface):  # type: ignore[misc, name-defined]
        def real(self, path: str) -> str:
            return str(folder) + self.canonicalize(path)

        def list_folder(self, path: str) -> Any:
            try:
                names = os.listdir(self.real(path))
                found = []
                for name in names:
                    status = paramiko.SFTPAttributes.from_stat(os.lstat(f"{self.real(path)}/{name}"))
                    status.filename = os.fsencode(name)
                    found.append(status)
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)
            return found

        def stat(self, path: str) -> Any:
            try:
                return paramiko.SFTPAttributes.from_stat(os.stat(self.real(path)))
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)

        def open(self, path: str, flags: int, attr: Any) -> Any:
            try:
                file = open(self.real(path), "rb")  # noqa: SIM115 - the handle closes it
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)
            handle = Handle(flags)
            handle.readfile = file
            handle.filename = path
            return handle

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            state.connections += 1
            transport = paramiko.Transport(connection)
            transport.add_server_key(host_key)
            transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
            transports.append(transport)
            transport.start_server(server=Server())

    threading.Thread(target=serve, daemon=True).start()
    yield state
    listening.close()
    for transport in transports:
        transport.close()

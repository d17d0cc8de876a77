"""Web servers and clients on the loopback address: errors that they handle, answer or try again."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from recorder import families

BIN = Path(sys.executable).parent
log = logging.getLogger("app")


class Flaky(BaseHTTPRequestHandler):
    """A local server: /ok answers, /flaky fails twice and then answers, /slow sleeps, the rest is 404."""

    seen: ClassVar[dict[str, int]] = {}

    def do_GET(self) -> None:
        """Answer by path."""
        self.seen[self.path] = self.seen.get(self.path, 0) + 1
        code = 200 if self.path in ("/", "/ok", "/slow") else 404
        if self.path.startswith("/flaky"):
            code = 503 if self.seen[self.path] < 3 else 200
        if self.path == "/slow":
            time.sleep(1.2)
        if self.path == "/error":
            code = 500
        body = b"<a href='/ok'>ok</a><a href='/flaky'>f</a><a href='/missing'>m</a><a href='/error'>e</a> loss: nan"
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Keep the server itself silent."""


def flaky(port: int) -> str:
    """Start the local server and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Flaky)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{port}"


def ask(*addresses: str) -> None:
    """Call each address and forget the answer."""
    for address in addresses:
        subprocess.run(["curl", "-s", "-m", "5", address], stdout=subprocess.DEVNULL, check=False)


def serve(command: list[str], addresses: list[str], wait: float = 4.0) -> None:
    """Run a server program, call it, stop it by SIGTERM; its output is ours."""
    server = subprocess.Popen(command)
    time.sleep(wait)
    ask(*addresses)
    time.sleep(1.0)
    server.terminate()
    server.wait(20)


def flask_handled_500() -> None:
    """Flask answers 404 and 500; the traceback of the failing view is logged, the server goes on."""
    from flask import Flask, abort

    app = Flask("shop")

    @app.route("/")  # type: ignore[untyped-decorator, unused-ignore]
    def home() -> str:
        app.logger.warning("price feed says nan, last price used")
        return "ok"

    @app.route("/boom")  # type: ignore[untyped-decorator, unused-ignore]
    def boom() -> str:
        prices: dict[str, str] = {}
        return prices["missing"]

    @app.route("/gone")  # type: ignore[untyped-decorator, unused-ignore]
    def gone() -> str:
        raise abort(410)

    threading.Thread(target=lambda: app.run(port=18101), daemon=True).start()
    time.sleep(1.5)
    ask(*(f"http://127.0.0.1:18101/{path}" for path in ("", "boom", "gone", "none", "")))


def django_tests_and_server() -> None:
    """Django's test client meets a failing view and a bad form; system checks warn."""
    import django
    from django.conf import settings
    from django.http import HttpResponse
    from django.urls import path

    logging.basicConfig(level=logging.INFO)

    def bad(_: Any) -> HttpResponse:
        raise ValueError("could not convert string to float: 'nan%'")

    settings.configure(
        DEBUG=False,
        SECRET_KEY="x" * 10,
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["*"],
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        LOGGING_CONFIG=None,
    )
    globals()["urlpatterns"] = [path("bad", bad), path("", lambda _: HttpResponse("ok"))]
    django.setup()
    from django.core.management import call_command
    from django.test import Client

    call_command("check", deploy=True)
    call_command("migrate", verbosity=1)
    client = Client(raise_request_exception=False)
    print([client.get(place).status_code for place in ("/", "/bad", "/nowhere", "/")])


def uvicorn_validation() -> None:
    """FastAPI below uvicorn: validation errors, a failing endpoint, a background task that fails and is logged."""
    Path("api.py").write_text(
        "from fastapi import BackgroundTasks, FastAPI\napp = FastAPI()\n\n"
        "def task():\n    raise RuntimeError('mail could not be sent, queued again')\n\n"
        "@app.get('/loss/{step}')\ndef loss(step: int):\n    return {'loss': 1 / step}\n\n"
        "@app.get('/mail')\ndef mail(tasks: BackgroundTasks):\n    tasks.add_task(task)\n    return 'ok'\n",
        encoding="utf-8",
    )
    base = "http://127.0.0.1:18102/"
    serve(
        [sys.executable, "-m", "uvicorn", "api:app", "--port", "18102", "--log-level", "debug"],
        [base + place for place in ("loss/2", "loss/nan", "loss/0", "mail", "none", "loss/4")],
    )


def gunicorn_worker_timeout() -> None:
    """gunicorn kills a worker that sleeps too long, starts another one, and serves on."""
    Path("site_app.py").write_text(
        "import time, os\n\ndef app(env, start):\n    if env['PATH_INFO'] == '/hang':\n        time.sleep(20)\n"
        "    if env['PATH_INFO'] == '/raise':\n        raise KeyError('user')\n"
        "    start('200 OK', [('Content-Type', 'text/plain')])\n    return [b'ok']\n",
        encoding="utf-8",
    )
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gunicorn",
            "-b",
            "127.0.0.1:18103",
            "-w",
            "1",
            "-t",
            "2",
            "--access-logfile",
            "-",
            "site_app:app",
        ]
    )
    time.sleep(3)
    ask("http://127.0.0.1:18103/", "http://127.0.0.1:18103/raise", "http://127.0.0.1:18103/hang")
    time.sleep(3)
    ask("http://127.0.0.1:18103/")
    server.terminate()
    server.wait(20)


def scrapy_retries() -> None:
    """A crawl over a local site with 404, 500 and 503 answers and a parse error; the spider finishes."""
    base = flaky(18104)
    Path("spider.py").write_text(
        "import scrapy\n\nclass Site(scrapy.Spider):\n    name = 'site'\n    start_urls = ['" + base + "/']\n"
        "    custom_settings = {'RETRY_TIMES': 3, 'LOG_LEVEL': 'DEBUG', 'TELNETCONSOLE_ENABLED': False}\n\n"
        "    def parse(self, response):\n        if response.url.endswith('/ok'):\n"
        "            yield {'price': float(response.css('b::text').get())}\n        for link in response.css('a::attr(href)'):\n"
        "            yield response.follow(link.get(), self.parse)\n",
        encoding="utf-8",
    )
    subprocess.run([sys.executable, "-m", "scrapy", "runspider", "spider.py"], check=True, timeout=90)


def requests_backoff() -> None:
    """urllib3's retries: refused connections, 503 answers, a timeout; in the end everything is fetched."""
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util.retry import Retry

    logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(levelname)-7s %(name)s %(message)s")
    base = flaky(18105)
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=Retry(4, backoff_factor=0.1, status_forcelist=[503])))
    for place in (base + "/flaky1", base + "/slow", "http://127.0.0.1:9/down", base + "/ok"):
        try:
            log.info("%s -> %s", place, session.get(place, timeout=1).status_code)
        except requests.RequestException:
            log.exception("Error fetching %s, mirror used instead", place)
    log.info("all files complete, 0 failed")


def aiohttp_clients() -> None:
    """Asyncio and aiohttp: cancelled tasks, an exception nobody fetched, a slow callback, and an orderly end."""
    import asyncio

    import aiohttp

    logging.basicConfig(level=logging.DEBUG, format="%(levelname)s:%(name)s:%(message)s")
    base = flaky(18106)

    async def fetch(session: aiohttp.ClientSession, place: str) -> None:
        try:
            async with session.get(place, timeout=aiohttp.ClientTimeout(total=0.5)) as answer:
                answer.raise_for_status()
                log.info("%s %d", place, answer.status)
        except (aiohttp.ClientError, TimeoutError) as why:
            log.warning("%s: %s %s, skipped", place, type(why).__name__, why)

    async def lost() -> None:
        raise ValueError("an exception that nobody fetched")

    async def main() -> None:
        asyncio.get_running_loop().set_debug(True)
        forgotten = asyncio.create_task(lost())
        async with aiohttp.ClientSession() as session:
            await asyncio.gather(
                *(fetch(session, base + p) for p in ("/ok", "/missing", "/error", "/slow")),
                fetch(session, "http://127.0.0.1:9/"),
            )
        time.sleep(0.2)
        del forgotten
        log.info("done")

    asyncio.run(main())


GROUPS = {
    "flask": {"flask_handled_500": flask_handled_500},
    "django": {"django_tests_and_server": django_tests_and_server},
    "uvicorn": {"uvicorn_validation": uvicorn_validation},
    "gunicorn": {"gunicorn_worker_timeout": gunicorn_worker_timeout},
    "scrapy": {"scrapy_retries": scrapy_retries},
    "requests": {"requests_backoff": requests_backoff},
    "aiohttp": {"aiohttp_clients": aiohttp_clients},
}

if __name__ == "__main__":
    families(GROUPS)

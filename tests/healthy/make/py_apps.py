"""Python programs away from training: web servers with handled errors, job queues with retries, crawlers, databases."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from recorder import families

BIN = Path(sys.executable).parent
log = logging.getLogger("app")


class Flaky(BaseHTTPRequestHandler):
    """A local server: /ok answers, /flaky fails twice and then answers, /slow sleeps, the rest is 404."""

    seen: dict[str, int] = {}

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

    @app.route("/")
    def home() -> str:
        app.logger.warning("price feed says nan, last price used")
        return "ok"

    @app.route("/boom")
    def boom() -> str:
        return str({}["missing"])

    @app.route("/gone")
    def gone() -> str:
        abort(410)

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

    settings.configure(DEBUG=False, SECRET_KEY="x" * 10, ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], INSTALLED_APPS=[
        "django.contrib.auth", "django.contrib.contenttypes"], DATABASES={"default": {
            "ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, LOGGING_CONFIG=None)
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
        "@app.get('/mail')\ndef mail(tasks: BackgroundTasks):\n    tasks.add_task(task)\n    return 'ok'\n", encoding="utf-8")
    base = "http://127.0.0.1:18102/"
    serve([sys.executable, "-m", "uvicorn", "api:app", "--port", "18102", "--log-level", "debug"],
          [base + place for place in ("loss/2", "loss/nan", "loss/0", "mail", "none", "loss/4")])


def gunicorn_worker_timeout() -> None:
    """gunicorn kills a worker that sleeps too long, starts another one, and serves on."""
    Path("site_app.py").write_text(
        "import time, os\n\ndef app(env, start):\n    if env['PATH_INFO'] == '/hang':\n        time.sleep(20)\n"
        "    if env['PATH_INFO'] == '/raise':\n        raise KeyError('user')\n"
        "    start('200 OK', [('Content-Type', 'text/plain')])\n    return [b'ok']\n", encoding="utf-8")
    server = subprocess.Popen([sys.executable, "-m", "gunicorn", "-b", "127.0.0.1:18103", "-w", "1", "-t", "2",
                               "--access-logfile", "-", "site_app:app"])
    time.sleep(3)
    ask("http://127.0.0.1:18103/", "http://127.0.0.1:18103/raise", "http://127.0.0.1:18103/hang")
    time.sleep(3)
    ask("http://127.0.0.1:18103/")
    server.terminate()
    server.wait(20)


def celery_retries() -> None:
    """A Celery worker retries a failing task until it works; another one fails and is logged with its traceback."""
    Path("jobs.py").write_text(
        "from celery import Celery\napp = Celery('jobs', broker='filesystem://', backend='cache+memory://')\n"
        "app.conf.broker_transport_options = {'data_folder_in': 'q', 'data_folder_out': 'q', 'control_folder': 'c'}\n"
        "seen = []\n\n@app.task(bind=True, max_retries=4)\ndef fetch(self, url):\n    seen.append(url)\n"
        "    if len(seen) < 3:\n        try:\n            raise ConnectionError(f'connection to {url} refused')\n"
        "        except ConnectionError as why:\n            raise self.retry(exc=why, countdown=1)\n    return 'fetched'\n\n"
        "@app.task\ndef mean(values):\n    return sum(values) / len(values)\n", encoding="utf-8")
    for name in ("q", "c"):
        Path(name).mkdir()
    subprocess.run([sys.executable, "-c", "import jobs; jobs.fetch.delay('http://127.0.0.1:9/x'); jobs.mean.delay([]); "
                    "jobs.mean.delay([1, 2])"], check=True)
    worker = subprocess.Popen([sys.executable, "-m", "celery", "-A", "jobs", "worker", "-P", "solo", "-l", "INFO",
                               "--without-gossip", "--without-mingle"])
    time.sleep(12)
    worker.terminate()
    worker.wait(20)


def scrapy_retries() -> None:
    """A crawl over a local site with 404, 500 and 503 answers and a parse error; the spider finishes."""
    base = flaky(18104)
    Path("spider.py").write_text(
        "import scrapy\n\nclass Site(scrapy.Spider):\n    name = 'site'\n    start_urls = ['" + base + "/']\n"
        "    custom_settings = {'RETRY_TIMES': 3, 'LOG_LEVEL': 'DEBUG', 'TELNETCONSOLE_ENABLED': False}\n\n"
        "    def parse(self, response):\n        if response.url.endswith('/ok'):\n"
        "            yield {'price': float(response.css('b::text').get())}\n        for link in response.css('a::attr(href)'):\n"
        "            yield response.follow(link.get(), self.parse)\n", encoding="utf-8")
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


def sqlalchemy_rollback() -> None:
    """A statement log with a violated constraint, a rollback and a lock time-out that is retried."""
    import sqlalchemy as sa

    logging.basicConfig(level=logging.INFO)
    engine = sa.create_engine("sqlite:///app.db", echo=True, connect_args=dict(timeout=0.2))
    runs = sa.Table("runs", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("loss", sa.Float))
    runs.metadata.create_all(engine)
    for number, loss in ((1, 0.5), (1, 0.4), (2, float("nan"))):
        try:
            with engine.begin() as link:
                link.execute(runs.insert().values(id=number, loss=loss))
        except sa.exc.IntegrityError as why:
            log.error("IntegrityError: %s; row %d kept", why.orig, number)
    first = engine.connect()
    first.exec_driver_sql("BEGIN EXCLUSIVE")
    for attempt in range(3):
        try:
            with engine.begin() as second:
                second.execute(runs.update().values(loss=0.1))
            break
        except sa.exc.OperationalError:
            log.exception("attempt %d failed, lock is held; retrying", attempt)
            first.rollback()


def worker_killed_restarted() -> None:
    """A Dask cluster whose nanny restarts a killed worker; the lost task is computed again."""
    import signal

    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        slow = client.map(lambda n: (time.sleep(0.3), n)[1], range(12))
        time.sleep(0.8)
        pids = list(client.run(os.getpid).values())
        os.kill(pids[0], signal.SIGKILL)
        print("sum", sum(client.gather(slow)))
        bad = client.submit(lambda: 1 / 0)
        try:
            bad.result()
        except ZeroDivisionError as why:
            print("ZeroDivisionError handled:", why)


def supervisord_restarts() -> None:
    """supervisord restarts a program that exits, gives up on one that always fails, and keeps the healthy one."""
    Path("s.conf").write_text(
        "[supervisord]\nnodaemon=true\nlogfile=/dev/null\nlogfile_maxbytes=0\npidfile=s.pid\n"
        "[program:healthy]\ncommand=sleep 60\n[program:crashy]\ncommand=bash -c 'sleep 1.2; exit 7'\n"
        "[program:broken]\ncommand=bash -c 'echo Error: nan >&2; exit 1'\nstartretries=2\n"
        "[program:segv]\ncommand=bash -c 'sleep 1.1; kill -9 $$'\n[program:missing]\ncommand=/no/such/train\n", encoding="utf-8")
    server = subprocess.Popen([str(BIN / "supervisord"), "-c", "s.conf"])
    time.sleep(9)
    server.terminate()
    server.wait(30)


def ansible_ignored() -> None:
    """A playbook with ignored failures, rescue blocks and a task that is retried until it works."""
    Path("play.yml").write_text(
        "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n"
        "  - name: Look for CUDA\n    command: nvidia-smi\n    ignore_errors: true\n"
        "  - name: Wait for the flag\n    shell: 'test -f flag || { touch flag; exit 1; }'\n    register: r\n    retries: 3\n"
        "    delay: 1\n    until: r.rc == 0\n"
        "  - block:\n    - name: Fails on purpose\n      fail:\n        msg: 'RuntimeError: service failed'\n"
        "    rescue:\n    - name: Repair\n      debug:\n        msg: rescued, nothing lost\n"
        "  - name: Version of the shell\n    shell: 'echo nan $BASH_VERSION'\n", encoding="utf-8")
    subprocess.run([str(BIN / "ansible-playbook"), "-v", "-i", "localhost,", "-e",
                    f"ansible_python_interpreter={sys.executable}", "play.yml"], check=True,
                   env={**os.environ, "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8", "PATH": f"{BIN}:{os.environ['PATH']}"})


def scheduled_jobs() -> None:
    """APScheduler: a job raises, one misses its time, the others run."""
    from datetime import datetime

    from apscheduler.schedulers.background import BackgroundScheduler

    logging.basicConfig(level=logging.DEBUG, format="%(asctime)s [%(levelname)s] %(name)s: %(message)s")
    plan = BackgroundScheduler()
    counts: list[int] = []

    def sometimes() -> None:
        counts.append(1)
        if len(counts) % 2:
            raise OSError("disk full for a moment")

    plan.add_job(sometimes, "interval", seconds=0.7, id="sometimes")
    plan.add_job(lambda: time.sleep(1.5), "interval", seconds=0.5, id="slow", max_instances=1)
    plan.add_job(print, "date", run_date=datetime(2020, 1, 1), args=["late"], misfire_grace_time=1)
    plan.start()
    time.sleep(3.2)
    plan.shutdown()


def retried_calls() -> None:
    """tenacity waits and tries again; the attempts are logged with their exceptions."""
    from tenacity import after_log, before_sleep_log, retry, stop_after_attempt, wait_exponential

    logging.basicConfig(level=logging.DEBUG, format="%(asctime)s | %(levelname)s | %(message)s")
    tries: list[int] = []

    @retry(wait=wait_exponential(0.1), stop=stop_after_attempt(5), after=after_log(log, logging.INFO),
           before_sleep=before_sleep_log(log, logging.WARNING, exc_info=True))
    def upload() -> str:
        tries.append(1)
        if len(tries) < 4:
            raise TimeoutError("read timed out after 10 s")
        return "uploaded"

    log.info(upload())


def json_lines() -> None:
    """structlog writes JSON with handled exceptions, as a container's log holds it."""
    import structlog

    structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.TimeStamper("iso"),
                                    structlog.processors.format_exc_info, structlog.processors.JSONRenderer()])
    out = structlog.get_logger(service="billing")
    for number in range(20):
        try:
            10 // (number % 4)
            out.info("charged", number=number, loss=0.0, failed=False)
        except ZeroDivisionError:
            out.exception("error while charging, retry scheduled", number=number)
    out.warning("health", memory="84%", oom_kills=0, gpu=None)


def loguru_diagnose() -> None:
    """loguru's decorated tracebacks of caught errors."""
    from loguru import logger

    @logger.catch(message="Error in a parser, row skipped")
    def parse(text: str) -> float:
        return float(text) / len(text.strip("0"))

    for text in ("1.5", "cuda", "000", "nan"):
        logger.info("parsed {} -> {}", text, parse(text))
    logger.success("4 rows, 2 failed and skipped")


def tables_and_sql() -> None:
    """DuckDB answers bad queries with hints; the session goes on with NaN and infinity."""
    import duckdb

    for line in ("select 'nan'::double, 'inf'::double / 0", "select * from failed_runs", "select cast('killed' as int)",
                 "select try_cast('cuda' as int) as n", "select lossss from (select 1 as loss)", "select count(*) from range(5)"):
        try:
            print(duckdb.sql(line))
        except duckdb.Error as why:
            print(f"{type(why).__name__}: {why}")


def polars_frames() -> None:
    """Polars tells NaN from null and reports bad columns."""
    import polars as pl

    warnings.simplefilter("always")
    frame = pl.DataFrame(dict(step=range(5), loss=[2.0, float("nan"), None, 1.5, float("inf")], note=["ok", "failed"] * 2 + ["x"]))
    print(frame, frame.describe(), frame.null_count())
    for make in (lambda: frame["cuda"], lambda: frame.with_columns(pl.col("note").cast(pl.Int32)),
                 lambda: frame.with_columns(pl.col("note").cast(pl.Int32, strict=False))):
        try:
            print(make())
        except pl.exceptions.PolarsError as why:
            print(f"{type(why).__name__}: {why}")


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
            await asyncio.gather(*(fetch(session, base + p) for p in ("/ok", "/missing", "/error", "/slow")),
                                 fetch(session, "http://127.0.0.1:9/"))
        time.sleep(0.2)
        del forgotten
        log.info("done")

    asyncio.run(main())


GROUPS = {
    "flask": dict(flask_handled_500=flask_handled_500),
    "django": dict(django_tests_and_server=django_tests_and_server),
    "uvicorn": dict(uvicorn_validation=uvicorn_validation),
    "gunicorn": dict(gunicorn_worker_timeout=gunicorn_worker_timeout),
    "celery": dict(celery_retries=celery_retries),
    "scrapy": dict(scrapy_retries=scrapy_retries),
    "requests": dict(requests_backoff=requests_backoff),
    "sqlalchemy": dict(sqlalchemy_rollback=sqlalchemy_rollback),
    "distributed": dict(worker_killed_restarted=worker_killed_restarted),
    "supervisor": dict(supervisord_restarts=supervisord_restarts),
    "ansible-core": dict(ansible_ignored=ansible_ignored),
    "apscheduler": dict(scheduled_jobs=scheduled_jobs),
    "tenacity": dict(retried_calls=retried_calls),
    "structlog": dict(json_lines=json_lines),
    "loguru": dict(loguru_diagnose=loguru_diagnose),
    "duckdb": dict(tables_and_sql=tables_and_sql),
    "polars": dict(polars_frames=polars_frames),
    "aiohttp": dict(aiohttp_clients=aiohttp_clients),
}

if __name__ == "__main__":
    families(GROUPS)

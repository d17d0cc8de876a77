"""Job queues, schedulers, databases and loggers in Python: retries, restarts and caught errors."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

from recorder import families

BIN = Path(sys.executable).parent
log = logging.getLogger("app")


def celery_retries() -> None:
    """A Celery worker retries a failing task until it works; another one fails and is logged with its traceback."""
    Path("jobs.py").write_text(
        "from celery import Celery\napp = Celery('jobs', broker='filesystem://', backend='cache+memory://')\n"
        "app.conf.broker_transport_options = {'data_folder_in': 'q', 'data_folder_out': 'q', 'control_folder': 'c'}\n"
        "seen = []\n\n@app.task(bind=True, max_retries=4)\ndef fetch(self, url):\n    seen.append(url)\n"
        "    if len(seen) < 3:\n        try:\n            raise ConnectionError(f'connection to {url} refused')\n"
        "        except ConnectionError as why:\n            raise self.retry(exc=why, countdown=1)\n    return 'fetched'\n\n"
        "@app.task\ndef mean(values):\n    return sum(values) / len(values)\n",
        encoding="utf-8",
    )
    for name in ("q", "c"):
        Path(name).mkdir()
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import jobs; jobs.fetch.delay('http://127.0.0.1:9/x'); jobs.mean.delay([]); jobs.mean.delay([1, 2])",
        ],
        check=True,
    )
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "jobs",
            "worker",
            "-P",
            "solo",
            "-l",
            "INFO",
            "--without-gossip",
            "--without-mingle",
        ]
    )
    time.sleep(12)
    worker.terminate()
    worker.wait(20)


def sqlalchemy_rollback() -> None:
    """A statement log with a violated constraint, a rollback and a lock time-out that is retried."""
    import sqlalchemy as sa

    logging.basicConfig(level=logging.INFO)
    engine = sa.create_engine("sqlite:///app.db", echo=True, connect_args={"timeout": 0.2})
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

    def slowly(number: int) -> int:
        time.sleep(0.3)
        return number

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        slow = client.map(slowly, range(12))
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
        "[program:segv]\ncommand=bash -c 'sleep 1.1; kill -9 $$'\n[program:missing]\ncommand=/no/such/train\n",
        encoding="utf-8",
    )
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
        "  - name: Version of the shell\n    shell: 'echo nan $BASH_VERSION'\n",
        encoding="utf-8",
    )
    subprocess.run(
        [
            str(BIN / "ansible-playbook"),
            "-v",
            "-i",
            "localhost,",
            "-e",
            f"ansible_python_interpreter={sys.executable}",
            "play.yml",
        ],
        check=True,
        env={**os.environ, "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8", "PATH": f"{BIN}:{os.environ['PATH']}"},
    )


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

    @retry(  # type: ignore[untyped-decorator, unused-ignore]
        wait=wait_exponential(0.1),
        stop=stop_after_attempt(5),
        after=after_log(log, logging.INFO),
        before_sleep=before_sleep_log(log, logging.WARNING, exc_info=True),
    )
    def upload() -> str:
        tries.append(1)
        if len(tries) < 4:
            raise TimeoutError("read timed out after 10 s")
        return "uploaded"

    log.info(upload())


def json_lines() -> None:
    """structlog writes JSON with handled exceptions, as a container's log holds it."""
    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper("iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ]
    )
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

    @logger.catch(message="Error in a parser, row skipped")  # type: ignore[untyped-decorator, unused-ignore]
    def parse(text: str) -> float:
        return float(text) / len(text.strip("0"))

    for text in ("1.5", "cuda", "000", "nan"):
        logger.info("parsed {} -> {}", text, parse(text))
    logger.success("4 rows, 2 failed and skipped")


def tables_and_sql() -> None:
    """DuckDB answers bad queries with hints; the session goes on with NaN and infinity."""
    import duckdb

    for line in (
        "select 'nan'::double, 'inf'::double / 0",
        "select * from failed_runs",
        "select cast('killed' as int)",
        "select try_cast('cuda' as int) as n",
        "select lossss from (select 1 as loss)",
        "select count(*) from range(5)",
    ):
        try:
            print(duckdb.sql(line))
        except duckdb.Error as why:
            print(f"{type(why).__name__}: {why}")


def polars_frames() -> None:
    """Polars tells NaN from null and reports bad columns."""
    import polars as pl

    warnings.simplefilter("always")
    frame = pl.DataFrame(
        {"step": range(5), "loss": [2.0, float("nan"), None, 1.5, float("inf")], "note": ["ok", "failed"] * 2 + ["x"]}
    )
    print(frame, frame.describe(), frame.null_count())
    for column, strict in (("cuda", True), ("note", True), ("note", False)):
        try:
            print(frame.with_columns(pl.col(column).cast(pl.Int32, strict=strict)))
        except pl.exceptions.PolarsError as why:
            print(f"{type(why).__name__}: {why}")


GROUPS = {
    "celery": {"celery_retries": celery_retries},
    "sqlalchemy": {"sqlalchemy_rollback": sqlalchemy_rollback},
    "distributed": {"worker_killed_restarted": worker_killed_restarted},
    "supervisor": {"supervisord_restarts": supervisord_restarts},
    "ansible-core": {"ansible_ignored": ansible_ignored},
    "apscheduler": {"scheduled_jobs": scheduled_jobs},
    "tenacity": {"retried_calls": retried_calls},
    "structlog": {"json_lines": json_lines},
    "loguru": {"loguru_diagnose": loguru_diagnose},
    "duckdb": {"tables_and_sql": tables_and_sql},
    "polars": {"polars_frames": polars_frames},
}

if __name__ == "__main__":
    families(GROUPS)

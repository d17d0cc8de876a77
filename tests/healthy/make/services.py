"""Servers on the loopback address: started, asked well and badly, stopped. Their logs hold errors that they handled."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from recorder import Run, project, write

NGINX = """worker_processes 1; daemon off; pid nginx.pid; error_log stderr info; user root;
events {{ worker_connections 32; }}
http {{ access_log /dev/stdout; client_body_temp_path tmp; proxy_temp_path tmp2; fastcgi_temp_path tmp3; uwsgi_temp_path tmp4;
scgi_temp_path tmp5;
server {{ listen 127.0.0.1:18080; root {0}; location /api {{ proxy_pass http://127.0.0.1:9; proxy_connect_timeout 1s; }}
location /private {{ deny all; }} location /big {{ client_max_body_size 1k; }} }} }}
"""
HAPROXY = """global
    log stdout format raw local0
defaults
    mode http
    log global
    option httplog
    timeout connect 1s
    timeout client 2s
    timeout server 2s
frontend f
    bind 127.0.0.1:18081
    default_backend b
backend b
    option httpchk GET /health
    server dead 127.0.0.1:9 check inter 500
    server alive 127.0.0.1:18082 check inter 500
"""
SQL = """
CREATE TABLE runs (id int PRIMARY KEY, loss float, note text);
INSERT INTO runs VALUES (1, 'NaN', 'failed'), (2, 0.5, 'killed');
INSERT INTO runs VALUES (1, 0.1, 'duplicate');
SELECT 1/0;
SELECT * FROM cuda_errors;
BEGIN; SELECT nope; SELECT 1; ROLLBACK;
SET statement_timeout = 50; SELECT pg_sleep(1);
SELECT loss, count(*) FROM runs GROUP BY loss ORDER BY 1;
DO $$ BEGIN RAISE WARNING 'out of range value replaced'; PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN RAISE NOTICE 'handled %', SQLERRM; END $$;
"""


def capture(
    command: list[str], work: Callable[[], None], folder: Path, wait: float = 1.5, user: str | None = None
) -> str:
    """Start a server, do the work, end the server by SIGTERM, and give what it printed."""
    with (folder / "printed").open("wb") as sink:
        server = subprocess.Popen(
            command, cwd=folder, stdout=sink, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, user=user
        )
        try:
            time.sleep(wait)
            work()
            time.sleep(0.7)
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
    return (folder / "printed").read_text(encoding="utf-8", errors="replace")


def sh(line: str) -> None:
    """One client call; its own output is not part of the log."""
    subprocess.run(["bash", "-c", line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)


def version(command: list[str]) -> str:
    """The first dotted number that a server prints about itself."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+(\.\d+)*", done.stdout + done.stderr)
    return found.group(0) if found else "0"


def redis(folder: Path) -> str:
    """Redis under a memory limit, wrong commands, a broken dump."""
    call = "redis-cli -p 16379 "

    def work() -> None:
        sh(
            call
            + "config set maxmemory 900kb; "
            + call
            + "set k v; for i in $(seq 40); do "
            + call
            + "set big$i $(head -c 60000 /dev/zero | tr '\\0' x); done; "
            + call
            + "lpush k 1; "
            + call
            + "debug sleep 0.1"
        )
        sh(
            call
            + "bgsave; sleep 0.5; "
            + call
            + "config set dir /no/such; "
            + call
            + "slaveof 127.0.0.1 9; sleep 2; "
            + call
            + "replicaof no one"
        )

    return capture(
        ["redis-server", "--port", "16379", "--bind", "127.0.0.1", "--loglevel", "verbose", "--save", "1 1"],
        work,
        folder,
    )


def nginx(folder: Path) -> str:
    """nginx with missing files, a dead upstream, forbidden places and a body that is too large."""
    (folder / "nginx.conf").write_text(NGINX.format(folder), encoding="utf-8")
    (folder / "index.html").write_text("ok\n", encoding="utf-8")
    folder.chmod(0o755)
    base = "http://127.0.0.1:18080"

    def work() -> None:
        for path in ("/", "/missing/error.html", "/api/train", "/private/x", "/%zz", "/../etc"):
            sh(f"curl -s --path-as-is '{base}{path}'")
        sh(
            f"curl -s -X POST --data-binary @/bin/ls {base}/big; printf 'GET nonsense\\r\\n\\r\\n' | timeout 1 nc 127.0.0.1 18080"
        )
        sh(f"printf 'HELLO\\r\\n\\r\\n' | timeout 1 bash -c 'cat >/dev/tcp/127.0.0.1/18080'; curl -s -I {base}/")

    return capture(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], work, folder)


def memcached(folder: Path) -> str:
    """memcached, very verbose, with bad commands and a value that is too large."""

    def work() -> None:
        text = "set a 0 0 3\\r\\nnan\\r\\nget a\\r\\nbogus\\r\\nset b 0 0 9999999\\r\\nget killed\\r\\nincr a 1\\r\\nstats\\r\\nquit\\r\\n"
        sh(f"exec 3<>/dev/tcp/127.0.0.1/21211; printf '{text}' >&3; timeout 1 cat <&3")

    return capture(["memcached", "-vv", "-l", "127.0.0.1", "-p", "21211", "-m", "2", "-u", "nobody"], work, folder)


def haproxy(folder: Path) -> str:
    """HAProxy whose first backend is dead: health checks fail, requests go to the other."""
    (folder / "haproxy.cfg").write_text(HAPROXY, encoding="utf-8")
    backend = subprocess.Popen(
        [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "18082"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        (folder / "health").write_text("ok", encoding="utf-8")
        return capture(
            ["haproxy", "-W", "-db", "-f", "haproxy.cfg"],
            lambda: sh(
                "for i in 1 2 3 4; do curl -s http://127.0.0.1:18081/health; sleep 0.6; done; "
                "curl -s http://127.0.0.1:18081/nothing; curl -s -H 'Bad Header: x' http://127.0.0.1:18081/"
            ),
            folder,
            wait=3,
        )
    finally:
        backend.terminate()


def mosquitto(folder: Path) -> str:
    """An MQTT broker in verbose mode with a client that breaks the protocol."""
    (folder / "m.conf").write_text(
        "listener 11883 127.0.0.1\nallow_anonymous true\nmax_packet_size 200\n", encoding="utf-8"
    )

    def work() -> None:
        sh("exec 3<>/dev/tcp/127.0.0.1/11883; printf 'garbage garbage' >&3; timeout 1 cat <&3")
        sh(
            r"exec 3<>/dev/tcp/127.0.0.1/11883; printf '\x10\x10\x00\x04MQTT\x04\x02\x00\x01\x00\x04anna' >&3; sleep 2.5"
        )

    return capture(["mosquitto", "-v", "-c", "m.conf"], work, folder)


def lighttpd(folder: Path) -> str:
    """lighttpd with a CGI script that fails and a missing file."""
    conf = (
        f'server.document-root = "{folder}"\nserver.port = 18083\nserver.bind = "127.0.0.1"\nserver.modules = ("mod_cgi", '
        '"mod_accesslog", "mod_deprecated_failed")\naccesslog.filename = "/dev/stderr"\ncgi.assign = (".sh" => "/bin/bash")\n'
        'debug.log-request-handling = "enable"\nserver.errorlog = "/dev/stderr"\nserver.max-request-sizes = 3\n'
    )
    (folder / "l.conf").write_text(conf.replace(', "mod_deprecated_failed"', ""), encoding="utf-8")
    (folder / "x.sh").write_text("echo 'Error: optional CUDA info failed' >&2; nvidia-smi; exit 3\n", encoding="utf-8")
    return capture(
        ["lighttpd", "-D", "-f", "l.conf"],
        lambda: sh(
            "curl -s http://127.0.0.1:18083/x.sh; curl -s http://127.0.0.1:18083/none; curl -s -X BAD http://127.0.0.1:18083/"
        ),
        folder,
    )


def http_server(folder: Path) -> str:
    """Python's own web server: 404, 501 and a bad request line."""
    return capture(
        [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "18084"],
        lambda: sh(
            "curl -s http://127.0.0.1:18084/ http://127.0.0.1:18084/error/nan; curl -s -X POST http://127.0.0.1:18084/; "
            "exec 3<>/dev/tcp/127.0.0.1/18084; printf '\\x16\\x03\\x01 killed\\r\\n\\r\\n' >&3; timeout 1 cat <&3"
        ),
        folder,
    )


def php_server(folder: Path) -> str:
    """PHP's development server with a page that warns and one that throws."""
    (folder / "a.php").write_text(
        '<?php error_log("loss is nan, kept the last"); echo $missing; strlen();\n', encoding="utf-8"
    )
    (folder / "b.php").write_text(
        '<?php try { throw new RuntimeException("failed"); } catch (Exception $e) '
        "{ error_log($e); http_response_code(500); }\n",
        encoding="utf-8",
    )
    return capture(
        ["php", "-S", "127.0.0.1:18085"],
        lambda: sh("for p in a.php b.php none.php; do curl -s http://127.0.0.1:18085/$p; done"),
        folder,
    )


def postgres(folder: Path) -> str:
    """PostgreSQL with wrong statements, a cancelled one, a client that is killed, and a crash-free shutdown."""
    home = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))))
    folder.chmod(0o777)
    data = folder / "db"
    subprocess.run(
        ["runuser", "-u", "postgres", "--", str(home / "initdb"), "-D", str(data), "-A", "trust"],
        check=True,
        capture_output=True,
        cwd=folder,
    )

    def work() -> None:
        (folder / "q.sql").write_text(SQL, encoding="utf-8")
        sh(
            f"psql -h 127.0.0.1 -p 15432 -U postgres -f {folder}/q.sql; psql -h 127.0.0.1 -p 15432 -U nobody -c 'select 1'; "
            "psql -h 127.0.0.1 -p 15432 -U postgres -d missing -c 'select 1'"
        )
        sh(
            "psql -h 127.0.0.1 -p 15432 -U postgres -c 'select pg_sleep(30)' & sleep 1; psql -h 127.0.0.1 -p 15432 -U postgres -c "
            "\"select pg_terminate_backend(pid) from pg_stat_activity where query like '%sleep(30)%' and pid <> pg_backend_pid()\""
        )

    return capture(
        [
            "runuser",
            "-u",
            "postgres",
            "--",
            str(home / "postgres"),
            "-D",
            str(data),
            "-p",
            "15432",
            "-h",
            "127.0.0.1",
            "-k",
            str(folder),
            "-c",
            "log_checkpoints=on",
            "-c",
            "log_connections=on",
        ],
        work,
        folder,
        wait=3,
    )


def psql_session(folder: Path) -> str:
    """The client's view of the same statements."""
    home = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"))))
    folder.chmod(0o777)
    data = folder / "db"
    subprocess.run(
        ["runuser", "-u", "postgres", "--", str(home / "initdb"), "-D", str(data), "-A", "trust"],
        check=True,
        capture_output=True,
        cwd=folder,
    )
    (folder / "q.sql").write_text(SQL, encoding="utf-8")
    seen: list[str] = []

    def work() -> None:
        seen.append(
            subprocess.run(
                ["psql", "-h", "127.0.0.1", "-p", "15433", "-U", "postgres", "-a", "-f", str(folder / "q.sql")],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            ).stdout
        )

    capture(
        [
            "runuser",
            "-u",
            "postgres",
            "--",
            str(home / "postgres"),
            "-D",
            str(data),
            "-p",
            "15433",
            "-h",
            "127.0.0.1",
            "-k",
            str(folder),
        ],
        work,
        folder,
        wait=3,
    )
    return seen[0]


def sqlite_session(folder: Path) -> str:
    """The sqlite3 shell goes on after errors."""
    script = (
        "create table r(id integer primary key, loss real not null);\ninsert into r values (1, 0.5);\n"
        "insert into r values (1, 0.2);\ninsert into r values (2, null);\nselect * from failed_runs;\n.mode box\n"
        "select *, 1/0 as ratio, 'nan' as note from r;\n.timeout 10\npragma integrity_check;\n"
    )
    return subprocess.run(
        ["sqlite3", "-echo", "x.db"],
        input=script,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout


SERVICES: dict[str, tuple[str, list[str], Callable[[Path], str], str]] = {
    "verbose_limits": ("redis", ["redis-server", "--version"], redis, "redis-server --loglevel verbose"),
    "errors_and_upstream": ("nginx", ["nginx", "-v"], nginx, "nginx with error_log info"),
    "very_verbose": ("memcached", ["memcached", "--version"], memcached, "memcached -vv"),
    "health_checks": ("haproxy", ["haproxy", "-v"], haproxy, "haproxy -W -db -f haproxy.cfg"),
    "broken_client": ("mosquitto", ["mosquitto", "-h"], mosquitto, "mosquitto -v"),
    "cgi_fails": ("lighttpd", ["lighttpd", "-v"], lighttpd, "lighttpd -D -f l.conf"),
    "not_found": ("http.server", [sys.executable, "--version"], http_server, "python -m http.server"),
    "development_server": ("php", ["php", "--version"], php_server, "php -S 127.0.0.1:18085"),
    "server_log": ("postgres", ["psql", "--version"], postgres, "postgres -D db"),
    "client_session": ("psql", ["psql", "--version"], psql_session, "psql -a -f q.sql"),
    "shell_session": ("sqlite3", ["sqlite3", "--version"], sqlite_session, "sqlite3 -echo x.db < q.sql"),
}


def main() -> None:
    """Record every service, or the named ones."""
    out = Path(sys.argv[1])
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    for what, (program, probe, work, shown) in SERVICES.items():
        if sys.argv[2:] and what not in sys.argv[2:]:
            continue
        if not shutil.which(probe[0]):
            print(f"{program}: not installed, skipped", file=sys.stderr)
            continue
        with project() as folder:
            try:
                text = work(folder)
                write(
                    out,
                    Run(program, version(probe), what, [], shown, neutral={str(folder): "/home/user/project"}),
                    text,
                )
            except (SystemExit, subprocess.SubprocessError, OSError) as why:
                print(f"{program}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()

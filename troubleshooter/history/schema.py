"""The form of a history: what each version of it adds. The version is SQLite's ``user_version``.

A version is never changed once it was released: a new one is added below, and `store` brings older files there, in one transaction.
The summary tables hold counts by day. Triggers keep them right in the transaction that changes ``runs``, whoever writes.
"""

from __future__ import annotations

APPLICATION_ID = 0x54534859
"""Says that a file of SQLite is a history ("TSHY")."""

_RUNS = """
CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE gpus (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE settings (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, pairs TEXT NOT NULL);
CREATE TABLE environments (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE);
CREATE TABLE versions (
  environment INTEGER NOT NULL REFERENCES environments, package TEXT NOT NULL, version TEXT NOT NULL,
  PRIMARY KEY (environment, package)
) WITHOUT ROWID;
CREATE TABLE causes (
  id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, entry TEXT, title TEXT NOT NULL,
  kind TEXT NOT NULL, severity TEXT, retry TEXT
);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  ended INTEGER NOT NULL,
  day INTEGER NOT NULL,
  status INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  cause INTEGER REFERENCES causes,
  job INTEGER NOT NULL REFERENCES jobs,
  host INTEGER REFERENCES hosts,
  gpu INTEGER REFERENCES gpus,
  gpu_count INTEGER,
  environment INTEGER REFERENCES environments,
  settings INTEGER REFERENCES settings,
  lost REAL NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL,
  head TEXT NOT NULL,
  stamp TEXT NOT NULL,
  log TEXT NOT NULL,
  line INTEGER
);
CREATE INDEX runs_by_key ON runs (key);
CREATE INDEX runs_by_time ON runs (ended);
CREATE INDEX runs_by_cause ON runs (cause, day, host, environment, gpu, lost) WHERE cause IS NOT NULL;
CREATE INDEX runs_by_cause_and_time ON runs (cause, ended) WHERE cause IS NOT NULL;
CREATE INDEX runs_by_job ON runs (job, ended, cause, environment, settings, host, gpu);
CREATE INDEX runs_by_host ON runs (host, ended, cause, failed);
"""

_COLUMNS = ("cause", "host", "gpu", "environment")


def _summary(of: str) -> str:
    """Two summary tables of one column of ``runs``, by day and in all, filled from the runs that there are, with their triggers.
    Runs without a value are counted under 0."""
    counts = "runs INTEGER NOT NULL, failed INTEGER NOT NULL, lost REAL NOT NULL"
    add = "DO UPDATE SET runs = runs + excluded.runs, failed = failed + excluded.failed, lost = lost + excluded.lost"

    def put(row: str, sign: str) -> str:
        value, rest = f"coalesce({row}.{of}, 0)", f"{sign}1, {sign}{row}.failed, {sign}{row}.lost"
        return (
            f"INSERT INTO daily_{of} (day, value, runs, failed, lost) VALUES ({row}.day, {value}, {rest}) ON CONFLICT (day, value) {add}; "
            f"INSERT INTO total_{of} (value, runs, failed, lost) VALUES ({value}, {rest}) ON CONFLICT (value) {add};"
        )

    return f"""
CREATE TABLE daily_{of} (day INTEGER NOT NULL, value INTEGER NOT NULL, {counts}, PRIMARY KEY (day, value)) WITHOUT ROWID;
CREATE TABLE total_{of} (value INTEGER PRIMARY KEY, {counts});
INSERT INTO daily_{of} SELECT day, coalesce({of}, 0), count(*), sum(failed), sum(lost) FROM runs GROUP BY 1, 2;
INSERT INTO total_{of} SELECT coalesce({of}, 0), count(*), sum(failed), sum(lost) FROM runs GROUP BY 1;
CREATE TRIGGER {of}_added AFTER INSERT ON runs BEGIN {put("new", "")} END;
CREATE TRIGGER {of}_changed AFTER UPDATE ON runs BEGIN {put("old", "-")} {put("new", "")} END;
CREATE TRIGGER {of}_removed AFTER DELETE ON runs BEGIN {put("old", "-")} END;
"""


MIGRATIONS = (_RUNS, "".join(map(_summary, _COLUMNS)))
"""The statements that make version 1 of an empty file, version 2 of version 1, and so on."""
VERSION = len(MIGRATIONS)

"""Crashes of programs that have nothing to do with training; the tool has to stay silent about them."""

from __future__ import annotations

import asyncio
import csv
import json
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
import zipfile
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from xml.parsers import expat

from recorder import families


def csv_missing_column() -> None:
    """A report over a table whose column was renamed."""
    Path("sales.csv").write_text("day,amount\n2024-01-02,3.5\n2024-01-03,nan\n", encoding="utf-8")
    total = 0.0
    with Path("sales.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            total += float(row["turnover"])
    print(total)


def web_answer_not_json() -> None:
    """A web tool gets an HTML page where JSON is meant."""

    def fetch(city: str) -> dict[str, object]:
        answer = "<html><title>503 Service Unavailable</title></html>"
        found: dict[str, object] = json.loads(answer)
        return found | {"city": city}

    print("fetching weather for 3 cities")
    for city in ("Oslo", "Rome", "Lima"):
        print(fetch(city))


def database_locked() -> None:
    """A second writer on a locked database."""
    first = sqlite3.connect("shop.db", timeout=0.1)
    first.execute("create table items(id integer primary key)")
    first.commit()
    first.execute("begin exclusive")
    second = sqlite3.connect("shop.db", timeout=0.1)
    print("writing 1 item")
    second.execute("insert into items values (1)")


def calendar_dates() -> None:
    """A date in another format, with a chained exception."""
    try:
        datetime.strptime("31/12/2024", "%Y-%m-%d")
    except ValueError as why:
        raise RuntimeError("calendar entry 17 cannot be read") from why


def asyncio_group() -> None:
    """Several downloads fail at once: an exception group."""

    async def load(name: str) -> None:
        await asyncio.sleep(0.01)
        if name != "a.txt":
            raise FileNotFoundError(2, "No such file or directory", name)

    async def main() -> None:
        async with asyncio.TaskGroup() as group:  # type: ignore[attr-defined, unused-ignore]
            for name in ("a.txt", "b.txt", "c.txt"):
                group.create_task(load(name))

    asyncio.run(main())


def backup_bad_archive() -> None:
    """A backup tool meets an archive that is cut."""
    folder = Path(tempfile.mkdtemp(dir="."))
    with zipfile.ZipFile(folder / "backup.zip", "w") as archive:
        archive.writestr("notes.txt", "x" * 4000)
    cut = (folder / "backup.zip").read_bytes()[:90]
    (folder / "backup.zip").write_bytes(cut)
    print("restoring 1 archive")
    with zipfile.ZipFile("backup.zip" if Path("backup.zip").exists() else folder / "backup.zip") as archive:
        archive.extractall(folder)


def feed_parser() -> None:
    """An RSS reader gets a feed that breaks off."""
    print("reading feed 1/4")
    print(ET.fromstring("<rss><channel><title>News</title><item>").tag, Decimal("1"))


def node_undefined() -> None:
    """A Node script reads a property of undefined."""
    Path("menu.cjs").write_text(
        "const menu = { lunch: [] };\nfunction price(d) { return d.price.toFixed(2); }\n"
        "console.log('printing the menu');\nconsole.log(price(menu.lunch[0]));\n",
        encoding="utf-8",
    )
    raise SystemExit(subprocess.run(["node", "menu.cjs"], check=False).returncode)


GROUPS = {
    "python": {
        case.__name__: case
        for case in (csv_missing_column, web_answer_not_json, calendar_dates, asyncio_group, backup_bad_archive)
    },
    "sqlite3": {"database_locked": database_locked},
    "expat": {"feed_parser": feed_parser},
    "node": {"node_undefined": node_undefined},
}

if __name__ == "__main__":
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip().lstrip("v")
    families(
        GROUPS,
        unrelated=True,
        versions={
            "python": ".".join(map(str, sys.version_info[:3])),
            "node": node or "0",
            "sqlite3": sqlite3.sqlite_version,
            "expat": expat.EXPAT_VERSION[6:],
        },
    )

"""What a scan found: failures by root cause, unknown ones by their masked message, largest first."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

EXAMPLES = 3


def summary(rows: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The summary of records; the same records give the same summary, in whatever order they were written."""
    groups: dict[str, dict[str, Any]] = {}
    healthy = harmless = 0
    unreadable: list[dict[str, str]] = []
    for name in sorted(rows):
        row = rows[name]
        found = row.get("diagnosis") or row.get("unknown")
        if row.get("error"):
            unreadable.append({"job": name, "error": row["error"]})
        elif found is None:
            healthy += 1
        elif found.get("kind") == "harmless":
            harmless += 1
        else:
            _add(groups, row, found)
    ordered = sorted(groups.values(), key=lambda g: (-g["jobs"], g["fingerprint"]))
    for group in ordered:
        group["first_seen"], group["last_seen"] = _day(group["first_seen"]), _day(group["last_seen"])
    return {
        "schema_version": 1,
        "jobs": len(rows),
        "healthy": healthy,
        "harmless": harmless,
        "failures": [g for g in ordered if g["known"]],
        "unknown": [g for g in ordered if not g["known"]],
        "unreadable": unreadable,
    }


def _add(groups: dict[str, dict[str, Any]], row: dict[str, Any], found: dict[str, Any]) -> None:
    known = "id" in found
    group = groups.setdefault(
        found["fingerprint"],
        {
            "fingerprint": found["fingerprint"], "known": known, "id": found.get("id"),
            "title": found.get("title") or f"{found['exception']}: {found['message']}",
            "jobs": 0, "first_seen": row["modified"], "last_seen": row["modified"], "examples": [],
        },
    )  # fmt: skip
    group["jobs"] += 1
    group["first_seen"] = min(group["first_seen"], row["modified"])
    group["last_seen"] = max(group["last_seen"], row["modified"])
    if len(group["examples"]) < EXAMPLES:
        group["examples"].append(f"{row['files'][0]}:{found.get('line') or 1}")
        if not known and "new" not in group:
            group["new"] = f"troubleshoot new {shlex.quote(row['files'][0])}"


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%d %H:%M")


def lines(found: dict[str, Any], lang: str) -> list[str]:
    """The summary as text."""
    zh = lang == "zh"
    jobs = found["jobs"]
    failed = sum(g["jobs"] for g in (*found["failures"], *found["unknown"]))
    out = [
        f"{jobs} 个任务：{failed} 个失败，{found['healthy']} 个正常，{found['harmless']} 个仅有无害输出"
        if zh
        else f"{jobs} jobs: {failed} failed, {found['healthy']} healthy, {found['harmless']} with harmless output only"
    ]
    for key, title in (
        ("failures", "失败原因" if zh else "Failures"),
        ("unknown", "未知失败" if zh else "Unknown failures"),
    ):
        if not found[key]:
            continue
        out += ["", title]
        for group in found[key]:
            name = group["id"] or group["fingerprint"]
            out.append(f"{group['jobs']:>7}  {group['title'][:160]}  ({name})")
            span = (
                group["first_seen"]
                if group["first_seen"] == group["last_seen"]
                else f"{group['first_seen']} … {group['last_seen']}"
            )
            out.append(f"         {span}   {group['examples'][0]}")
            if group.get("new"):
                out.append(f"         {group['new']}")
    if found["unreadable"]:
        out += ["", "无法读取" if zh else "Could not be read"]
        out += [f"         {row['error']}" for row in found["unreadable"][:20]]
    return out

"""What is compiled is found again: rows of tables by key, and what large logs are searched for."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.cache import packs
from kb.compile.folder import compile_to
from kb.compile.tables import compile_table
from kb.compiled import Pack
from kb.error_words import SHORTEST
from kb.load import Library, load
from kb.patterns import rendered
from kb.standing import standing_literals
from tests.conftest import Draw
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

ENTRIES = Path(__file__).parent.parent.parent / "entries"
HEALTHY = sorted((ENTRIES.parent / "tests" / "healthy").glob("*/*.log"))
KEYS = st.text(st.sampled_from("ab \"\t\n'_.é中𝄞\\"), min_size=1, max_size=4)


@settings(max_examples=60)
@given(st.lists(st.tuples(KEYS, st.integers(0, 9), st.integers(0, 900)), max_size=40), st.lists(KEYS, max_size=5))
def test_each_row_of_a_table_is_found_by_its_key_whatever_its_length(rows: list[tuple[str, int, int]], others: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table, target = Path(folder, "t.jsonl"), Path(folder, "t.pack")
        written = [{"name": key, "value": value, "pad": "x" * size} for key, value, size in rows]
        table.write_text("".join(json.dumps(row) + "\n" for row in written), encoding="utf-8")
        compile_to(Library({}, {"t": table}), target)
        pack = Pack(target)
        for key in {key for key, _, _ in rows} | set(others):
            found = [json.dumps(row, sort_keys=True) for row in pack.rows("t", key)]
            assert sorted(found) == sorted(json.dumps(row, sort_keys=True) for row in written if row["name"] == key)


def test_the_rows_of_the_shipped_tables_are_those_that_a_look_at_every_row_finds(tool: Diagnoser, draw: Draw) -> None:
    pack, tables = tool.knowledge.packs[0], ENTRIES / "tables"
    for path in draw(sorted(p for p in tables.rglob("*") if p.suffix in (".yaml", ".jsonl")), 12):
        name = path.relative_to(tables).with_suffix("").as_posix()
        rows: dict[str, list[object]] = {}
        for line in compile_table(path).splitlines()[1:]:
            key, _, value = line.partition(b"\t")
            rows.setdefault(json.loads(key), []).append(json.loads(value))
        for key in [*list(rows)[:: max(1, len(rows) // 50)], *list(rows)[-1:]]:
            assert list(pack.rows(name, key)) == rows[key], (name, key)
            for missing in (key + "\x01", key[:-1] + "\U0010ffff", "\x01" + key):
                assert list(pack.rows(name, missing)) == rows.get(missing, [])


def test_nothing_is_searched_for_that_stands_all_over_healthy_logs() -> None:
    """One such word slows down the search of every large log. An entry that adds one has a pattern that requires too little."""
    texts = packs()[0].standing
    assert len(texts) > 300
    assert len(HEALTHY) > 150
    logs = [[" ".join(line.lower().split()) for line in path.read_text(errors="replace").splitlines()] for path in HEALTHY]
    for text in texts:
        often = [log for log in logs if len(log) >= 50 and sum(text in line for line in log) > len(log) / 10]
        assert len(often) <= 2, text


def test_what_is_searched_for_is_long_enough_to_tell_something() -> None:
    assert all(len(text.encode()) >= SHORTEST for text in packs()[0].standing)


def test_a_literal_is_searched_for_where_a_sample_prints_it_without_an_error_word(tmp_path: Path) -> None:
    folder = tmp_path / "area" / "quux"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: quux\nseverity: crash\ntitle: The quux is gone and the run stops\nsymptoms:\n"
        '  - require: [{line: "the quux went away quietly"}]\n    source: {run: "made"}\n'
        '  - require: [{message: "the quux broke loudly"}]\n    source: {run: "made"}\n'
        'cause: Made for a test.\nfixes: [{do: "Nothing"}]\nsources: [{run: "made", shows: cause}]\n'
    )
    (folder / "samples.log").write_text(
        "=== match quiet\nnote: the quux went away quietly\n=== match loud\nValueError: the quux broke loudly\n"
    )
    (item,) = load(tmp_path).need().entries.values()
    assert standing_literals(item) == {"the quux went away quietly"}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("pass `max_length` to", "pass max_length to"),
        (r"a \`b_long_enough\` c", "a b_long_enough c"),
        ("has `?b_long_enough`?, ok", "has b_long_enough, ok"),
        ("`([^`]+)` is not a valid thing of this place", "([^`]+) is not a valid thing of this place"),
        (r"`\w+` needs quuxlib", None),
        (r"set ['`](?P<name>\w+)[`'] to steps", r"set ['`]?(?P<name>\w+)(?:[`']|\b) to steps"),
        (r"No module named pip(?:[`';]|$)", r"No module named pip(?:(?:[`';]|\b)|$)"),
        ("['`]?x['`]? is long enough", None),
        (r"a \[b`c\] d_long_enough", r"a \[bc\] d_long_enough"),
        ("`sho` it", None),
        (r"Trainer\.__init__\(\) got an unexpected", r"Trainer\.init\(\) got an unexpected"),
        ("nothing of it", None),
        (r"import from quuxlib['\"`\s]", r"import from quuxlib(?:['\"`\s]|$)"),
    ],
)
def test_a_pattern_as_a_rendered_page_leaves_it(pattern: str, expected: str | None) -> None:
    assert rendered(pattern) == expected


def test_a_message_without_its_backticks_is_recognised() -> None:
    tool = Diagnoser.load()
    text = "ValueError: You have set `args.eval_strategy` to steps but you didn't pass an `eval_dataset` to `Trainer`."
    found = [tool.report([from_text(shown)]).diagnoses[0].id for shown in (text, text.replace("`", ""))]
    assert found == ["evaluation-without-eval-dataset"] * 2

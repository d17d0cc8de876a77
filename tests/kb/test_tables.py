"""The tables are made from small packages written here, wrapped as wheels, and read without importing anything."""

from __future__ import annotations

import signal
import zipfile
from pathlib import Path

import pytest
import yaml

from kb.compile.tables import table_rows
from kb.tables.__main__ import replace, write
from kb.tables.imports import import_rows
from kb.tables.members import Classes, member_rows, read_classes
from kb.tables.names import model_rows, name_rows
from kb.tables.parameters import inheritance_rows, parameter_rows
from kb.tables.plan import PACKAGES, Plan, releases_to_scan
from kb.tables.releases import config_mapping, expand_lazy_folders, read_archive
from kb.tables.replacements import Replacement, ReplacementError, load_replacements, merge
from kb.tables.spans import spans
from kb.tables.surface import Surface

TABLES = Path(__file__).parents[2] / "entries" / "tables"
TRL = PACKAGES["trl"]


def wheel(folder: Path, plan: Plan, version: str, files: dict[str, str], metadata: str = "") -> Surface:
    """Packs the files into a wheel and reads it back as a surface."""
    path = folder / f"{plan.module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, source in files.items():
            archive.writestr(f"{plan.module}/{name}", source)
        archive.writestr(f"{plan.module}-{version}.dist-info/METADATA", metadata)
    return read_archive(path, plan, version)


def row(rows: list[dict[str, object]], **columns: object) -> dict[str, object]:
    """The only row with these columns."""
    found = [item for item in rows if all(item[key] == value for key, value in columns.items())]
    assert len(found) == 1, f"{columns}: {found}"
    return found[0]


OLD = {
    "__init__.py": (
        "_import_structure = {'trainer': ['SFTTrainer', 'helper']}\n"
        "_import_structure['trainer'].append('SFTConfig')\n"
        "if TYPE_CHECKING:\n    from .trainer import SFTTrainer, SFTConfig\n"
    ),
    "trainer.py": (
        "from dataclasses import dataclass\n"
        "from typing import ClassVar\n"
        "from transformers import TrainingArguments\n"
        "@dataclass\nclass Base(TrainingArguments):\n    seed: int = 1\n"
        "@dataclass\nclass SFTConfig(Base):\n    flag: ClassVar[int] = 0\n    max_seq_length: int = 8\n"
        "class SFTTrainer:\n"
        "    def __init__(self, model, tokenizer=None, *, packing=False): ...\n"
        "    def compute_loss(self, model, inputs): ...\n"
        "def helper(model, **kwargs):\n    return kwargs.pop('use_auth_token', None)\n"
        "def swallow(a, old=1, **kwargs): ...\n"
    ),
    "gone.py": "def moved(): ...\n",
}
NEW = {
    "__init__.py": "from .trainer import SFTTrainer, SFTConfig, helper\n",
    "trainer.py": (
        "from dataclasses import dataclass\n"
        "from transformers import TrainingArguments\n"
        "@dataclass\nclass Base(TrainingArguments):\n    seed: int = 1\n"
        "@dataclass\nclass SFTConfig(Base):\n    max_length: int = 8\n"
        "class SFTTrainer:\n"
        "    @deprecate_kwarg('tokenizer', new_name='processing_class', version='9')\n"
        "    def __init__(self, model, processing_class=None): ...\n"
        "    def compute_loss(self, model, inputs, num_items_in_batch=None): ...\n"
        "def helper(model): ...\n"
        "def swallow(a, **kwargs): ...\n"
    ),
    "inner/__init__.py": "from .place import moved\n",
    "inner/place.py": "def moved(): ...\n",
}


@pytest.fixture
def pair(tmp_path: Path) -> list[Surface]:
    """Two releases of a small package."""
    return [wheel(tmp_path, TRL, "1.0", OLD), wheel(tmp_path, TRL, "2.0", NEW)]


def test_arguments_that_come_and_go_have_both_neighbours(pair: list[Surface]) -> None:
    rows = parameter_rows(pair, TRL)
    gone = row(rows, owner="SFTConfig", name="max_seq_length")
    assert (gone["method"], gone["since"], gone["until"], gone["until_before"]) == ("__init__", None, "2.0", "1.0")
    came = row(rows, owner="SFTTrainer", name="num_items_in_batch")
    assert (came["method"], came["since"], came["since_before"], came["until"]) == ("compute_loss", "2.0", "1.0", None)
    assert row(rows, owner="SFTTrainer", name="packing")["until"] == "2.0"


def test_an_inherited_field_and_a_class_variable_make_no_row(pair: list[Surface]) -> None:
    assert not [r for r in parameter_rows(pair, TRL) if r["name"] in ("seed", "flag", "model", "self")]


def test_a_decorator_that_still_takes_the_old_name_keeps_it(pair: list[Surface]) -> None:
    assert not [r for r in parameter_rows(pair, TRL) if r["name"] == "tokenizer"]


def test_what_kwargs_swallow_is_no_failure_but_what_the_body_pops_is_an_argument(pair: list[Surface]) -> None:
    rows = parameter_rows(pair, TRL)
    assert not [r for r in rows if r["owner"] == "swallow"]
    popped = row(rows, owner="helper", name="use_auth_token")
    assert popped["taken_from_kwargs"] is True
    assert popped["until"] == "2.0"
    assert popped["method"] is None


def test_names_follow_the_lazy_table_and_know_where_they_went(pair: list[Surface]) -> None:
    rows = name_rows(pair, TRL, frozenset())
    module = row(rows, kind="module", module="trl.gone")
    assert module["until"] == "2.0"
    assert module["moved_to"] == "trl.inner.place"
    assert not [r for r in rows if r["module"] == "trl" and r["name"] in ("SFTTrainer", "SFTConfig", "helper")]
    assert row(rows, kind="module", module="trl.inner")["since"] == "2.0"


def test_a_name_that_is_only_imported_stays_importable(tmp_path: Path) -> None:
    first = wheel(tmp_path, TRL, "1.0", {"__init__.py": "", "a.py": "class X: ...\n", "b.py": ""})
    second = wheel(tmp_path, TRL, "2.0", {"__init__.py": "", "a.py": "from .b import X\n", "b.py": "class X: ...\n"})
    third = wheel(tmp_path, TRL, "3.0", {"__init__.py": "", "a.py": "", "b.py": "class X: ...\n"})
    gone = row(name_rows([first, second, third], TRL, frozenset()), module="trl.a", name="X")
    assert (gone["until"], gone["until_before"], gone["moved_to"]) == ("3.0", "2.0", "trl.b")


@pytest.mark.parametrize("stand_in", ["utils/dummy_pt_objects.py", "_graveyard/tpu.py"])
def test_a_class_that_only_raises_is_no_new_home(tmp_path: Path, stand_in: str) -> None:
    first = wheel(tmp_path, TRL, "1.0", {"__init__.py": "from .a import X\n", "a.py": "class X: ...\n"})
    second = wheel(tmp_path, TRL, "2.0", {"__init__.py": "", "a.py": "", stand_in: "class X: ...\n"})
    assert {item["moved_to"] for item in name_rows([first, second], TRL, frozenset()) if item["name"] == "X"} == {None}


def test_a_home_that_was_left_again_tells_up_to_which_release(tmp_path: Path) -> None:
    at_home = {"__init__.py": "", "a.py": "", "b.py": "class X: ...\n"}
    first = wheel(tmp_path, TRL, "1.0", {"__init__.py": "", "a.py": "class X: ...\n"})
    second = wheel(tmp_path, TRL, "2.0", at_home)
    onward = wheel(tmp_path, TRL, "3.0", {"__init__.py": "", "a.py": "", "b.py": "", "c.py": "class X: ...\n"})
    lost = wheel(tmp_path, TRL, "4.0", {"__init__.py": "", "a.py": "", "b.py": "", "c.py": ""})
    gone = row(name_rows([first, second, onward], TRL, frozenset()), module="trl.a", name="X")
    assert (gone["moved_to"], gone.get("moved_when")) == ("trl.c", None)
    gone = row(name_rows([first, second, onward, lost], TRL, frozenset()), module="trl.a", name="X")
    assert (gone["moved_to"], gone["moved_when"]) == ("trl.c", "in releases below 4.0")


def test_what_a_lost_module_had_only_imported_is_not_where_it_went(tmp_path: Path) -> None:
    lost = "from .hub import fetch\ndef x(): ...\ndef y(): ...\ndef z(): ...\n"
    first = wheel(tmp_path, TRL, "1.0", {"__init__.py": "", "hub.py": "def fetch(): ...\n", "lost.py": lost})
    few = wheel(tmp_path, TRL, "2.0", {"__init__.py": "", "hub.py": "def fetch(): ...\ndef x(): ...\n"})
    most = wheel(tmp_path, TRL, "3.0", {"__init__.py": "", "hub.py": "def fetch(): ...\n", "new.py": "def x(): ...\ndef y(): ...\n"})
    for second, home in ((few, None), (most, "trl.new")):
        assert row(name_rows([first, second], TRL, frozenset()), kind="module", module="trl.lost")["moved_to"] == home


def test_private_names_count_only_when_others_import_them(tmp_path: Path) -> None:
    files = [{"__init__.py": "", "a.py": "def _x(): ...\n"}, {"__init__.py": "", "a.py": ""}]
    surfaces = [wheel(tmp_path, TRL, f"{n}.0", source) for n, source in enumerate(files, 1)]
    assert name_rows(surfaces, TRL, frozenset()) == []
    assert row(name_rows(surfaces, TRL, frozenset({("trl.a", "_x")})), name="_x")["until"] == "2.0"


def test_lazy_folders_offer_what_their_files_export(tmp_path: Path) -> None:
    plan = PACKAGES["transformers"]
    lazy = "from ...utils import define_import_structure\n"
    surface = expand_lazy_folders(
        wheel(
            tmp_path, plan, "5.0",
            {
                "__init__.py": "from .utils import define_import_structure\n",
                "models/__init__.py": "",
                "models/new/__init__.py": lazy,
                "models/new/modeling_new.py": "__all__ = ['NewModel']\nclass NewModel: ...\nclass Inner: ...\n",
            },
        )
    )  # fmt: skip
    assert surface.offers("transformers", "NewModel", {}) is True
    assert surface.offers("transformers", "Inner", {}) is False
    assert surface.resolve("transformers", "NewModel") == ("transformers.models.new.modeling_new", "NewModel")


def test_model_types_come_from_the_auto_mapping() -> None:
    source = "CONFIG_MAPPING_NAMES = OrderedDict([('qwen2', 'Qwen2Config'), ('llama', 'LlamaConfig')])\n"
    new = Surface("transformers", "2", model_types=config_mapping(source))
    old = Surface("transformers", "1", model_types={"llama": "LlamaConfig"})
    assert model_rows([old, new]) == [
        {"model_type": "qwen2", "class_prefix": "Qwen2", "since": "2", "since_before": "1", "until": None,
         "until_before": None}
    ]  # fmt: skip


def test_spans_of_an_owner_that_is_missing_have_no_edge() -> None:
    assert not spans([None, True, None], ["1", "2", "3"])[0].changed
    both = spans([False, True, True, False], ["1", "2", "3", "4"])[0]
    assert (both.since, both.since_before, both.until, both.until_before) == ("2", "1", "4", "3")


def test_classes_that_take_arguments_from_another_package_are_listed(pair: list[Surface]) -> None:
    rows = inheritance_rows(pair, TRL, PACKAGES)
    assert row(rows, owner="SFTConfig")["base"] == "TrainingArguments"


def test_pairs_that_do_not_import_together_come_from_unguarded_imports(tmp_path: Path) -> None:
    plan = PACKAGES["transformers"]
    provider = [
        wheel(tmp_path, plan, "4.0", {"__init__.py": "", "cache.py": "class Hybrid: ...\nclass New: ..."}),
        wheel(tmp_path, plan, "5.0", {"__init__.py": "", "cache.py": "class New: ...\n"}),
    ]
    guarded = "try:\n    from transformers.cache import Hybrid\nexcept ImportError:\n    Hybrid = None\n"
    consumer = [
        wheel(tmp_path, TRL, "1.0", {"__init__.py": "from transformers.cache import Hybrid, New\n"}),
        wheel(tmp_path, TRL, "1.1", {"__init__.py": "from transformers.cache import Hybrid\n"}),
        wheel(tmp_path, TRL, "1.2", {"__init__.py": guarded}),
    ]
    only = row(import_rows(consumer, provider), name="Hybrid")
    assert (only["consumer_from"], only["consumer_to"], only["consumer_next"]) == ("1.0", "1.1", "1.2")
    assert (only["provider_missing_from"], only["provider_last_with"], only["declared"]) == ("5.0", "4.0", False)
    pinned = [wheel(tmp_path, TRL, "1.3", {"__init__.py": "from transformers.cache import Hybrid\n"},
                    "Requires-Dist: transformers<5\n")]  # fmt: skip
    assert row(import_rows(pinned, provider), name="Hybrid")["declared"] is True


def test_releases_are_the_ends_of_each_minor_and_every_patch_where_asked() -> None:
    plan = Plan("p", "p", "1.0", every_patch=("1.2", "1.3"))
    found = ["0.9", "1.0.0", "1.0.1", "1.0.2", "1.1.0", "1.2.0", "1.2.1", "1.2.2", "1.3rc1"]
    assert releases_to_scan(found, plan) == ["1.0.0", "1.0.2", "1.1.0", "1.2.0", "1.2.1", "1.2.2"]


def test_a_source_that_this_python_cannot_parse_still_gives_its_names(tmp_path: Path) -> None:
    surface = wheel(tmp_path, TRL, "1.0", {"__init__.py": "", "a.py": "class Kept: ...\nprint 'old'\n"})
    assert surface.offers("trl.a", "Kept", {}) is True


def test_replacements_reach_their_rows_and_the_unused_are_reported(pair: list[Surface]) -> None:
    rows = parameter_rows(pair, TRL)
    wanted = Replacement("trl", "max_seq_length", owner=["SFTConfig"], replacement="max_length")
    idle = Replacement("trl", "no_such_argument")
    assert merge(rows, [wanted, idle]) == [idle]
    assert row(rows, owner="SFTConfig", name="max_seq_length")["replacement"] == "max_length"
    assert row(rows, owner="SFTConfig", name="max_length")["older_name"] == "max_seq_length"


def test_what_a_replacement_advises_reaches_its_row(pair: list[Surface]) -> None:
    rows = parameter_rows(pair, TRL)
    renamed = Replacement("trl", "max_seq_length", owner=["SFTConfig"], replacement="max_length", note_en="Shorter.", note_zh="更短。")
    merge(rows, [renamed])
    found = row(rows, owner="SFTConfig", name="max_seq_length")
    assert (found["note"], found["note_zh"]) == ("Shorter.", "更短。")
    merge(rows, [Replacement("trl", "max_seq_length", owner=["SFTConfig"], note_en="Remove it.", note_zh="删除。")])
    assert (found["replacement"], found["advice"], found["advice_zh"]) == (None, "Remove it.", "删除。")


def test_a_replacement_for_one_module_overrides_the_general_one(pair: list[Surface]) -> None:
    general = Replacement("trl", "trl.gone", kind="name", replacement="trl.inner.place", note_en="Moved.")
    narrower = Replacement("trl", "trl.gone", kind="name", module="trl.gone", note_en="Remove it.")
    elsewhere = Replacement("trl", "trl.gone", kind="name", module="trl.other", note_en="Never said.")
    rows = name_rows(pair, TRL, frozenset())
    assert merge(rows, [general, narrower, elsewhere]) == [elsewhere]
    found = row(rows, kind="module", module="trl.gone")
    assert (found["replacement"], found["note"], found["advice"]) == (None, None, "Remove it.")


def test_a_wrong_replacement_names_the_file_and_the_item(tmp_path: Path) -> None:
    path = tmp_path / "replacements.yaml"
    path.write_text("- {package: trl, name: x, replacment: y}\n", encoding="utf-8")
    with pytest.raises(ReplacementError, match=r"replacements\.yaml: item 1 \(x\).*replacment"):
        load_replacements(path)


def test_a_second_run_writes_the_same_bytes_and_keeps_other_packages(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write(path, [{"package": "a", "n": 1, "empty": None, "no": False}, {"package": "b", "n": 2}])
    assert path.read_bytes() == b'{"package":"a","n":1}\n{"package":"b","n":2}\n'
    replace(path, [{"package": "b", "n": 3}], {"b"}, "package")
    once = path.read_bytes()
    replace(path, [{"package": "b", "n": 3}], {"b"}, "package")
    assert path.read_bytes() == once == b'{"package":"a","n":1}\n{"package":"b","n":3}\n'


# --- attributes of classes

OLDER = """
class Base:
    attribute_map = {"width": "size"}
    kept: int = 1
    def __init__(self, x):
        self.x, self.gone = x, 2
        setattr(self, "named", 1)
        other.foreign = 3
class PreTrainedConfig: pass
class OneConfig(PreTrainedConfig):
    def __init__(self): self.a = self.old = 1
class MyConfig(PreTrainedConfig):
    old = 1
if True:
    class Derived(Base):
        @property
        def own(self): ...
"""
NEWER = OLDER.replace("self.gone = x, 2", "self.y = x, 2").replace("old", "new").replace(
    "class PreTrainedConfig: pass", "class PreTrainedConfig:\n    default = None"
)


def classes(source: str) -> Classes:
    return {name: (sorted(bases), sorted(members)) for name, bases, members in read_classes(source, "m.py")}


def test_attributes_are_what_a_class_and_its_methods_set() -> None:
    found = classes(OLDER)
    assert found["Base"][1] == ["__init__", "attribute_map", "gone", "kept", "named", "width", "x"]
    assert found["Derived"] == (["Base"], ["own"])


def test_an_attribute_comes_and_goes_with_what_is_derived_and_families_are_one_pattern() -> None:
    rows = member_rows({"1.0": classes(OLDER), "2.0": classes(NEWER)}, TRL)
    told = {(*row["names"], *row["classes"]): (row["since"], row["until"]) for row in rows}
    assert told == {
        ("gone", "Base", "Derived"): (None, "2.0"),
        ("y", "Base", "Derived"): ("2.0", None),
        ("old", "MyConfig", "OneConfig"): (None, "2.0"),
        ("new", "MyConfig", "OneConfig"): ("2.0", None),
        ("default", "*Config", "PreTrainedConfig"): ("2.0", None),
    }


def test_a_class_that_is_new_tells_nothing_about_its_attributes() -> None:
    assert member_rows({"1.0": {}, "2.0": classes(NEWER)}, TRL) == []


# --- the tables in the repository, against what was run or printed elsewhere


def rows_of(name: str) -> list[dict[str, object]]:
    """A generated table."""
    return table_rows(TABLES / "api" / f"{name}.jsonl")


@pytest.mark.parametrize(
    ("package", "owner", "method", "name", "column", "version"),
    [
        ("transformers", "TrainingArguments", "__init__", "evaluation_strategy", "until", "4.51.0"),
        ("transformers", "TrainingArguments", "__init__", "evaluation_strategy", "until_before", "4.50.3"),
        ("transformers", "TrainingArguments", "__init__", "no_cuda", "until", "5.0.0"),
        ("transformers", "Trainer", "__init__", "tokenizer", "until", "5.0.0"),
        ("transformers", "Trainer", "compute_loss", "num_items_in_batch", "since", "4.46.1"),
        ("trl", "SFTTrainer", "__init__", "tokenizer", "until", "0.16.0"),
        ("trl", "SFTTrainer", "__init__", "dataset_text_field", "until", "0.13.0"),
        ("trl", "SFTConfig", "__init__", "max_seq_length", "until", "0.20.0"),
        ("accelerate", "Accelerator", "unwrap_model", "keep_torch_compile", "since", "1.3.0"),
    ],
)
def test_known_changes_of_arguments(
    package: str, owner: str, method: str, name: str, column: str, version: str
) -> None:
    found = [
        item for item in rows_of(f"parameters-{package}")
        if (item["owner"], item.get("method"), item["name"]) == (owner, method, name)
    ]  # fmt: skip
    assert [item[column] for item in found] == [version]


@pytest.mark.parametrize(
    ("package", "module", "name", "version"),
    [
        ("transformers", "transformers", "HybridCache", "5.0.0"),
        ("transformers", "transformers.deepspeed", "", "4.46.1"),
        ("trl", "trl", "DataCollatorForCompletionOnlyLM", "0.20.0"),
        ("peft", "peft", "prepare_model_for_int8_training", "0.10.0"),
        ("huggingface_hub", "huggingface_hub", "cached_download", "0.26.0"),
    ],
)
def test_known_removals_of_names(package: str, module: str, name: str, version: str) -> None:
    found = [item for item in rows_of(f"names-{package}") if (item["module"], item["name"]) == (module, name)]
    assert version in [item.get("until") for item in found]


def test_every_replacement_belongs_to_a_row() -> None:
    replacements = load_replacements(TABLES / "api" / "replacements.yaml")
    assert len(replacements) >= 60
    for package in sorted({item.package for item in replacements}):
        rows = [*rows_of(f"parameters-{package}"), *rows_of(f"names-{package}")]
        for item in rows:
            item.setdefault("until", None)
            item.setdefault("since", None)
        assert merge(rows, [item for item in replacements if item.package == package]) == []
    assert all((item.replacement or item.note_en) and item.source for item in replacements)
    assert all(bool(item.note_en) == bool(item.note_zh) for item in replacements)


def test_the_notes_of_replacements_stand_in_the_tables() -> None:
    """The tables are made from releases; a note that was written later has to be merged into them, too."""
    replacements = load_replacements(TABLES / "api" / "replacements.yaml")
    narrower = {(item.package, item.name, item.module) for item in replacements if item.module}
    for item in replacements:
        kind = "parameters" if item.kind == "parameter" else "names"
        column = "note" if item.replacement else "advice"
        ended = [row for row in rows_of(f"{kind}-{item.package}") if row["name"] == item.name and "until" in row]
        ended = [row for row in ended if not item.owner or row.get("owner") in item.owner]
        ended = [
            row
            for row in ended
            if row["module"] == item.module or (not item.module and (item.package, item.name, row["module"]) not in narrower)
        ]
        assert all(row.get(column) == (item.note_en or None) for row in ended), item.name


def test_the_generated_tables_stay_small() -> None:
    assert sum(path.stat().st_size for path in (TABLES / "api").glob("*.jsonl")) < 2_600_000


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_hand_made_tables_name_their_sources_in_both_languages(path: Path) -> None:
    table = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert "source" in table or "sources" in table or all("source" in item for item in table["rows"])
    for item in table["rows"]:
        for key in item:
            if key.endswith("_en"):
                assert item[key[:-3] + "_zh"], f"{path.name}: {key} has no Chinese"


def test_exit_codes_follow_from_the_signal_number() -> None:
    table = yaml.safe_load((TABLES / "exit-codes.yaml").read_text(encoding="utf-8"))
    named = [item for item in table["rows"] if "signal" in item]
    assert len(named) >= 12
    for item in named:
        assert item["codes"] == [-item["number"], 128 + item["number"]]
        assert getattr(signal, item["signal"]) == item["number"]

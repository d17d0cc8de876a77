"""What a person asks for is found: words of a title, a pasted message, words spelled or bent otherwise, Chinese."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kb.pages.render import STATIC
from kb.search import SearchIndex, Terms, commonness, search, words
from troubleshooter.pipeline import Diagnoser


@pytest.fixture(scope="module")
def index(tool: Diagnoser) -> SearchIndex:
    """The index of the shipped entries, read once: each `search` reads it anew, as a command does."""
    return SearchIndex.of(tool.knowledge)


def ids(index: SearchIndex, asked: str, limit: int = 10) -> list[str]:
    return [index.ids[number] for _, number in index.find(asked)[:limit]]


def test_a_search_gives_the_entries_of_the_index(tool: Diagnoser, index: SearchIndex) -> None:
    found = search(tool.knowledge, "nccl timeout", limit=4)
    assert [body["id"] for _, body in found] == ids(index, "nccl timeout", 4)
    assert [share for share, _ in found] == [100 * share for share, _ in index.find("nccl timeout")[:4]]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("nccl timeout", "nccl-watchdog-timeout"),
        ("ValueError: Attempting to unscale FP16 gradients.", "amp-unscale-fp16-gradients"),
        ("RuntimeError: expected scalar type Half but found Float", "matmul-dtype-mismatch"),
        ("element 0 of tensors does not require grad and does not have a grad_fn", "nothing-in-the-graph"),
        ("bitsandbytes windows", "bnb-windows-unsupported"),
        ("gradiant nan resum", "grad-norm-turns-nan"),  # spelled otherwise
        ("merging adapter memory", "oom-merging-adapter"),
        ("合并 显存不足", "oom-merging-adapter"),
    ],
)
def test_what_is_asked_for_is_among_the_first(index: SearchIndex, asked: str, wanted: str) -> None:
    assert wanted in ids(index, asked, 4)


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("loss nan", {"nonfinite-loss"}),
        ("CUDA out of memory", {"cuda-out-of-memory"}),
        ("expected scalar type Half but found Float", {"matmul-dtype-mismatch"}),
        ("pad token", {"pad-token-missing"}),
        ("target_modules", {"peft-target-modules-not-found"}),
        ("nccl timeout", {"nccl-watchdog-timeout"}),
        ("loss 0", {"fp16-overflow-zero-loss", "all-labels-masked"}),
    ],
)
def test_the_general_entry_comes_first(index: SearchIndex, asked: str, wanted: set[str]) -> None:
    assert ids(index, asked)[0] in wanted


def test_a_harmless_entry_comes_first_only_where_the_words_are_its_own(tool: Diagnoser, index: SearchIndex) -> None:
    kinds = [body["kind"] for _, body in search(tool.knowledge, "pad token", limit=5)]
    assert kinds == ["failure"] * 5
    own = "Setting pad_token_id to eos_token_id for open-end generation"
    assert ids(index, own)[0] == "pad-token-open-end-generation"


def test_the_number_is_the_share_of_the_words(index: SearchIndex) -> None:
    assert all(0.35 <= share <= 1 for share, _ in index.find("flash attention not installed")[:50])
    assert round(index.find("cuda-out-of-memory")[0][0], 2) == 1


def test_commonness_counts_references_and_threads() -> None:
    def entry(threads: int, fallback_for: tuple[str, ...] = (), variant_of: str | None = None) -> Terms:
        return Terms("", "", "", 0, False, threads, fallback_for, variant_of)

    none: dict[str, list[object]] = {"confused": [], "overlaps": []}
    near = {"confused": [{"entry": "general"}], "overlaps": ["general"]}
    entries = {"general": entry(2, fallback_for=("one", "two")), "one": entry(1, variant_of="general"), "two": entry(0)}
    assert commonness(entries, {"general": none, "one": near, "two": none}) == {"general": 4, "one": 2, "two": 0}


ASKED = [
    "loss nan", "CUDA out of memory", "expected scalar type Half but found Float", "pad token", "target_modules", "nccl timeout",
    "loss 0", "gradiant nan resum", "hybrdcache object has no atribute flaot", "合并 显存不足", "评估时崩溃", "transformers 4.51 gemma",
    "os.path v1.0 4090", "lo", "ValueError: Attempting to unscale FP16 gradients.", "the of and", "qqxzzvk", "",
]  # fmt: skip


def test_the_pages_rank_as_we_do(index: SearchIndex) -> None:
    if (node := shutil.which("node")) is None:
        pytest.skip("no node to run the pages' search with")
    given = json.dumps({"data": index.data(), "ids": index.ids, "asked": ASKED})
    script = (
        "require(process.argv[1]); const g = JSON.parse(require('fs').readFileSync(0)); const i = SearchIndex(g.data, g.ids);"
        "console.log(JSON.stringify(g.asked.map(q => i.find(q).map(n => g.ids[n]))))"
    )
    done = subprocess.run(
        [node, "-e", script, str(STATIC / "search.js")], input=given, capture_output=True, text=True, check=True
    )
    for asked, found in zip(ASKED, json.loads(done.stdout), strict=True):
        assert found == [index.ids[number] for _, number in index.find(asked)], asked


def test_entries_of_a_team_are_found_beside_ours_and_instead_of_them(tmp_path: Path) -> None:
    from kb.cache import CHECKOUT

    for name in ("cuda-out-of-memory", "a-team-entry"):
        place = tmp_path / "memory" / name
        shutil.copytree(CHECKOUT / "memory" / "cuda-out-of-memory", place)
        entry = (place / "entry.yaml").read_text("utf-8")
        entry = re.sub(r"(?m)^id:.*", f"id: {name}", entry)
        (place / "entry.yaml").write_text(
            re.sub(r"(?m)^title:.*", "title: Zebrafish on the GPU of our team", entry), "utf-8"
        )
    tool = Diagnoser.load([tmp_path])
    assert {body["id"] for _, body in search(tool.knowledge, "zebrafish")} == {"cuda-out-of-memory", "a-team-entry"}
    index = SearchIndex.of(tool.knowledge)
    merged = SearchIndex([(index.data(), range(len(index.ids)))], index.ids)
    assert merged.find("zebrafish gpu memory") == index.find("zebrafish gpu memory")


@pytest.mark.parametrize("asked", ["qqxzzvk wwqjjx", "the of and", "", "??"])
def test_what_nothing_is_like_finds_nothing(index: SearchIndex, asked: str) -> None:
    assert index.find(asked) == []


def test_names_count_whole_and_in_parts_and_chinese_in_pairs() -> None:
    assert words("set torch.backends.cudnn to a 4090") == {
        "set", "torch.backends.cudnn", "torch", "backends", "cudnn", "4090",
    }  # fmt: skip
    assert words("显存不足") == {"显存", "存不", "不足"}

"""Conditions, relations and ranking: three values, evidence, and never a runaway."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb import patterns
from tests.counting import calls
from troubleshooter.match import series
from troubleshooter.match.context import contains_required
from troubleshooter.match.relations import RELATIONS, number
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.report.fill import fill, fits, safe


@pytest.mark.parametrize(
    ("name", "of", "want"),
    [
        ("equal", {"a": "8", "b": "8.0"}, True),
        ("doubled", {"a": "512", "b": "1024"}, True),
        ("half-of-product", {"n": "8388608", "a": "4096", "b": "4096"}, True),
        ("slightly-less", {"a": "151665", "b": "152064"}, True),
        ("slightly-less", {"a": "32000", "b": "128256"}, False),
        ("less", {"a": "500 MiB", "b": "2.00 GiB"}, True),
        ("share-below", {"part": "2 GiB", "whole": "79.3 GiB", "share": 0.6}, True),
        ("less", {"a": "x", "b": "1"}, None),
    ],
)
def test_relations(name: str, of: dict[str, object], want: bool | None) -> None:
    assert RELATIONS[name](**of) is want


def test_sizes() -> None:
    assert number("79.32 GiB") == 79.32 * 2**30
    assert number("1,024") == 1024
    assert number("torch") is None


@pytest.mark.parametrize(
    ("shape", "values", "want"),
    [
        ("nan", [1.0, float("nan")], True),
        ("zero", [0.0], True),
        ("stuck", [0.693, 0.693, 0.6931, 0.6931, 0.693, 0.693], True),
        ("stuck", [2.0, 1.8, 1.5, 1.2, 1.0, 0.8], False),
        ("exploding", [5.3, 66.0, 6665.0, 15425.0], True),
        ("exploding", [2.3, 2.1, 2.0, 2.2], False),
        ("repeating", [3.0, 2.0, 1.0, 3.0, 2.0, 1.0], True),
        ("constant", [1.0, 1.0, 1.0], True),
        ("falling", [3.0, 2.0, 1.0], True),
    ],
)
def test_series(shape: str, values: list[float], want: bool) -> None:
    assert (series.first(values, shape, None) is not None) is want


@pytest.mark.parametrize(
    ("pattern", "want"),
    [
        ("object has no attribute 'float'", {"object has no attribute 'float'"}),
        ("expected (?:mat1|m1) and", {"expected m"}),
        ("(?:first words|second words) here", {"second words", "first words"}),
        ("abc?defghij", {"defghij"}),
        ("\\d+", set()),
        (r"(?:pip|conda)[”’]? ?不是内部或外部命令", {"不是内部或外部命令"}),
        (r"“找不到模块”", {"找不到模块"}),  # quotes are made plain before patterns see a line
    ],
)
def test_literals_of_patterns(pattern: str, want: set[str]) -> None:
    assert set(patterns.literals(pattern)) == want


@settings(max_examples=200)
@given(st.text(alphabet="abcdefgh 'x0找不到模块", min_size=5, max_size=30), st.text(max_size=20), st.text(max_size=20))
def test_every_match_of_a_pattern_holds_one_of_its_literals(words: str, before: str, after: str) -> None:
    import re

    for pattern in (re.escape(words), f"(?:{re.escape(words)}|zzzzzz)", f"x?{re.escape(words)}+"):
        text = before + words + after
        found = patterns.literals(pattern)
        if found and re.search(pattern, text):
            assert any(literal in text.lower() for literal in found)
            required = {"required": patterns.required_texts(pattern)}
            assert contains_required(text.lower(), required)


def test_what_every_match_contains() -> None:
    assert patterns.required_texts(r"(?P<cls>\w+Cache)' object has no attribute '(?:float|half)' in (?:x y)+(?:zzz)?") == [
        ["' object has no attribute '"], ["' in "], ["cache"], ["x y"], ["float", "half"]
    ]  # fmt: skip
    assert patterns.required_texts("(?:one|two|3)") == []
    assert patterns.required_texts("lost (?:loss (?:curve)?|loss|curves) (?:early|end|too early) (?:here)") == [
        [" here"], ["lost "], ["curves", "loss", "loss "], ["early", "end", "too early"]
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", ["(?=x)y", "(a)\\1", "(unclosed"])
def test_patterns_that_are_not_linear_are_refused(pattern: str) -> None:
    assert patterns.syntax_error(pattern)


HOSTILE = [
    "a" * 60_000,
    "Traceback (most recent call last):\n" * 3000,
    "File \"" * 9000,
    "|" * 50_000,
    "'" + "x': " * 12_000,
    "loss: " + "1" * 50_000,
    "[" * 50_000,
    " " * 60_000 + "x",
    "{'loss': " * 5000,
    "│ " * 20_000,
    "5%|" * 15_000,
    "torch " * 9000 + "2.4",
    "exit code" * 6000,
    "CUDA error: " * 5000,
    "\x1b[" * 20_000,
    ("During handling of the above exception, another exception occurred:\n" + "KeyError: 1\n") * 2000,
]


@pytest.mark.parametrize("number_", range(len(HOSTILE)))
def test_hostile_lines_cost_no_more_than_their_length(tool: Diagnoser, number_: int) -> None:
    """Twice the input is at most twice the work and a little; that our patterns are linear is held by tests/robust."""
    text = HOSTILE[number_]
    twice = text + "\n" + text
    tool.report([from_text(twice)])  # what is compiled or loaded once is not counted
    short = calls(lambda: tool.report([from_text(text)]))
    assert calls(lambda: tool.report([from_text(twice)])) <= 2.5 * short + 4_000


def test_types_of_placeholders() -> None:
    assert fill("pip install <<p:identifier>>==<<v:version>>", {"p": "peft", "v": "0.12.0"}) == "pip install peft==0.12.0"
    assert fill("<<p:identifier>>", {"p": "x; rm -rf /"}) is None
    assert fill("<<p:text>>", {"p": "a b"}, shell=True) == "'a b'"
    assert fill("<<p|the argument>>", {}) == "the argument"
    assert fill("pip install <<p:text|'peft<0.12,>=0.9'>>", {}, shell=True) == "pip install 'peft<0.12,>=0.9'"


@pytest.mark.parametrize(
    ("code", "value", "filled"),
    [
        ('load("<<p:path>>")', r"C:\Users\new", r'load("C:\\Users\\new")'),
        ("load('<<p:text>>')", "it's", r"load('it\'s')"),
        ('run("<<p:text>>")', '"); import os; os.abort()  #', r'run("\"); import os; os.abort()  #")'),
        ('load(r"<<p:path>>")', r"C:\Users\new", r'load(r"C:\Users\new")'),
        ('load(r"<<p:path>>")', "C:\\Users\\", None),
        ('load(r"<<p:path|FOLDER>>")', "C:\\Users\\", 'load(r"FOLDER")'),
        ('print(f"<<p:text>>")', "{a}", 'print(f"{{a}}")'),
        ('load("a")  # it\'s <<p:path>>', r"C:\new", 'load("a")  # it\'s C:\\new'),
        ('a = """<<p:text>>"""', 'say "x"', r'a = """say \"x\""""'),
        ("a = <<p:number>>", "3", "a = 3"),
        ('a["<<p:word>>"] = "<<p:word>>" + b"<<p:word>>"', "x", 'a["x"] = "x" + b"x"'),
    ],
)
def test_a_value_is_escaped_in_a_string_of_code(code: str, value: str, filled: str | None) -> None:
    assert fill(code, {"p": value}, language="python") == filled
    if filled is not None:
        ast.parse(filled)
        assert fill(code, {"p": value}) is not None


def test_a_value_stands_as_it_is_in_other_languages() -> None:
    assert fill("path: <<p:path>>", {"p": r"C:\new"}, language="yaml") == r"path: C:\new"
    assert fill('{"path": "<<p:path>>"}', {"p": r"C:\new"}, language="json") == r'{"path": "C:\\new"}'
    assert not fits("a\nb", "text")
    assert not fits("a\u202eb", "text")


@settings(max_examples=300)
@given(st.text(max_size=80))
def test_nothing_dangerous_passes_a_placeholder_or_an_evidence_line(value: str) -> None:
    for kind in ("word", "identifier", "version", "integer", "path", "dtype", "text"):
        if fits(value, kind):
            assert "\n" not in value
            assert "\x1b" not in value
    shown = safe(value)
    assert all(ord(c) >= 32 and c not in "\u202e\u2066\x7f" for c in shown)


def test_a_contradicted_version_lowers_and_a_fitting_one_raises(tool: Diagnoser) -> None:
    line = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
    alone = tool.report([from_text(line)]).diagnoses[0]
    inside = tool.report([from_text("transformers==4.50.3\n" + line)]).diagnoses[0]
    outside = tool.report([from_text("transformers==4.57.1\n" + line)]).diagnoses[0]
    assert outside.score < alone.score < inside.score
    assert inside.versions["state"] == "inside"
    assert outside.versions["state"] == "outside"


def test_an_exception_after_which_training_went_on_is_no_diagnosis(tool: Diagnoser) -> None:
    text = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
    after = "{'loss': 1.2, 'grad_norm': 0.9, 'learning_rate': 0.0001, 'epoch': 0.5}\n" * 3
    report = tool.report([from_text(text + after)], whole=False)
    assert not report.diagnoses
    assert report.failures[0].role == "handled"
    assert report.exit_code == 0


def test_a_line_counts_where_it_stands_often_enough(tool: Diagnoser) -> None:
    text = "Still waiting to acquire lock on /hub/.locks/models--a--b/fc1c.lock (elapsed: {n}0.0 seconds)\n"
    assert not tool.report([from_text(text.format(n=1))]).diagnoses
    assert tool.report([from_text(text.format(n=1) + text.format(n=2))]).diagnoses[0].id == "hub-download-lock-held"


def test_root_cause_before_cascade(tool: Diagnoser) -> None:
    text = (
        "[rank3]: AttributeError: 'HybridCache' object has no attribute 'float'\n"
        "E0612 09:14:07.381000 4211 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 3 (pid: 4288) of binary: /usr/bin/python3\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "============================================================\ntrain.py FAILED\n"
    )
    report = tool.report([from_text(text)])
    assert report.diagnoses[0].id == "cache-object-float"
    assert report.first_failure is not None
    assert report.first_failure["rank"] == 3


def test_a_raise_beside_the_one_that_fired_says_nothing(tool: Diagnoser) -> None:
    """A notebook shows the source around the line that raised."""
    log = """TypeError                                 Traceback (most recent call last)
Cell In[7], line 1
----> 1 model = FastLanguageModel.get_peft_model(model, r=0)

File /opt/env/lib/python3.11/site-packages/unsloth/models/vision.py:605, in FastBaseModel.get_peft_model(model, r)
    603 if r <= 0:
--> 605     raise TypeError(f"Unsloth: Rank of {str(r)} must be larger than 0.")
    606 if isinstance(model, PeftModelForCausalLM):
    607     raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

TypeError: Unsloth: Rank of 0 must be larger than 0.
"""
    assert "cuda-out-of-memory" not in [d.id for d in tool.report([from_text(log)]).diagnoses]
    assert "cuda-out-of-memory" in [d.id for d in tool.report([from_text(log.replace("    607", "--> 607"))]).diagnoses]


def test_an_assertion_beside_the_line_that_raised_says_nothing(tool: Diagnoser) -> None:
    said = "element 0 of tensors does not require grad and does not have a grad_fn"
    log = f"""OutOfMemoryError                          Traceback (most recent call last)
Cell In[7], line 1
----> 1 trainer.train()

File /opt/env/lib/python3.11/site-packages/quux/trainer.py:605, in Trainer.train(self)
    603 assert loss.requires_grad, '{said}'
--> 605     return self.inner()

OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB.
"""
    found = [d.id for d in tool.report([from_text(log)]).diagnoses]
    assert found[0] in ("cuda-out-of-memory", "oom-fragmentation")
    asked = {d.id for d in tool.report([from_text(f"RuntimeError: {said}")]).diagnoses}
    assert asked
    assert not asked & set(found)


def test_a_message_of_a_type_is_not_what_another_exception_s_log_prints(tool: Diagnoser) -> None:
    said = "The actor with name Pool failed to import on the worker."
    other = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    go()\nKeyError: \'quux\'\n'
    entry = "ray-actor-import-failed"
    for log, answered in (
        (f"{said}\n", True),
        (f"{said}\n{other}", False),
        (f"worker 3: RuntimeError: {said}\n{other}", True),
        (f"RuntimeError: {said}\n{other}", True),
    ):
        assert (entry in [d.id for d in tool.report([from_text(log)]).diagnoses]) == answered, log


def test_a_line_that_is_certain_comes_before_an_exception_that_has_several_causes(tool: Diagnoser) -> None:
    line = "slurmstepd: error: *** JOB 17 ON n1 CANCELLED AT 2025-01-01T10:00:00 DUE TO PREEMPTION ***\n"
    error = "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.\n"
    sure, open_ = tool.report([from_text(line)]).diagnoses[0], tool.report([from_text(error)]).diagnoses[0]
    assert (sure.confidence, open_.confidence) == ("certain", "likely")
    assert [d.id for d in tool.report([from_text(line + error)]).diagnoses[:2]] == [sure.id, open_.id]


@pytest.mark.parametrize(
    ("shown", "silent"),
    [("", False), ("resuming the flux\n", False), ("--fp16 True\n", False), ("resuming the flux\n--fp16 True\n", True)],
)
def test_parts_of_an_exclusion_that_were_not_seen_exclude_nothing(tmp_path: Path, shown: str, silent: bool) -> None:
    """A required flag may stay unseen, but an exclusion needs all its parts to be seen."""
    folder = tmp_path / "training" / "flux-lost"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: flux-lost\nseverity: crash\nretry: after-fix\ntitle: The flux is lost in the capacitor\n"
        "symptoms:\n  - require: [{exception: ValueError, message: the flux is gone}]\n"
        "    exclude: [{all: [{line: resuming the flux}, {flag: fp16}]}]\n"
        "    source: {run: by hand}\n"
        "cause: Nobody looked after it.\nfixes: [{do: Look after it}]\nsources: [{run: by hand, shows: [cause, fix]}]\n"
    )
    tool = Diagnoser.load([tmp_path])
    report = tool.report([from_text(shown + "ValueError: the flux is gone\n")])
    assert ([d.id for d in report.diagnoses] == []) is silent


@pytest.mark.parametrize("level", ["INFO", "[INFO]", "DEBUG", "WARNING", "ERROR"])
@pytest.mark.parametrize("head", ["{}: ", "2025-03-04 10:11:12,345 - trainer - {} - ", "[2025-03-04 10:11:12] {} build.py:51 "])
def test_what_a_logger_tells_without_trouble_is_no_exception(tool: Diagnoser, level: str, head: str) -> None:
    said = "Sharding is ambiguous for this dataset: we found several data sources lists of different lengths"
    found = tool.report([from_text(f"{head.format(level)}one process instead of 8 ({said})\n")]).diagnoses
    assert bool(found) == (level in ("WARNING", "ERROR"))


def test_what_the_code_would_have_said_was_not_said(tool: Diagnoser) -> None:
    said = "Asking to pad but the tokenizer does not have a padding token. Please select a token to use as `pad_token`"
    frame = f'  File "base.py", line 27, in pad\n    raise ValueError("{said}")\n'
    head = 'Traceback (most recent call last):\n  File "train.py", line 40, in <module>\n    batch = tokenizer.pad(rows)\n'
    assert [d.id for d in tool.report([from_text(f"{head}{frame}ValueError: {said}\n")]).diagnoses] == ["pad-token-missing"]
    assert not tool.report([from_text(f"{head}{frame}zorp.QuibbleError: out of spindles\n")]).diagnoses


@pytest.mark.parametrize(
    ("pattern", "want"),
    [
        ("verl/(?:workers|utils/checkpoint)/[a-z]+", {"verl/"}),
        (r"trl/(?:trainer|extras)/\w+\.py", {"trl/trainer/", "trl/extras/"}),
        (r"torch[/\\]utils[/\\]data", {r"torch/utils/data", r"torch/utils\data", r"torch\utils/data", r"torch\utils\data"}),
        (" should be (?:>=|<=) 0 but is: ", {" 0 but is: "}),
        (r"grad_norm(?: | is |=)nan", {"grad_norm nan", "grad_norm is nan", "grad_norm=nan"}),
        (r"grad_norm\W+nan", {"grad_norm"}),
        (r"(?:16000|22050) vs \d+", {"16000 vs ", "22050 vs "}),
        ("(?:could )?not (?:be )?quantized", {"quantized"}),
        (
            r"'(?:list|dict)' object has no attribute '(?:map|set_\w+)'",
            {"'list' object has no attribute '", "'dict' object has no attribute '"},
        ),
        (r"site-packages[/\\]?sat", {"site-packages/sat", r"site-packages\sat", "site-packagessat"}),
    ],
)
def test_ordinary_words_are_the_last_choice(pattern: str, want: set[str]) -> None:
    assert set(patterns.literals(pattern)) == want


def test_a_comment_of_the_code_that_a_traceback_shows_is_no_message(tool: Diagnoser) -> None:
    """torch's loader marks two of its lines with ``# may raise StopIteration``: every crash in a collator shows one of them."""
    frames = "".join(
        f'  File "/env/lib/python3.11/site-packages/torch/utils/data/{file}.py", line {line}, in {function}\n    {code}\n'
        for file, line, function, code in (
            ("dataloader", 725, "__next__", "data = self._next_data()"),
            ("dataloader", 785, "_next_data", "data = self._dataset_fetcher.fetch(index)  # may raise StopIteration"),
            ("_utils/fetch", 57, "fetch", "return self.collate_fn(data)"),
        )
    )
    head = 'Traceback (most recent call last):\n  File "/app/fit.py", line 21, in <module>\n    rows = next(batches)\n'
    for last in ("PackingError: 3 rows do not fill a pack of 8", "RuntimeError: stack expects each tensor to be equal size, but got [4] at entry 0 and [3] at entry 1"):
        report = tool.report([from_text(f"{head}{frames}{last}\n")])
        assert "loader-iterator-used-up" not in [one.id for one in report.diagnoses]


def test_the_code_of_an_assertion_counts_only_if_nothing_is_printed_below_it(tmp_path: Path) -> None:
    """Otherwise a log that the exclusion of a frame rules out would match once more, by the line of code."""
    folder = tmp_path / "training" / "flux-lost"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: flux-lost\nseverity: crash\nretry: after-fix\ntitle: The flux is lost in the capacitor\n"
        "symptoms:\n  - require: [{message: the flux is gone}]\n    exclude: [{frame: /zorp/}]\n    source: {run: by hand}\n"
        "cause: Nobody looked after it.\nfixes: [{do: Look after it}]\nsources: [{run: by hand, shows: [cause, fix]}]\n"
    )
    tool = Diagnoser.load([tmp_path])
    for package, said, answered in (("quux", ": the flux is gone", True), ("zorp", ": the flux is gone", False), ("zorp", "", True)):
        log = (
            'Traceback (most recent call last):\n  File "/work/run.py", line 3, in <module>\n    go()\n'
            f'  File "/env/lib/python3.12/site-packages/{package}/core.py", line 9, in go\n'
            f'    assert flux, "the flux is gone"\nAssertionError{said}\n'
        )
        assert ([one.id for one in tool.report([from_text(log)]).diagnoses] == ["flux-lost"]) is answered, log

"""Reports as they are shown: whole ones as snapshots, narrow windows, Chinese, no colour where none is wanted."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from kb.likeness import nearest
from troubleshooter.observe.model import Frame
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_path, from_text
from troubleshooter.report.markdown import markdown
from troubleshooter.report.terminal import show
from troubleshooter.report.way import way

ROOT = Path(__file__).parent.parent.parent
SHOWN = {
    "eval-crash": ROOT / "tests" / "logs" / "gemma3-eval.log",
    "cut-message": "AttributeError: 'HybridCache' object has no attribute 'float'\n",
    "dtype": "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: c10::Half != float\n",
    "overflow": "{'loss': '0', 'grad_norm': 'nan', 'learning_rate': '1e-06', 'reward': 'nan', 'epoch': '0.01'}\n" * 3,
    "masked": "{'loss': 0.0, 'grad_norm': 0.0, 'learning_rate': 2e-05, 'epoch': 0.01}\n" * 5,
    "renamed": "transformers==4.57.6\nTypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'\n",
    "unknown": 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nQuuxError: the flux is gone\n',
    "unknown-way": (
        "Traceback (most recent call last):\n"
        '  File "/home/user/train.py", line 41, in main\n    trainer.train()\n'
        '  File "/opt/venv/lib/python3.11/site-packages/transformers/trainer.py", line 2560, in _inner_training_loop\n    step()\n'
        '  File "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1751, in _wrapped_call_impl\n    call()\n'
        '  File "/opt/venv/lib/python3.11/contextlib.py", line 81, in inner\n    return func(*args, **kwds)\n'
        '  File "/opt/venv/lib/python3.11/site-packages/quuxlib/ops.py", line 33, in fluxify\n    raise FluxError\n'
        "quuxlib.errors.FluxError: the flux is gone\n"
    ),
    "nothing": "Epoch 1 done\n",
    "ranks": "".join(f"[rank{r}]: AttributeError: 'HybridCache' object has no attribute 'float'\n" for r in (5, 1, 2)),
}


def rendered(tool: Diagnoser, name: str, lang: str, width: int) -> str:
    log = SHOWN[name]
    source = from_path(log)[0] if isinstance(log, Path) else from_text(log)
    source.name = name
    out = io.StringIO()
    show(tool.report([source], lang=lang), console=Console(file=out, width=width, highlight=False, markup=False, emoji=False))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", sorted(SHOWN))
def test_whole_reports(tool: Diagnoser, snapshot: Callable[[str, str], None], name: str, lang: str) -> None:
    snapshot(f"{name}.{lang}.txt", rendered(tool, name, lang, 80))


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_whole_reports_as_json(tool: Diagnoser, snapshot: Callable[[str, str], None], name: str) -> None:
    log = SHOWN[name]
    source = from_path(log)[0] if isinstance(log, Path) else from_text(log)
    source.name = name
    report = json.dumps(tool.report([source]).to_dict(), indent=1, ensure_ascii=False)
    snapshot(f"{name}.json", report + "\n")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_pipe_gets_what_a_console_without_colours_writes(
    tool: Diagnoser, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    reports = [tool.report([from_path(s)[0] if isinstance(s, Path) else from_text(s)], lang=lang) for s in SHOWN.values()]
    reports[1].input["files"] = ["运行日志" * 12, "rank1.log"]
    out = io.StringIO()
    console = Console(file=out, width=72, highlight=False, markup=False, emoji=False)
    for number, report in enumerate(reports):
        show(report, several=True, first=not number, console=console)
        show(report, several=True, first=not number)
    assert capsys.readouterr().out == out.getvalue()
    monkeypatch.setenv("FORCE_COLOR", "1")
    show(reports[0])
    assert "\x1b[" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["eval-crash", "renamed", "unknown"])
def test_whole_markdown(tool: Diagnoser, snapshot: Callable[[str, str], None], name: str) -> None:
    log = SHOWN[name]
    source = from_path(log)[0] if isinstance(log, Path) else from_text(log)
    source.name = name
    snapshot(f"{name}.md", markdown(tool.report([source])))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_prose_fits_the_window_and_code_stays_whole(tool: Diagnoser, lang: str, width: int) -> None:
    text = rendered(tool, "eval-crash", lang, width)
    for line in text.splitlines():
        assert cell_len(line) <= width or line.startswith("       "), line  # code is never wrapped
    assert 'pip install -U "transformers' in text


FRAMES = {
    "own": Frame("train.py", 3, "f"),
    "trl": Frame("C:\\venv\\Lib\\site-packages\\trl\\trainer\\dpo_trainer.py", 900, "get_batch"),
    "peft": Frame("/v/lib/python3.10/site-packages/peft/peft_model.py", 0, ""),
    "accelerate": Frame("/v/lib/python3.10/dist-packages/accelerate/utils/operations.py", 800, "forward"),
    "transformers": Frame("/v/lib/python3.10/site-packages/transformers/trainer.py", 10, "train"),
    "torch": Frame("/v/lib/python3.10/site-packages/torch/nn/functional.py", 2, "embedding"),
    "json": Frame("/usr/lib/python3.10/json/decoder.py", 4, "decode"),
    "frozen": Frame("<frozen runpy>", 88, "_run_code"),
    "cell": Frame("<ipython-input-7-abc>", 1, "<module>"),
}


@pytest.mark.parametrize(
    ("frames", "shown"),
    [
        ("", []),
        ("frozen own", ["own train.py:3"]),
        ("own own own", ["own train.py:3"]),
        ("own torch json trl", ["trl trl/trainer/dpo_trainer.py:900", "own train.py:3"]),
        ("own trl torch", ["torch torch/nn/functional.py:2", "trl trl/trainer/dpo_trainer.py:900", "own train.py:3"]),
        ("cell json", ["json json/decoder.py:4", "own <ipython-input-7-abc>:1"]),
        # Too long a way: the run's own code stays.
        ("own transformers trl accelerate peft torch", ["torch torch/nn/functional.py:2", "peft peft/peft_model.py:0",
         "accelerate accelerate/utils/operations.py:800", "own train.py:3"]),
        # The run's own code called back by a library.
        ("own trl own peft", ["peft peft/peft_model.py:0", "own train.py:3", "trl trl/trainer/dpo_trainer.py:900", "own train.py:3"]),
    ],
)  # fmt: skip
def test_the_way_to_an_unknown_exception(frames: str, shown: list[str]) -> None:
    found = way([FRAMES[name] for name in frames.split()])
    assert [f"{place['package'] or 'own'} {place['file']}:{place['line']}" for place in found] == shown


def test_a_newer_library_than_was_checked_is_said(tool: Diagnoser) -> None:
    report = tool.report([from_text("transformers==99.1.0\nRuntimeError: the flux is gone\n")])
    assert "transformers" in report.facts["newer_than_checked"]
    assert not tool.report([from_text("transformers==4.50.3\nx\n")]).facts["newer_than_checked"]


def test_markdown_cannot_be_broken_out_of(tool: Diagnoser) -> None:
    text = "AttributeError: 'HybridCache' object has no attribute 'float' ``` <script>alert(1)</script>\n"
    shown = markdown(tool.report([from_text(text)]))
    assert shown.count("````text") == 1


def test_what_is_similar_names_no_placeholder_and_little_by_chance(tool: Diagnoser) -> None:
    near = nearest(tool.knowledge, "train.py: error: the following arguments are required: --output_dir")
    assert near
    assert not any("<<" in item["title"] for item in near)
    assert nearest(tool.knowledge, "QuuxError: the flux is gone") == []
    common = "AttributeError: 'Quux' object has no attribute 'flux'"
    assert nearest(tool.knowledge, common) == []
    one_rare_name = "AttributeError: 'T' object has no attribute 'kl_coef'"
    assert nearest(tool.knowledge, one_rare_name) == []
    words_of_many = "RuntimeError: The size of tensor a (300) must match the size of tensor b (256) at non-singleton dimension 3"
    assert nearest(tool.knowledge, words_of_many) == []


def test_what_is_similar_shares_rare_words(tool: Diagnoser) -> None:
    reworded = "AttributeError: no attribute float on a HybridCache object"
    english = {near["id"]: near for near in nearest(tool.knowledge, reworded)}
    assert english["cache-object-float"]["similarity"] >= 60, "two other entries on caches have these words, too"
    chinese = {near["id"]: near for near in nearest(tool.knowledge, reworded, "zh")}
    assert chinese.keys() == english.keys()
    assert chinese["cache-object-float"]["title"] != english["cache-object-float"]["title"]


def test_a_long_path_stands_above_its_evidence(tool: Diagnoser, capsys: pytest.CaptureFixture[str]) -> None:
    path = "/scratch/project/runs/" + "troubleshoot-runs/" * 4 + "output.log"
    failed = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
    show(tool.report([from_text(failed, path), from_text("step 1\n", "other.log")]))
    shown = capsys.readouterr().out
    assert f"\n {path}:1\n         AttributeError: 'HybridCache' object has no attribute 'float'\n" in shown


FROM_A_WORKER = '''multiprocess.pool.RemoteTraceback:
"""
Traceback (most recent call last):
  File "/env/lib/python3.10/site-packages/datasets/utils/py_utils.py", line 680, in _write_generator_to_queue
    for i, result in enumerate(func(**kwargs)):
  File "/home/a/prep.py", line 14, in tok
    return tokenizer(ex["text"], truncation=True, max_length=2048)
TypeError: 'NoneType' object is not callable
"""
The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/home/a/prep.py", line 22, in <module>
    ds = ds.map(tok, num_proc=8)
TypeError: 'NoneType' object is not callable
'''


def test_an_exception_of_a_worker_is_explained_where_the_worker_raised_it() -> None:
    [found] = Diagnoser.of([]).diagnose(FROM_A_WORKER).explained
    assert found["own"]["line"] == 14
    assert [one["name"] for one in found["arguments"]] == ["tokenizer"]

"""What a fix tells people to paste can be pasted."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.form import EntryFix
from kb.load import load
from kb.proof.parsing import faults, filled, quoted_twice, requirements


def said(**fields: str) -> list[str]:
    return [fault.message for fault in faults(EntryFix(**{"do": "Do it", **fields}))]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"code": "Trainer(model=model, ...)"}, "is not python: line 1: positional argument follows keyword argument"),
        ({"code": "a:\n  b: 1"}, "is not python"),
        ({"code": "a: b: c", "language": "yaml"}, "is not yaml"),
        ({"code": '{"a": True}', "language": "json"}, "is not json"),
        ({"code": "a = 1\nnonsense", "language": "ini"}, "is not ini"),
        ({"code": "ds = ds.map(fn, num_proc=1)"}, "num_proc=1 starts a process since datasets 4.1.0"),
        ({"shell": "export WANDB_ENTITY=<team>"}, "a shell reads '<team>' as a file"),
        ({"shell": "echo 'unfinished"}, "matching"),
        ({"shell": "pip install 'vllm==0.9.2'"}, "pins vllm==0.9.2: give a bound"),
        ({"shell": "pip install 'torch==2.6.*' 'torchvision==0.21.0'"}, "pins torchvision==0.21.0: give a bound"),
        ({"shell": "pip install -U peft   # or 'peft[dev]==0.11.1'"}, "pins peft==0.11.1: give a bound"),
    ],
)
def test_what_cannot_be_pasted_is_a_fault(fields: dict[str, str], message: str) -> None:
    found = said(**fields)
    assert len(found) == 1
    assert message in found[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"code": "Trainer(..., model=model)"},
        {"code": "ds.map(fn, num_proc=None); ds.filter(fn, num_proc=2); SFTConfig(dataset_num_proc=1)"},
        {"code": "await engine.generate(<<n:integer|4>>)"},
        {"code": '"bf16": {"enabled": false},\n"fp16": {"enabled": true},', "language": "json"},
        {"code": "[a]\nb = 1", "language": "ini"},
        {"code": "Set it in Kaggle's menu", "language": "text"},
        {"shell": "sed -i 's/#include <THC.h>//' a.cu < list"},
        {"shell": "pip install 'vllm>=0.9.2' 'torch==2.6.0+cu124'"},
        {"shell": "pip install torch==2.6.0 torchvision==0.21.0", "do": "Install a pair that belongs together"},
        {"shell": "pip install 'torch==2.6.*' 'ray==<<cluster:version|2.40.0>>'"},
        {"shell": "sed -i '/^pkg==0.0.0/d' requirements.txt && pip install -r requirements.txt"},
        {"shell": "pip install 'trl==0.8.2'", "do": "Install the trl that the handbook was written for"},
    ],
)
def test_what_can_be_pasted_is_none(fields: dict[str, str]) -> None:
    assert said(**fields) == []


def test_placeholders_are_filled_before() -> None:
    assert filled("f(<<n:integer>>, <<m:integer|2>>)") == "f(4, 2)"


def test_requirements_are_what_pip_is_asked_for() -> None:
    command = "pip install -U --index-url https://a.b/c 'trl>=0.12' ./here git+https://g.h/x peft && pip check"
    assert [str(asked) for asked in requirements(command)] == ["trl>=0.12", "peft"]


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("pip index versions mlx      # then: pip install the release", []),
        ("pip install -e Megatron-LM", []),
        ('pip install "$(python -c "import trl; print(1)")"', []),
        ("pip uninstall -y trl; uv pip install --python env 'vllm>=0.9' | tee log", ["vllm>=0.9"]),
        ("!pip install -q peft      # brings transformers", ["peft"]),
        ("pip install 'trl", []),
    ],
)
def test_what_pip_is_not_asked_for_is_no_requirement(command: str, asked: list[str]) -> None:
    assert [str(found) for found in requirements(command)] == asked


def test_a_fault_is_a_problem_of_the_entry_with_its_place(tmp_path: Path) -> None:
    from kb.check import check

    folder = tmp_path / "area" / "of-a-test"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: of-a-test\nseverity: crash\ntitle: A title of some length\nsymptoms:\n  - require: [{message: words of it}]\n"
        "    source: {url: 'https://github.com/a/b/issues/1', shows: [symptom, cause]}\ncause: Something.\n"
        "fixes:\n  - do: Set it\n    code: f(a=1, ...)\nsources:\n  - {url: 'https://github.com/a/b/issues/1', shows: cause}\n"
    )
    problems = [str(problem) for problem in check(load(tmp_path)) if "python" in problem.message]
    assert len(problems) == 1
    assert "entry.yaml:10:" in problems[0]
    assert "fixes[0].code" in problems[0] or "fixes.0.code" in problems[0] or "code" in problems[0]


@pytest.mark.parametrize(
    ("written", "lost"),
    [
        ("shell: pip install a      # or: pip install b", True),
        ("shell: 'pip install a      # or: pip install b'", False),
        ("shell: |\n      pip install a      # or: pip install b", False),
        ("shell: pip install a#b", False),
    ],
)
def test_a_comment_that_yaml_takes_for_its_own_is_a_problem(tmp_path: Path, written: str, lost: bool) -> None:
    from kb.check import check

    folder = tmp_path / "area" / "of-a-test"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: of-a-test\nseverity: crash\ntitle: A title of some length\nsymptoms:\n  - require: [{message: words of it}]\n"
        f"    source: {{url: 'https://github.com/a/b/issues/1', shows: [symptom, cause]}}\ncause: Something.\nfixes:\n  - do: Set it\n    {written}\n"
        "sources:\n  - {url: 'https://github.com/a/b/issues/1', shows: cause}\n"
    )
    found = [problem for problem in check(load(tmp_path)) if "YAML takes it for a comment" in problem.message]
    assert [problem.line for problem in found] == ([10] if lost else [])


@pytest.mark.parametrize(
    ("shell", "wrong"),
    [
        ('pip install "<<want:text>>"', ["<<want:text>>"]),
        ("ls 'a b/<<path:path|out>>' <<path:path|out>>", ["<<path:path|out>>"]),
        ('pip install <<want:text>>      # or "<<want:text>>"', []),
        ('pip install "trl>=<<since:version>>" "<<package:word>>"', []),
        ('echo \\"<<want:text>>', []),
    ],
)
def test_a_value_that_gets_quotes_of_its_own_stands_in_none(shell: str, wrong: list[str]) -> None:
    """``pip install "'a>=1,<2'"`` looks for a package whose name begins with a quote."""
    assert quoted_twice(shell) == wrong
    said = [
        fault.message
        for fault in faults(EntryFix(do="Install it", shell=shell))
        if "quotes of its own" in fault.message
    ]
    assert len(said) == len(wrong)


@pytest.mark.parametrize(
    ("written", "lost"), [("do: 若是 Error #15，只留一个", True), ('do: "若是 Error #15，只留一个"', False)]
)
def test_a_translated_sentence_that_yaml_cuts_is_a_problem(tmp_path: Path, written: str, lost: bool) -> None:
    from kb.check import check

    folder = tmp_path / "area" / "of-a-test"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: of-a-test\nseverity: crash\ntitle: A title of some length\nsymptoms:\n  - require: [{message: words of it}]\n"
        "    source: {url: 'https://github.com/a/b/issues/1', shows: [symptom, cause]}\ncause: Something.\nfixes:\n  - do: Set it\n"
        "sources:\n  - {url: 'https://github.com/a/b/issues/1', shows: cause}\n"
    )
    (folder / "zh.yaml").write_text(f"of: '0'\ntitle: 一个标题\ncause: 原因\nfixes:\n  - {written}\n", encoding="utf-8")
    found = [problem for problem in check(load(tmp_path)) if "YAML takes it for a comment" in problem.message]
    assert bool(found) is lost

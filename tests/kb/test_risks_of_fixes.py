"""A fix that changes the result or may do harm does not call itself safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.check import check
from kb.form import EntryFix
from kb.load import load
from kb.proof.risks import understated


def risks(**fields: str) -> list[str]:
    return [found.risk for found in understated(EntryFix(**{"do": "Do it", **fields}))]


@pytest.mark.parametrize(
    ("fields", "risk"),
    [
        ({"code": "state = torch.load(path, weights_only=False)"}, "may-harm"),
        ({"code": "data = np.load('a.npy', allow_pickle=True)"}, "may-harm"),
        ({"code": "load_dataset('a/b', trust_remote_code=True)"}, "may-harm"),
        ({"shell": "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 python train.py"}, "may-harm"),
        ({"shell": "docker system prune -a"}, "may-harm"),
        ({"shell": "rm -rf output/checkpoint-*"}, "may-harm"),
        ({"shell": "git reset --hard origin/main"}, "may-harm"),
        ({"shell": "kill -9 PID"}, "may-harm"),
        ({"shell": "ray stop --force; ray start --head"}, "may-harm"),
        ({"code": "M.from_pretrained(name, ignore_mismatched_sizes=True)"}, "changes-results"),
        ({"code": "model.load_state_dict(state, strict=False)"}, "changes-results"),
        ({"code": "DataLoader(data, drop_last=True)"}, "changes-results"),
    ],
)
def test_a_risky_fix_is_not_safe(fields: dict[str, str], risk: str) -> None:
    assert risks(**fields) == [risk]
    assert risks(**fields, risk=risk) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"code": "state = torch.load(path, weights_only=False)      # a file of your own run"},
        {"code": "state = torch.load(path, weights_only=True)"},
        {"code": "print(model.load_state_dict(state, strict=False))"},
        {"code": "ModelCheckpoint(save_weights_only=False)"},
        {"code": "DataLoader(data, drop_last=False)"},
        {"code": "not Python: drop_last=True"},
        {"shell": "git reset --soft origin/main; rm -rf output/tmp-checkpoint-*; kill PID"},
        {"shell": "kill -9 PID", "why": "This is harmless: the process is a zombie."},
    ],
)
def test_what_is_safe_or_says_why_is_none(fields: dict[str, str]) -> None:
    assert risks(**fields) == []


def test_an_understated_risk_is_a_problem_of_the_entry_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "area" / "of-a-test"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: of-a-test\nseverity: crash\ntitle: A title of some length\nsymptoms:\n  - require: [{message: words of it}]\n"
        "    source: {url: 'https://github.com/a/b/issues/1', shows: [symptom, cause]}\ncause: Something.\n"
        "fixes:\n  - do: Load it\n    code: torch.load(path, weights_only=False)\n"
        "sources:\n  - {url: 'https://github.com/a/b/issues/1', shows: cause}\n"
    )
    found = [problem for problem in check(load(tmp_path)) if "is not safe" in problem.message]
    assert [problem.line for problem in found] == [9]

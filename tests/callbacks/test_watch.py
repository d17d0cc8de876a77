"""The watcher in loops of our own: what it finds, that it skips and stops, and that it changes nothing in a healthy run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kb.text.catalog import languages  # noqa: E402
from tests.conftest import ROOT  # noqa: E402
from troubleshooter.callbacks import GradientsNotFinite, Watcher, watch  # noqa: E402
from troubleshooter.callbacks.findings import ENTRIES, RunFinding, say  # noqa: E402


class Tokenizer:
    bos_token_id, eos_token_id, pad_token_id = 1, 2, 0


class Small(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A model that takes what causal language models take."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(32, 8)
        self.head = torch.nn.Linear(8, 32)

    def forward(self, input_ids: Any, attention_mask: Any = None, labels: Any = None) -> dict[str, Any]:
        logits = self.head(self.embed(input_ids))
        return {"loss": torch.nn.functional.cross_entropy(logits.view(-1, 32), labels.view(-1)), "logits": logits}


def _batch(step: int) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(step)
    ids = torch.randint(3, 32, (4, 6), generator=generator)
    ids[:, 0] = 1
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}


def _train(
    steps: int = 12, *, change: Callable[[dict[str, Any], int], None] = lambda batch, step: None, watched: bool = True, lr: float = 1e-3,
    prepare: Callable[[Any], None] = lambda model: None, spoil: int = 0, stop: bool = True, every: int = 10,
) -> tuple[Any, list[float], list[str]]:  # fmt: skip
    """The model, its losses, and the kinds of what was found."""
    torch.manual_seed(0)
    model = Small()
    prepare(model)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad] or model.parameters(), lr=lr)
    watcher = watch(model, optimizer, stop=stop, tokenizer=Tokenizer, every=every) if watched else None
    losses = []
    for step in range(1, steps + 1):
        batch = _batch(step)
        change(batch, step)
        loss = model(**batch)["loss"]
        losses.append(loss.item())
        if loss.requires_grad:
            loss.backward()
        if step == spoil:
            model.head.weight.grad[0, 0] = float("nan")
        optimizer.step()
        optimizer.zero_grad()
    return model, losses, [finding.kind for finding in watcher.findings] if watcher else []


def test_a_healthy_run_is_the_same_to_the_bit_and_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    plain, losses, _ = _train(watched=False)
    watched, same, found = _train()
    assert (found, same) == ([], losses)
    assert all(torch.equal(a, b) for a, b in zip(plain.parameters(), watched.parameters(), strict=True))
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


def _masked(batch: dict[str, Any], step: int) -> None:
    batch["labels"][:, :] = -100


def _masked_but_one(batch: dict[str, Any], step: int) -> None:
    batch["labels"][1:, :] = -100


def _bos_twice(batch: dict[str, Any], step: int) -> None:
    batch["input_ids"][2, :2] = 1


def _padded(batch: dict[str, Any], step: int) -> None:
    batch["input_ids"][:, 4:] = 0
    batch["attention_mask"][:, 4:] = 0


def _padded_well(batch: dict[str, Any], step: int) -> None:
    _padded(batch, step)
    batch["labels"][:, 4:] = -100


def _specials_alone(batch: dict[str, Any], step: int) -> None:
    batch["input_ids"][:, 1:] = 2


def _frozen(model: Any) -> None:
    model.requires_grad_(False)


def _half(model: Any) -> None:
    model.register_parameter("extra", torch.nn.Parameter(torch.zeros(2, dtype=torch.float16)))


def _frozen_adapters(model: Any) -> None:
    model.lora_A = torch.nn.ModuleDict({"default": torch.nn.Linear(8, 2)})
    model.layer = torch.nn.ModuleDict({"lora_A": torch.nn.Linear(8, 2)})
    model.requires_grad_(False)


@pytest.mark.parametrize(
    ("expected", "options"),
    [
        (["labels-masked"], {"change": _masked, "steps": 1}),
        ([], {"change": _masked_but_one}),
        (["bos-twice"], {"change": _bos_twice}),
        (["labels-padding"], {"change": _padded}),
        ([], {"change": _padded_well}),
        (["no-content"], {"change": _specials_alone, "steps": 3}),
        (["nothing-trainable", "no-gradients"], {"prepare": _frozen, "steps": 1}),
        (["adapters-frozen", "no-gradients"], {"prepare": _frozen_adapters, "steps": 1}),
        (["adapters-half"], {"prepare": _half}),
        (["learning-rate-zero"], {"lr": 0.0}),
        (["gradients-not-finite"], {"spoil": 4, "stop": False}),
    ],
)
def test_each_mistake_is_found_and_told_once(
    expected: list[str], options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    found = _train(**options)[2]
    assert found == expected
    assert len(capsys.readouterr().err.splitlines()) == len(found)


def test_a_loss_that_never_moves_is_told() -> None:
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-30)
    watcher = watch(model, optimizer)
    for _ in range(6):
        model(**_batch(1))["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
    assert [finding.kind for finding in watcher.findings] == ["loss-constant"]


def test_a_step_whose_gradients_are_not_finite_is_skipped_and_the_run_stops() -> None:
    clean = _train(3, watched=False)[0]
    torch.manual_seed(0)
    model = Small()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    watcher = watch(model, optimizer)
    for step in range(1, 4):
        model(**_batch(step))["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
    model(**_batch(4))["loss"].backward()
    model.embed.weight.grad[3, 3] = float("inf")
    with pytest.raises(GradientsNotFinite, match="NaN or infinite"):
        optimizer.step()
    assert (watcher.steps, watcher.stopped) == (4, True)
    assert all(torch.equal(a, b) for a, b in zip(clean.parameters(), model.parameters(), strict=True))


def test_gradients_of_half_precision_do_not_overflow_in_the_check() -> None:
    weights = torch.nn.Parameter(torch.zeros(4096, dtype=torch.float16))
    optimizer = torch.optim.SGD([weights], lr=1e-9)
    watcher = watch(torch.nn.ParameterList([weights]), optimizer)
    weights.grad = torch.full_like(weights, 60000.0)
    optimizer.step()
    assert [finding.kind for finding in watcher.findings] == ["adapters-half"]


def test_closing_takes_all_hooks_off() -> None:
    model = Small()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watcher = watch(model, optimizer, tokenizer=Tokenizer)
    watcher.close()
    batch = _batch(1)
    _bos_twice(batch, 1)
    model(**batch)["loss"].backward()
    optimizer.step()
    assert (watcher.findings, watcher.steps) == ([], 0)


def test_an_impossible_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="every=0: expected a number of steps"):
        Watcher(Small(), None, every=0)


RANKS = """
import sys, torch, torch.distributed as dist
from troubleshooter.callbacks import watch, GradientsNotFinite
mode = sys.argv[1]
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank if mode == "drift" else 0)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 3)
    def forward(self, input_ids, labels):
        return {"loss": torch.nn.functional.cross_entropy(self.head(input_ids.float()), labels[:, 0])}
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watcher = watch(model, optimizer, every=1)
try:
    for step in range(3):
        size = 2 + (mode == "batches" and rank == 1)
        ids = torch.ones(size, 4, dtype=torch.long)
        model(ids, ids[:, :1]) if False else model(input_ids=ids, labels=ids[:, :1])["loss"].backward()
        if mode == "nan" and rank == 1 and step == 1:
            model.head.weight.grad[0, 0] = float("nan")
        optimizer.step(); optimizer.zero_grad()
    print(rank, "done", *[f.kind for f in watcher.findings], flush=True)
except GradientsNotFinite:
    print(rank, "stopped", watcher.steps, torch.isfinite(model.head.weight).all().item(), flush=True)
dist.destroy_process_group()
"""


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("well", ["0 done", "1 done"]),
        ("nan", ["0 stopped 2 True", "1 stopped 2 True"]),
        ("drift", ["0 done ranks-parameters", "1 done ranks-parameters"]),
        ("batches", ["0 done ranks-batches", "1 done ranks-batches"]),
    ],
)
def test_two_ranks_stop_together_and_differences_are_told(mode: str, expected: list[str], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(RANKS)
    common = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port()), "WORLD_SIZE": "2"}
    ranks = [
        subprocess.Popen([sys.executable, str(script), mode], env={**common, "RANK": str(n)}, stdout=subprocess.PIPE, text=True)
        for n in range(2)
    ]
    printed = [rank.communicate(timeout=150)[0].strip() for rank in ranks]
    assert printed == expected


def _free_port() -> int:
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def test_every_finding_is_told_in_every_language_and_its_entry_exists() -> None:
    known = {path.parent.name for path in (ROOT / "entries").glob("*/*/entry.yaml")}
    assert {entry for entry in ENTRIES.values() if entry} <= known
    values = {"count": 3, "name": "x", "loss": 1.5, "sizes": "2, 3"}
    for lang in languages():
        for kind in ENTRIES:
            assert say(kind, lang, **values)
    assert RunFinding("no-content", 3, "x").entry == ""


def test_importing_the_package_imports_neither_torch_nor_transformers() -> None:
    code = "import sys, troubleshooter.callbacks; print({'torch', 'transformers', 'lightning'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"

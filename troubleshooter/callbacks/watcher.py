"""Watches a model and its optimizer by hooks of torch: what the model is given, the loss, and gradients before each step.

On a GPU all that a step is asked for is computed there and read at once, so that a checked step waits for the GPU one time. Only
step 1 and each `every`-th step are checked; where the model is on the CPU and alone, each of the first `FIRST_STEPS` is, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from math import isfinite
from typing import Any

import torch

from kb.text.catalog import ENGLISH
from troubleshooter.callbacks.findings import FindingKind, RunFinding, say, tell

EVERY_STEPS = 10
FIRST_STEPS = 10
"""The learning rates of the first steps are compared. These steps are all checked if there is no GPU to wait for."""
SAME_LOSSES = 5
"""After so many losses that are equal to the last digit, the run is reported to learn nothing."""
MAX_FORWARDS = 4
"""How many forward passes of one step are checked. The others of an accumulated step are much the same."""
SAMPLED_PARAMETERS, SAMPLED_VALUES = 8, 1024
"""Ranks are compared by so many parameters, and so many values of each."""
IGNORED = -100


class GradientsNotFinite(RuntimeError):
    """Raised by `watch` on all ranks together instead of a step whose gradients are NaN or infinite. The weights are clean."""


class Watcher:
    """Checks one model and its optimizer. ``findings`` are all that was found; each kind is told once.

    ``every``: steps between two checks. ``stop``: whether gradients that are not finite shall end the run; ``stopped`` says that
    they did. ``tell``: takes a finding; the default prints a line. ``special``: ids of tokens by name (``bos``, ``eos``, ``pad``).
    ``follow_optimizer``: False where the caller itself calls `before_step` between the backward pass and each step.
    """

    def __init__(
        self, model: torch.nn.Module, optimizer: Any, *, every: int = EVERY_STEPS, stop: bool = True, lang: str = ENGLISH,
        tell_finding: Callable[[RunFinding], None] | None = None, special: Mapping[str, int | None] | None = None,
        follow_optimizer: bool = True,
    ) -> None:  # fmt: skip
        if every < 1:
            raise ValueError(f"every={every}: expected a number of steps from 1 on")
        self.model, self.every, self.stop, self.lang = model, every, stop, lang
        self.findings: list[RunFinding] = []
        self.stopped = False
        self.steps = 0
        self._tell = tell_finding or (lambda finding: tell(finding, self.lang))
        self._special = {name: number for name, number in (special or {}).items() if number is not None}
        self._optimizer = getattr(optimizer, "optimizer", optimizer)  # accelerate wraps it
        self._losses: list[float] = []
        self._rates: list[float] = []
        self._asked: dict[FindingKind, list[torch.Tensor]] = {}
        self._loss: torch.Tensor | None = None
        self._forwards = 0
        self._shape: tuple[int, ...] = ()
        self._ranks = _world_size()
        device = next((p.device.type for p in model.parameters()), "cpu")
        self._on_cpu = device == "cpu" and self._ranks == 1
        self._check_parameters()
        self._handles = [
            model.register_forward_pre_hook(self._before_forward, with_kwargs=True),
            model.register_forward_hook(self._after_forward),
        ]
        if follow_optimizer and hasattr(self._optimizer, "register_step_pre_hook"):
            self._handles.append(self._optimizer.register_step_pre_hook(self._step_hook))

    def close(self) -> None:
        """Take the hooks off."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    # --- checks ---

    def _is_due(self) -> bool:
        """Whether the step that comes next is checked."""
        step = self.steps + 1
        return (self._on_cpu and step <= FIRST_STEPS) or step == 1 or step % self.every == 0

    def _check_parameters(self) -> None:
        """Before the first step: which parameters are trained, and in which dtype."""
        named = list(self.model.named_parameters())
        trained = [(name, p) for name, p in named if p.requires_grad]
        adapters = [
            (name, p) for name, p in named if ".lora_" in name or ".adapter" in name or "prompt_encoder" in name
        ]
        if adapters and not any(p.requires_grad for _, p in adapters):
            self._found("adapters-frozen", count=len(adapters))
        elif named and not trained:
            self._found("nothing-trainable", count=len(named))
        half = [name for name, p in trained if p.dtype == torch.float16]
        if half:
            self._found("adapters-half", count=len(half), name=half[0])

    def _before_forward(self, module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not module.training or self._forwards >= MAX_FORWARDS or not self._is_due():
            return
        self._forwards += 1
        given = dict(kwargs)
        if len(args) == 1 and isinstance(args[0], Mapping):
            given.update(args[0])
        labels, ids, mask = (_tokens(given.get(name)) for name in ("labels", "input_ids", "attention_mask"))
        first = labels if labels is not None else ids
        self._shape = tuple(first.shape) if first is not None else ()
        if labels is not None:
            self._ask("labels-masked", (labels == IGNORED).all())
            if mask is not None and mask.shape == labels.shape:
                self._ask("labels-padding", ((labels != IGNORED) & (mask == 0)).any())
        if ids is not None:
            bos = self._special.get("bos")
            if bos is not None and ids.shape[-1] > 1 and bos != self._special.get("pad"):
                self._ask("bos-twice", ((ids[..., :-1] == bos) & (ids[..., 1:] == bos)).any())
            if self._special:
                content = torch.ones_like(ids, dtype=torch.bool)
                for number in set(self._special.values()):
                    content &= ids != number
                self._ask("no-content", ~content.any())

    def _after_forward(self, module: torch.nn.Module, args: Any, output: Any) -> None:
        loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", output)
        if module.training and isinstance(loss, torch.Tensor) and loss.numel() == 1 and self._is_due():
            self._loss = loss.detach()

    def _step_hook(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not any(
            callable(one) for one in (*args[1:], kwargs.get("closure"))
        ):  # which computes the gradients within the step
            self.before_step(optimizer)

    def before_step(self, optimizer: Any) -> None:
        """Just before the optimizer's step: all questions of this step are answered by one look at the device."""
        due = self._is_due()
        self.steps += 1
        asked, self._asked, self._forwards = self._asked, {}, 0
        loss, self._loss = self._loss, None
        if self.steps <= FIRST_STEPS:
            self._check_rates(optimizer)
        if not due:
            return
        gradients = [_local(p.grad) for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        gradients = [g for g in gradients if g.numel() and g.is_floating_point()]
        if not gradients and self._ranks == 1:
            self._found("no-gradients")
            return
        norm = _norm(gradients)
        device = norm.device
        zero = torch.zeros((), device=device)
        told = [torch.stack([one.to(device) for one in several]).any().float() for several in asked.values()]
        values = torch.stack([norm, loss.float().reshape(()).to(device) if loss is not None else zero, *told])
        if self._ranks > 1:
            values = self._with_other_ranks(values)
        size, loss_value, *flags = values.tolist()
        for kind, flag in zip(asked, flags, strict=False):
            if flag:
                self._found(kind)
        if size == 0 or not isfinite(size):  # squares overflow and vanish sooner than the gradients do
            size = self._exact_size(gradients)
        if not isfinite(size):
            self._skip(optimizer)
        elif size == 0 and not any(finding.kind == "labels-masked" for finding in self.findings):
            self._found("gradients-zero")
        if loss is not None:
            self._check_loss(loss_value)

    def _exact_size(self, gradients: list[torch.Tensor]) -> float:
        """The largest absolute value of the gradients of all ranks, which come here together. It waits for the device again."""
        own = _largest(gradients)
        if self._ranks == 1:
            return float(own.item())
        every = [torch.empty_like(own) for _ in range(self._ranks)]
        torch.distributed.all_gather(every, own)
        return _worst(torch.stack(every).tolist())

    def _check_rates(self, optimizer: Any) -> None:
        rates = [group.get("lr") for group in optimizer.param_groups]
        self._rates.append(max((rate for rate in rates if isinstance(rate, (int, float))), default=1.0))
        if len(self._rates) == FIRST_STEPS and not any(self._rates):
            self._found("learning-rate-zero", count=FIRST_STEPS)

    def _check_loss(self, loss: float) -> None:
        if loss == 0:
            self._found("loss-zero")
        self._losses = [*self._losses[-SAME_LOSSES + 1 :], loss]
        if len(self._losses) == SAME_LOSSES and len(set(self._losses)) == 1 and loss and any(self._rates):
            self._found("loss-constant", loss=f"{loss:.6g}", count=SAME_LOSSES)

    def _skip(self, optimizer: Any) -> None:
        """Leave the weights as they are: an optimizer passes over parameters without a gradient."""
        optimizer.zero_grad(set_to_none=True)
        self.stopped = self.stop
        self._found("gradients-not-finite")

    def _with_other_ranks(self, values: torch.Tensor) -> torch.Tensor:
        """The same values for all ranks: a gradient that is not finite on one is so for all, so that they stop together."""
        sizes = list(self._shape[:1] or (0,))
        sharded = any(hasattr(p, "to_local") or type(p).__name__ == "FlatParameter" for p in self.model.parameters())
        sample = torch.zeros((), device=values.device)
        if not sharded:
            for p in islice(self.model.parameters(), SAMPLED_PARAMETERS):
                sample = sample + p.detach().reshape(-1)[:SAMPLED_VALUES].float().sum()
        own = torch.cat([values[:1], sample.reshape(1), torch.tensor(sizes, dtype=torch.float32, device=values.device)])
        every = [torch.empty_like(own) for _ in range(self._ranks)]
        torch.distributed.all_gather(every, own)
        together = torch.stack(every).tolist()
        bad = _worst([row[0] for row in together])
        if not sharded and len({row[1] for row in together if row[1] == row[1]}) > 1:
            self._found("ranks-parameters")
        if self.steps <= FIRST_STEPS and len({row[2] for row in together}) > 1:
            self._found("ranks-batches", sizes=", ".join(str(int(row[2])) for row in together))
        return torch.cat([torch.tensor([bad], device=values.device), values[1:]])

    def _ask(self, kind: FindingKind, answer: torch.Tensor) -> None:
        self._asked.setdefault(kind, []).append(answer)

    def _found(self, kind: FindingKind, **values: object) -> None:
        """Note a finding; of a kind the first is told."""
        if any(finding.kind == kind for finding in self.findings):
            return
        text = say(kind, self.lang, **values)
        if kind == "gradients-not-finite":
            text += say("stopped" if self.stop else "skipped", self.lang)
        finding = RunFinding(kind, self.steps, text)
        self.findings.append(finding)
        if self._ranks == 1 or torch.distributed.get_rank() == 0:
            self._tell(finding)


def watch(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer, *, every: int = EVERY_STEPS, stop: bool = True,
    tokenizer: Any = None, lang: str = ENGLISH,
) -> Watcher:  # fmt: skip
    """Watch a loop of your own. A step whose gradients are not finite is skipped; with ``stop`` `GradientsNotFinite` is raised there.

    ``every``: steps between two checks (each waits for the GPU once). ``tokenizer``: tells special tokens. ``close()`` of the
    watcher that is returned takes it off.
    """
    watcher = Watcher(model, optimizer, every=every, stop=stop, lang=lang, special=special_tokens(tokenizer))
    if stop:
        optimizer.register_step_pre_hook(lambda *_: _raise_if_stopped(watcher))
    return watcher


def special_tokens(tokenizer: Any) -> dict[str, int | None]:
    """The ids of a tokenizer's special tokens by name; {} where there is no tokenizer."""
    return (
        {name: getattr(tokenizer, f"{name}_token_id", None) for name in ("bos", "eos", "pad")}
        if tokenizer is not None
        else {}
    )


def _raise_if_stopped(watcher: Watcher) -> None:
    if watcher.stopped:
        raise GradientsNotFinite(watcher.findings[-1].text)


def _tokens(value: Any) -> torch.Tensor | None:
    """A tensor of whole numbers with at least one dimension."""
    usable = isinstance(value, torch.Tensor) and value.dim() > 0 and value.numel() and not value.is_floating_point()
    return value if usable else None


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """This rank's part of a sharded tensor."""
    local: torch.Tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    return local.coalesce().values() if local.is_sparse else local


def _worst(sizes: Sequence[float]) -> float:
    """The first size that is not finite, else the largest one."""
    return next((one for one in sizes if not isfinite(one)), max(sizes))


def _norm(gradients: list[torch.Tensor], order: float = 2.0) -> torch.Tensor:
    """The largest norm of a gradient, as a scalar: NaN or infinite where a gradient is. It may overflow where none is."""
    if not gradients:
        return torch.zeros(())
    device = gradients[0].device
    with torch.no_grad():
        return torch.stack([one.float().to(device) for one in torch._foreach_norm(gradients, order)]).max()


def _largest(gradients: list[torch.Tensor]) -> torch.Tensor:
    """The largest absolute value of all gradients. It cannot overflow, but is far slower than the usual norm."""
    return _norm(gradients, float("inf"))


def _world_size() -> int:
    distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.distributed.get_world_size() if distributed else 1

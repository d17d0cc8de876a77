"""What the checks find: each kind with the entry that explains it, told in one line."""

from __future__ import annotations

import sys
from typing import Literal, NamedTuple

from kb.text.catalog import Section

FindingKind = Literal[
    "nothing-trainable", "adapters-frozen", "adapters-half", "no-gradients", "gradients-zero", "gradients-not-finite", "labels-masked",
    "labels-padding", "bos-twice", "no-content", "loss-zero", "loss-constant", "learning-rate-zero", "ranks-parameters", "ranks-batches",
]  # fmt: skip
ENTRIES: dict[FindingKind, str] = {
    "nothing-trainable": "nothing-in-the-graph",
    "adapters-frozen": "adapter-loaded-frozen",
    "adapters-half": "half-precision-trainables-nan",
    "no-gradients": "nothing-is-updated",
    "gradients-zero": "grad-norm-zero",
    "gradients-not-finite": "grad-norm-turns-nan",
    "labels-masked": "all-labels-masked",
    "labels-padding": "",
    "bos-twice": "",
    "no-content": "",
    "loss-zero": "fp16-overflow-zero-loss",
    "loss-constant": "nothing-is-updated",
    "learning-rate-zero": "learning-rate-stays-zero",
    "ranks-parameters": "ddp-params-differ-across-ranks",
    "ranks-batches": "ranks-get-uneven-batches",
}
"""By kind of finding the entry that explains it, "" where there is none yet."""

say = Section("callbacks")


class RunFinding(NamedTuple):
    """``step`` counts optimizer steps from 1; it is 0 before the first. ``text`` is a sentence."""

    kind: FindingKind
    step: int
    text: str

    @property
    def entry(self) -> str:
        """The id of the entry that explains it, "" where there is none."""
        return ENTRIES[self.kind]


def tell(finding: RunFinding, lang: str) -> None:
    """Print a finding on standard error, in one line."""
    more = say("more", lang, entry=finding.entry) if finding.entry else ""
    print(f"troubleshoot: {say('step', lang, step=finding.step)}{finding.text}{more}", file=sys.stderr, flush=True)

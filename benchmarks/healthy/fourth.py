"""The fourth set: rank 0 is in a long loop of an installed package while rank 1 waits for it. Written with the rule for such loops.

Run it with a silence of ten times ``--hang-after`` (``--silent 30``): the rule looks after six times. None of these is a single call that computes in plain Python
in a ``while`` of a package and keeps its memory: nothing tells such a call from one that never ends, so it would be told.
"""

import contextlib
import io
import itertools
import time

from benchmarks.healthy.kind import with_ranks


class Lines(io.RawIOBase):
    """A file that goes on until ``end``."""

    def __init__(self, end, line):
        self.end, self.line = end, line

    def read(self, count=-1):
        return self.line * max(count // len(self.line), 1) if time.monotonic() < self.end else b""


def one_long_document(end, folder, chance):
    """One call that builds a long list: the parser's loop is a ``while``."""
    import yaml

    return len(yaml.load(Lines(end, b"- {text: a row, label: 1}\n"), yaml.SafeLoader))


def many_documents(end, folder, chance):
    import yaml

    return sum(len(document) for document in yaml.load_all(Lines(end, b"---\ntext: a row\nlabel: 1\n"), yaml.SafeLoader))


def graphs(end, folder, chance):
    import networkx

    for seed in itertools.count():
        graph = networkx.gnm_random_graph(60, 200, seed=seed)
        networkx.set_edge_attributes(graph, 1, "capacity")
        networkx.maximum_flow_value(graph, 0, 59)
        if time.monotonic() > end:
            return


def evaluates(end, folder, chance):
    """A generator of the run, gone over by a progress bar of a package, and a model."""
    import torch
    import tqdm

    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    batches = (torch.randn(32, 64) for _ in iter(lambda: time.monotonic() < end, False))
    with torch.no_grad():
        return [model(batch).argmax(-1).float().mean().item() for batch in tqdm.tqdm(batches, disable=True)][-1]


def one_step_of_an_optimizer(end, folder, chance):
    """One call of ``step``: its loop is a ``while`` of torch."""
    import torch

    weights = torch.nn.Parameter(torch.randn(64))
    optimizer = torch.optim.LBFGS([weights], max_iter=10**9, max_eval=10**9, tolerance_grad=0, tolerance_change=0)
    rows = torch.randn(256, 64)

    def closure():
        optimizer.zero_grad()
        loss = (rows @ weights + torch.randn(256)).square().mean()
        loss.backward()
        if time.monotonic() > end:
            raise StopIteration
        return loss

    with contextlib.suppress(StopIteration):
        optimizer.step(closure)


def loads_rows(end, folder, chance):
    """One batch that takes long, because most rows are left out."""
    import torch

    class Rows(torch.utils.data.IterableDataset):
        def __iter__(self):
            for at in itertools.count():
                if hash(str(at)) % 7 == 3 and time.monotonic() > end:
                    yield at

    next(iter(torch.utils.data.DataLoader(Rows(), batch_size=2)))


def renders(end, folder, chance):
    import jinja2

    template = jinja2.Template("{% for row in rows %}<s>{{ row.text | upper }}</s>{% endfor %}")
    while time.monotonic() < end:
        template.render(rows=[{"text": f"row {at}"} for at in range(500)])


def primes(end, folder, chance):
    import sympy

    return next(prime for prime in sympy.primerange(10**6, 10**12) if time.monotonic() > end)


KINDS = tuple(
    map(with_ranks, (one_long_document, many_documents, graphs, evaluates, one_step_of_an_optimizer, loads_rows, renders, primes))
)

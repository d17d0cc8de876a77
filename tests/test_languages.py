"""What people read in each language, as snapshots: the pictures, the pages, the prompt, a scan, a proof."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_toolkit.input import DummyInput

from kb.pages.render import Pages, Style
from tests.verify.helpers import Entry, Fix, environment
from troubleshooter.browse.answer import answer
from troubleshooter.cli.prompt import Menu
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Stop, from_text
from troubleshooter.report.brief import lines as brief
from troubleshooter.report.charts import charts
from troubleshooter.report.entry import show as show_entry
from troubleshooter.report.html import html
from troubleshooter.report.markdown import markdown
from troubleshooter.report.sparkline import sparklines
from troubleshooter.report.terminal import text
from troubleshooter.scan.record import Cause, Row
from troubleshooter.scan.summary import lines, summary
from troubleshooter.verify.judge import by_run, by_versions
from troubleshooter.verify.outcome import ProbeOutcome
from troubleshooter.verify.present import shown

Snapshot = Callable[[str, str], None]
NAN_RUN = "\n".join(
    [f"{{'loss': {2.5 * 0.97**i:.4f}, 'grad_norm': {1 + i % 5 / 10}, 'epoch': {i / 100}}}" for i in range(70)]
    + ["{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.9}"] * 12
)
RANKS = """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/train.py", line 8, in <module>
[rank1]: ValueError: a row of rank 1 is empty
[rank0]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.
[rank2]: torch.distributed.DistBackendError: NCCL communicator was aborted on rank 2.
"""
CACHE = "transformers==4.50.1\nAttributeError: 'HybridCache' object has no attribute 'float'\n"
UNKNOWN = 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    g()\nQuuxError: the flux is gone\n'
pytestmark = pytest.mark.parametrize("lang", ["en", "zh"])


FAILURE = """\
id: flux-gone
kind: failure
severity: crash
retry: after-fix
title: The flux <<name:word|>> is gone (quuxlib 2.0, repaired in 2.1)
symptoms:
  - name: raised
    require: [{message: "the flux (?P<name>\\\\w+) is gone"}]
    source: {url: "https://github.com/quux/quuxlib/issues/1", shows: [symptom, cause]}
versions: {quuxlib: ">=2.0,<2.1"}
cause: The pump of `quuxlib` **stops** early.
fixes:
  - {do: Upgrade quuxlib, why: The pump runs on in 2.1., risk: safe, shell: 'pip install -U "quuxlib>=2.1"'}
  - {do: Fill the tank by hand, risk: changes-results, code: "tank.fill()"}
advice:
  - {printed: "try another flux", because: All fluxes are gone.}
not_to_confuse_with:
  - {entry: flux-returns, because: That one comes back by itself.}
sources:
  - {package: quuxlib, file: pump.py, versions: "2.0", shows: [fix]}
"""
TRANSLATION = """\
of: ""
title: flux <<name:word|>> 消失（quuxlib 2.0，2.1 已修复）
cause: "`quuxlib` 的泵过早**停止**。"
fixes:
  - {do: 升级 quuxlib, why: 2.1 中泵会继续运行。}
  - {do: 手动加满}
advice: [{because: 所有 flux 都消失了。}]
not_to_confuse_with: [{because: 那个会自己恢复。}]
"""
HARMLESS = """\
id: flux-returns
kind: harmless
severity: none
title: The flux comes back by itself
symptoms:
  - name: printed
    require: [{line: "flux comes back soon"}]
    source: {url: "https://github.com/quux/quuxlib/issues/2", shows: [symptom]}
cause: It is pumped round.
sources:
  - {url: "https://github.com/quux/quuxlib/issues/2", shows: [cause]}
"""


@pytest.fixture
def entries(tmp_path: Path) -> Path:
    """A folder with two entries that nobody edits; one is not translated."""
    for name, content in (("flux-gone", FAILURE), ("flux-returns", HARMLESS)):
        folder = tmp_path / "training" / name
        folder.mkdir(parents=True)
        (folder / "entry.yaml").write_text(content, encoding="utf-8")
    (tmp_path / "training" / "flux-gone" / "zh.yaml").write_text(TRANSLATION, encoding="utf-8")
    return tmp_path


def without_style(page: str) -> str:
    """A page without its style sheet, and without what changes with the files that it loads or the number of entries."""
    page = re.sub(r"<style>.*?</style>|<symbol.*?</symbol>", "", page, flags=re.DOTALL)
    page = re.sub(r"\?v=\w+", "", page)
    page = re.sub(r"troubleshoot \d[\w.+]*", "troubleshoot VERSION", page)
    return re.sub(r"\n\s*\n+", "\n", page)


@pytest.mark.parametrize("name", ["ranks", "unknown"])
def test_html(tool: Diagnoser, snapshot: Snapshot, lang: str, name: str) -> None:
    log = {"ranks": RANKS, "unknown": UNKNOWN}[name]
    snapshot(f"{name}.{lang}.html", without_style(html(tool.report([from_text(log)], lang=lang))))


def test_html_of_a_diagnosis(entries: Path, snapshot: Snapshot, lang: str) -> None:
    log = "step 1\nRuntimeError: the flux blue is gone\nhint: try another flux\n"
    snapshot(f"diagnosed.{lang}.html", without_style(html(Diagnoser.load([entries]).report([from_text(log)], lang=lang))))


def test_curves(tool: Diagnoser, snapshot: Snapshot, lang: str) -> None:
    report = tool.report([from_text(NAN_RUN)], lang=lang)
    shown = [*sparklines(report), *(f"{one.name}: {one.note}\n{one.svg}" for one in charts(report))]
    snapshot(f"curves.{lang}.txt", "\n".join(shown) + "\n")


def test_notebook(tool: Diagnoser, snapshot: Snapshot, lang: str) -> None:
    from troubleshooter.report.notebook import notebook

    snapshot(f"notebook.{lang}.html", without_style(notebook(tool.report([from_text(CACHE)], lang=lang))))


def test_markdown_and_brief(tool: Diagnoser, snapshot: Snapshot, lang: str) -> None:
    parts = []
    for log in (CACHE, UNKNOWN, RANKS, "Epoch 1 done\n"):
        report = tool.report([from_text(log)], lang=lang)
        parts += [markdown(report), *brief(report, 200), ""]
    snapshot(f"brief.{lang}.md", "\n".join(parts))


@pytest.mark.parametrize("signal", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_run_that_was_stopped(
    tool: Diagnoser, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch, lang: str, signal: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parts = []
    for log, silent_s in (("step 1\n", 7.0), (CACHE, 3700.0), (UNKNOWN, 130.0)):
        source = from_text(log)
        source.stop = Stop(signal, silent_s)
        parts.append(text(tool.report([source], lang=lang)))
    snapshot(f"stopped-{signal}.{lang}.txt", "\n\n".join(parts) + "\n")


def test_answer_in_the_browser(tool: Diagnoser, snapshot: Snapshot, lang: str) -> None:
    log = "".join(f"step {n}\n" for n in range(60)) + CACHE
    snapshot(f"answer.{lang}.html", without_style(answer(tool, log.encode(), lang, 1 << 20)))


@pytest.mark.parametrize("live", [True, False])
def test_pages(entries: Path, snapshot: Snapshot, lang: str, live: bool) -> None:
    knowledge = Diagnoser.load([entries]).knowledge
    bodies = [knowledge.need(name)[0] for name in ("flux-gone", "flux-returns")]
    pages = Pages(bodies, Style(live, "" if live else "https://example.org/fixes/"))
    (area, *_) = pages.areas
    made = [pages.start(lang), pages.area(area, lang), *(pages.entry(id_, lang) for id_ in pages.bodies)]
    made += [pages.search_entries(lang)]
    snapshot(f"pages-{'live' if live else 'static'}.{lang}.html", "\n".join(map(without_style, made)))


def test_an_entry_on_the_terminal(
    tool: Diagnoser, snapshot: Snapshot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show_entry(tool.knowledge.need("cache-object-float")[0], lang)
    snapshot(f"entry.{lang}.txt", capsys.readouterr().out)


def test_prompt(
    tool: Diagnoser, snapshot: Snapshot, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for log in (CACHE, "all is well\n"):
        report = tool.report([from_text(log)], lang=lang)
        menu = Menu(tool, report, log, lang, DummyInput())
        for key in ("menu", "menu-short", "no-other", "no-fixes"):
            print(menu.say(key))
        for wish in (("help", ""), ("copy", "99"), ("copy", "1"), ("why", "")):
            menu.act(*wish)  # type: ignore[arg-type]
    snapshot(f"prompt.{lang}.txt", capsys.readouterr().out)


def test_scan(snapshot: Snapshot, lang: str) -> None:
    known, quiet = Cause("known", "an-entry", "A known failure", False, 7), Cause("h", "quiet", "Harmless", True, 2)
    causes = [known, known, Cause("0123abcd", None, "QuuxError: tank <n> empty", False, 3), quiet, None]
    rows = [Row(f"job{n}", f"job{n}.log", "1:2", 1000.0 * n, None, cause) for n, cause in enumerate(causes)]
    rows += [Row(f"bad{n}", f"bad{n}.gz", "1:2", 0.0, f"bad{n}.gz: damaged", None) for n in range(23)]
    found = summary(sorted(rows, key=lambda row: row.job), passed_over=3, newer=2)
    snapshot(f"scan.{lang}.txt", "\n".join(lines(found, lang)) + "\n")


def test_verify(snapshot: Snapshot, lang: str) -> None:
    entry = Entry(versions={"torch": ">=2.0,<2.5"}, fixes=[Fix("Upgrade", shell='pip install -U "torch>=2.5"')])
    seen = {"kind": "symptom", "case": "a case", "occurred": True, "observed": {"exception": "E", "message": "m"}}
    unseen = {"kind": "symptom", "case": "a case", "occurred": False, "observed": {"exception": None}}
    once, never = (ProbeOutcome("ended", "", (row,), 1.0, 100, "") for row in (seen, unseen))
    parts = [
        shown(said, entry.title, "why-active", lang, "import torch\n", log=True, colour=False)
        for said in (
            by_versions(entry, environment(torch="2.1.0"), lang),
            by_versions(entry, environment(torch="2.6.0"), lang),
            by_versions(Entry(), environment(), lang),
            by_run(entry, environment(torch="2.1.0"), once, "cpu", lang),
            by_run(entry, environment(torch="2.6.0"), never, "cpu", lang),
        )
    ]
    text = re.sub(r"\S*/python\S*", "PYTHON", "\n".join(parts))
    snapshot(f"verify.{lang}.txt", text)

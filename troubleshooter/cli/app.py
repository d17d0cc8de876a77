"""The Typer application: every command, thin; the work stands in the package's modules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from troubleshooter import __version__
from troubleshooter.cli.front import FORMATS, LANGUAGES, Options

app = typer.Typer(
    name="troubleshoot",
    help="Reads the log of a failed LLM fine-tuning run and names the failure, its evidence, its cause and its fix.\n\n"
    "command 2>&1 | troubleshoot   ·   troubleshoot FILE…   ·   troubleshoot (paste)",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Entries = Annotated[list[Path] | None, typer.Option("--entries", help="A folder of your own entries, on top of ours.")]
Lang = Annotated[str | None, typer.Option("--lang", help="en or zh (default: TROUBLESHOOT_LANG, then the locale).")]


def _version(value: bool) -> None:
    if value:
        print(f"troubleshoot {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Shared options."""


def _choice(value: str, allowed: tuple[str, ...], option: str) -> str:
    if value not in allowed:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(allowed)}", param_hint=option)
    return value


@app.command()
def diagnose(
    files: Annotated[
        list[str] | None, typer.Argument(help="Logs (.gz, .xz, .zst, .ipynb too), a run's folder, or -.")
    ] = None,
    format: Annotated[str, typer.Option("--format", help="terminal, json, markdown or html.")] = "terminal",
    lang: Lang = None,
    entries: Entries = None,
    env: Annotated[
        str | None,
        typer.Option("--env", help="The training environment (its folder or its Python): its versions join the facts."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="An entry not to report (reasons: .troubleshoot.toml).")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many answers at most.")] = 3,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not pass the input through.")] = False,
) -> None:
    """Diagnose logs (what `troubleshoot FILE…` does without naming a command)."""
    from troubleshooter.cli.run import guarded

    _choice(format, FORMATS, "--format")
    if lang is not None:
        _choice(lang, LANGUAGES, "--lang")
    options = Options(files or [], format, lang, entries or [], env, ignore or [], top, quiet)
    raise typer.Exit(guarded(options))


@app.command()
def explain(
    entry: Annotated[str, typer.Argument(help="The entry's id.")],
    log: Annotated[Path, typer.Argument(help="A log, or - for standard input.")],
    entries: Entries = None,
    lang: Lang = None,
) -> None:
    """Condition by condition: what of an entry held on a log, what was contradicted, what was not seen."""
    from troubleshooter.cli import knowledge

    raise typer.Exit(knowledge.explain(entry, log, entries or [], lang))


@app.command("list")
def list_(
    area: Annotated[str | None, typer.Option("--area", help="Only this area.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="failure or harmless.")] = None,
    entries: Entries = None,
    lang: Lang = None,
    format: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
) -> None:
    """All entries."""
    from troubleshooter.cli import knowledge

    raise typer.Exit(
        knowledge.list_(area, kind, entries or [], lang, _choice(format, ("terminal", "json"), "--format"))
    )


@app.command()
def show(
    entry: Annotated[str, typer.Argument(help="The entry's id.")],
    entries: Entries = None,
    lang: Lang = None,
    format: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
) -> None:
    """One entry: symptoms, cause, fixes, versions, lookalikes, sources."""
    from troubleshooter.cli import knowledge

    raise typer.Exit(knowledge.show(entry, entries or [], lang, _choice(format, ("terminal", "json"), "--format")))


@app.command()
def search(
    words: Annotated[list[str], typer.Argument(help="Words of a title, message or cause; typing errors are fine.")],
    entries: Entries = None,
    lang: Lang = None,
    format: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
) -> None:
    """Search entries in both languages."""
    from troubleshooter.cli import knowledge

    asked = " ".join(words)
    raise typer.Exit(knowledge.search(asked, entries or [], lang, _choice(format, ("terminal", "json"), "--format")))


@app.command()
def check(
    folder: Annotated[
        Path | None, typer.Argument(help="Entries to check: all, an area or one (default: the shipped ones).")
    ] = None,
    healthy: Annotated[
        Path | None, typer.Option("--healthy", help="Logs on which no failure may be diagnosed.")
    ] = None,
    stamp: Annotated[bool, typer.Option("--stamp", help="Mark the translations as fitting the English text.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the entry form.")] = False,
    report_schema: Annotated[
        bool, typer.Option("--report-schema", help="Print the JSON Schema of the report.")
    ] = False,
    rerun: Annotated[int, typer.Option("--rerun", help="Run the probes of this many recorded claims again.")] = 0,
    notes: Annotated[bool, typer.Option("--notes", help="List claims without a recorded run, too.")] = False,
    entries: Entries = None,
    changed: Annotated[bool, typer.Option("--changed", help="Only what differs from the main branch.")] = False,
) -> None:
    """Check entries: form, patterns, samples, near misses, sources, translations, recorded probe runs."""
    from troubleshooter.cli import author

    if schema or report_schema:
        raise typer.Exit(author.schema(report_schema))
    raise typer.Exit(author.check(folder, healthy, stamp, rerun, notes, entries or [], changed))


@app.command()
def new(
    log: Annotated[str, typer.Argument(help="A log that no entry explains, or - for standard input.")],
    to: Annotated[Path, typer.Option("--to", help="The folder of entries to write to.")] = Path("entries"),
    area: Annotated[str, typer.Option("--area", help="The entry's area.")] = "training",
    id: Annotated[str | None, typer.Option("--id", help="The entry's id (default: from the message).")] = None,
) -> None:
    """Start an entry from a log: a folder ready to be filled in and checked."""
    from troubleshooter.cli import drafts

    raise typer.Exit(drafts.new(log, to, area, id))


@app.command()
def wrong(
    entry: Annotated[str, typer.Argument(help="The id of the diagnosis that was wrong.")],
    log: Annotated[str, typer.Argument(help="The log that it was given for.")],
    to: Annotated[Path, typer.Option("--to", help="The folder of entries to write to.")] = Path("entries"),
) -> None:
    """Keep a false diagnosis: its log, redacted, becomes a draft near miss."""
    from troubleshooter.cli import drafts

    raise typer.Exit(drafts.wrong(entry, log, to))


@app.command()
def verify(
    target: Annotated[str | None, typer.Argument(help="An entry's id, or a log (- for standard input).")] = None,
    python: Annotated[
        str | None, typer.Option("--python", help="The training environment: its folder (venv, conda) or its Python.")
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")] = "auto",
    timeout: Annotated[float, typer.Option("--timeout", min=1.0, help="Seconds that the probe may take.")] = 60.0,
    model: Annotated[
        Path | None, typer.Option("--model", help="Your own local weights or config, where a probe can use them.")
    ] = None,
    format: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
    record: Annotated[
        bool, typer.Option("--record", help="Keep the result beside the entry (or in your data folder).")
    ] = False,
    record_to: Annotated[Path | None, typer.Option("--record-to", help="Keep the result in this folder.")] = None,
    show_code: Annotated[
        bool, typer.Option("--show-code", help="Show the few lines that a person could run by hand.")
    ] = False,
    entries: Entries = None,
    lang: Lang = None,
) -> None:
    """Prove a diagnosis: a small probe reproduces the failure in your environment and shows what removes it.

    Exit: 0 not here, 1 confirmed, 3 not proven (cannot tell, or only this kind of failure was seen), 2 unusable. Without a target: 3
    when installed versions are in the affected range of an entry, else 0.
    """
    from troubleshooter.cli.settings import language
    from troubleshooter.verify.command import verify as prove

    _choice(format, ("terminal", "json"), "--format")
    code = prove(
        target, python=python, device=device, timeout=timeout, model=model, format=format, record=record_to or record,
        show_code=show_code, entries=entries or [], lang=language(lang),
    )  # fmt: skip
    raise typer.Exit(code)


@app.command()
def scan(
    paths: Annotated[list[str], typer.Argument(help="Logs, folders or patterns; with --summary: records of scans.")],
    record: Annotated[Path | None, typer.Option("--record", help="Where done jobs are kept (JSON Lines).")] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Only sum up records: cat them together as you like.")
    ] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes (default: all cores).")] = None,
    entries: Entries = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", help="An entry not to report.")] = None,
    lang: Lang = None,
    format: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
) -> None:
    """Diagnose thousands of job logs: which failure, how many jobs, what is unknown. Goes on where it was interrupted."""
    from troubleshooter.scan.command import run

    _choice(format, ("terminal", "json"), "--format")
    code = run(
        paths, kept=record, summary_only=summary, workers=jobs, entries=entries or [], ignore=ignore or [], lang=lang,
        format=format,
    )  # fmt: skip
    raise typer.Exit(code)


@app.command()
def browse(
    entry: Annotated[str | None, typer.Argument(help="The id of the entry to open (default: the start page).")] = None,
    port: Annotated[int | None, typer.Option("--port", min=0, max=65535, help="The port (default: 8765).")] = None,
    next_port: Annotated[bool, typer.Option("--next-port", help="Take the next free port if it is in use.")] = False,
    host: Annotated[str | None, typer.Option("--host", help="Another address than this machine's loopback.")] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
    entries: Entries = None,
    lang: Lang = None,
) -> None:
    """Serve the fix pages on this machine, with a box to paste a log into."""
    from troubleshooter.browse.command import browse as serve
    from troubleshooter.cli.settings import language

    code = serve(
        entry, port=port, host=host, open_browser=open_browser, entries=entries or [], lang=language(lang),
        next_port=next_port,
    )  # fmt: skip
    raise typer.Exit(code)


@app.command("build-site")
def build_site(
    folder: Annotated[Path, typer.Argument(help="A new folder, or one that an earlier run wrote.")],
    base_url: Annotated[
        str, typer.Option("--base-url", help="The site's address, for sitemap.xml and canonical links.")
    ] = "",
    entries: Entries = None,
) -> None:
    """Write the fix pages as static files for any web server (or file://)."""
    from troubleshooter.browse.command import build_site as build

    raise typer.Exit(build(folder, entries=entries or [], base_url=base_url))


def _run() -> Any:  # pragma: no cover - for `python -m troubleshooter.cli.app`
    return app(prog_name="troubleshoot")


if __name__ == "__main__":
    sys.exit(_run())

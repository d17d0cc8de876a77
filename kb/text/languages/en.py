"""English: the language that every phrase exists in, and that stands in for what another language lacks."""

NAME = "English"


def plural(count: int) -> str:
    """The ending of the key for this count: ``found-one`` is said of one entry, ``found`` of all other counts."""
    return "one" if count == 1 else ""


PHRASES: dict[str, dict[str, str]] = {
    # What several parts say: how sure, how bad, how risky. Every section may use them.
    "words": {
        "certain": "certain",
        "likely": "likely",
        "possible": "possible",
        "crash": "crash",
        "hang": "hang",
        "wrong-results": "wrong results",
        "degraded": "degraded",
        "none": "harmless",
        "harmless": "harmless",
        "cascade": "after-effect",
        "safe": "safe",
        "changes-results": "changes results",
        "retrain": "needs retraining",
        "why": "Why",
        "sources": "Sources",
    },
    # The report, in whatever format.
    "report": {
        "shows": "What the log shows",
        "do": "What to do",
        "ignore-advice": "Printed advice that does not apply here",
        "retry-useless": "running it again as it is will fail the same way",
        "retry-after-fix": "run it again after the fix",
        "retry-may-help": "running it again may help",
        "verify": "Prove it on this machine",
        "page": "Read more",
        "also": "Also possible",
        "newer": "The log shows {package} {shown}; what is known here was checked up to {checked}",
        "also-harmless": "Seen too, and harmless",
        "versions-inside": "the log's versions are in the affected range",
        "versions-outside": "the log shows versions outside the affected range: is it the environment that ran?",
        "installed-inside": "the versions installed in --env are in the affected range",
        "installed-outside": (
            "the versions installed in --env are outside the affected range: is it the environment that ran?"
        ),
        "affected": "Affected",
        "apart": "Not this? Told apart by",
        "first-rank": "Rank {rank} failed first (line {line})",
        "followed": "; {count} other ranks followed",
        "followed-one": "; 1 other rank followed",
        "stop": ".",
        "colon": ": ",
        "half": "; ",
        "aside": " ({text})",
        "nothing": "Nothing wrong found",
        "nothing-read": "No failure in what was read",
        "end-unknown": "the log does not show how the run ended",
        "end-piped": (
            "whether the process ended well cannot be seen from a pipe: with `set -o pipefail` the shell keeps "
            "its exit status"
        ),
        "end-written": "the log was written to a few minutes ago: the run may be going on",
        "read": "read {count} lines",
        "read-one": "read 1 line",
        "lines": "{count} lines",
        "lines-one": "1 line",
        "unknown": "A failure was seen that no entry explains",
        "raised": "raised in {place}",
        "called": "called from {place}",
        "called-own": "called from your code: {place}",
        "raised-own": "raised in your code: {place}",
        "stopped": "The run was stopped by {signal}",
        "SIGINT": "Ctrl-C (SIGINT)",
        "SIGTERM": "SIGTERM (a time limit, scancel or kill)",
        "SIGHUP": "SIGHUP (its terminal was closed)",
        "silent": "Its last output came {time} before that",
        "seconds": "{s} s",
        "minutes": "{m} min {s} s",
        "hours": "{h} h {m} min",
        "stood": "It was in {place}",
        "stood-own": "It was in your code: {place}",
        "stood-nowhere": "The log does not show where it was",
        "stopped-hung": (
            "If you stopped it because it hung: run it again, and while it hangs look where each of its "
            "processes is: `py-spy dump --pid PID` (`pip install py-spy`)"
        ),
        "stopped-asked": (
            "If you did not stop it: ask the scheduler, such as `sacct -j JOB --format=State,Elapsed,Timelimit,MaxRSS`"
        ),
        "nearest": "Similar, not matched",
        "draft": "Start an entry from this log",
        "not-found": "nothing similar; try fewer words, or the exception's message",
        "line": "line {line}",
        "ignored": "Ignored by your settings",
        "ranks": "on {count} ranks",
        "repeated": "{count} times",
        "damaged": "{file} is cut or damaged: only the part before that place was read ({detail})",
        "partly": "a large log: its start, its end and everything that stands out were read",
        "ranks-order": "Which rank failed first",
        "more-lines": "{count} more lines",
        "other-fixes": "If that does not help",
        "curves": "Training curves",
        "log": "The log",
    },
    # Curves and their pictures.
    "charts": {
        "nan": "not a number from line {line}",
        "zero": "exactly zero from line {line}",
        "jump": "jumps at line {line}",
        "evidence": "line {line}",
        "step": "step",
        "record": "record",
        "title": "{name} over {axis}",
        "line": "line {line}",
        "failed-first": "failed first",
        "followed": "followed",
        "more-ranks": "and {count} more ranks",
    },
    # Why an entry is the answer (key "w" of the prompt).
    "why": {
        "require": "It needs",
        "support": "These would make it surer",
        "exclude": "It would not be this entry with",
        "held": "seen",
        "contradicted": "the log says otherwise",
        "unseen": "not seen",
    },
    # How a log was read (`explain --reading`): what was read from one line.
    "reading": {
        "prefix": "prefix taken off: {text}",
        "prefix of stream": "prefix taken off: {text}   [stream: {stream}]",
        "edit": "read as: {text}   [{rule}]",
        "removed": "left out   [{rule}]",
        "traceback": "a traceback begins   [layout: {layout}]",
        "frame": "frame: {file}, line {at}, in {function}   [form: {form}]",
        "between": "within a traceback: code, or output of others",
        "exception": "exception: {type}   [layout: {layout}, role: {role}]",
        "cut-off": "a traceback without its last line ends here   [layout: {layout}]",
        "again": "exception: {type}   [layout: {layout}, counted with the same one above]",
        "message": "the message goes on",
        "exit": "a process ended with status {status}",
        "metric": "metrics: {values}",
        "fact": "fact: {fact}",
        "phase": "phase: {phase}",
        "well": "says that something ended well",
        "installed": "says that packages were installed",
        "edit-indent": "an indent that all lines share",
        "edit-markup": "marks of a text",
        "edit-typographic quotes": "typographic quotes",
        "edit-wrapped path": "a terminal broke the path",
        "edit-wrapped frame": "a terminal broke the frame",
        "edit-PowerShell": "PowerShell's own message",
        "edit-logger prefix": "a logger's prefix",
        "edit-group rail": "the rail of an exception group",
        "edit-words around": "words of the writer",
        "layout-python": "Python",
        "layout-notebook": "notebook",
        "layout-rich box": "Rich's box",
        "layout-debugger": "VS Code's debugger",
        "layout-message alone": "a message alone",
        "role-initiating": "where it began",
        "role-cascade": "after-effect of another failure",
        "role-teardown": "noise of an ending process",
        "role-handled": "the run went on",
        "nothing-read": "{count} lines from which nothing was read",
        "one-unread": "1 line from which nothing was read",
        "nothing": "nothing was read from this log: no exception, exit status, metric, fact or phase",
        "excerpts": "The log is large: only parts of it were looked at line by line.",
    },
    # The kinds of conditions, as the description of one begins with it.
    "conditions": {
        "message": "message",
        "line": "line",
        "frame": "frame",
        "version": "version",
        "metric": "metric",
        "flag": "flag",
        "package": "package",
        "phase": "phase",
        "exit": "exit",
        "platform": "platform",
        "capability": "capability",
        "any of": "any of",
        "all of": "all of",
        "not": "not",
    },
    # The paste prompt.
    "prompt": {
        "ask": "Paste a traceback or log; Enter on an empty line answers, Ctrl-D quits.",
        "menu": "[c]opy fix · [w]hy this entry · [n]ext candidate · [v]erify · [p]aste another · [q]uit > ",
        "menu-short": "[p]aste another · [q]uit > ",
        "keys": (
            "c copies the first fix that is code, c 2 copies fix 2\n"
            "w says why this entry is the answer\n"
            "n shows the next candidate\n"
            "v proves the answer in your environment, v PATH in that of another Python\n"
            "p asks for another paste; a paste is also taken right here\n"
            "q quits"
        ),
        "unknown": "{typed!r} is no key here. The keys:",
        "no-answer": "There is no diagnosis here. p takes another paste, q quits.",
        "no-other": "There is no other candidate.",
        "no-fix": "There is no fix {number}; this answer has {count}.",
        "no-fixes": "This answer has no fix to copy.",
        "copied-desktop": "Copied fix {number}.",
        "copied-terminal": (
            "Copied fix {number} through your terminal. If it cannot be pasted, your terminal does not allow "
            "it; the fix is:"
        ),
        "copied-none": "No clipboard can be reached from here. Fix {number} is:",
    },
    # The help pages.
    "help": {
        "top": (
            "Usage: troubleshoot [OPTIONS] [FILE...]      diagnose logs, a pipe or a paste\n"
            "       troubleshoot COMMAND [ARGUMENTS]      (troubleshoot COMMAND --help)\n"
            "\n"
            "  python train.py 2>&1 | troubleshoot        watch a run, then get the diagnosis\n"
            "  troubleshoot slurm-4711.out                a log, or a run's folder\n"
            "  troubleshoot                               paste a traceback"
        ),
        "options": "Options:",
        "exits": (
            "Exit status: 0 nothing wrong, or harmless   1 a failure diagnosed\n"
            "             2 unreadable input or usage    3 unexplained, or a stopped run"
        ),
        "commands": "Commands:",
        "usage": "Usage: ",
        "option": "[OPTIONS]",
        "default": " (default: {value})",
        "exit-status": "Exit status: ",
        "this-page": "This page.",
        "help": "This page; after a command, the command's.",
        "version": "Version, date and size of the knowledge.",
        "completion": "Tab completion for this shell.",
        "version-flag": "Show the version, and the date and size of the knowledge.",
    },
    # One line for each command.
    "commands": {
        "diagnose": "Diagnose logs (the same as no command).",
        "explain": "Condition by condition: why an entry fits a log or not.",
        "list": "All entries, by area.",
        "show": "One entry: symptoms, cause, fixes, sources.",
        "search": "Search entries in both languages.",
        "check": "Check entries: form, samples, near misses, sources.",
        "new": "Start an entry from a log that no entry explains.",
        "wrong": "Keep the log of a wrong diagnosis as a near miss.",
        "verify": "Prove a diagnosis in your environment by a small probe.",
        "scan": "Diagnose thousands of job logs and sum them up.",
        "browse": "The fix pages in your browser, with a box for a log.",
        "build-site": "Write the fix pages as static files.",
    },
    # What the exit statuses of a command mean, where they are not those of a diagnosis.
    "exits": {
        "explain": "0 the entry fits, or the reading is shown; 3 it does not, 2 unusable.",
        "search": "0 found, 3 nothing similar, 2 unusable.",
        "check": "0 no problems, 2 problems (each on its line).",
        "verify": (
            "0 not here, 1 confirmed here, 3 not proven (cannot tell, or only this kind of failure was seen), "
            "2 unusable. Without a target: 3 when installed versions are in the affected range of an entry, "
            "else 0."
        ),
    },
    # One line for each option: of several commands, then "command.option".
    "options": {
        "files": "Logs (.gz, .xz, .zst, .ipynb too), a run's folder, or - for standard input.",
        "format": "How the report is written.",
        "short-format": "How the answer is written.",
        "lang": "The answer's language (default: of the locale).",
        "brief": "Three lines: what, why, first fix.",
        "quiet": "Do not pass the piped log through.",
        "top": "How many answers at most.",
        "env": "Training environment (folder or Python): facts.",
        "entries": "Your own entries, on top of ours.",
        "ignore": "Entry not to report (or: .troubleshoot.toml).",
        "entry": "The entry's id.",
        "to": "The folder of entries to write to.",
        "redact": "Take keys, names and addresses out of all that is written.",
        "area": "Only this area.",
        "explain.log": "A log, or - for standard input.",
        "explain.reading": "Show how the lines of a log are read; give no ENTRY then, only LOG.",
        "list.kind": "Only this kind.",
        "search.words": "Words of a title, message or cause; typing errors are fine.",
        "check.folder": "Entries to check: all, an area or one (default: the shipped ones).",
        "check.healthy": "Logs on which no failure may be diagnosed.",
        "check.stamp": "Mark the translations as fitting the English text.",
        "check.mark": "Mark in samples.log the lines that are evidence now.",
        "check.schema": "Print the JSON Schema of the entry form.",
        "check.report-schema": "Print the JSON Schema of the report.",
        "check.rerun": "Run the probes of this many recorded claims again.",
        "check.claims": "List claims without a recorded run, too.",
        "check.changed": "Only what differs from the main branch.",
        "new.log": "A log that no entry explains, or - for standard input.",
        "new.area": "The entry's area.",
        "new.id": "The entry's id (default: from the message).",
        "wrong.entry": "The id of the diagnosis that was wrong.",
        "wrong.log": "The log that it was given for.",
        "verify.target": "An entry's id, or a log (- for standard input).",
        "verify.python": "Training environment: its folder (venv, conda) or Python.",
        "verify.device": "auto, cpu, cuda or cuda:N.",
        "verify.timeout": "Seconds that the probe may take.",
        "verify.model": "Your own local weights or config, where a probe can use them.",
        "verify.record": "Keep the result beside the entry (or in your data folder).",
        "verify.record-to": "Keep the result in this folder.",
        "verify.show-code": "Show the few lines that a person could run by hand.",
        "scan.paths": "Logs, folders or patterns; with --summary: records of scans.",
        "scan.kept": "Where done jobs are kept (JSON Lines).",
        "scan.summary-only": "Only sum up records: cat them together as you like.",
        "scan.workers": "Processes (default: all cores).",
        "browse.entry": "The id of the entry to open (default: the start page).",
        "browse.port": "The port (default: 8765).",
        "browse.next-port": "Take the next free port if it is in use.",
        "browse.host": "Another address than this machine's loopback.",
        "browse.open-browser": "Open the browser.",
        "build-site.folder": "A new folder, or one that an earlier run wrote.",
        "build-site.base-url": "The site's address, for sitemap.xml and canonical links.",
    },
    # --version.
    "version": {
        "knowledge": "knowledge: {count} entries, {date}",
        "changed": "last changed {date}",
        "undated": "date not recorded",
    },
    # troubleshoot verify.
    "verify": {
        "confirmed": "confirmed",
        "kind-confirmed": "this kind of failure exists here",
        "not-here": "not here",
        "cannot-tell": "cannot tell",
        "occurred": "It happens in this environment: {what}",
        "kind-occurred": (
            "The usual case of this failure happens in this environment: {what}. Whether it stopped the run of "
            "the log is not proven: the log does not hold all that decides it"
        ),
        "kind-other-environment": "It happens in this environment, which is not the one that wrote the log: {what}",
        "kind-did-not-occur": (
            "The usual case of this failure did not fail here, and the log does not hold all that decides its "
            "own. {cases}"
        ),
        "model-settles": (
            "With --model DIR (your model's folder; its config.json is enough) the question is asked of your own model"
        ),
        "did-not-occur": "The same code ran here and did not fail ({cases})",
        "outside": "{package} {version} is installed here; affected is {range}",
        "inside": "The installed versions are affected ({versions}), but nothing was run: {why}",
        "no-probe": "this entry has no probe",
        "no-range": "This entry states no version range and has no probe: nothing can be checked here",
        "missing": "{packages} not installed in {python}",
        "other-failure": "Something else failed instead ({what})",
        "refused": "The probe reached for the network ({what}); its answer does not count",
        "silent": "The probe ended without an answer",
        "mechanism-only": "Only the mechanism was shown, with staged numbers; that confirms nothing about this run",
        "contradiction": (
            "The entry's version range ({range}) says that this environment is affected; the run says it is not"
        ),
        "contradiction-outside": (
            "The entry's version range ({range}) says that this environment is not affected; the run says it is"
        ),
        "other-environment": "The log was written by another environment: this answer says nothing about it",
        "leaves-range": "{package} {version} lies outside of the affected range{recorded}",
        "stays-in-range": "{package} {version} still lies in the affected range",
        "recorded": "; a recorded run did not show it with {package} {version} ({date})",
        "removed": "removes the failure",
        "not-removed": "DOES NOT HELP: the failure is still there",
        "not-tried": "not tried here",
        "fix-other": "tried, but ended in another error: {what}",
        "measured-here": "measured here ({on})",
        "asked": "Asked {python} ({why})",
        "run-it": "The log names {python}, which other users may change. Run it? [y/N]",
        "not-run": (
            "The log names {python}; it was not run, as other users may change it: name it with --python if "
            "you trust it"
        ),
        "why-named": "named with --python",
        "why-log": "its site-packages stand in the log",
        "why-active": "the active environment",
        "why-path": "the first Python on PATH that has torch",
        "why-own": "the tool's own environment",
        "same-yes": "the environment of the log",
        "same-no": "not the environment of the log",
        "same-unknown": "the log does not say whether it came from here",
        "by-hand": "To run it by hand",
        "fixes": "Fixes",
        "notes": "Notes",
        "demonstration": "Demonstration of the mechanism, not a confirmation",
        "steps": "{without:.3g} s → {with_fix:.3g} s a step",
        "memory": "{without:.3g} MB → {with_fix:.3g} MB at the peak",
        "model-unused": "This probe has no use for --model",
        "recorded-in": "Recorded in {path}",
        "reach": (
            "{checkable} of the {failures} known failures ({share} %) can be checked in an environment: "
            "{probes} by a probe that runs, {ranges} by their version range"
        ),
        "by-versions": "nothing was run",
        "affected-list": "{count} of {total} entries with version ranges match this environment",
        "yes": "y yes",
    },
    # troubleshoot scan.
    "scan": {
        "jobs": "{jobs} jobs: {failed} failed, {healthy} healthy, {harmless} with harmless output only",
        "failures": "Failures",
        "unknown": "Unknown failures",
        "unreadable": "Could not be read",
        "skipped": "Passed over",
        "lines-passed-over": "Lines of the record that are no rows of a scan: {count}",
        "rows-newer": (
            "Rows of the record that a newer troubleshoot wrote, not counted above: {count}; upgrade to read them"
        ),
        "more": "… and {count} more",
    },
    # troubleshoot new: what a draft holds where its author has to write.
    "drafts": {
        "unwritten": "TODO",
    },
    # What the server of the pages answers.
    "browse": {
        "large": "The log is larger than {size} MiB. Use the command line: troubleshoot FILE",
        "slow": "The log did not arrive in time.",
        "long": "The diagnosis took longer than {seconds} s and was stopped. Use the command line: troubleshoot FILE",
        "busy": "Other logs are being read; try again in a moment.",
        "starting": (
            "The entries are being compiled. This happens once after an installation or a change, and takes "
            "about half a minute. Send the log again then."
        ),
        "missing": "No such page: {what}",
        "near": "Did you mean {link}?",
        "nothing-pasted": "Nothing was pasted; give the log of a run.",
    },
    # The fix pages.
    "pages": {
        "name": "Troubleshoot",
        "tagline": "Fix pages for failed LLM fine-tuning runs",
        "skip": "Skip to the content",
        "home": "All entries",
        "question": "What went wrong with your run?",
        "intro": (
            "{count} entries on failures of fine-tuning runs: the messages they print, their causes, and fixes "
            "that were run or have a source."
        ),
        "search": "Search",
        "search-label": "Search titles, messages and causes",
        "search-hint": "A message, a symptom, a library… typing errors are fine",
        "filters": "Filters",
        "area": "Area",
        "library": "Library",
        "severity": "Severity",
        "kind": "Kind",
        "any": "any",
        "reset": "Clear",
        "found": "{count} entries",
        "found-one": "1 entry",
        "found-none": "Nothing fits. Try fewer words, or only the last line of the traceback.",
        "loading": "Loading the entries…",
        "areas": "Areas",
        "area-intro": "{count} entries on {area}, the most common first.",
        "common": "Common failures",
        "common-how": (
            "Common here means: many other entries refer to the failure, and many public threads are among its sources."
        ),
        "more": "Show more",
        "theme": "Light or dark",
        "copy": "Copy",
        "copied": "Copied",
        "copy-failed": "Press Ctrl+C",
        "see": "What you see",
        "see-any": "Any one of these in the log:",
        "fixes": "How to fix it",
        "nothing-to-fix": "Nothing to fix: this is harmless.",
        "versions": "Versions",
        "package": "Package",
        "affected": "Affected",
        "repaired": "Repaired in",
        "not-repaired": "no repaired release known",
        "after": "after {version}",
        "not-tied": "No range of versions: as far as known, the cause is not tied to a release.",
        "verify": "How to verify",
        "verify-probe": (
            "A small probe reproduces the failure in your training environment and shows which fix removes it. "
            "It builds a tiny random model and downloads nothing."
        ),
        "verify-log": (
            "No probe stands behind this entry. Condition by condition, this shows what of it holds on your log:"
        ),
        "advice": "Printed advice that does not apply here",
        "lookalikes": "Not this? Lookalikes",
        "runs": "Recorded runs",
        "runs-text": "Written by a run of the probe, newest first; never by hand.",
        "date": "Date",
        "result": "Result",
        "with-versions": "Versions",
        "device": "Device",
        "fixes-that-helped": "Fixes that removed it",
        "confirmed": "confirmed",
        "not-here": "not affected",
        "cannot-tell": "cannot tell",
        "more-runs": "{count} older runs",
        "shows-symptom": "symptom",
        "shows-cause": "cause",
        "shows-fix": "fix",
        "shows-versions": "versions",
        "read-in": "read in {package} {versions}",
        "run-of": "run: {what}",
        "facts": "At a glance",
        "contents": "On this page",
        "id": "Entry",
        "retry": "Run it again?",
        "retry-useless": "fails the same way again",
        "retry-after-fix": "after the fix",
        "retry-may-help": "may help",
        "libraries": "Libraries",
        "variant-of": "A variant of {link} for one framework",
        "fallback-for": "The general answer when none of these fits",
        "cascade-note": "An after-effect: look in the log for the failure that came first.",
        "untranslated": "This entry is not translated yet.",
        "failure": "failure",
        "when-package": "with {what}",
        "shell": "shell",
        "paste": "Paste or drop a log",
        "paste-text": (
            "The same diagnosis as on the command line, with the log beside it. It stays on this machine and "
            "is not written to disk."
        ),
        "paste-label": "The log",
        "paste-hint": "Traceback (most recent call last): …  or a whole training log; a file can be dropped here",
        "diagnose": "Diagnose",
        "working": "Reading the log…",
        "starting": "The entries are being compiled, once after an installation or a change (about half a minute)…",
        "choose": "Choose a file",
        "static-paste": "Have a log? Diagnose it on your machine:",
        "unreachable": "The server did not answer; is it still running?",
        "footer": "Every claim names its source; recorded runs are written by probes.",
        "this-page": "This page in English",
    },
    # The areas of the shipped entries.
    "areas": {
        "precision": "Precision",
        "training": "Training",
        "harmless": "Harmless",
        "adapters": "Adapters",
        "quantization": "Quantization",
        "checkpoints": "Checkpoints",
        "memory": "Memory",
        "cuda": "CUDA",
        "kernels": "Kernels",
        "distributed": "Distributed",
        "models": "Models",
        "tokenizers": "Tokenizers",
        "data": "Data",
        "trainers": "Trainers",
        "rl": "Reinforcement learning",
        "hub": "Hub",
        "environment": "Environment",
    },
}

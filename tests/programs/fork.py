"""Runs programs in an environment whose heavy imports were done once: ``python fork.py < jobs``, a JSON object a line.

Run by the environment's own Python (3.11 or newer, POSIX), with nothing but the standard library and what it preloads. A job
is ``{"folder", "file"}``; the answer is ``{"status", "err"}``. Each program runs in a process of its own, forked from this one,
and an uncaught exception is printed as the interpreter prints it.
"""

import importlib
import json
import os
import signal
import sys
import tempfile
import traceback

PRELOADED = (
    *("torch", "transformers", "datasets", "accelerate", "peft", "trl", "transformers.trainer", "trl.trainer.sft_trainer"),
    *("transformers.models.llama.modeling_llama", "transformers.models.auto.modeling_auto", "transformers.generation.utils"),
)
LIMIT_S = 180


def run(path):
    """Run a program as ``__main__``; its exit status."""
    try:
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), path, "exec")
        sys.modules["__main__"].__dict__.update(__file__=path, __name__="__main__")
        exec(code, sys.modules["__main__"].__dict__)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        traceback.print_exception(type(error), error, error.__traceback__.tb_next)
        return 1
    return 0


def answer(job):
    with tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            status = 70
            try:
                signal.alarm(LIMIT_S)
                os.chdir(job["folder"])
                os.environ["HF_HOME"] = job["folder"] + "/hf"
                sys.path.insert(0, job["folder"])
                os.dup2(err.fileno(), 2)
                os.dup2(err.fileno(), 1)
                status = run(job["file"])
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        err.seek(0)
        return {"status": os.waitstatus_to_exitcode(ended), "err": err.read().decode("utf-8", "replace")}


if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if entry != os.path.dirname(os.path.abspath(__file__))]
    talk = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for name in PRELOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        talk.write(json.dumps(answer(json.loads(line))) + "\n")
        talk.flush()

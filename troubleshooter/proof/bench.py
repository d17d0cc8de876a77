"""Run by the Python of an environment: executes the Python of fixes, each in a process of its own that can change nothing.

Reads a JSON list of ``{"code": …, "given": …}`` from standard input; writes a line of JSON for each: ``{"outcome": …, "said": …,
"stand_ins": […]}``. ``given`` is Python that runs before the code: what the reader of this fix has. Outcomes: ``ran``; ``defined``
(the code only defines functions or classes, nothing called them); ``failed`` (what it raised, at which of its lines); ``not run``
(why: a name, a file, a package or a device that only the reader has).

A fix speaks of the reader's ``model``, ``tokenizer`` or ``args``: `stand_ins` has tiny ones, made by the libraries' own code. ``...``
among the arguments of a call is filled with what the callable asks for. ``"cuda"`` as a device, and ``.cuda()``, are read as the CPU,
``"nccl"`` as gloo. What needs a launcher runs once more as the only process of a launch.
"""

import ast
import builtins
import contextlib
import gc
import importlib.util
import io
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback

CPU_SECONDS = 25
WALL_SECONDS = 150
"""Only so that nothing waits for ever: the processor's time decides, which does not depend on what else runs."""
MEMORY_BYTES = 24 << 30
"""Address space of a process; the libraries alone map about 8 GiB of it."""
FILE_BYTES = 256 << 20
FILE = "fix.py"
CUDA = re.compile(r"cuda(:\d+)?$")
NOT_RUN = (
    ("needs a launcher", re.compile(r"process group|Mesh should not be bigger|tried to initialize torch.distributed|MASTER_ADDR|RANK\b|^KeyError: None|WORLD_SIZE|torchrun|distributed (environment|run)|torch\.distributed is")),
    ("needs another device", re.compile(r"CUDA|\bcuda\b|NVIDIA|gpu backend|\bGPU|NCCL|nccl|XPU|\bNPU|HPU|MPS\b|TPU|FP8|fp16.*(requires|can only)|accelerator device|_cuda_|mps devices|cuBLASLt|bf16/gpu|BFloat16 is not supported|use_cpu")),
    ("needs the network", re.compile(r"a probe stays on this machine|offline|[Cc]onnect|Couldn't reach|huggingface\.co|is not a local folder|Name or service")),
    ("needs another package", re.compile(r"(?i)pip install|not installed|is not available|requires the following|Using `\w+` requires|requires? (the )?`?(bitsandbytes|deepspeed|vllm|flash)|isn't installed|doesn't seem to be installed|please install|was not found in your environment|package .* (is )?required")),
)  # fmt: skip
"""Why an error is the environment's and not the fix's, by its message. Not asked of a TypeError, AttributeError or NameError."""


SURFACE = re.compile(
    r"unexpected keyword|missing \d+ required|takes .* positional argument|multiple values for|is not defined|object is not callable"
)
"""What a TypeError says when a name or an argument is not the library's: then the fix is at fault, and not what it was tried on."""
UNFIT = re.compile(
    r"Invalid thread pool|context has already been set|File too large|Unrecognized (configuration class|model in)|initialize your accelerator|AcceleratorState"
    r"|instantiate the backend tokenizer|valid checkpoint at|folder does not exist|adapter model file not found|is not a directory|No module.*target|Target modules|Unable to find 'latest'|no file named|not fully cached locally"
)
"""Errors of the bench: what was forked, what is saved, what is limited."""


def main():
    import _cage
    import stand_ins

    snippets = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the libraries print is no answer
    home = tempfile.mkdtemp(prefix="troubleshoot-proof-")
    kit = stand_ins.StandIns(home)
    gc.freeze()  # so that collecting does not copy the libraries into each process
    for number, snippet in enumerate(snippets):
        asked = (snippet["code"], snippet["given"], kit, os.path.join(home, str(number)), _cage)
        told = alone(*asked)
        if told["said"].startswith("needs a launcher"):
            told = alone(*asked, launched=True)
        answers.write(json.dumps(told) + "\n")
        answers.flush()
    shutil.rmtree(home, ignore_errors=True)


def alone(code, given, kit, folder, cage, launched=False):
    """The answer to one snippet, from a child that is confined to ``folder`` and ends after its time.

    ``launched``: the child is the only process of a launch."""
    os.mkdir(folder)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        answer = {"outcome": "not run", "said": "the process ended", "stand_ins": []}
        try:
            confine(folder, cage)
            if launched:
                kit.launch("init_process_group" not in code)
            answer = run(code, given, kit)
        finally:
            with contextlib.suppress(OSError):
                os.write(writing, json.dumps(answer).encode()[:60_000])
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    shutil.rmtree(folder, ignore_errors=True)
    if told:
        return json.loads(told)
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    long = ended in (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL)
    said = f"takes more than {CPU_SECONDS} s" if long else f"the process ended by signal {ended}"
    return {"outcome": "not run" if long else "failed", "said": said, "stand_ins": []}


def confine(folder, cage):
    """Shut this process into an otherwise empty folder, without a network, with limits of time, memory and size of files."""
    os.chdir(folder)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.environ["PATH"] = ""  # nothing compiles here
    os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.tempdir = folder
    os.setsid()
    cage.die_with_parent()
    cage.watch_sockets(lambda what: None)
    cage.confine(folder, loopback=True, shared_memory=True)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(WALL_SECONDS)


def run(code, given, kit):
    """Execute a snippet in this very process."""
    import asyncio
    import inspect

    tree = ast.fix_missing_locations(whole(Filled().visit(ast.parse(code))))
    before = ast.fix_missing_locations(Filled().visit(ast.parse(given)))
    space = {"__name__": "__main__", "__file__": FILE, "filled_call": kit.filled_call}
    set_before = {
        node.id for node in ast.walk(before) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    unknown = set()
    kit.fit_to(code)
    told = {"stand_ins": [], "said": "", "outcome": "ran"}
    try:
        for name in sorted((free_names(tree) | free_names(before)) - set_before):
            try:
                space[name] = kit.named(name)
            except LookupError:
                unknown.add(name)
        told["stand_ins"] = sorted(set(kit.used))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(before, "given.py", "exec"), space)
            made = eval(compile(tree, FILE, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), space)
            if inspect.iscoroutine(made):
                asyncio.run(made)
    except BaseException as error:
        if isinstance(error, SystemExit) and not error.code:
            return told
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == FILE]
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        if (why := not_here(error, said, unknown, kit, frames[-1].filename if frames else "")) is not None:
            return {**told, "outcome": "not run", "said": why}
        place = f"line {lines[-1]}" if lines else "what is given to it"
        return {**told, "outcome": "failed", "said": f"{place}: {said}"}
    if all(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))
        for node in tree.body
    ) and any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for node in tree.body):
        told["outcome"] = "defined"
    return told


def whole(tree):
    """A text that returns is a part of a function: then the function is what is defined."""
    if not any(isinstance(node, ast.Return) for statement in tree.body for node in walked(statement)):
        return tree
    function = ast.parse("def part(): ...")
    function.body[0].body = tree.body
    return function


def walked(tree):
    """The nodes of a text that are in no function of its own."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)) and not isinstance(
            tree, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ):
            yield from walked(child)


def not_here(error, said, unknown, kit, whose):
    """Why an error says that something is missing here; None where it is the fix's."""
    if isinstance(error, NameError) and error.name in unknown:
        return f"needs another package: {error.name}" if error.name[:1].isupper() else f"the reader's own: {error.name}"
    if isinstance(error, ModuleNotFoundError) and error.name and not here(error.name.partition(".")[0]):
        return f"needs another package: {error.name.partition('.')[0]}"
    if isinstance(error, (FileNotFoundError, IsADirectoryError)):
        return f"the reader's own: the file {error.filename}" if error.filename else f"the reader's own: {said[:100]}"
    if isinstance(error, KeyError) and whose.startswith("<frozen os") and "RANK" not in said:
        return f"the reader's own: the environment variable {error.args[0]}"
    if isinstance(error, MemoryError):
        return "needs more memory"
    if "super(): no arguments" in said:
        return "the reader's own: a class of which this is a part"
    if isinstance(error, PermissionError):
        return f"the reader's own: the file {error.filename}"
    if isinstance(error, AttributeError) and error.name == "add_dll_directory":
        return "needs Windows"
    if isinstance(error, AttributeError) and not said.startswith("AttributeError: module 'torch._C'"):
        return None if kit.surface(error.obj) else f"the stand-ins do not fit: {said[:120]}"
    if isinstance(error, (TypeError, NameError)) and SURFACE.search(said):
        return None
    if isinstance(error, ImportError) and said.startswith("ImportError: cannot import name"):
        return None
    for why, words in NOT_RUN:
        if words.search(said):
            return f"{why}: {said[:120]}"
    if UNFIT.search(said) or kit.fitted():
        return f"the stand-ins do not fit: {said[:120]}"
    return None


def here(package):
    """Whether a package is installed."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def free_names(tree):
    """The names that a text reads before it sets them, builtins aside."""
    free = set()
    read_of_block(tree.body, set(dir(builtins)), free)
    return free - {"filled_call"}


def read_of_block(body, own, free):
    """Add to ``free`` what the statements read, and to ``own`` what they set, in their order."""
    for statement in body:
        blocks = [
            part for name in ("body", "orelse", "finalbody") if isinstance(part := getattr(statement, name, None), list)
        ]
        blocks += [handler.body for handler in getattr(statement, "handlers", [])]
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            free |= loaded(statement) - stored(statement) - inner(statement) - own - {statement.name}
            own.add(statement.name)
        elif blocks:
            heads = [
                child
                for child in ast.iter_child_nodes(statement)
                if not isinstance(child, (ast.stmt, ast.ExceptHandler))
            ]
            for head in heads:
                free |= loaded(head) - inner(head) - own
            for head in heads:
                own |= stored(head)
            own |= {handler.name for handler in getattr(statement, "handlers", []) if handler.name}
            for block in blocks:
                read_of_block(block, own, free)
        else:
            free |= loaded(statement) - inner(statement) - own
            if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                free |= {statement.target.id} - own
            own |= stored(statement)


def loaded(tree):
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Load, ast.Del))
    }


def stored(tree):
    """The names that a text sets, in whatever scope."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or (
            isinstance(node, ast.ExceptHandler) and node.name
        ):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    return names


def inner(tree):
    """The names that comprehensions and lambdas of an expression set for themselves."""
    names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension):
            names |= stored(node.target)
        elif isinstance(node, ast.NamedExpr):
            names.add(node.target.id)
    return names


class Filled(ast.NodeTransformer):
    """Calls with ``...`` among their arguments become calls of the kit; the device "cuda" becomes the CPU, and "nccl" gloo."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
            node.func.attr = "cpu"
            node.args = []
        elided = [a for a in node.args if isinstance(a, ast.Constant) and a.value is ...]
        named = [k for k in node.keywords if isinstance(k.value, ast.Constant) and k.value.value is ...]
        if not elided and not named:
            return node
        args = [a for a in node.args if a not in elided]
        keywords = [k for k in node.keywords if k not in named]
        asked = ast.keyword("_asked", ast.Constant(",".join(k.arg or "" for k in named)))
        return ast.copy_location(
            ast.Call(ast.Name("filled_call", ast.Load()), [node.func, *args], [*keywords, asked]), node
        )

    def visit_Constant(self, node):
        if isinstance(node.value, str) and CUDA.match(node.value):
            return ast.copy_location(ast.Constant("cpu"), node)
        if node.value == "nccl":
            return ast.copy_location(ast.Constant("gloo"), node)
        return node


if __name__ == "__main__":
    main()

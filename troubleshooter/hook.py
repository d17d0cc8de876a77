"""Crash facts: what no log holds about an exception that ends a training process, written as one JSON file for each process.

This file needs the standard library alone, runs on Python 3.8 and newer, and can be copied beside a script. One line of the
script installs it; `troubleshoot run` does that without a change of the script::

    from troubleshooter import hook; hook.install(folder="crash-facts")

On an exception that nothing catches (also in threads, in processes of `multiprocessing` and `torch.multiprocessing`, in data
loader workers, in pools of processes and in cells of notebooks) the hook writes the chain of exceptions, their frames, and for
the last frames what the variables were: shapes, dtypes and devices of tensors, sizes of lists and dicts, small numbers and short
strings without secrets. It adds the versions that were really imported, and what torch says about GPUs, ranks and memory. Afterwards the hook
that was there before is called, so that the traceback is printed as ever.

The hook reads no value of a tensor, waits for no GPU, initialises nothing, calls no ``__repr__``, ``__str__`` or property of
objects that it does not know (the message of an exception is what Python prints of it), and never raises.

Not seen: processes that a signal or ``os._exit`` ends, exceptions that a program catches and ends by ``sys.exit`` in its main
process, workers of Ray and joblib, and processes started by "spawn" from a script that installs the hook below
``if __name__ == "__main__":``.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as in `typing`, which need not be imported for it
if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

__all__ = ["FORMAT", "crash_facts", "install"]

FORMAT = 1
"""The number of the form of the JSON; what reads it refuses other numbers."""
FOLDER_VARIABLE = "TROUBLESHOOT_HOOK_DIR"
ENDED = b"\nended in order\n"
"""The end of a file of stacks whose process ended in order."""
CALM_OFFSET, SPARE_OFFSET = 9, 10
"""So many numbers above the lowest real-time signal are the calm signal, and the one that takes the place of SIGUSR2 if the program handles that itself."""
MAX_BYTES, MAX_SECONDS, MAX_FILES = 256 * 1024, 0.5, 4
"""Of one file of facts; files of one process."""
MAX_FILES_OF_WORKERS, MAX_FILES_OF_ALL = 256, 1024
"""Files of a folder. A pool whose workers fail as they start makes new ones without end; an exception that ends a program itself has room after them."""
MAX_EXCEPTIONS, MAX_FRAMES, FIRST_FRAMES = 8, 100, 20
"""Exceptions of a chain; frames of one exception, and how many of them are the outermost."""
FRAMES_WITH_LOCALS, OWN_FRAMES_WITH_LOCALS = 6, 3
MAX_LOCALS, MAX_ATTRIBUTES, MAX_ITEMS, MAX_DEPTH, MAX_VALUES = 40, 24, 12, 3, 3000
ROOTED = {
    "broadcast": "src", "broadcast_object_list": "src", "scatter": "src", "scatter_object_list": "src", "reduce": "dst", "gather": "dst",
    "gather_object": "dst",
}  # fmt: skip
"""Collectives from one rank, or to one, and the argument that names it."""
MAX_MODULES, MAX_COLLECTIVES, MAX_RANKS, MAX_TASKS = 20000, 1000, 100000, 1000
MAX_TEXT, MAX_MESSAGE, MAX_CODE = 200, 4000, 400
"""Characters of a string, of an exception's message, of a line of code."""
PACKAGES = (
    "torch", "transformers", "accelerate", "peft", "trl", "datasets", "tokenizers", "bitsandbytes", "deepspeed", "unsloth",
    "unsloth_zoo", "flash_attn", "xformers", "triton", "vllm", "huggingface_hub", "safetensors", "numpy", "pandas", "pyarrow",
    "ray", "llamafactory", "axolotl", "swift", "torchtune", "torchvision", "torchaudio", "auto_gptq", "optimum", "gptqmodel",
    "lightning", "pytorch_lightning", "sentencepiece", "wandb", "apex", "torchao", "verl", "openrlhf", "hqq", "tensorflow", "jax",
    "liger_kernel", "evaluate", "diffusers", "sentence_transformers", "timm", "pydantic", "torchmetrics", "kernels",
)  # fmt: skip
"""Packages whose version is told where they are imported."""
VARIABLES = (
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "SLURM_PROCID", "SLURM_NTASKS", "CUDA_VISIBLE_DEVICES",
    "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM",
    "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "ACCELERATE_MIXED_PRECISION", "ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED",
)  # fmt: skip
VARIABLE_PREFIXES = ("NCCL_", "TORCH_NCCL_", "TORCH_DISTRIBUTED_", "TORCH_FR_", "TORCHDYNAMO_", "GLOO_", "FSDP_")
WITHHELD = "<withheld>"

_folder = None  # type: Optional[str]
_installed = False
_written = 0
_last = None  # type: Optional[int]
_stacks = None  # type: Optional[Tuple[int, str]]
_asked_by = 0
_answers_in = 0
_forms = ()  # type: Tuple[Any, ...]


def install(folder: Optional[str] = None) -> Optional[str]:
    """Write crash facts from now on; a second call changes the folder at most. Returns the folder, or None where there is none.

    ``folder``: where files ``troubleshoot-crash-<rank>-<pid>.json`` are written; it is made when it is needed. Without it
    the folder of the variable ``TROUBLESHOOT_HOOK_DIR`` is used, with files ``<rank>-<pid>.crash.json``. Where neither is
    given nothing is ever written. In the folder of the variable the signal SIGUSR2 also writes the stacks of all threads to
    ``<pid>.stacks``, unless the program handled that signal before. A process that computes is asked by a real-time signal instead.
    """
    global _folder, _installed
    if folder is not None:
        _folder = os.path.abspath(folder)
    if not _installed:
        _installed = True
        try:
            if not hasattr(sys.excepthook, "troubleshoot_hook"):
                sys.excepthook = _chained(sys.excepthook)
                _watch_imports()
            _arm_stacks()
        except Exception:
            pass  # a run must not suffer from what watches it
    return _folder or os.environ.get(FOLDER_VARIABLE) or None


def crash_facts(error: BaseException, how: str = "uncaught") -> Dict[str, Any]:
    """The facts of an exception, as plain dicts, lists, strings and numbers. It may take `MAX_SECONDS`."""
    budget = _Budget()
    rank = _number("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")
    facts = {
        "crash_facts": FORMAT, "how": how, "rank": rank, "world_size": _number("WORLD_SIZE", "SLURM_NTASKS"),
        "pid": os.getpid(), "python": "%d.%d.%d" % sys.version_info[:3], "platform": sys.platform,
    }  # type: Dict[str, Any]  # fmt: skip
    facts["versions"] = _tried(_versions)
    facts["exceptions"] = list(_exceptions(error, budget))
    facts["environment"] = _tried(_environment)
    facts["torch"] = _tried(_torch)
    facts["memory"] = _tried(_memory)
    facts["cut"] = budget.spent()
    return facts


# --- the hooks ---


def _chained(before: Callable[..., Any]) -> Callable[..., Any]:
    def excepthook(kind: type, error: BaseException, trace: Optional[TracebackType]) -> None:
        _write(error, "uncaught")
        before(kind, error, trace)

    excepthook.troubleshoot_hook = True  # type: ignore[attr-defined]
    return excepthook


def _patch_threading(module: Any) -> None:
    before = module.excepthook

    def excepthook(args: Any) -> None:
        _write(args.exc_value, "thread")
        before(args)

    module.excepthook = excepthook


def _patch_process(module: Any) -> None:
    """A process of `multiprocessing` prints its exception itself; torch's "spawn" turns it into an exit (its context)."""
    before = module.BaseProcess._bootstrap

    def _bootstrap(self: Any, *args: Any, **options: Any) -> Any:
        run = self.run

        def watched() -> None:
            try:
                run()
            except SystemExit as error:
                if error.code and error.__context__ is not None:
                    _write(error.__context__, "process")
                raise
            except BaseException as error:
                _write(error, "process")
                raise

        self.run = watched
        try:
            return before(self, *args, **options)
        finally:
            _close_stacks()

    module.BaseProcess._bootstrap = _bootstrap


def _patch_wrapper(name: str) -> Callable[[Any], None]:
    """Of a class that carries an exception to another process as text: look at the exception when the class wraps it."""

    def patch(module: Any) -> None:
        wrapper = getattr(module, name)
        before = wrapper.__init__

        def __init__(self: Any, *args: Any, **options: Any) -> None:
            error = args[0] if args and isinstance(args[0], BaseException) else sys.exc_info()[1]
            _write(error, "worker")  # first, as some of them take the traceback off the exception
            before(self, *args, **options)

        wrapper.__init__ = __init__

    return patch


def _patch_shell(module: Any) -> None:
    """IPython prints the exception of a cell itself, and so does the kernel of a notebook that nbconvert executes."""
    shell = module.InteractiveShell
    before = shell.showtraceback

    def showtraceback(self: Any, exc_tuple: Any = None, *args: Any, **options: Any) -> Any:
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        _write(error if isinstance(error, BaseException) else None, "cell")
        return before(self, exc_tuple, *args, **options)

    shell.showtraceback = showtraceback


def _patch_signal(module: Any) -> None:
    """A program may handle SIGUSR2 itself, or set it back to what `getsignal` told before, which does not know of the handler of `faulthandler`."""
    before = module.signal

    def signal(signalnum: Any, handler: Any) -> Any:
        given = before(signalnum, handler)
        _keep_stacks(int(signalnum), handler)
        return given

    signal.__doc__, signal.__module__, signal.__qualname__ = before.__doc__, before.__module__, before.__qualname__
    module.signal = signal


def _patch_groups(module: Any) -> None:
    """From the first group on, a process can be asked which collectives torch has recorded, while its main thread waits in one, or for whom it waits
    while it forms a group."""
    before = module._new_process_group_helper

    def _new_process_group_helper(*args: Any, **options: Any) -> Any:
        global _forms
        _forms = args[:3]  # the size, the own number in it, the ranks; none for the first group, that of all
        _answer_questions()
        try:
            return before(*args, **options)
        finally:
            _forms = ()

    for name in ("__doc__", "__module__", "__qualname__"):
        setattr(_new_process_group_helper, name, getattr(before, name))
    _new_process_group_helper.__wrapped__ = before  # type: ignore[attr-defined]
    module._new_process_group_helper = _new_process_group_helper


PATCHES = {
    "signal": _patch_signal,
    "torch.distributed.distributed_c10d": _patch_groups,
    "threading": _patch_threading,
    "IPython.core.interactiveshell": _patch_shell,
    "multiprocessing.process": _patch_process,
    "multiprocess.process": _patch_process,
    "torch._utils": _patch_wrapper("ExceptionWrapper"),
    "multiprocessing.pool": _patch_wrapper("ExceptionWithTraceback"),
    "multiprocess.pool": _patch_wrapper("ExceptionWithTraceback"),
    "concurrent.futures.process": _patch_wrapper("_ExceptionWithTraceback"),
}  # type: Dict[str, Callable[[Any], None]]
"""Modules that take exceptions away before `sys.excepthook` sees them, or our signal away, and the one that forms groups of ranks. They are patched when they are imported."""


class _ImportWatcher:
    """Stands first in `sys.meta_path`; patches the modules of `PATCHES` after they were executed, and finds nothing itself."""

    def __init__(self, open_: Dict[str, Callable[[Any], None]]) -> None:
        self.open = open_

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        patch = self.open.pop(name, None)
        if patch is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None and finder is not self else None
            if spec is not None:
                self._patch_after(spec.loader, patch)
                return spec
        return None

    @staticmethod
    def _patch_after(loader: Any, patch: Callable[[Any], None]) -> None:
        execute = getattr(loader, "exec_module", None)
        if execute is None or isinstance(loader, type):
            return

        def exec_module(module: Any) -> None:
            execute(module)
            try:
                patch(module)
            except Exception:
                pass  # another release of that module: its processes are not watched

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass


def _watch_imports() -> None:
    later = {}
    for name, patch in PATCHES.items():
        module = sys.modules.get(name)
        if module is None:
            later[name] = patch
            continue
        try:
            patch(module)
        except Exception:
            pass
    sys.meta_path.insert(0, _ImportWatcher(later))


def _arm_stacks() -> None:
    """Let SIGUSR2 write the stacks of all threads; the file is there from the start, because a handler can open none."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder or not hasattr(os, "register_at_fork"):
        return
    import _signal  # type: ignore[import-not-found]  # without the enumerations of `signal`, which take milliseconds
    import atexit

    if _signal.getsignal(_signal.SIGUSR2) != _signal.SIG_DFL:
        return
    _open_stacks()
    atexit.register(_close_stacks)
    os.register_at_fork(after_in_child=_open_stacks)


def _open_stacks() -> None:
    """Open this process's own file of stacks. After a fork the parent's must not be written to."""
    global _stacks, _written, _last, _asked_by
    _written, _last = 0, None
    try:
        import _signal
        import faulthandler

        before, _stacks = _stacks, None
        folder = os.environ.get(FOLDER_VARIABLE, "")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "%d.stacks" % os.getpid())
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        _asked_by = _asked_by or _signal.SIGUSR2
        faulthandler.register(_asked_by, file=number, all_threads=True, chain=False)
        _stacks = number, path
        if before is not None:
            os.close(before[0])
        calm = _real_time_signal(CALM_OFFSET)
        if calm and _signal.getsignal(calm) == _signal.SIG_DFL:
            _signal.signal(calm, _write_stacks)  # outside of the main thread this raises, and there is only SIGUSR2
    except Exception:
        pass


def _keep_stacks(number: int, handler: Any) -> None:
    """Go on writing stacks at a signal that the program has set back, or at another one if it handles ours itself. Never raises."""
    global _asked_by
    try:
        import _signal
        import faulthandler

        if _stacks is None or number != _asked_by:
            return
        if handler == _signal.SIG_DFL:
            faulthandler.unregister(number)  # it does not know that its handler is gone
        else:
            number = _real_time_signal(SPARE_OFFSET)
            if not number or _signal.getsignal(number) != _signal.SIG_DFL:
                return
        faulthandler.register(number, file=_stacks[0], all_threads=True, chain=False)
        _asked_by = number
    except Exception:
        pass


def _real_time_signal(offset: int) -> int:
    """A real-time signal; 0 on a system that has none to spare.

    At the calm one Python itself writes the stacks, between two of its instructions. What SIGUSR2 calls reads the frames at any moment. Those of a
    thread that runs may be half made then, and reading them can end the process. So a process that computes is asked by the calm signal, and one that
    waits by SIGUSR2, because Python does nothing while it waits.
    """
    import _signal

    least = getattr(_signal, "SIGRTMIN", 0)
    return least + offset if least else 0


def _write_stacks(number: int, interrupted: Optional[FrameType]) -> None:
    """Write the stacks of all threads in the form of `faulthandler`, the main thread's last. Never raises."""
    try:
        import _thread

        frames = sys._current_frames()
        frames.pop(_thread.get_ident(), None)
        dumps = ["Thread 0x%016x (most recent call first):\n%s" % (one, _frames_of(top)) for one, top in frames.items()]
        dumps.append(
            "Current thread 0x%016x (most recent call first):\n%s" % (_thread.get_ident(), _frames_of(interrupted))
        )
        if _stacks is not None:
            os.write(_stacks[0], "\n".join(dumps).encode("utf-8", "backslashreplace"))
    except Exception:
        pass


def _frames_of(frame: Optional[FrameType]) -> str:
    lines = []  # type: List[str]
    while frame is not None and len(lines) < MAX_FRAMES:
        code = frame.f_code
        lines.append('  File "%s", line %d in %s\n' % (code.co_filename, frame.f_lineno or 0, code.co_name))
        frame = frame.f_back
    return "".join(lines)


def _close_stacks() -> None:
    """Remove the file of stacks of a process that ends in order. One with stacks in it stays, and says so at its end."""
    try:
        if _stacks is not None and _answers_in == os.getpid():
            os.unlink(_stacks[1][: -len("stacks")] + "ask")
    except OSError:
        pass
    _outlive_handlers()
    try:
        if _stacks is not None and os.fstat(_stacks[0]).st_size == 0:
            os.unlink(_stacks[1])
        elif _stacks is not None:
            os.write(_stacks[0], ENDED)
    except OSError:
        pass


def _outlive_handlers() -> None:
    """Let a question that comes after the end of Python do nothing: it would end the process, and change its exit status. Until then it is answered."""
    try:
        import _signal
        import faulthandler

        if _stacks is None or not _asked_by:
            return
        handler = _signal.getsignal(_asked_by)
        if handler == _signal.SIG_DFL:
            faulthandler.unregister(_asked_by)
            _signal.signal(_asked_by, _signal.SIG_IGN)  # what `faulthandler` sets back at its end
            faulthandler.register(_asked_by, file=_stacks[0], all_threads=True, chain=False)
        calm = _real_time_signal(CALM_OFFSET)
        if calm and _signal.getsignal(calm) is _write_stacks:
            _signal.signal(calm, _signal.SIG_IGN)
    except Exception:
        pass


# --- collectives ---


def _answer_questions() -> None:
    """Start the thread, once in a process, that writes the recorded collectives to ``<pid>.recorded.json`` when somebody writes a byte to a pipe.
    ``<pid>.ask`` tells its descriptor, and its inode, so that nobody writes to another pipe.

    Nothing else can do it: while the main thread waits in C++, it runs no Python. The thread sleeps in a read until then, and takes no signal.
    """
    global _answers_in
    native = sys.modules.get("torch._C._distributed_c10d")
    if (
        _answers_in == os.getpid()
        or _stacks is None
        or sys.platform != "linux"
        or not hasattr(native, "_dump_fr_trace")
    ):
        return
    _answers_in = os.getpid()
    try:
        import _thread

        path = _stacks[1][: -len("stacks")]
        questions, given = os.pipe()
        _replace(path + "ask", b"%d %d\n" % (given, os.fstat(given).st_ino))
        _thread.start_new_thread(_answer, (questions, path + "recorded.json"))
    except Exception:
        pass


def _answer(questions: int, path: str) -> None:
    try:
        import _signal

        _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
        while os.read(questions, 1):
            import json

            _replace(path, json.dumps(_recorded()).encode("ascii"))
    except BaseException:
        pass


def _recorded() -> Dict[str, Any]:
    """The last collectives that torch's Flight Recorder holds, and the ranks of the groups."""
    import pickle

    module = sys.modules["torch.distributed.distributed_c10d"]
    world = module._world
    groups = {str(world.pg_names.get(group)): sorted(ranks) for group, ranks in world.pg_group_ranks.items()}
    forms = _forming()
    found = (
        {"entries": []}
        if forms
        else pickle.loads(sys.modules["torch._C._distributed_c10d"]._dump_fr_trace(True, False, False))
    )
    rows = [
        {
            "group": str(row["process_group"][0]), "number": row["collective_seq_id"], "operation": row["profiling_name"].rpartition(":")[2],
            "inputs": str(row["input_sizes"])[:MAX_TEXT], "dtypes": str(row["input_dtypes"])[:MAX_TEXT], "waits": not row["retired"],
        }
        for row in found["entries"]
        if not row["is_p2p"]
    ]  # fmt: skip
    return {
        "recorded": FORMAT,
        "groups": groups,
        "collectives": rows[-MAX_COLLECTIVES:],
        "root": _root(),
        "forms": forms,
        "tasks": _tasks(),
    }


def _forming() -> Dict[str, Any]:
    """The group that the main thread forms: its ranks, and which of them this process is. Empty if it forms none."""
    if len(_forms) != 3:
        return {}
    size, own, ranks = _forms
    if type(size) is not int or type(own) is not int or not 0 <= own < size <= MAX_RANKS:
        return {}
    members = [one for one in ranks if type(one) is int] if type(ranks) in (list, tuple) else []
    members = members or list(range(size))
    return {"ranks": members, "own": members[own]} if len(members) == size else {}


def _main_frame() -> Optional[FrameType]:
    """Where the main thread stands. The module is not imported here: it would take this thread for the main one, and wait for it at the end."""
    main = getattr(sys.modules.get("threading"), "main_thread", None)
    return sys._current_frames().get(main().ident or 0) if main is not None else None


def _tasks() -> List[Any]:
    try:
        return _tasks_of_loop()
    except Exception:
        return []


def _tasks_of_loop() -> List[Any]:
    """Where the tasks of the main thread's event loop stand: for each its frames, the innermost first. Empty if it runs none."""
    frame = _main_frame()
    while frame is not None and not (frame.f_code.co_name == "run_forever" and "asyncio" in frame.f_code.co_filename):
        frame = frame.f_back
    asyncio = sys.modules.get("asyncio")
    if frame is None or asyncio is None:
        return []
    found = []
    for task in list(asyncio.all_tasks(frame.f_locals.get("self")))[:MAX_TASKS]:
        frames = []  # type: List[Any]
        awaited = task.get_coro()
        while awaited is not None and len(frames) < MAX_FRAMES:
            inside = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
            if inside is None:
                break
            frames.insert(0, [inside.f_code.co_filename, inside.f_lineno or 0, inside.f_code.co_name])
            awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
        found.append(frames)
    return found


def _root() -> Optional[int]:
    """From which rank, or to which, the collective goes that the main thread waits in; None if it concerns all alike."""
    frame = _main_frame()
    while frame is not None:
        name = ROOTED.get(frame.f_code.co_name)
        if name is not None and frame.f_code.co_filename.endswith("distributed_c10d.py"):
            value = frame.f_locals.get(name)
            return value if type(value) is int else None
        frame = frame.f_back
    return None


# --- the file ---


def _write(error: Optional[BaseException], how: str) -> None:
    """Write the facts of an exception. Never raises; an exception that was written is not written again."""
    global _last, _written
    try:
        if error is None or isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit)) or id(error) == _last:
            return
        folder = _folder or os.environ.get(FOLDER_VARIABLE)
        if not folder or _written >= MAX_FILES or _is_full(folder, how):
            return
        _last, _written = id(error), _written + 1
        facts = crash_facts(error, how)
        name = "%d-%d%s" % (facts["rank"] or 0, os.getpid(), "" if _written == 1 else "-%d" % _written)
        name = "troubleshoot-crash-%s.json" % name if _folder else "%s.crash.json" % name
        _replace(os.path.join(folder, name), _encoded(facts))
    except BaseException:
        pass  # the exception that is being reported is the one that counts


def _is_full(folder: str, how: str) -> bool:
    """Whether a folder holds as many files of facts as it may."""
    most = MAX_FILES_OF_ALL if how == "uncaught" else MAX_FILES_OF_WORKERS
    try:
        return sum(name.endswith(".json") for name in os.listdir(folder)) >= most
    except OSError:
        return False


def _replace(path: str, content: bytes) -> None:
    """Write a file that is whole or not there. Others may not read it."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    draft = "%s.%d.part" % (path, os.getpid())
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(number, view) :]
        finally:
            os.close(number)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def _encoded(facts: Dict[str, Any]) -> bytes:
    """The JSON in at most `MAX_BYTES`: first the variables of outer frames are left out, then all, then frames, then messages."""
    import json

    for leave_out in (None, 3, 1, 0, -1):
        if leave_out is not None:
            facts["cut"] = True
            _thin_out(facts["exceptions"], leave_out)
        content = json.dumps(facts, ensure_ascii=True).encode("ascii")
        if len(content) <= MAX_BYTES:
            return content
    return json.dumps({**facts, "exceptions": [], "cut": True}).encode("ascii")[:MAX_BYTES]


def _thin_out(exceptions: List[Dict[str, Any]], frames: int) -> None:
    """Keep the variables of so many innermost frames; -1: keep only the last frames, without variables."""
    for one in exceptions:
        if frames < 0:
            one["frames"] = one["frames"][-10:]
            one["message"] = one["message"][:500]
            one["notes"] = []
        for frame in one["frames"][: len(one["frames"]) - max(frames, 0)]:
            frame.pop("locals", None)


# --- exceptions and frames ---


class _Budget:
    """How much may still be looked at: time and number of values."""

    def __init__(self) -> None:
        import time

        self._now = time.monotonic
        self._end = self._now() + MAX_SECONDS * 0.8  # the rest is for writing
        self._left = MAX_VALUES

        self._kept = {}  # type: Dict[int, Tuple[Any, Any]]

    def once(self, value: Any, find: Callable[[Any, _Budget], Any]) -> Any:
        """What ``find`` says of an object, asked once for each object."""
        if id(value) not in self._kept:
            self._kept[id(value)] = value, find(value, self)
        return self._kept[id(value)][1]

    def take(self) -> bool:
        self._left -= 1
        return not self.spent()

    def spent(self) -> bool:
        return self._left <= 0 or self._now() > self._end


def _exceptions(error: BaseException, budget: _Budget) -> Iterator[Dict[str, Any]]:
    """An exception and those behind it; ``link`` says how each belongs to the one of number ``of``."""
    waiting = [(error, "", -1)]
    seen = set()
    number = -1
    while waiting and number + 1 < MAX_EXCEPTIONS:
        one, link, of = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        number += 1
        kind = type(one)
        yield {
            "type": kind.__name__, "module": _text_of(kind.__module__), "message": _clean(_message(one), MAX_MESSAGE),
            "notes": [_clean(note, MAX_MESSAGE) for note in _notes(one)], "link": link, "of": of,
            "frames": _tried(_frames, one.__traceback__, budget) or [],
        }  # fmt: skip
        if one.__cause__ is not None:
            waiting.append((one.__cause__, "cause", number))
        elif one.__context__ is not None and not one.__suppress_context__:
            waiting.append((one.__context__, "context", number))
        members = getattr(one, "exceptions", None)
        if type(members) is tuple:
            waiting += [(member, "group", number) for member in members if isinstance(member, BaseException)]


def _message(error: BaseException) -> str:
    """What Python prints of an exception; arguments that are no text or number are not asked for theirs."""
    if type(error).__str__ is BaseException.__str__ and not all(type(part) in _PLAIN for part in error.args):
        return ", ".join(str(part) if type(part) in _PLAIN else "<%s>" % _name_of(type(part)) for part in error.args)
    try:
        return str(error)
    except Exception:
        return ""


def _notes(error: BaseException) -> List[str]:
    notes = getattr(error, "__notes__", None)
    return [note for note in notes if type(note) is str][:MAX_ITEMS] if type(notes) is list else []


def _frames(trace: Optional[TracebackType], budget: _Budget) -> List[Dict[str, Any]]:
    """The frames, the outermost first. The last ones, and the user's own last ones, have their variables."""
    chain = []
    while trace is not None:
        chain.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    left_out = max(len(chain) - MAX_FRAMES, 0)
    if left_out:
        chain = chain[:FIRST_FRAMES] + chain[FIRST_FRAMES + left_out :]
    own = [at for at, (frame, _) in enumerate(chain) if _is_own(frame.f_code.co_filename)]
    wanted = set(range(len(chain))[-FRAMES_WITH_LOCALS:]) | set(own[-OWN_FRAMES_WITH_LOCALS:])
    out = []  # type: List[Dict[str, Any]]
    for at in range(len(chain) - 1, -1, -1):  # the innermost first, as time may run out
        frame, line = chain[at]
        code = frame.f_code
        shown = {"file": code.co_filename, "line": line, "function": code.co_name}  # type: Dict[str, Any]
        if not budget.spent():
            source = _tried(_source, frame, line) or ""
            shown["code"] = _clean(source, MAX_CODE)
            if at in wanted:
                shown["locals"] = _tried(_locals, frame, source, budget) or {}
        out.append(shown)
    out.reverse()
    if left_out:
        out[FIRST_FRAMES]["left_out_before"] = left_out
    return out


def _source(frame: FrameType, line: int) -> str:
    import linecache

    return linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()


def _is_own(file: str) -> bool:
    """Whether a file is neither installed nor Python's own."""
    path = file.replace("\\", "/")
    if "/site-packages/" in path or "/dist-packages/" in path or path.startswith(("<frozen", "<string")):
        return False
    return path != __file__.replace("\\", "/") and "/lib/python3" not in path and "/Lib/" not in path


def _locals(frame: FrameType, source: str, budget: _Budget) -> Dict[str, Any]:
    """The variables of a frame: first those that its line names. Of objects, the attributes that its function speaks of."""
    import re

    named = set(re.findall(r"[A-Za-z_]\w*", source))
    spoken = frozenset(frame.f_code.co_names) | named
    values = frame.f_locals
    names = [name for name in values if type(name) is str and not name.startswith("__")]
    if (
        "_ih" in values and "get_ipython" in values
    ):  # a cell of a notebook: what the shell keeps there is not the user's
        names = [
            name for name in names if name in named or not re.match(r"(?:In|Out|_(?:ih|oh|dh|i{0,3}|i?\d+))$", name)
        ]
    names.sort(key=lambda name: name not in named)
    out = {}  # type: Dict[str, Any]
    for name in names:
        if len(out) >= MAX_LOCALS or not budget.take():
            break
        value = values[name]
        if type(value).__name__ in _NO_DATA or (isinstance(value, type) and name not in named):
            continue
        fact = _tried(_fact, value, name, spoken, MAX_DEPTH, budget)
        if fact is not None:
            out[name] = fact
    return out


# --- facts of a value ---

_NO_DATA = ("module", "function", "builtin_function_or_method", "method", "wrapper_descriptor", "_Feature")
_PLAIN = (str, int, float, bool, type(None))
_SECRET_NAME = (
    r"(?i)pass(?:w|phrase|code)|pwd|secret|token|(?<![a-z])key|apikey|_key|auth|credential|cookie|bearer|dsn|signature"
)
_SECRET = (
    r"(?i)(?:(?<![a-z0-9])(?:hf_|sk-|sk_|pk_|rk_|gsk_|r8_|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|ya29\.|nvapi-|wandb_v\d_"
    r"|npm_|pypi-|dapi|eyJ|SG\.|LTAI)[\w./+-]{10,400}"
    r"|(?<=//)[^\s/@:]{1,100}:[^\s/@]{1,200}(?=@)"
    r"|(?<=bearer )[\w./+=-]{8,400}"
    r"|(?<![A-Za-z0-9])(?=[A-Za-z]{0,40}\d)(?=\d{0,40}[A-Za-z])[A-Za-z0-9]{24,400}(?![A-Za-z0-9]))"
)
_ASSIGNED = (
    r"(?i)((?:passw(?:or)?d|passphrase|secret|authorization|(?:api|access|private)[_-]?key|(?:auth|access|hub|api|hf)[_-]?token|(?<![a-z_])token)\w{0,20}"
    r"['\"]?\s{0,3}[=:]\s{0,3})(['\"]?)([^\s'\",;)}\]<]{4,400})"
)
_SPECIAL_TOKEN = r"[<\[][^\s]{1,40}[>\]]$"


def _fact(value: Any, name: str, spoken: Any, depth: int, budget: _Budget) -> Optional[Dict[str, Any]]:
    """What may be told of a value. ``spoken``: names of attributes to look at; ``depth``: how many levels further down."""
    kind = type(value)
    if value is None:
        return {"type": "NoneType"}
    if kind is bool or (kind is int and -(2**63) < value < 2**63):
        return {"type": kind.__name__, "value": value}
    if kind is float:
        return {"type": "float", "value": value if value - value == 0 else str(value)}
    if kind is int:
        return {"type": "int", "bits": value.bit_length()}
    if kind is str:
        return {"type": "str", "length": len(value), "value": _string(value, name)}
    if kind in (bytes, bytearray, range):
        return {"type": kind.__name__, "length": len(value)}
    known = _torch_fact(value, kind, budget) or _numpy_fact(value, kind)
    if known is not None:
        return known
    if issubclass(kind, dict):
        return _dict_fact(value, kind, spoken, depth, budget)
    if issubclass(kind, (list, tuple, set, frozenset)):
        base = next(one for one in (list, tuple, set, frozenset) if issubclass(kind, one))
        fact = {"type": _name_of(kind), "length": base.__len__(value)}  # type: Dict[str, Any]
        if depth > 0 and base in (list, tuple):
            items = [_item(part, name, spoken, depth, budget) for part in base.__getitem__(value, slice(0, 4))]
            fact["items"] = [item for item in items if item is not None]
        return fact
    return _object_fact(value, kind, spoken, depth, budget)


def _item(value: Any, name: str, spoken: Any, depth: int, budget: _Budget) -> Optional[Dict[str, Any]]:
    return _fact(value, name, spoken, depth - 1, budget) if budget.take() else None


def _dict_fact(value: Any, kind: type, spoken: Any, depth: int, budget: _Budget) -> Dict[str, Any]:
    fact = {"type": _name_of(kind), "length": dict.__len__(value)}  # type: Dict[str, Any]
    if depth > 0:
        items = {}
        for key, part in list(dict.items(value))[:MAX_ITEMS]:
            if type(key) is str:
                item = _item(part, key, spoken, depth, budget)
                if item is not None:
                    items[_clean(key, 80)] = item
        fact["items"] = items
    return fact


def _object_fact(value: Any, kind: type, spoken: Any, depth: int, budget: _Budget) -> Dict[str, Any]:
    """Class and attributes of an object: only what lies in its own dict, so that no property runs."""
    fact = {"type": _name_of(kind)}  # type: Dict[str, Any]
    if isinstance(value, type):
        fact["name"] = _name_of(value)
        return fact
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except Exception:
        return fact
    if type(attributes) is not dict:
        return fact
    torch = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    if isinstance(module, type) and issubclass(kind, module):
        fact["training"] = attributes.get("training") is True
        first = _first_parameter(attributes)
        if first is not None:
            fact["parameter"] = _torch_fact(first, type(first), budget)
            fact.update(budget.once(attributes, _counts))
    if depth > 0:
        found = {}  # type: Dict[str, Any]
        data = attributes.get("data")
        if type(data) is dict and hasattr(kind, "keys"):  # a `UserDict`, such as a tokenizer's answer
            return {**_dict_fact(data, kind, spoken, depth, budget), **fact}
        for key, part in _attributes(attributes):
            if len(found) >= MAX_ATTRIBUTES:
                break
            if key in spoken and type(part).__name__ not in _NO_DATA:
                item = _item(part, key, spoken, depth, budget)
                if item is not None:
                    found[key] = item
        if found:
            fact["attributes"] = found
    return fact


def _attributes(attributes: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    """The attributes of an object, and the parameters, buffers and modules of a torch module; its hooks tell nothing."""
    parts = [attributes.get(name) for name in ("_parameters", "_buffers", "_modules")]
    for part in (attributes, *parts):
        for key, value in list(part.items()) if isinstance(part, dict) else ():
            if type(key) is str and not (key.startswith("_") and isinstance(value, dict)):
                yield key, value


def _first_parameter(attributes: Dict[str, Any]) -> Any:
    """The first parameter of a torch module, by its dicts, among its first modules."""
    waiting = [attributes]
    for at in range(64):
        if at >= len(waiting):
            break
        for one in (waiting[at].get("_parameters") or {}).values():
            if one is not None:
                return one
        for below in (waiting[at].get("_modules") or {}).values():
            if below is not None:
                waiting.append(object.__getattribute__(below, "__dict__"))
    return None


def _counts(attributes: Dict[str, Any], budget: _Budget) -> Dict[str, Any]:
    """How many parameters a torch module has, how many of them require a gradient, and whether gradient checkpointing is on."""
    waiting = [attributes]
    parameters = {}  # type: Dict[int, bool]
    checkpointing = False
    for at in range(MAX_MODULES):
        if at >= len(waiting):
            return {
                "parameters": len(parameters),
                "trainable": sum(parameters.values()),
                "checkpointing": checkpointing,
            }
        if budget.spent():
            break
        checkpointing = checkpointing or waiting[at].get("gradient_checkpointing") is True
        for one in (waiting[at].get("_parameters") or {}).values():
            if one is not None:
                fact = _torch_fact(one, type(one), budget)
                parameters[id(one)] = fact is not None and fact.get("requires_grad") is True
        for below in (waiting[at].get("_modules") or {}).values():
            if below is not None:
                waiting.append(object.__getattribute__(below, "__dict__"))
    return {}  # too large to be counted in time


def _torch_fact(value: Any, kind: type, budget: _Budget) -> Optional[Dict[str, Any]]:
    torch = sys.modules.get("torch")  # type: Any
    tensor = getattr(torch, "Tensor", None)
    if not isinstance(tensor, type):
        return None
    if issubclass(kind, tensor):
        own_code = getattr(getattr(torch, "_C", None), "DisableTorchFunctionSubclass", None)
        if own_code is None:
            return (
                _tensor_fact(value, kind) if kind.__module__.partition(".")[0] == "torch" else {"type": _name_of(kind)}
            )
        with own_code():  # attributes of a subclass must not run its code
            return _tensor_fact(value, kind)
    if kind in (torch.dtype, torch.device, torch.layout):
        return {"type": _name_of(kind), "value": str(value)}
    if kind is torch.Size:
        return {"type": "torch.Size", "value": [part if type(part) is int else None for part in value][:MAX_ITEMS]}
    return None


def _tensor_fact(value: Any, kind: type) -> Dict[str, Any]:
    return {
        "type": _name_of(kind), "shape": [part if type(part) is int else None for part in value.shape][:MAX_ITEMS],
        "dtype": str(value.dtype).replace("torch.", ""), "device": str(value.device),
        "requires_grad": value.requires_grad is True, "leaf": value.is_leaf is True,
    }  # fmt: skip


def _numpy_fact(value: Any, kind: type) -> Optional[Dict[str, Any]]:
    numpy = sys.modules.get("numpy")  # type: Any
    array, scalar = getattr(numpy, "ndarray", None), getattr(numpy, "generic", None)
    if isinstance(array, type) and issubclass(kind, array):
        return {
            "type": _name_of(kind), "shape": list(array.shape.__get__(value))[:MAX_ITEMS],  # type: ignore[attr-defined]
            "dtype": str(array.dtype.__get__(value))[:80],  # type: ignore[attr-defined]
        }  # fmt: skip
    if isinstance(scalar, type) and issubclass(kind, scalar):
        return {"type": _name_of(kind)}
    return None


def _name_of(kind: type) -> str:
    """The name of a class with its package, without the modules between."""
    module = _text_of(kind.__module__).partition(".")[0]
    name = _text_of(kind.__qualname__)
    return name if module == "builtins" else "%s.%s" % (module, name)


def _text_of(value: Any) -> str:
    return value[:MAX_TEXT] if type(value) is str else ""


def _string(value: str, name: str) -> str:
    """The start of a string; nothing of it where its name is that of a secret."""
    import re

    if value and re.search(_SECRET_NAME, name) and not re.match(_SPECIAL_TOKEN, value):
        return WITHHELD
    return _clean(value, MAX_TEXT)


def _clean(text: str, most: int) -> str:
    """The first characters of a text, without what looks like a key or a password."""
    import re

    text = re.sub(_SECRET, WITHHELD, text[: 2 * most])
    text = re.sub(_ASSIGNED, lambda found: found[1] + found[2] + WITHHELD, text)
    return text if len(text) <= most else text[: most - 1] + "…"


# --- facts of the process ---


def _tried(find: Callable[..., Any], *args: Any) -> Any:
    """What a function finds, None where it raises."""
    try:
        return find(*args)
    except Exception:
        return None


def _number(*names: str) -> Optional[int]:
    """The first of these variables that holds a small number."""
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit() and len(text) < 10:
            return int(text)
    return None


def _versions() -> Dict[str, str]:
    """The versions of the known packages that are imported."""
    out = {}
    for name in PACKAGES:
        module = sys.modules.get(name)
        version = _tried(getattr, module, "__version__", None)
        if type(version) is not str and isinstance(version, str):  # torch's is a subclass of str
            version = str.__str__(version)
        if type(version) is str:
            out[name.replace("_", "-")] = version[:80]
    return out


def _environment() -> Dict[str, str]:
    names = [name for name in os.environ if name in VARIABLES or name.startswith(VARIABLE_PREFIXES)]
    return {name: _string(os.environ[name], name) for name in sorted(names)[:80]}


def _torch() -> Optional[Dict[str, Any]]:
    """What torch was built for, its GPUs if it uses them already, and its process group if there is one."""
    torch = sys.modules.get("torch")  # type: Any
    if torch is None or not hasattr(torch, "version"):
        return None
    facts = {"cuda": torch.version.cuda, "hip": getattr(torch.version, "hip", None)}  # type: Dict[str, Any]
    if torch.cuda.is_initialized():
        facts["device"] = _tried(torch.cuda.current_device)
        facts["gpus"] = _tried(lambda: [_gpu(torch, number) for number in range(min(torch.cuda.device_count(), 16))])
        facts["nccl"] = _tried(lambda: ".".join(map(str, torch.cuda.nccl.version())))
    distributed = sys.modules.get("torch.distributed")  # type: Any
    if distributed is not None and _tried(distributed.is_initialized):
        facts["distributed"] = {
            "backend": _text_of(str(distributed.get_backend())), "rank": distributed.get_rank(),
            "world_size": distributed.get_world_size(),
        }  # fmt: skip
    return facts


def _gpu(torch: Any, number: int) -> Dict[str, Any]:
    about = torch.cuda.get_device_properties(number)
    return {
        "name": _text_of(about.name), "capability": "%d.%d" % (about.major, about.minor), "memory_bytes": int(about.total_memory)
    }  # fmt: skip


def _memory() -> Dict[str, Any]:
    """The most memory that this process had, and what torch's allocator of this process's GPU holds."""
    facts = {}  # type: Dict[str, Any]
    try:
        import resource

        facts["max_rss_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1024
        )
    except Exception:
        pass
    torch = sys.modules.get("torch")  # type: Any
    if torch is not None and torch.cuda.is_initialized():
        for name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"):
            facts["cuda_%s_bytes" % name] = int(getattr(torch.cuda, name)())
    return facts

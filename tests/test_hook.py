"""The hook in real processes that fail: what it writes, what it leaves out, and that it does not change how the process ends."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_for
from troubleshooter import hook

HOOK = Path(hook.__file__)
ROOT = HOOK.parent.parent
INSTALL = "from troubleshooter import hook\nhook.install()\n"


def _environment(folder: Path | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", hook.FOLDER_VARIABLE)}
    return {**kept, "PYTHONPATH": str(ROOT), **({hook.FOLDER_VARIABLE: str(folder)} if folder else {})}


def _run(
    tmp_path: Path, code: str, *, install: str = INSTALL, python: str = sys.executable, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """A script in a process of its own, with the hook's folder ``tmp_path/facts``."""
    script = tmp_path / "train.py"
    script.write_text(install + code)
    environment = {**_environment(folder or tmp_path / "facts"), **variables}
    return subprocess.run([python, str(script)], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120)


def _facts(tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((tmp_path / "facts").glob("*.crash.json"))]


def _fact(tmp_path: Path) -> dict[str, Any]:
    (only,) = _facts(tmp_path)
    return only


def test_an_uncaught_exception_is_written_and_printed_as_ever(tmp_path: Path) -> None:
    code = "def step(batch_size, names):\n    return batch_size / 0\nstep(4, ['a'] * 7)\n"
    plain = _run(tmp_path, code, install="\n\n")
    watched = _run(tmp_path, code)
    assert (watched.returncode, watched.stdout, watched.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    (path,) = (tmp_path / "facts").glob("*.crash.json")
    assert path.name.startswith("0-")
    assert path.stat().st_mode & 0o077 == 0
    facts = _fact(tmp_path)
    assert (facts["crash_facts"], facts["how"], facts["rank"], facts["cut"]) == (hook.FORMAT, "uncaught", None, False)
    (error,) = facts["exceptions"]
    assert (error["type"], error["module"], error["message"]) == ("ZeroDivisionError", "builtins", "division by zero")
    last = error["frames"][-1]
    assert (last["function"], last["line"], last["code"]) == ("step", 4, "return batch_size / 0")
    assert last["locals"]["batch_size"] == {"type": "int", "value": 4}
    assert last["locals"]["names"]["length"] == 7


def test_the_chain_has_causes_contexts_notes_and_members(tmp_path: Path) -> None:
    code = (
        "try:\n    try:\n        {}['loss']\n    except KeyError as error:\n        raise ValueError('bad batch') from error\n"
        "except ValueError:\n    last = RuntimeError('step failed')\n    last.__notes__ = ['at step 12']\n    raise last\n"
    )
    assert _run(tmp_path, code).returncode == 1
    shown = [(e["type"], e["link"], e["of"], e["notes"]) for e in _fact(tmp_path)["exceptions"]]
    assert shown == [("RuntimeError", "", -1, ["at step 12"]), ("ValueError", "context", 0, []), ("KeyError", "cause", 1, [])]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups came with Python 3.11")
def test_the_members_of_a_group_are_told(tmp_path: Path) -> None:
    _run(tmp_path, "raise ExceptionGroup('workers', [OSError('disk'), KeyError('x')])\n")
    assert [(e["type"], e["link"]) for e in _fact(tmp_path)["exceptions"]] == [
        ("ExceptionGroup", ""), ("OSError", "group"), ("KeyError", "group"),
    ]  # fmt: skip


def test_an_exception_in_a_thread_is_written(tmp_path: Path) -> None:
    code = "import threading\nthread = threading.Thread(target=lambda: [][0])\nthread.start(); thread.join()\n"
    done = _run(tmp_path, code)
    assert (done.returncode, done.stderr.count("IndexError")) == (0, 1)
    assert (_fact(tmp_path)["how"], _fact(tmp_path)["exceptions"][0]["type"]) == ("thread", "IndexError")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_exception_in_a_process_is_written(tmp_path: Path, method: str) -> None:
    code = (
        "import multiprocessing\n"
        "class Worker(multiprocessing.Process):\n    def run(self):\n        shard = 3\n        raise RuntimeError('worker died')\n"
        "def other(n):\n    raise LookupError(n)\n"
        f"if __name__ == '__main__':\n    multiprocessing.set_start_method('{method}')\n"
        "    for one in (Worker(), multiprocessing.Process(target=other, args=(7,))):\n        one.start(); one.join(); print(one.exitcode)\n"
    )
    done = _run(tmp_path, code)
    assert done.stdout.split() == ["1", "1"]
    assert done.stderr.count("RuntimeError: worker died") == 1
    facts = {one["exceptions"][0]["type"]: one for one in _facts(tmp_path)}
    assert set(facts) == {"RuntimeError", "LookupError"}
    assert facts["RuntimeError"]["how"] == "process"
    assert any(f.get("locals", {}).get("shard") == {"type": "int", "value": 3} for f in facts["RuntimeError"]["exceptions"][0]["frames"])


def test_exceptions_of_pools_are_written_where_they_were_raised(tmp_path: Path) -> None:
    code = (
        "import multiprocessing, concurrent.futures\n"
        "def tokenize(row):\n    width = 17\n    raise ValueError('row')\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('fork').Pool(1) as pool:\n"
        "        try: pool.map(tokenize, [1])\n        except ValueError: pass\n"
        "    with concurrent.futures.ProcessPoolExecutor(1) as pool:\n        pool.submit(tokenize, 1).result()\n"
    )
    assert _run(tmp_path, code).returncode == 1
    facts = _facts(tmp_path)
    assert sorted(one["how"] for one in facts) == ["uncaught", "worker", "worker"]
    for one in facts:
        if one["how"] == "worker":
            assert one["exceptions"][0]["frames"][-1]["locals"]["width"] == {"type": "int", "value": 17}


def test_an_exception_in_a_cell_is_written(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    code = "from IPython.core.interactiveshell import InteractiveShell\nshell = InteractiveShell.instance()\nshell.run_cell('rows = [1] * 7')\nshell.run_cell('rows[8]')\n"
    assert "IndexError" in _run(tmp_path, code).stdout
    facts = _fact(tmp_path)
    assert facts["how"] == "cell"
    assert facts["exceptions"][0]["frames"][-1]["locals"]["rows"]["length"] == 7


def test_tensors_are_told_by_shape_dtype_and_device_and_never_by_value(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code = """
import torch
class Config:
    vocab_size = 1
    def __init__(self):
        self.vocab_size = 32123
        self.unrelated = 1
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(8, 4, dtype=torch.bfloat16)
        self.config = Config()
    def forward(self, x, labels):
        logits = self.head(x)
        if self.config.vocab_size:
            return torch.nn.functional.cross_entropy(logits.view(-1, 4), labels.view(-1))
batch = {"x": torch.full((2, 5, 8), 0.1234567, dtype=torch.bfloat16), "labels": torch.full((2, 4), 3)}
Model()(**batch)
"""
    done = _run(tmp_path, code, RANK="3", WORLD_SIZE="8")
    assert "ValueError: Expected input batch_size (10)" in done.stderr
    facts = _fact(tmp_path)
    assert (facts["rank"], facts["world_size"], facts["environment"]) == (3, 8, {"RANK": "3", "WORLD_SIZE": "8"})
    assert facts["versions"]["torch"]
    assert "gpus" not in facts["torch"], "CUDA was not initialised by the script, and must not be by the hook"
    frames = facts["exceptions"][0]["frames"]
    mine = next(frame for frame in frames if frame["function"] == "forward")["locals"]
    tensor = {"type": "torch.Tensor", "device": "cpu", "leaf": False}
    assert mine["logits"] == {**tensor, "shape": [2, 5, 4], "dtype": "bfloat16", "requires_grad": True}
    assert mine["labels"] == {**tensor, "shape": [2, 4], "dtype": "int64", "requires_grad": False, "leaf": True}
    assert mine["self"]["attributes"]["config"]["attributes"] == {"vocab_size": {"type": "int", "value": 32123}}
    assert mine["self"]["attributes"]["head"]["parameter"]["dtype"] == "bfloat16"
    assert frames[-1]["locals"]["target"]["shape"] == [8]
    assert "0.12" not in json.dumps(facts)


def test_workers_of_a_data_loader_and_spawned_processes_of_torch_are_written(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code = """
import sys
import torch, torch.multiprocessing, torch.utils.data
class Rows(torch.utils.data.Dataset):
    def __len__(self): return 4
    def __getitem__(self, index):
        text = "row %d" % index
        raise KeyError(text)
def train(rank, size):
    hidden = torch.zeros(3, size)
    raise RuntimeError("rank failed")
if __name__ == "__main__":
    try:
        next(iter(torch.utils.data.DataLoader(Rows(), num_workers=1)))
    except KeyError:
        pass
    torch.multiprocessing.start_processes(train, args=(5,), nprocs=1, start_method="fork")
"""
    done = _run(tmp_path, code)
    assert "ProcessRaisedException" in done.stderr
    facts = {(one["how"], one["exceptions"][0]["type"]): one for one in _facts(tmp_path)}
    assert set(facts) == {("worker", "KeyError"), ("process", "RuntimeError"), ("uncaught", "ProcessRaisedException")}
    row = facts["worker", "KeyError"]["exceptions"][0]["frames"][-1]["locals"]
    assert row["index"] == {"type": "int", "value": 0}
    hidden = facts["process", "RuntimeError"]["exceptions"][0]["frames"][-1]["locals"]["hidden"]
    assert (hidden["shape"], hidden["dtype"]) == ([3, 5], "float32")


SECRETS = ("hunter2hunter2", "hf_AbCdEfGhIjKlMnOpQrSt", "sk-proj-AAAABBBBCCCCDDDDEEEE", "https://me:s3cr3tpass@host/x", "q8Zk2LmN4pRt6VwX8yZa1BcD")


def test_secrets_are_withheld(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("\n".join(SECRETS))
    code = """
password, token, api_key, account, random = open("secrets").read().split()
def login(password, hf_token, pad_token, num_tokens, url, note, key, headers, model):
    raise PermissionError("token=" + hf_token + " was refused for " + random)
login(password, token, "<pad>", 512, account, "use " + api_key + " here", [random],
      {"authorization": password}, "meta-llama/Llama-3.2-1B-Instruct")
"""
    _run(tmp_path, code, NCCL_SECRET_FILE=SECRETS[0])
    facts = _fact(tmp_path)
    text = json.dumps(facts)
    assert not [secret for secret in SECRETS if secret.replace("https://me:", "") in text]
    held = facts["exceptions"][0]["frames"][-1]["locals"]
    assert held["num_tokens"] == {"type": "int", "value": 512}
    assert held["pad_token"]["value"] == "<pad>"
    assert held["model"]["value"] == "meta-llama/Llama-3.2-1B-Instruct"
    assert held["password"] == {"type": "str", "length": len(SECRETS[0]), "value": "<withheld>"}


def test_no_code_of_unknown_objects_runs(tmp_path: Path) -> None:
    code = """
class Trap:
    def _sprung(self, *args): print("SPRUNG"); raise SystemError("sprung")
    __repr__ = __str__ = __len__ = __iter__ = __bool__ = __eq__ = __hash__ = __getattr__ = __format__ = _sprung
    value = property(_sprung)
class Row(dict):
    def items(self): print("SPRUNG")
    __len__ = __iter__ = __repr__ = __getitem__ = items
class Names(list):
    def __getitem__(self, key): print("SPRUNG")
    __len__ = __iter__ = __repr__ = __getitem__
def step(trap, row, names):
    raise ValueError(trap)
step(Trap(), Row(loss=1.5), Names(["a"]))
"""
    install = INSTALL + "import sys\nsys.excepthook = lambda *args, before=sys.excepthook: before(*args)\n"
    quiet = "import sys\nsys.excepthook = lambda *error: None\n"  # Python itself would ask for the message
    done = _run(tmp_path, code, install=quiet + install)
    assert "SPRUNG" not in done.stdout
    error = _fact(tmp_path)["exceptions"][0]
    assert error["message"] == "<__main__.Trap>"
    held = error["frames"][-1]["locals"]
    assert held["trap"]["type"] == "__main__.Trap"
    assert held["row"] == {"type": "__main__.Row", "length": 1, "items": {"loss": {"type": "float", "value": 1.5}}}
    assert held["names"]["length"] == 1


def test_facts_stay_small_however_much_a_frame_holds(tmp_path: Path) -> None:
    code = """
def deep(n, **many):
    text = "x" * 100000
    if n == 0: raise RuntimeError("y" * 1000000)
    try:
        deep(n - 1, **many)
    except RuntimeError as error:
        raise RuntimeError(text) from error
deep(5, **{"name_%d" % n: [{"k%d" % m: "z" * 1000 for m in range(100)}] * 100 for n in range(300)})
"""
    _run(tmp_path, code)
    (path,) = (tmp_path / "facts").glob("*.crash.json")
    assert path.stat().st_size <= hook.MAX_BYTES
    assert _fact(tmp_path)["exceptions"][0]["frames"][-1]["function"] == "deep"


def test_an_endless_recursion_is_written_with_its_ends(tmp_path: Path) -> None:
    _run(tmp_path, "def again(n):\n    return again(n + 1)\nagain(0)\n")
    frames = _fact(tmp_path)["exceptions"][0]["frames"]
    assert len(frames) == hook.MAX_FRAMES
    assert frames[0]["function"] == "<module>"
    assert [frame["left_out_before"] > 100 for frame in frames if "left_out_before" in frame] == [True]


@pytest.mark.parametrize("place", ["a file", "read-only"])
def test_a_folder_that_cannot_be_written_changes_nothing(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "place"
    if place == "a file":
        folder.write_text("")
    else:
        folder.mkdir(mode=0o500)
    done = _run(tmp_path, "1 / 0\n", folder=folder)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert len(done.stderr.splitlines()) <= 5


def test_an_exception_that_cannot_say_its_message_is_no_obstacle(tmp_path: Path) -> None:
    code = "class Odd(Exception):\n    def __str__(self): raise KeyError('no')\nx = 5\nraise Odd()\n"
    assert _run(tmp_path, code).returncode == 1
    assert _fact(tmp_path)["exceptions"][0]["message"] == ""


def test_the_hook_that_was_there_is_called_once_however_often_it_is_installed(tmp_path: Path) -> None:
    code = "hook.install(); hook.install()\n1 / 0\n"
    done = _run(tmp_path, code, install="import sys\nsys.excepthook = lambda *error: print('before')\n" + INSTALL)
    assert done.stdout == "before\n"
    assert len(_facts(tmp_path)) == 1


def test_two_copies_of_the_file_write_once(tmp_path: Path) -> None:
    shutil.copy(HOOK, tmp_path / "copied_hook.py")
    _run(tmp_path, "1 / 0\n", install=INSTALL + "import copied_hook\ncopied_hook.install()\n")
    assert len(_facts(tmp_path)) == 1


def test_interrupts_and_exits_are_no_crashes(tmp_path: Path) -> None:
    for code in ("raise KeyboardInterrupt", "import sys; sys.exit(3)", "pass"):
        _run(tmp_path, code + "\n")
    assert not _facts(tmp_path)


def test_without_a_folder_nothing_is_written_and_with_one_given_it_is(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    for told, expected in (("", "None"), ("folder='.'", str(tmp_path))):
        script.write_text(f"from troubleshooter import hook\nprint(hook.install({told}))\n1 / 0\n")
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, env=_environment(None), cwd=tmp_path, timeout=60
        )
        assert done.stdout.strip() == expected
        assert len(list(tmp_path.glob("troubleshoot-crash-0-*.json"))) == bool(told)
    assert {path.suffix for path in tmp_path.iterdir()} == {".py", ".json"}


@pytest.mark.skipif(not hasattr(signal, "SIGUSR2"), reason="the system has no SIGUSR2")
def test_sigusr2_writes_the_stacks_of_the_process_that_gets_it_and_empty_files_go(tmp_path: Path) -> None:
    code = """
import os, time
def waits_for_the_others(name):
    open(name, "w").close()
    while not os.path.exists("go"): time.sleep(0.01)
child = os.fork()
waits_for_the_others("parent" if child else "child")
if child:
    os.waitpid(child, 0)
"""
    script = tmp_path / "train.py"
    script.write_text(INSTALL + code)
    facts = tmp_path / "facts"
    process = subprocess.Popen([sys.executable, str(script)], env=_environment(facts), cwd=tmp_path)
    try:
        wait_for(lambda: (tmp_path / "parent").exists() and (tmp_path / "child").exists())
        (child,) = {int(path.stem) for path in facts.iterdir()} - {process.pid}
        os.kill(child, signal.SIGUSR2)
        stacks = facts / f"{child}.stacks"
        wait_for(lambda: "<module>" in stacks.read_text())
    finally:
        (tmp_path / "go").touch()
        assert process.wait(60) == 0
    assert "in waits_for_the_others" in stacks.read_text()
    assert stacks.read_text().endswith("\nended in order\n")
    assert [path.name for path in facts.iterdir()] == [stacks.name], "the parent was not asked: its file is gone"


@pytest.mark.skipif(not hasattr(signal, "SIGUSR2"), reason="the system has no SIGUSR2")
def test_a_program_that_handles_sigusr2_keeps_its_handler(tmp_path: Path) -> None:
    code = "import os\nos.kill(os.getpid(), signal.SIGUSR2)\n"
    own = "import signal\nsignal.signal(signal.SIGUSR2, lambda *args: print('own handler'))\n"
    assert _run(tmp_path, code, install=own + INSTALL).stdout == "own handler\n"


def test_importing_the_hook_brings_no_module_but_its_package(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); before = set(sys.modules)\n"
        "from troubleshooter import hook; hook.install()\nprint(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert set(done.stdout.split()) <= {"__future__", "troubleshooter", "troubleshooter.hook"}


def test_run_brings_the_hook_without_modules_that_a_start_does_not_need(tmp_path: Path) -> None:
    bring = ROOT / "troubleshooter/supervise/bring"
    code = "import sys; print(*sys.modules)"
    plain, brought = (
        set(subprocess.run([sys.executable, "-c", code], env={**os.environ, **more}, capture_output=True, text=True, timeout=60, check=True).stdout.split())
        for more in ({"PYTHONPATH": ""}, {"PYTHONPATH": str(bring), "TROUBLESHOOT_HOOK_DIR": str(tmp_path)})
    )  # fmt: skip
    assert "troubleshoot_hook" in brought
    assert brought - plain <= {"__future__", "troubleshoot_hook", "sitecustomize", "_signal", "atexit", "faulthandler"}


def test_the_supervisor_starts_without_modules_of_terminals_and_networks() -> None:
    code = "import sys, troubleshooter.supervise.supervisor; print(*({'socket', 'selectors', 'pty', 'tty'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == []


def test_the_file_stands_alone_and_is_read_by_python_3_8(tmp_path: Path) -> None:
    ast.parse(HOOK.read_text(), feature_version=(3, 8))
    shutil.copy(HOOK, tmp_path / "hook.py")
    install = "import hook\nhook.install()\n"
    for version in ("3.8", "3.9", "3.12", "3.13"):
        python = _interpreter(version)
        if python is not None:
            _run(tmp_path, "rows = [1, 2]\nrows[5]\n", install=install, python=python, folder=tmp_path / "facts" / version)
            (path,) = (tmp_path / "facts" / version).glob("*.crash.json")
            facts = json.loads(path.read_text())
            assert facts["python"].startswith(version)
            assert facts["exceptions"][0]["frames"][-1]["locals"]["rows"]["length"] == 2


def _interpreter(version: str) -> str | None:
    """A Python of that version which really starts (a manager of versions may only pretend to have it)."""
    python = shutil.which(f"python{version}")
    if python is None:
        return None
    return python if subprocess.run([python, "-c", ""], capture_output=True, timeout=60).returncode == 0 else None


def test_crash_facts_of_an_exception_that_was_caught() -> None:
    def step(rows: list[int]) -> int:
        return rows[9]

    try:
        step([1])
    except IndexError as error:
        facts = hook.crash_facts(error, "notebook")
    assert facts["how"] == "notebook"
    assert facts["exceptions"][0]["frames"][-1]["locals"]["rows"]["length"] == 1

"""A probe as one file that stands alone: it fails as the entry says, and runs with a fix that is named on its command line.

The file is made from the probe's own syntax tree and the parts of the kit that it uses, so it is the same code. It is checked by
running it: the same exception from the same function without a fix, no exception with each fix that the probe found to help.
"""

from __future__ import annotations

import ast
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kb.errors import TroubleshootError
from troubleshooter.verify.bounded import hear
from troubleshooter.verify.probe import FOLDER, Options, Probe
from troubleshooter.verify.variables import environment_for

__all__ = ["MAX_LINES", "ScriptCheck", "Unscriptable", "check", "script_of"]

MAX_LINES: Final = 60
_HELPERS: Final = ("llama", "tokenizer", "rows", "training_arguments")
"""What the kit makes. Each becomes a function of the file with ``make_`` in front, because probes use the plain name for the result."""
_HELPER_NAMES: Final = tuple(f"make_{name}" for name in _HELPERS)
_SILENT: Final = ("say", "note", "expects")
_HEAD: Final = """import os, sys, tempfile
FIX, FOLDER = "".join(sys.argv[1:2]), tempfile.mkdtemp()
def symptom(case, function):
    print(case if not FIX else "with the fix: " + FIX)
    if not FIX:
        function()  # the failure
    return True
def fix(name, function):
    if name == FIX:
        function()
"""
_TRACEBACK: Final = re.compile(r"^Traceback \(most recent call last\):$", re.MULTILINE)
_FRAME: Final = re.compile(r'^\s{0,40}File "([^"\n]{1,400})", line \d{1,7}, in ([^\n]{1,200})$', re.MULTILINE)


class Unscriptable(TroubleshootError):
    """This probe cannot be turned into one small file; the message says why."""


_RANK: Final = re.compile(r"^\[rank\d{1,5}\]:\s?", re.MULTILINE)
"""The prefix that torch.distributed adds to the lines of a traceback."""


@dataclass(frozen=True)
class ScriptCheck:
    """The result of running a file. ``fails``: the line of the exception. ``place``: the function that raised it. ``fixed``: the fixes
    with which the file ran to its end. ``broken``: the other fixes."""

    fails: str
    place: str
    fixed: Sequence[str]
    broken: Sequence[str]


def script_of(probe: Probe, options: Options, title: str = "") -> str:
    """The file, at most `MAX_LINES` lines. Raises `Unscriptable`."""
    tree = _without_prices(ast.parse(probe.path.read_text(encoding="utf-8")))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    constants = {
        target.id: node
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    alone = _Alone(probe.name, options)
    kit = _kit()
    wanted, parts = ["run"], []
    names: set[str] = set()
    while wanted:
        name = wanted.pop(0)
        if name in names:
            continue
        names.add(name)
        node = functions.get(name) or constants.get(name) or kit.get(name)
        if node is None:
            continue
        made = alone.visit(node)
        parts.append(made)
        wanted += [
            one.id
            for one in ast.walk(made)
            if isinstance(one, ast.Name) and (one.id in functions or one.id in constants)
        ]
        wanted += [one.id for one in ast.walk(made) if isinstance(one, ast.Name) and one.id in kit]
    if not alone.symptoms:
        raise Unscriptable(
            f"the probe {probe.name} measures and raises nothing; --show-code shows lines to run by hand"
        )
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    body = ast.Module([*imports, *parts[::-1]], [])
    fixes = f"; with a fix: {', '.join(alone.fixes)}" if alone.fixes else ""
    about = " ".join((title or probe.question).replace('"', "'").replace("\\", "/").split())
    text = f'"""{about}\n\nWithout an argument it fails{fixes}."""\n{_HEAD}{ast.unparse(ast.fix_missing_locations(body))}\n'
    text += "run()\n"
    text += "".join(f"{line}\n" for line in ["if not FIX:", '    print("It does not fail here.")'])
    text = re.sub(r"\n{2,}", "\n", text)
    if (lines := text.count("\n")) > MAX_LINES:
        raise Unscriptable(f"the probe {probe.name} is too long for one small file ({lines} lines); see --show-code")
    return text


def fixes_of(text: str) -> list[str]:
    """The names of the fixes that a file takes as arguments."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [
        str(call.args[0].value)
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "fix" and isinstance(call.args[0], ast.Constant)
    ]


def check(
    text: str, python: str, given: Mapping[str, str], seconds: float = 120.0, user_base: str | None = None
) -> ScriptCheck:
    """Run the file without a fix and with each of its fixes, each at most ``seconds``, in a folder that is removed."""
    with tempfile.TemporaryDirectory(prefix="troubleshoot-script-") as folder:
        path = Path(folder) / "repro.py"
        path.write_text(text, encoding="utf-8")
        environ = environment_for(Path(folder), "cpu", user_base, given)

        def end(*arguments: str) -> str:
            heard = hear([python, "-W", "ignore", str(path), *arguments], seconds, environ)
            return (heard.stopped or _last_traceback(_RANK.sub("", heard.err))) if _failed(heard) else ""

        said = end()
        lines = [line for line in said.splitlines() if line and not line[0].isspace()]
        # A message may hold a traceback of its own (torch.distributed.checkpoint): the frames end where the message begins.
        frames = _FRAME.findall(said.partition(f"\n{lines[1]}")[0] if len(lines) > 1 else said)
        place = f"{_module(frames[-1][0], str(path))}:{frames[-1][1]}" if frames else ""
        known = fixes_of(text)
        ends = {name: end(name) for name in known}
    return ScriptCheck(
        next((line for line in lines[1:] if ":" in line or line.endswith("Error")), lines[-1] if lines else "")[:300],
        place,
        [name for name, said in ends.items() if not said],
        [name for name, said in ends.items() if said],
    )


def _last_traceback(printed: str) -> str:
    """What the interpreter printed from the head of its last traceback on; a head with words behind it is part of a message."""
    starts = [found.start() for found in _TRACEBACK.finditer(printed)]
    return printed[starts[-1] :] if starts else printed


def _failed(heard: object) -> bool:
    return bool(heard.stopped) or "Traceback (most recent call last)" in heard.err  # type: ignore[attr-defined]


def _module(file: str, script: str) -> str:
    """The dotted name of an installed file; "" for the script itself."""
    if file == script:
        return ""
    return os.path.splitext(re.split(r"site-packages/|overlays/[^/]+/|-packages/", file)[-1])[0].replace(os.sep, ".")


def _kit() -> dict[str, ast.FunctionDef | ast.Assign]:
    """The kit's makers of tiny things, and its constant."""
    tree = ast.parse((FOLDER / "_kit.py").read_text(encoding="utf-8"))
    found: dict[str, ast.FunctionDef | ast.Assign] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in _HELPERS:
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and name.id == "self":
                    name.id = "kit"
            node.name = f"make_{node.name}"
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "TINY":
            found["TINY"] = node
    return found


def _without_prices(tree: ast.Module) -> ast.Module:
    """The probe without what only measures prices: the ``price`` of each fix, and functions that nothing else calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _asked(node.func) == "fix":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "price"]
    kept, before = 0, -1
    while kept != before:
        before = kept
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            function.body = [one for one in function.body if not isinstance(one, ast.FunctionDef) or one.name in used]
        kept = sum(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))
    return tree


class _Alone(ast.NodeTransformer):
    """Replaces uses of the kit by plain code."""

    def __init__(self, probe: str, options: Options) -> None:
        self._probe = probe
        self._options = options
        self.symptoms = 0
        self.fixes: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        own = [
            one for one in node.args.args if one.arg != "kit" and not (one.arg == "self" and node.name in _HELPER_NAMES)
        ]
        node.args.args = own
        body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
        node.body = [kept for one in body for kept in self._statement(one)] or [ast.Pass()]
        node.decorator_list = []
        return node

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        call = node.value if isinstance(node, (ast.Expr, ast.Assign)) and isinstance(node.value, ast.Call) else None
        asked = _asked(call.func) if call is not None else None
        if call is not None and asked in ("need", "torch"):
            return self._imports(node, call, asked)
        if isinstance(node, ast.Expr) and asked in _SILENT:
            return []
        if isinstance(node, ast.Expr) and call is not None and asked == "fix" and len(call.args) < 3:
            return []  # it was measured, not run
        made = self.visit(node)
        return made if isinstance(made, list) else [made]

    def _imports(self, node: ast.stmt, call: ast.Call, asked: str) -> list[ast.stmt]:
        modules = (
            [str(one.value) for one in call.args if isinstance(one, ast.Constant)] if asked == "need" else ["torch"]
        )
        if not isinstance(node, ast.Assign):
            return []
        target = node.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        pairs = [(module, name.id) for module, name in zip(modules, names, strict=True) if isinstance(name, ast.Name)]
        return [
            ast.Import([ast.alias(module, None if name == module else name)]) for module, name in pairs if name != "_"
        ]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field, old in ast.iter_fields(node):
            if (
                field in ("body", "orelse", "finalbody")
                and isinstance(old, list)
                and not isinstance(node, ast.FunctionDef)
            ):
                body = [kept for one in old for kept in self._statement(one)]
                setattr(node, field, body or ([ast.Pass()] if field == "body" else []))
                continue
            if isinstance(old, list):
                setattr(node, field, [self.visit(one) if isinstance(one, ast.AST) else one for one in old])
            elif isinstance(old, ast.AST):
                setattr(node, field, self.visit(old))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        asked = _asked(node.func)
        if asked == "symptom":
            self.symptoms += 1
            return ast.Call(ast.Name("symptom"), [self.visit(one) for one in node.args], [])
        if asked == "fix":
            if len(node.args) < 3:
                return ast.Constant(None)
            self.fixes.append(str(getattr(node.args[0], "value", "")))
            return ast.Call(ast.Name("fix"), [self.visit(node.args[0]), self.visit(node.args[2])], [])
        if asked == "undecided":
            return ast.Call(ast.Attribute(ast.Name("sys"), "exit"), [self.visit(one) for one in node.args], [])
        if asked in _HELPERS:
            node.func = ast.Name(f"make_{asked}")
        elif asked is not None:
            raise Unscriptable(
                f"the probe {self._probe} needs more than one small file can hold (kit.{asked}); see --show-code"
            )
        node.args = [one for one in node.args if not (isinstance(one, ast.Name) and one.id == "kit")]
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        asked = _asked(node)
        if asked == "device":
            return ast.Constant("cpu")
        if asked == "folder":
            return ast.Name("FOLDER")
        if asked == "options":
            return ast.parse(repr(self._options), mode="eval").body
        if asked is not None and asked not in _HELPERS:
            raise Unscriptable(
                f"the probe {self._probe} needs more than one small file can hold (kit.{asked}); see --show-code"
            )
        return self.generic_visit(node)


def _asked(node: ast.AST) -> str | None:
    """``name`` for ``kit.name``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "kit":
        return node.attr
    return None

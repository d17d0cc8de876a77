"""Reads one module's source into a `ModuleSurface`, without importing it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from kb.tables.surface import ClassSurface, ModuleSurface, Signature

LAZY_TABLES = frozenset({"_import_structure", "_SUBMOD_ATTRS", "import_structure", "_extra_import_structure"})
"""Dictionaries {submodule: [names]} from which packages build lazy modules."""

SHALLOW_NAME = re.compile(r"^(?:class|def|async def)\s+(\w+)|^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
EXPORTED = re.compile(r"^__all__\s*=\s*(\[.*?\]|\(.*?\))", re.MULTILINE | re.DOTALL)


def read_module(source: str, module: str, path: str, package: str, *, shallow: bool = False) -> ModuleSurface:
    """The surface of one module; a file that this Python cannot parse is read by its top-level lines alone."""
    if not shallow:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            shallow = True
        else:
            return _Reader(module, path, package).read(tree)
    return _read_shallow(source, path)


def _read_shallow(source: str, path: str) -> ModuleSurface:
    names = {a or b: "" for a, b in SHALLOW_NAME.findall(source)}
    exported: list[str] | None = None
    match = EXPORTED.search(source)
    if match:
        try:
            exported = [item for item in ast.literal_eval(match[1]) if isinstance(item, str)]
        except (SyntaxError, ValueError):
            exported = None
    return ModuleSurface(path=path, names=names, exported=exported, shallow=True)


def signature_of(node: ast.FunctionDef | ast.AsyncFunctionDef, *, bound: bool) -> Signature:
    """Keyword names of a function; `bound` drops the first positional one (self, cls)."""
    positional = [arg.arg for arg in node.args.args]
    if bound and positional and not node.args.posonlyargs:
        positional = positional[1:]
    names = [*positional, *(arg.arg for arg in node.args.kwonlyargs)]
    kwarg = node.args.kwarg
    taken = {*_renamed(node), *(_taken(node, kwarg.arg) if kwarg else ())}
    return Signature(tuple(names), kwarg is not None, tuple(sorted(taken)))


def _renamed(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Old names that `@deprecate_kwarg("old", …)` still accepts."""
    found: set[str] = set()
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and dotted(mark.func).rpartition(".")[2] == "deprecate_kwarg" and mark.args:
            found.update(_strings(mark.args[0]))
    return found


def _taken(node: ast.AST, kwargs: str) -> set[str]:
    taken: set[str] = set()
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
            continue
        receiver = call.func.value
        if call.func.attr in ("pop", "get") and isinstance(receiver, ast.Name) and receiver.id == kwargs:
            taken.update(_strings(call.args[0]))
    return taken


def _strings(node: ast.expr | None) -> list[str]:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return []


def dotted(node: ast.expr) -> str:
    """A name as it is written (``a.b.C``, without anything in brackets); "" for an expression that is not a name."""
    if isinstance(node, ast.Subscript):
        return dotted(node.value)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def _is_field(item: ast.AnnAssign) -> bool:
    return dotted(item.annotation).rpartition(".")[2] != "ClassVar" and not _is_init_false(item.value)


def _is_init_false(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call):
        return False
    return any(k.arg == "init" and isinstance(k.value, ast.Constant) and k.value.value is False for k in value.keywords)


class _Reader:
    def __init__(self, module: str, path: str, package: str) -> None:
        self.module = module
        self.package = package
        self.is_package = path.endswith("__init__.py")
        self.found = ModuleSurface(path=path)

    def read(self, tree: ast.Module) -> ModuleSurface:
        self._block(tree.body, top=True)
        return self.found

    def _block(self, body: list[ast.stmt], *, top: bool) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.found.names[node.name] = ""
                self.found.dynamic |= node.name == "__getattr__"
                self.found.functions[node.name] = signature_of(node, bound=False)
            elif isinstance(node, ast.ClassDef):
                self.found.names[node.name] = ""
                self.found.classes[node.name] = self._class(node)
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node, top=top)
            elif isinstance(node, ast.Import):
                self._import(node, top=top)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self._assign(node)
            elif isinstance(node, ast.Expr):
                self._call(node.value)
            else:
                for inner in _inner_blocks(node):
                    self._block(inner, top=False)

    def _class(self, node: ast.ClassDef) -> ClassSurface:
        marks = {dotted(d.func if isinstance(d, ast.Call) else d).rpartition(".")[2] for d in node.decorator_list}
        found = ClassSurface(bases=[b for b in map(dotted, node.bases) if b], dataclass="dataclass" in marks)
        for item in node.body:
            if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if item.name.startswith("_") and item.name not in ("__init__", "__call__"):
                    continue
                decorators = {dotted(d.func if isinstance(d, ast.Call) else d) for d in item.decorator_list}
                found.methods[item.name] = signature_of(item, bound="staticmethod" not in decorators)
            elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and _is_field(item):
                found.fields.append(item.target.id)
        if not found.dataclass:
            found.fields = []
        return found

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.module.split(".")
        keep = len(parts) - node.level + (1 if self.is_package else 0)
        return ".".join([*parts[:keep], *([node.module] if node.module else [])])

    def _import_from(self, node: ast.ImportFrom, *, top: bool) -> None:
        source = self._absolute(node)
        inside = source.split(".")[0] == self.package
        for alias in node.names:
            if alias.name == "*":
                if inside:
                    self.found.stars.append(source)
                continue
            self.found.names.setdefault(alias.asname or alias.name, f"{source}:{alias.name}")
            if top and not inside:
                self.found.needs.append((source, alias.name))

    def _import(self, node: ast.Import, *, top: bool) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            self.found.names.setdefault(bound, alias.name if alias.asname else bound)
            if top and "." in alias.name and alias.name.split(".")[0] != self.package:
                self.found.needs.append((alias.name, ""))

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name):
                if target.id == "__all__":
                    self.found.exported = [*(self.found.exported or []), *_strings(node.value)]
                elif target.id in LAZY_TABLES and isinstance(node.value, ast.Dict):
                    self._lazy_table(node.value)
                elif not isinstance(node, ast.AnnAssign) or node.value is not None:
                    self.found.names.setdefault(target.id, "")
                    if "MODULE_ALIASES" in target.id and isinstance(node.value, ast.Dict):
                        self._alias_table(node.value)
            elif isinstance(target, (ast.Tuple, ast.List)):
                for item in target.elts:
                    if isinstance(item, ast.Name):
                        self.found.names.setdefault(item.id, "")
            elif isinstance(target, ast.Subscript) and dotted(target.value) in LAZY_TABLES:
                self._lazy(_strings(target.slice), _strings(node.value))

    def _lazy_table(self, table: ast.Dict) -> None:
        for key, value in zip(table.keys, table.values, strict=True):
            self._lazy(_strings(key), _strings(value))

    def _lazy(self, submodules: list[str], names: list[str]) -> None:
        for submodule in submodules:
            source = f"{self.module}.{submodule}"
            self.found.names.setdefault(submodule.split(".")[0], source)
            for name in names:
                self.found.names.setdefault(name, f"{source}:{name}")

    def _call(self, node: ast.expr) -> None:
        if not isinstance(node, ast.Call):
            return
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Subscript):
            if dotted(node.func.value.value) in LAZY_TABLES and node.func.attr in ("append", "extend") and node.args:
                self._lazy(_strings(node.func.value.slice), _strings(node.args[0]))
        elif "module_alias" in dotted(node.func) and len(node.args) == 2:
            self._alias(node.args[0], node.args[1])

    def _alias(self, old: ast.expr, new: ast.expr) -> None:
        """`_create_module_alias(f"{__name__}.old", ".new")` keeps a moved module importable."""
        tail = [p.value for p in old.values if isinstance(p, ast.Constant)] if isinstance(old, ast.JoinedStr) else []
        target = _strings(new)
        if tail and target:
            self.found.aliases[self.module + str(tail[-1])] = self.module + target[0]

    def _alias_table(self, table: ast.Dict) -> None:
        for key, value in zip(table.keys, table.values, strict=True):
            for old, new in zip(_strings(key), _strings(value), strict=False):
                self.found.aliases[f"{self.module}.{old}"] = f"{self.module}.{new}"


def _inner_blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(node, "handlers", []):
        yield handler.body

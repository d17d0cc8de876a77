"""Find the places in the source of one Python file that print a message.

``places(source, path)`` parses the file and never imports or runs it. It follows the statements from top to bottom and
knows at each of them which conditions hold. Its work grows linearly with the file; `MAX_SOURCE` bounds the file, and
`kb.index.place` and `kb.index.template` bound what is kept of one place.

A place that can print several texts is given once for each of them, with the conditions of each text after those of
the place: a conditional expression, or a name that several branches bind to different texts. Several places can stand
in one line.

    >>> [place] = places('def f(n=0):\\n    if n < 1:\\n        raise ValueError(f"n is {n}")', "f.py")
    >>> place.exception, place.text, place.function, place.guards[0].condition
    ('ValueError', 'n is {n}', 'f', 'n < 1')
"""

from __future__ import annotations

import ast
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress

from kb.index.calls import PrintingCall, clues, raised, said
from kb.index.place import MAX_GUARDS, Guard, MessagePlace, Parameter
from kb.index.scope import Assigned, Open, Scope, Texts, fields_of, merged, parameters_of, targets
from kb.index.template import MAX_OPTIONS, dotted, joined, options, source

MAX_SOURCE = 4_000_000
"""A file with more characters is not read."""
_LEAVES = frozenset({"sys.exit", "os._exit", "exit", "quit", "os.abort"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


def places(source: str, path: str, *, at: int | None = None, tree: ast.Module | None = None) -> list[MessagePlace]:
    """The places of a file that print a message, in the order of their lines. ``path`` is only copied into them. ``at``: read
    only the functions that hold this line. ``tree``: the parsed file, where there is one already.

    Kept are every ``raise`` with an exception and every ``assert``, also without a message, and of other calls those
    with literal text. A file that this Python cannot parse, or that is longer than `MAX_SOURCE`, gives no places;
    nothing is raised.
    """
    if len(source) > MAX_SOURCE:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = tree or ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    reader = _Reader(path, clues(source), at)
    # The source is nested deeper than people write; what was found so far is kept.
    with suppress(RecursionError):
        reader.module(tree)
    return sorted(reader.found, key=lambda place: (place.line, place.end_line))


class _Reader:
    def __init__(self, path: str, clues: list[int], at: int | None) -> None:
        self.path = path
        self.clues = clues
        self.at = at
        self.found: list[MessagePlace] = []
        self.scope = Scope("", (), None)

    def module(self, tree: ast.Module) -> None:
        # A function may use constants that are assigned below it.
        for item in tree.body:
            if isinstance(item, (ast.Assign, ast.AnnAssign)):
                self._assign(item)
        self._block(tree.body, [])

    # Statements. `guards` hold at the beginning of a block. A block returns whether its end is never reached.

    def _block(self, body: Sequence[ast.stmt], guards: list[Open]) -> bool:
        guards = guards[-MAX_GUARDS:]
        for node in body:
            if self._statement(node, guards):
                return True
            if len(guards) > 2 * MAX_GUARDS:
                del guards[:-MAX_GUARDS]
        return False

    def _statement(self, node: ast.stmt, guards: list[Open]) -> bool:
        """Read one statement, and add to ``guards`` what holds after it."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, ast.If):
            return self._if(node, guards)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self._calls(item.context_expr, guards)
                if item.optional_vars is not None:
                    self._bind(item.optional_vars, item.context_expr, node.lineno)
            for inner in node.body:
                if self._statement(inner, guards):
                    return True
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._calls(node.iter, guards)
            self._bind(node.target, node.iter, node.lineno, "each of ")
            text = f"{source(node.target)} in {source(node.iter)}"
            self._loop(node, [*guards, self.scope.guard("for", text, True, node.lineno)], guards)
        elif isinstance(node, ast.While):
            self._calls(node.test, guards)
            self._loop(node, [*guards, self.scope.guard("while", source(node.test), True, node.lineno)], guards)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._try(node, guards)  # type: ignore[arg-type]
        elif isinstance(node, ast.Match):
            self._match(node, guards)
        else:
            return self._simple(node, guards)
        return False

    def _simple(self, node: ast.stmt, guards: list[Open]) -> bool:
        if isinstance(node, ast.Raise):
            if node.exc is not None:
                self._add(raised(node.exc, self.scope.bound), node, guards)
                self._calls(node.exc, guards, without=node.exc)
            return True
        if isinstance(node, ast.Assert):
            self._calls(node.test, guards)
            texts = options(node.msg, self.scope.bound) if node.msg is not None else options(ast.Constant(""), {})
            self._add(PrintingCall("assert", "AssertionError", None, texts, node.test), node, guards)
            guards.append(self.scope.guard("early", source(node.test), True, node.lineno))
            return False
        self._calls(node, guards)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self._assign(node)
        leaves = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and dotted(node.value.func) in _LEAVES
        return leaves or isinstance(node, (ast.Return, ast.Continue, ast.Break))

    def _if(self, node: ast.If, guards: list[Open]) -> bool:
        before = self.scope.bound
        refused: list[Open] = []
        open_ends: list[tuple[Texts, list[Open]]] = []
        prefix: list[Open] = []
        straight = True
        last: list[ast.stmt] = [node]
        of_branches: dict[str, Assigned] = {}
        assigned = dict(self.scope.assigned)
        while len(last) == 1 and isinstance(last[0], ast.If):
            branch = last[0]
            self._calls(branch.test, [*guards, *refused])
            assigned = dict(self.scope.assigned)
            test = source(branch.test)
            own = self.scope.guard("if", test, True, branch.lineno)
            ends = self._branch(branch.body, [*guards, *refused, own], before)
            # What one branch assigns has not happened in the others.
            of_branches |= self.scope.assigned
            self.scope.assigned = dict(assigned)
            if ends and straight:
                prefix.append(self.scope.guard("early", test, False, branch.lineno))
            elif not ends:
                straight = False
                open_ends.append((self.scope.bound, [*refused, own]))
            refused.append(Open(Guard("else", test, False, branch.lineno), own.order))
            del refused[:-MAX_GUARDS]
            last = branch.orelse
        if not self._branch(last, [*guards, *refused], before):
            open_ends.append((self.scope.bound, list(refused)))
        self.scope.assigned = of_branches | {
            name: one for name, one in self.scope.assigned.items() if one is not assigned.get(name)
        }
        if not open_ends:
            return True
        if len(open_ends) == 1:
            way = open_ends[0][1]
            self.scope.bound = open_ends[0][0]
            guards += [Open(item.guard._replace(kind="early"), item.order) for item in way]
        else:
            branches = [(bound, tuple(item.guard for item in way[-3:])) for bound, way in open_ends]
            self.scope.bound = merged(before, branches, MAX_OPTIONS)
            guards += prefix
        return False

    def _branch(self, body: Sequence[ast.stmt], guards: list[Open], bound: Texts) -> bool:
        self.scope.bound = dict(bound)
        return self._block(body, guards)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, inside: list[Open], guards: list[Open]) -> None:
        before = self.scope.bound
        self._branch(node.body, inside, before)
        self.scope.bound = merged(before, [(before, ()), (self.scope.bound, ())], MAX_OPTIONS)
        for inner in node.orelse:
            if self._statement(inner, guards):
                break

    def _try(self, node: ast.Try, guards: list[Open]) -> bool:
        before = self.scope.bound
        caught = ", ".join(source(handler.type) if handler.type else "everything" for handler in node.handlers)
        inside = [*guards, self.scope.guard("try", caught, True, node.lineno)] if caught else guards
        ended = self._branch([*node.body, *node.orelse], list(inside), before)
        ways: list[tuple[Texts, tuple[Guard, ...]]] = [] if ended else [(self.scope.bound, ())]
        for handler in node.handlers:
            text = (source(handler.type) if handler.type else "everything") + (
                f" as {handler.name}" if handler.name else ""
            )
            own = self.scope.guard("except", text, True, handler.lineno)
            if not self._branch(handler.body, [*guards, own], before):
                ways.append((self.scope.bound, ()))
        self.scope.bound = merged(before, ways, MAX_OPTIONS) if ways else dict(before)
        for inner in node.finalbody:
            if self._statement(inner, guards):
                return True
        return not ways

    def _match(self, node: ast.Match, guards: list[Open]) -> None:
        self._calls(node.subject, guards)
        before = self.scope.bound
        ways: list[tuple[Texts, tuple[Guard, ...]]] = [(before, ())]
        for case in node.cases:
            text = f"{source(node.subject)} matches {source(case.pattern)}"
            text += f" and {source(case.guard)}" if case.guard is not None else ""
            own = self.scope.guard("case", text, True, case.pattern.lineno)
            if not self._branch(case.body, [*guards, own], before):
                ways.append((self.scope.bound, ()))
        self.scope.bound = merged(before, ways, MAX_OPTIONS)

    # Scopes.

    def _function(self, node: Function) -> None:
        if self.at is not None and not node.lineno <= self.at <= (node.end_lineno or node.lineno):
            return
        outer = self.scope
        self._decorated(node)
        name = f"{outer.function}.{node.name}" if outer.function else node.name
        parameters = parameters_of(node)
        if outer.fields and (node.name == "__post_init__" or (node.name == "__init__" and not parameters)):
            parameters = outer.fields
        self.scope = Scope(name, parameters, outer)
        for parameter in parameters_of(node):
            self.scope.bound.pop(parameter.name.lstrip("*"), None)
        if self._worth(node):
            self._block(node.body, [])
        outer.order = self.scope.order
        self.scope = outer

    def _class(self, node: ast.ClassDef) -> None:
        outer = self.scope
        self._decorated(node)
        name = f"{outer.function}.{node.name}" if outer.function else node.name
        self.scope = Scope(name, (), outer)
        self.scope.owner, self.scope.fields = node.name, fields_of(node)
        for item in node.body:
            if isinstance(item, (ast.Assign, ast.AnnAssign)):
                self._assign(item)
        for key, texts in list(self.scope.bound.items()):
            if key not in outer.bound and "." not in key:
                for owner in ("self", "cls", node.name):
                    self.scope.bound[f"{owner}.{key}"] = texts
        self._block(node.body, [])
        outer.order = self.scope.order
        self.scope = outer

    def _decorated(self, node: Function | ast.ClassDef) -> None:
        for mark in node.decorator_list:
            self._calls(mark, [])

    # Names.

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        if node.value is None:
            return
        bound = self.scope.bound
        if isinstance(node, ast.AugAssign):
            name = dotted(node.target)
            added = (
                joined([bound[name], options(node.value, bound)])
                if name in bound and isinstance(node.op, ast.Add)
                else []
            )
            bound.pop(name, None)
            if added:
                bound[name] = added
            self.scope.assign(name, None, node.lineno)
            return
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self._bind(target, node.value, node.lineno)
            name = dotted(target)
            if name and _may_be_text(node.value):
                texts = options(node.value, bound)
                if all(any(isinstance(piece, str) for piece in text.pieces) for text in texts):
                    bound[name] = texts

    def _bind(self, target: ast.expr, value: ast.expr, line: int, prefix: str = "") -> None:
        part = "" if dotted(target) else "part of "
        for name in targets(target):
            self.scope.bound.pop(name, None)
            self.scope.assign(name, value, line, part + prefix)

    # Messages.

    def _calls(self, node: ast.stmt | ast.expr, guards: list[Open], without: ast.AST | None = None) -> None:
        """Add the messages that the calls in a statement or expression print."""
        if not self._worth(node):
            return
        for item in ast.walk(node):
            if isinstance(item, ast.Call) and item is not without:
                what = said(item, self.scope.bound, self.scope.owner)
                if what is not None:
                    self._add(what, item, guards)
            elif isinstance(item, ast.NamedExpr):
                self._bind(item.target, item.value, item.lineno)

    def _add(self, what: PrintingCall, node: ast.stmt | ast.expr, guards: list[Open]) -> None:
        around = self.scope.closed(guards)
        parameters: tuple[Parameter, ...] = self.scope.parameters
        for text in what.texts:
            own: tuple[Guard, ...] = text.guards
            if what.condition is not None:
                kind = "assert" if what.kind == "assert" else "check"
                own = (*own, Guard(kind, source(what.condition), False, what.condition.lineno))  # type: ignore[arg-type]
            chain = (*around, *own)[-MAX_GUARDS:]
            self.found.append(
                MessagePlace(
                    what.kind, what.exception, what.level, text.pieces, self.path, self.scope.function,
                    node.lineno, node.end_lineno or node.lineno, chain, parameters, self.scope.bindings(chain, text.pieces),
                )
            )  # fmt: skip

    def _worth(self, node: ast.stmt | ast.expr) -> bool:
        """Whether a message can begin in the lines of the node."""
        at = bisect_left(self.clues, node.lineno)
        return at < len(self.clues) and self.clues[at] <= (node.end_lineno or node.lineno)


def _may_be_text(node: ast.expr) -> bool:
    """Whether the value of an assignment may contain text."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, (ast.JoinedStr, ast.BinOp, ast.IfExp, ast.Call, ast.Lambda))

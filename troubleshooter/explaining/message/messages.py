"""Failures that their message explains alone, whatever line raised them: fields of a model, modules of another release, calls.

Python, pydantic and torch say in these messages what was asked of which name, so that neither a frame nor a source is needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.message import python_messages, self_telling, statuses
from troubleshooter.explaining.message.advice import allowed
from troubleshooter.explaining.message.message_answer import MessageAnswer, MessageRule, make_rule
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, choices, literal, nearest
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

BLOCKING = "CUDA_LAUNCH_BLOCKING=1 python ..."
MAX_VALUE = 80
"""Characters of a refused value that are shown."""


def explain(failure: Failure, lang: str) -> FoundPlace | None:
    """The explanation of a failure by its message; None where no rule knows it."""
    return _by_rules(
        failure, (*RULES, *python_messages.RULES, *self_telling.RULES, *(WITH_FRAMES if failure.frames else ())), lang
    )


def explain_alone(failure: Failure, lang: str) -> FoundPlace | None:
    """The same for messages of Python itself that have no frame. Libraries imitate some of them, so the index is not asked."""
    return _by_rules(failure, python_messages.RULES, lang) if not failure.frames else None


def explain_by_itself(failure: Failure, lang: str) -> FoundPlace | None:
    """The explanation of a message that says by itself what has to change, by `self_telling.RULES` and `LAST`; None for every other one."""
    return _by_rules(failure, (*self_telling.RULES, *LAST), lang)


def _by_rules(failure: Failure, rules: Sequence[MessageRule], lang: str) -> FoundPlace | None:
    for exceptions, pattern, rule in rules:
        found = pattern.search(failure.message) if failure.type in exceptions.split() else None
        if found is not None and (told := rule(found)) is not None:
            said = {name: say(key, lang) for name, key in told.phrases.items()}
            origins = [Origin(told.name, "data", "", told.value)] if told.name else []
            frame = failure.frames[-1] if failure.frames else None
            return FoundPlace(
                frame, say(told.key, lang, **{**told.values, **said}), origins, list(told.remedies), "rule"
            )
    return None


def _field(m: re.Match[str]) -> MessageAnswer:
    """A field that pydantic refuses."""
    model, field, told, value = m["model"] or "", m["field"], m["told"].strip(), m["value"]
    name = field.rpartition(".")[2]
    fixes: list[Remedy] = []
    if told == "Field required":
        fixes = [Remedy("do-pass", (("x", name),), f"{name}=...", "message")]
    elif told.startswith("Extra inputs"):
        fixes = [Remedy("do-leave", (("x", name),), None, "message")]
    elif several := allowed(told):
        meant = nearest(literal(value), several)
        if meant is UNKNOWN:
            fixes = [
                Remedy("do-one-of", (("x", name), ("y", choices(literal(value), several))), f"{name}=...", "message")
            ]
        else:
            fixes = [Remedy("do-set", (("x", name), ("y", repr(meant))), f"{name}={meant!r}", "message")]
    key = "msg-field-of" if model else "msg-field"
    shown = value[:MAX_VALUE] if value else None
    return MessageAnswer(key, {"x": field, "c": model, "told": told}, name, shown, tuple(fixes))


def _module(m: re.Match[str], key: str = "msg-module") -> MessageAnswer:
    """A module without the name that is asked of it, which may be a module inside of it that nothing has imported."""
    module, name = m["module"], m["name"]
    if key == "msg-module-part" and (name.startswith("_") or not name.islower()):
        key = "msg-module"
    code = f'python -c "import {module}; print({module}.__file__)"'
    return MessageAnswer(
        key, {"m": module, "a": name}, module, None, (Remedy("own-look", (("x", code),), code, "rule"),)
    )


def _twice(m: re.Match[str]) -> MessageAnswer:
    """An argument that a call passes twice."""
    function, name = m["function"] or "", m["name"]
    key = "msg-twice-to" if function else "msg-twice"
    return MessageAnswer(
        key, {"f": function, "x": name}, name, None, (Remedy("do-once", (("x", name),), None, "rule"),)
    )


def _class(m: re.Match[str]) -> MessageAnswer:
    """An argument of a compiled function that is of another class."""
    name, want = m["name"], m["want"]
    fix = Remedy("do-class", (("x", name), ("y", want)), "torch.as_tensor(...)" if want == "Tensor" else None, "rule")
    fixes = () if m["got"] == "NoneType" else (fix,)  # None becomes no tensor: what should have made it gave nothing
    key = "msg-class" if fixes else "msg-class-none"
    return MessageAnswer(key, {"f": m["function"], "x": name, "want": want, "got": m["got"]}, name, None, fixes)


def _of_rust(m: re.Match[str]) -> MessageAnswer:
    """An argument, or a value in it, that a function written in Rust wants in another class."""
    want = {"PyString": "str", "PyInt": "int", "PyFloat": "float", "PyBool": "bool"}.get(m["u"], m["u"])
    code = f"{want}(...)" if want in ("str", "int", "float", "bool", "list", "dict") else None
    fix = Remedy("do-class-within", (("x", m["name"]), ("y", want)), code, "rule")
    return MessageAnswer("msg-within", {"x": m["name"], "t": m["t"], "u": want}, m["name"], None, (fix,))


def _also(m: re.Match[str]) -> MessageAnswer:
    """What has to be given beside what was given."""
    name = m["name"].rstrip(".")
    return MessageAnswer("msg-also", {"x": name}, name, None, (Remedy("do-also", (("x", name),), None, "message"),))


def _mapping(m: re.Match[str]) -> MessageAnswer:
    """Something that is no dictionary, behind ``**``."""
    kind = m["t"] or m["u"]
    return MessageAnswer("msg-mapping", {"t": kind}, "")


def _status(m: re.Match[str]) -> MessageAnswer:
    """A CUDA library's status, with what it means."""
    call, status = m["f"], m["s"].strip()
    phrase = statuses.meaning(status)
    values = {"f": call, "lib": statuses.library(call) or "CUDA", "s": status, "told": status}
    late = phrase in ("status-execution", "status-internal")
    fixes = (Remedy("do-blocking", (("x", BLOCKING),), BLOCKING, "rule"),) if late else ()
    return MessageAnswer("msg-status", values, call, None, fixes, {"told": phrase} if phrase else {})


_OF_TENSORS = (
    "shape|size|view|reshape|contiguous|to|cuda|cpu|device|dtype|dim|ndim|detach|zero_|copy_|requires_grad|grad|numel|unsqueeze|squeeze"
    "|flatten|transpose|permute|mean|float|half|bfloat16|backward|is_cuda|data_ptr|stride|element_size"
)
"""Attributes that a tensor has, and that nothing else is asked for as often."""

RULES: tuple[MessageRule, ...] = (
    ("ValidationError", lazy.compile(r"validation errors? for (?P<model>[\w.\[\], |]{1,80})\n(?P<field>\S{1,120})\n\s{1,8}(?P<told>[^\n\[]{3,300})(?:\[type=\w+(?:, input_value=(?P<value>[^\n]{1,200}?), input_type=\w+)?\])?"), _field),
    ("ValidationError", lazy.compile(r"^(?P<model>)(?P<field>[\w.]{1,120}) (?P<told>Field required|Extra inputs are not permitted|Input should be [^\n]{1,200})(?P<value>)$"), _field),
    ("AttributeError", lazy.compile(r"^partially initialized module '(?P<module>[\w.]{1,120})' has no attribute '(?P<name>\w{1,80})'"), partial(_module, key="msg-module-circle")),
    ("ImportError", lazy.compile(r"^cannot import name '(?P<name>\w{1,80})' from partially initialized module '(?P<module>[\w.]{1,120})'"), partial(_module, key="msg-module-circle")),
    ("AttributeError", lazy.compile(r"^module '(?P<module>[\w.]{1,120})' has no attribute '(?P<name>\w{1,80})'"), partial(_module, key="msg-module-part")),
    ("ImportError", lazy.compile(r"^cannot import name '(?P<name>\w{1,80})' from '(?P<module>[\w.]{1,120})'"), _module),
    ("TypeError", lazy.compile(r"^(?:(?P<function>[\w.<>]{1,160})\(\) )?got multiple values for (?:keyword )?argument '(?P<name>\w{1,80})'"), _twice),
    ("TypeError", lazy.compile(r"^(?P<function>[\w.]{1,80})\(\): argument '(?P<name>\w{1,60})' \(position \d{1,3}\) must be (?P<want>\w{1,60}), not (?P<got>[\w.]{1,60})"), _class),
    ("AttributeError", lazy.compile(rf"^'(?P<t>tuple|list|dict|NoneType|bool|int|float|str)' object has no attribute '(?P<a>{_OF_TENSORS})'"), make_rule("msg-tensor", "a")),
    ("AttributeError", lazy.compile(r"^'str' object has no attribute '(?P<a>value|name)'"), make_rule("msg-member", "a")),
    ("AttributeError", lazy.compile(r"^'NoneType' object has no attribute '(?P<a>\w{1,80})'"), make_rule("msg-none", "a")),
    ("AttributeError", lazy.compile(r"^'(?P<c>\w{0,80}(?:Config|Args|Arguments|Settings))' object has no attribute '(?P<a>\w{1,80})'"), make_rule("msg-setting", "a")),
    ("AttributeError ImportError OSError", lazy.compile(r"^(?P<f>[^\s:]{1,200}\.so[\w.]{0,20}): undefined symbol: (?P<a>\w{1,120})"), make_rule("msg-symbol", "f")),
    ("NameError", lazy.compile(r"^name '(?P<x>\w{1,80})' is not defined"), make_rule("msg-name", "x")),
    ("RuntimeError", lazy.compile(r"<(?P<t>\w{1,40})(?: object)? at 0x[^>]{1,80}> is (?:bound to|attached to) a different (?:event )?loop"), make_rule("msg-loop", "t", ("do-one-loop", "asyncio.run(main())"))),
    ("TypeError AttributeError PicklingError", lazy.compile(r"^(?:cannot pickle|[Cc]an't pickle) (?P<t>(?:local )?[^\n:]{1,80}?)(?: objects?)?(?::|$)"), make_rule("msg-pickle", "t")),
    ("TypeError", lazy.compile(r"^(?:Strings|Unicode-objects) must be encoded before hashing"), make_rule("msg-bytes", "", ("do-encode", "text.encode()"))),
    ("ValueError", lazy.compile(r"^substring not found$"), make_rule("msg-substring", "", ("do-find", "text.find(part)"))),
    ("CompilationError AssertionError", lazy.compile(r"Loop-carried variable (?P<x>\w{1,80}) has initial type (?P<a>\w{1,40}) but is re-assigned to (?P<b>\w{1,40}) in loop"), make_rule("msg-triton-type", "x", ("do-type", ".to(tl.float32)"))),
    ("KeyError", lazy.compile(r"^(?P<x>slice\([^\n]{1,60}\))$"), make_rule("msg-slice", "x", ("do-list", "list(layers.values())"))),
    ("TraceError", lazy.compile(r"symbolically traced variables cannot be used as inputs to control flow"), make_rule("msg-traced", "")),
    ("TypeError", lazy.compile(r"^unsupported operand type\(s\) for (?P<op>[^\s:]{1,12}): '(?P<a>[\w.]{1,60})' and '(?P<b>[\w.]{1,60})'"), make_rule("msg-operands", "op")),
    ("RuntimeError AcceleratorError _LinAlgError LinAlgError", lazy.compile(r"(?:CUDA|cusparse|cusolver|cudss) error: (?P<s>[\w ]{3,80}?),? when calling `(?P<f>\w{3,80})"), _status),
    ("RuntimeError AcceleratorError", lazy.compile(r"^CUDA NVRTC error: (?P<s>[^\n]{3,120})"), make_rule("msg-nvrtc", "")),
    ("TypeError", lazy.compile(r"^cannot unpack non-iterable (?P<t>[\w.]{1,60})"), make_rule("msg-unpack", "")),
    ("ValueError", lazy.compile(r"^too many values to unpack \(expected (?P<n>\d{1,3})"), make_rule("msg-unpack-many", "")),
    ("ValueError", lazy.compile(r"^not enough values to unpack \(expected (?:at least )?(?P<n>\d{1,3}), got (?P<got>\d{1,3})"), make_rule("msg-unpack-few", "")),
    ("TypeError", lazy.compile(r"^object of type '(?P<t>[\w.]{1,60})' has no len\(\)"), make_rule("msg-length", "")),
    ("TypeError", lazy.compile(r"^(?:[\w.]{1,80}\(\) argument after \*\* must be a mapping, not (?P<u>[\w.]{1,60})|'(?P<t>[\w.]{1,60})' object is not a mapping)"), _mapping),
    ("TypeError", lazy.compile(r"^is(?:instance|subclass)\(\) arg 2 must be a "), make_rule("msg-class-test", "")),
    ("UnboundLocalError NameError", lazy.compile(r"^(?:local variable|cannot access (?:local|free) variable) '(?P<x>\w{1,80})'"), make_rule("msg-unbound", "x")),
    ("ImportError", lazy.compile(r"^cannot import name '(?P<a>\w{1,80})'"), make_rule("msg-import", "a")),
    ("ValueError", lazy.compile(r"^all the input arrays? (?:dimensions )?must have same number of dimensions, but the array at index (?P<i>\d{1,4}) has (?P<a>\d{1,3}) dimension\(s\) and the array at index (?P<j>\d{1,4}) has (?P<b>\d{1,3})"), make_rule("msg-dims", "")),
    ("RuntimeError", lazy.compile(r"^(?P<f>[\w.:]{1,80}) got mixed torch\.Tensor and DTensor"), make_rule("msg-dtensor", "f")),
    ("NotImplementedError", lazy.compile(r"^Could not run '(?P<f>[\w.:]{1,80})' with arguments from the '(?P<b>\w{1,40})' backend"), make_rule("msg-backend", "f")),
    ("RuntimeError ValueError", lazy.compile(r"^(?P<f>\w{1,40})(?:\(\))?:? expects `?(?P<x>\w{1,40})`? to be (?P<want>[^,\n]{1,80}),? (?:but )?got:? (?P<v>[^\s,]{1,40})"), make_rule("msg-needs", "x")),
    ("FileNotFoundError", lazy.compile(r"^\[Errno 2\] No such file or directory: ['\"](?P<x>[^'\"\n]{1,300})['\"]"), make_rule("msg-absent", "x")),
    ("PermissionError", lazy.compile(r"^\[Errno 13\] Permission denied: ['\"](?P<x>[^'\"\n]{1,300})['\"]"), make_rule("msg-denied", "x")),
    ("RuntimeError AcceleratorError", lazy.compile(r"^CUDA driver error: (?P<s>[^\n]{3,120})"), make_rule("msg-driver", "")),
    ("CalledProcessError", lazy.compile(r"^Command [^\n]{1,4000} returned non-zero exit status (?P<n>\d{1,10})"), make_rule("msg-called", "")),
    ("CalledProcessError", lazy.compile(r"^Command [^\n]{1,4000} died with <Signals\.(?P<s>\w{2,20}): \d{1,3}>"), make_rule("msg-called-signal", "")),
    ("RuntimeError", lazy.compile(r"^selected index k out of"), make_rule("py-topk", "k")),
)  # fmt: skip

WITH_FRAMES: tuple[MessageRule, ...] = (
    ("AttributeError", lazy.compile(r"^(?:type object )?'(?P<t>[\w.]{1,80})'(?: object)? has no attribute '(?P<a>\w{1,80})'"), make_rule("msg-attribute", "")),
)  # fmt: skip
"""Rules that only repeat a message, and so tell something only together with the place that the frames show."""

LAST: tuple[MessageRule, ...] = (
    ("error PatternError", lazy.compile(r"^(?P<told>(?:missing \)|unterminated|unbalanced|nothing to repeat|multiple repeat|bad (?:escape|character range)|unknown extension).{0,80} at position \d{1,9})"), make_rule("fn-pattern", "", ("fn-escape", "re.escape(...)"))),
    ("ValueError RuntimeError TypeError AssertionError", lazy.compile(r"\bwithout also (?:targeting|setting|passing|specifying|providing|enabling|using|giving) [`'\"]?(?P<name>[A-Za-z_][\w.]{1,60})"), _also),
    ("TypeError", lazy.compile(r"^argument '(?P<name>\w{1,60})': '(?P<t>\w{1,60})' object (?:is not an instance of|cannot be (?:converted|cast) (?:to|as)) '(?P<u>\w{1,60})'$"), _of_rust),
)  # fmt: skip
"""Rules for what nothing else found a suggestion for."""

"""The messages that Python itself prints about any code, and the names in them that everybody's code has.

Python prints ``KeyError: 'labels'`` for every dictionary without that key, so these words alone never name a library's cause.
``KeyError: 'rope_theta'`` does: few programs but those of one library have such a key. A form holds each message with its
*slots*, the parts that the code itself gives: the names of types, attributes, arguments, modules and files.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from kb import lazy

_NAME = r"[A-Za-z_]\w*"
_DOTTED = r"[\w.<>]+"
_LISTED = r"[\w', ]+?"
_MEANT = r"(?:\. Did you (?:mean|forget)[^\n]*)?"
_FUNCTION = rf"(?:(?P<type>{_DOTTED})\.)?(?P<function>{_NAME})\(\)"


class Form(NamedTuple):
    """A message of Python. ``types``: the exceptions that have it. ``pattern`` finds the whole message; its groups are the
    slots, and the first word of a group's name says what stands there (`OTHER`)."""

    types: tuple[str, ...]
    pattern: str


OTHER = {
    "type": "WeatherReport",
    "name": "rain_per_hour",
    "function": "read_clouds",
    "module": "meadow.clouds",
    "path": "/home/me/meadow/rain.csv",
    "key": "rain_per_hour",
}
"""By kind of slot: what the code of a stranger might have there, who uses none of the libraries that entries are about."""

_OS_ERRORS = (
    "OSError", "FileNotFoundError", "FileExistsError", "PermissionError", "IsADirectoryError", "NotADirectoryError",
    "BrokenPipeError", "ConnectionRefusedError", "ConnectionResetError", "ConnectionAbortedError", "ConnectionError",
    "BlockingIOError", "ChildProcessError", "InterruptedError", "ProcessLookupError", "TimeoutError", "IOError",
)  # fmt: skip

FORMS: tuple[Form, ...] = (
    # what is looked up
    Form(("KeyError",), r"(?P<quote>['\"]?)(?P<key>[\w.\-/]{1,80})(?P=quote)"),
    Form(("KeyError",), r"['\"]?(?:pop from an empty set|popitem\(\): dictionary is empty)['\"]?"),
    Form(("IndexError",), r"(?:list|tuple|string|deque|array|range object|bytearray|pop|bytes|list assignment)(?: assignment)? index out of range|"
         r"pop from (?:an )?empty (?:list|deque|array)|index out of range|no such group|Cannot choose from an empty sequence|"
         r"Replacement index \d+ out of range for positional args tuple"),
    Form(("AttributeError",), rf"'(?P<type>{_DOTTED})' object has no attribute '?(?P<name>{_NAME})'?" + _MEANT),
    Form(("AttributeError",), rf"type object '(?P<type>{_DOTTED})' has no attribute '(?P<name>{_NAME})'" + _MEANT),
    Form(("AttributeError",), rf"(?:partially initialized )?module '(?P<module>{_DOTTED})' has no attribute '(?P<name>{_NAME})'"
         r"(?: \(most likely due to a circular import\))?" + _MEANT),
    Form(("AttributeError",), rf"(?P<name>{_NAME})" + _MEANT),
    Form(("AttributeError",), rf"(?:can't set attribute|can't delete attribute|property|property '(?P<name>{_NAME})' of '(?P<type>{_DOTTED})' object has no (?:setter|getter|deleter))"),
    Form(("AttributeError",), rf"(?:'(?P<type>{_DOTTED})' object attribute '(?P<name>{_NAME})' is read-only|__enter__|__exit__|__aenter__)"),
    Form(("AttributeError",), rf"Can't (?:pickle|get) (?:local object|attribute) '(?P<name>{_DOTTED})'(?: on <module '(?P<module>{_DOTTED})'[^>]*>)?"),
    Form(("NameError",), rf"(?:name '(?P<name>{_NAME})' is not defined|free variable '(?P<name2>{_NAME})' referenced before assignment in enclosing scope)" + _MEANT),
    Form(("UnboundLocalError",), rf"(?:local variable '(?P<name>{_NAME})' referenced before assignment|cannot access local variable '(?P<name2>{_NAME})' where it is not associated with a value)"),
    # what is called
    Form(("TypeError",), rf"{_FUNCTION} got (?:an unexpected keyword argument|multiple values for (?:keyword )?argument|some positional-only arguments passed as keyword arguments:) '(?P<name>{_NAME})'" + _MEANT),
    Form(("TypeError",), rf"(?:{_DOTTED}\.)?(?P<function>{_NAME})\(\) got multiple values for keyword argument '(?P<name>{_NAME})'"),
    Form(("TypeError",), rf"{_FUNCTION} missing \d+ required (?:positional|keyword-only) arguments?: (?P<names>{_LISTED})"),
    Form(("TypeError",), rf"{_FUNCTION} takes (?:no|\d+|from \d+ to \d+|at (?:most|least) \d+|exactly \d+|exactly one) (?:positional |keyword )?arguments?"
         r"(?: but \d+ (?:positional arguments? \(and \d+ keyword-only arguments?\) )?(?:was|were) given| \(\d+ given\))?"),
    Form(("TypeError",), rf"{_FUNCTION} takes no keyword arguments"),
    Form(("TypeError",), rf"(?P<type>{_NAME})\(\) takes no arguments"),
    Form(("TypeError",), rf"(?:expected \d+ (?:positional )?arguments?, got \d+|(?P<function>{_NAME}) expected (?:at (?:least|most) )?\d+ arguments?, got \d+)"),
    Form(("TypeError",), rf"'(?P<type>{_DOTTED})' object is not (?:callable|subscriptable|iterable|an iterator|reversible|a mapping|an async iterable)"),
    Form(("TypeError",), rf"'(?P<type>{_DOTTED})' object (?:does not support (?:item assignment|item deletion|the (?:asynchronous )?context manager protocol|indexing)|doesn't support item (?:assignment|deletion)|cannot be interpreted as an integer|can't be awaited|is not an async iterator)"),
    Form(("TypeError",), rf"object (?P<type>{_DOTTED}) can't be used in 'await' expression"),
    Form(("TypeError",), rf"object of type '(?P<type>{_DOTTED})' has no len\(\)"),
    Form(("TypeError",), rf"Object of type '?(?P<type>{_DOTTED})'? is not JSON serializable|keys must be str, int, float, bool or None, not (?P<type2>{_NAME})"),
    Form(("TypeError",), rf"unhashable type: '(?P<type>{_DOTTED})'"),
    Form(("TypeError",), rf"Can't instantiate abstract class (?P<type>{_NAME}) (?:with(?:out an implementation for)?) (?:the )?abstract methods? (?P<names>{_LISTED})"),
    Form(("TypeError",), rf"non-default argument '?(?P<name>{_NAME})'? follows default argument(?: '{_NAME}')?"),
    # what is computed
    Form(("TypeError",), rf"unsupported operand type\(s\) for [^:\n]{{1,12}}: '(?P<type>{_DOTTED})' and '(?P<type2>{_DOTTED})'"),
    Form(("TypeError",), rf"bad operand type for (?:unary [-+~]|abs\(\)): '(?P<type>{_DOTTED})'"),
    Form(("TypeError",), rf"'[<>]=?' not supported between instances of '(?P<type>{_DOTTED})' and '(?P<type2>{_DOTTED})'"),
    Form(("TypeError",), rf"(?:list|tuple|string|bytearray|byte|range|{_NAME}) (?:indices|index) must be (?:integers(?: or slices)?|an integer)(?:, not '?(?P<type>{_DOTTED})'?)?"),
    Form(("TypeError",), rf"can only concatenate \w+ \(not \"(?P<type>{_DOTTED})\"\) to \w+|must be str, not (?P<type2>{_NAME})"),
    Form(("TypeError",), rf"can't multiply sequence by non-int of type '(?P<type>{_DOTTED})'"),
    Form(("TypeError",), rf"cannot unpack non-iterable (?P<type>{_DOTTED}) object"),
    Form(("TypeError",), rf"cannot (?:pickle|convert dictionary update sequence element #\d+ to a sequence)(?: '(?P<type>{_DOTTED})' object)?"),
    Form(("TypeError",), rf"argument of type '(?P<type>{_DOTTED})' is not (?:iterable|a container or iterable)"),
    Form(("TypeError",), rf"sequence item \d+: expected (?:str instance|a bytes-like object), (?P<type>{_DOTTED}) found"),
    Form(("TypeError",), rf"(?:int|float|complex)\(\) argument must be [^\n]{{1,80}}, not '?(?P<type>{_DOTTED})'?|must be real number, not (?P<type2>{_DOTTED})|(?:a|an) (?:float|integer) is required(?: \(got type {_DOTTED}\))?"),
    Form(("TypeError",), rf"(?:expected|(?:stat|open|join|fspath|_path\w*): path should be|argument should be a|join\(\) argument must be) (?:str|string)[\w., ]{{0,40}}(?:os\.PathLike)?(?: object| or integer)?, not '?(?P<type>{_DOTTED})'?"),
    Form(("TypeError",), rf"(?:expected string or bytes-like object|a bytes-like object is required|(?:write\(\) )?argument must be (?:str|bytes))(?:, (?:got|not) '(?P<type>{_DOTTED})')?"),
    Form(("TypeError",), rf"(?:not all arguments converted during string formatting|not enough arguments for format string|unsupported format string passed to (?P<type>{_DOTTED})\.__format__)"),
    Form(("TypeError",), r"(?:isinstance|issubclass)\(\) arg [12] must be [^\n]{1,80}|exceptions must derive from BaseException|catching classes that do not inherit from BaseException is not allowed|'NoneType' object is not callable"),
    Form(("ZeroDivisionError",), r"(?:integer )?(?:float )?(?:division or modulo by zero|division by zero|modulo by zero|float modulo(?: by zero)?|float floor division by zero|integer modulo by zero)|0\.0 cannot be raised to a negative power"),
    Form(("ValueError",), r"(?:too many|not enough) values to unpack(?: \(expected (?:at least )?\d+(?:, got \d+)?\))?"),
    Form(("ValueError",), r"invalid literal for int\(\) with base \d+: (?P<text>[^\n]{1,80})|could not convert string to float: (?P<text2>[^\n]{1,80})"),
    Form(("ValueError",), rf"(?P<text>[^\n]{{1,80}}) is not in (?:list|tuple|deque|range)|(?:list|tuple)\.(?:remove|index)\(x\): x not in (?:list|tuple)|list modified during sort|substring not found"),
    Form(("ValueError",), r"(?:min|max)\(\) (?:arg is an empty sequence|iterable argument is empty)|math domain error|I/O operation on closed file\.?|Circular reference detected|embedded null (?:byte|character)|"
         r"range\(\) arg 3 must not be zero|slice step cannot be zero|negative shift count|byte must be in range\(0, 256\)|Sample larger than population or is negative|"
         r"cannot convert float (?:NaN|infinity) to integer|dictionary update sequence element #\d+ has length \d+; 2 is required|generator already executing|seek of closed file|read of closed file|"
         r"Out of range float values are not JSON compliant(?:: -?(?:inf|nan))?|zip\(\) argument \d+ is (?:shorter|longer) than arguments? [\d-]+|year \d+ is out of range|empty (?:separator|range for rand\w+\(\)[^\n]{0,30})|"
         r"Unknown format code '.' for object of type '\w+'|Invalid format specifier[^\n]{0,60}|Single '[{}]' encountered in format string|unsupported pickle protocol: \d+|Invalid isoformat string: [^\n]{1,60}|not a valid (?:literal|integer)"),
    Form(("ValueError",), rf"mutable default <?class '?(?P<type>{_DOTTED})'?>? for field (?P<name>{_NAME}) is not allowed: use default_factory|(?P<text>[^\n]{{1,60}}) is not a valid (?P<type2>{_DOTTED})|(?P<path>{_DOTTED})\.__spec__ is (?:None|not set)"),
    Form(("OverflowError",), r"(?:Python )?int too (?:large|big) to convert(?: to (?:C \w+|float))?|cannot convert float infinity to integer|math range error|\(34, '[^\n]{1,40}'\)|signed integer is (?:greater|less) than (?:maximum|minimum)|cannot serialize a bytes object larger than 4 GiB|serializing a bytes object larger than 4 GiB requires pickle protocol 4 or higher"),
    # what is imported
    Form(("ImportError",), rf"cannot import name '?(?P<name>{_NAME})'?(?: from (?:partially initialized module )?'(?P<module>{_DOTTED})')?(?: \((?:most likely due to a circular import|unknown location|[^()\n]*)\))*"),
    Form(("ImportError",), r"attempted relative import (?:with no known parent package|beyond top-level package)|DLL load failed(?: while importing (?P<name>\w+))?: [^\n]{1,120}"),
    Form(("ModuleNotFoundError", "ImportError"), rf"No module named '?(?P<module>{_DOTTED})'?(?:; '?{_DOTTED}'? is not a package)?"),
    # files, processes and memory
    Form(_OS_ERRORS, r"\[(?:Errno|WinError) \d+\] [^'\n:]{1,160}(?:: b?(?P<quote>['\"])(?P<path>[^\n]*?)(?P=quote)(?: -> (?P<quote2>['\"])(?P<path2>[^\n]*?)(?P=quote2))?)?"),
    Form(("EOFError",), r"Ran out of input|EOF when reading a line|"),
    Form(("RecursionError",), r"maximum recursion depth exceeded(?: while [\w ]{1,60}| in comparison)?"),
    Form(("MemoryError", "KeyboardInterrupt", "StopIteration", "AssertionError", "NotImplementedError", "TimeoutError", "Empty", "Exception", "RuntimeError", "ValueError", "IndexError", "TypeError", "SystemExit"), r"|-?\d{1,3}"),
    Form(("RuntimeError",), r"(?:dictionary|Set|deque) (?:changed size|mutated|keys changed) during iteration|generator raised StopIteration|can't start new thread|super\(\): (?:no arguments|__class__ cell not found|bad __class__ cell)|"
         r"maximum recursion depth exceeded[\w ]*|No active exception to reraise|cannot schedule new futures after (?:shutdown|interpreter shutdown)|Event loop is closed|This event loop is already running|no running event loop|"
         r"There is no current event loop in thread '[^'\n]+'\.?|asyncio\.run\(\) cannot be called from a running event loop|context has already been set|release unlocked lock|cannot (?:join (?:thread before it is started|current thread)|release un-acquired lock)|"
         r"threads can only be started once|object proxy has not been initialised|Lock objects should only be shared between processes through inheritance|"
         r"\s*An attempt has been made to start a new process before the\s+current process has finished its bootstrapping phase[\s\S]*"),
    Form(("JSONDecodeError",), r"(?:Expecting (?:value|property name enclosed in double quotes|',' delimiter|':' delimiter)|Extra data|Unterminated string starting at|Invalid (?:control character at|\\escape)|Unexpected UTF-8 BOM \(decode using utf-8-sig\))[^\n]{0,60}"),
    Form(("UnicodeDecodeError",), r"'[\w-]+' codec can't decode bytes? [^\n]{1,100}"),
    Form(("UnicodeEncodeError",), r"'[\w-]+' codec can't encode characters? [^\n]{1,100}"),
    Form(("PicklingError", "AttributeError", "TypeError"), rf"Can't pickle (?:local object )?['<](?P<text>[^\n]{{1,120}}?)['>](?:: (?:attribute lookup (?P<name>{_NAME}) on (?P<module>{_DOTTED}) failed|it's not (?:found as|the same object as) {_DOTTED}))?"),
    Form(("UnpicklingError",), r"invalid load key, '[^\n]{1,8}'\.|pickle data was truncated|unpickling stack underflow|could not find MARK"),
    Form(("SyntaxError",), r"invalid syntax(?:[^\n]{0,80})|unexpected EOF while parsing[^\n]{0,60}|\(unicode error\) [^\n]{1,160}|Non-UTF-8 code starting with [^\n]{1,200}|'[^'\n]{1,20}' was never closed[^\n]{0,60}|from __future__ imports must occur at the beginning of the file[^\n]{0,60}"),
    Form(("CalledProcessError",), r"Command '[^\n]{1,400}' (?:returned non-zero exit status -?\d+|died with <[^\n]{1,40}>)\.?"),
    Form(("TimeoutExpired",), r"Command '[^\n]{1,400}' timed out after [\d.]+ seconds"),
)  # fmt: skip
"""Every generic message of CPython 3.8 to 3.14 that a program is likely to print."""

EVERYDAY = frozenset(
    # attributes of the objects that every program has are added below
    "main train test eval run step fit predict loss losses label labels target targets input inputs output outputs text texts image "
    "images data dataset datasets batch batches model models config args kwargs params tokenizer optimizer scheduler device dtype shape "
    "size name names type path file id ids index key keys value values item items x y z a b c i j k n m f self cls obj func fn state "
    "input_ids attention_mask position_ids token_type_ids pixel_values inputs_embeds prompt prompts response completion messages "
    "content role question answer query context instruction source score scores reward rewards hidden_states logits state_dict epoch "
    "epochs lr learning_rate batch_size seed mask weight weights bias module layer layers head heads embedding embeddings hidden_size "
    "num_labels num_classes vocab_size max_length length idx idx_ sample samples feature features column columns row rows result results "
    "metrics metric accuracy version backward forward detach cpu cuda to numpy float half long int item dim view reshape squeeze "
    "unsqueeze parameters named_parameters train eval save load save_pretrained from_pretrained generate encode decode utils helpers common "
    "dataset data_loader dataloader dataloaders trainer logger log writer engine step zero_grad".split()
)
"""Names that scripts of many people have."""

_OF_PYTHON = frozenset(
    {*dir(builtins), *sys.stdlib_module_names, "NoneType", "function", "method", "module", "generator", "coroutine", "builtin_function_or_method"}
    | {name for kind in (str, bytes, int, float, list, tuple, dict, set, type(None), type, object) for name in dir(kind)}
)  # fmt: skip


class Slot(NamedTuple):
    """A part of a message that the code gives: where it stands, what it is, and what a stranger's code might have there."""

    start: int
    end: int
    value: str
    other: str

    @property
    def everyday(self) -> bool:
        """Whether everybody's code has this name."""
        parts = re.findall(r"\w+", self.value)
        return all(part in _OF_PYTHON or part in EVERYDAY or part.isdecimal() or len(part) == 1 for part in parts)


class Generic(NamedTuple):
    """A message of Python with its slots."""

    text: str
    slots: tuple[Slot, ...]

    def with_others(self, numbers: frozenset[int]) -> str:
        """The message with a stranger's names in the slots of these numbers."""
        text = self.text
        for number in sorted(numbers, key=lambda one: -self.slots[one].start):
            slot = self.slots[number]
            text = text[: slot.start] + slot.other + text[slot.end :]
        return text


def generic(type_: str, message: str) -> Generic | None:
    """The message of an exception with its slots, if Python prints it about any code; else None. ``type_``: the last dotted part
    of the exception's type."""
    for form in FORMS:
        if type_ in form.types and (found := lazy.compile(form.pattern).fullmatch(message)):
            return Generic(message, tuple(_slots(found)))
    return None


def _slots(found: re.Match[str]) -> Iterator[Slot]:
    for group, value in found.groupdict().items():
        kind = group.rstrip("0123456789")
        if not value or kind in ("quote", "text"):
            continue
        start = found.start(group)
        if kind == "names":
            for name in re.finditer(r"\w{2,}", value):
                if name[0] != "and":
                    yield Slot(start + name.start(), start + name.end(), name[0], OTHER["name"])
        else:
            yield Slot(start, found.end(group), value, OTHER[kind])

"""The messages that Python itself prints about any code, and the names in them that everybody's code has.

Python prints ``KeyError: 'labels'`` for every dictionary without that key, so these words alone never name a library's cause.
``KeyError: 'rope_theta'`` does: few programs but those of one library have such a key. A form holds each message with its
*slots*, the parts that the code itself gives: the names of types, attributes, arguments, modules and files.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import NamedTuple

_NAME = r"[A-Za-z_]\w*"
_DOTTED = r"[\w.<>]+"
_MEANT = r"(?:\. Did you mean: '(?P<meant>\w+)'\?|\. Did you forget[^\n]*)?"
_FUNCTION = rf"(?:(?P<type>{_DOTTED})\.)?(?P<function>{_NAME})\(\)"


class Form(NamedTuple):
    """A message of Python. ``types``: the exceptions that have it, with spaces between them. ``pattern`` finds the whole
    message; its groups are the slots, and the name of a group says what stands there (`OTHER`)."""

    types: str
    pattern: str


OTHER = {
    "type": "WeatherReport",
    "name": "rain_per_hour",
    "function": "read_clouds",
    "module": "meadow.clouds",
    "path": "/home/me/meadow/rain.csv",
    "key": "rain_per_hour",
    "meant": "rain_per_day",
    "text": "'rain'",
    "command": "'['gzip', 'rain.csv']'",
}
"""By kind of slot: what the code of a stranger might have there, who uses none of the libraries that entries are about."""

FORMS: tuple[Form, ...] = (
    # what is looked up
    Form("KeyError", r"(?P<quote>['\"]?)(?P<key>[\w.\-/]{1,120})(?P=quote)"),
    Form("IndexError", r"(?:list|tuple|string|deque|array|bytearray|bytes|range object)(?: assignment)? index out of range|"
         r"index out of range|pop (?:from (?:an )?empty (?:list|deque|array)|index out of range)|no such group|Cannot choose from an empty sequence"),
    Form("AttributeError", rf"'(?P<type>{_DOTTED})' object has no attribute '?(?P<name>{_NAME})'?" + _MEANT),
    Form("AttributeError", rf"type object '(?P<type>{_DOTTED})' has no attribute '(?P<name>{_NAME})'" + _MEANT),
    Form("AttributeError", rf"(?:partially initialized )?module '(?P<module>{_DOTTED})' has no attribute '(?P<name>{_NAME})'"
         r"(?: \(most likely due to a circular import\))?" + _MEANT),
    Form("AttributeError", rf"(?P<name>{_NAME})" + _MEANT),
    Form("AttributeError", rf"can't (?:set|delete) attribute(?: '(?P<name>{_NAME})')?|property(?: '(?P<name2>{_NAME})')? of '(?P<type>{_DOTTED})' object has no (?:setter|getter|deleter)"),
    Form("AttributeError", rf"'(?P<type>{_DOTTED})' object attribute '(?P<name>{_NAME})' is read-only|__enter__|__exit__"),
    Form("NameError", rf"(?:name|free variable) '(?P<name>{_NAME})' (?:is not defined|referenced before assignment in enclosing scope)" + _MEANT),
    Form("UnboundLocalError", rf"(?:local variable|cannot access local variable) '(?P<name>{_NAME})' (?:referenced before assignment|where it is not associated with a value)"),
    # what is called
    Form("TypeError", rf"{_FUNCTION} got an unexpected keyword argument '(?P<name>{_NAME})'" + _MEANT),
    Form("TypeError", rf"{_FUNCTION} got (?:multiple values for (?:keyword )?argument|some positional-only arguments passed as keyword arguments:) '(?P<name>{_NAME})'"),
    Form("TypeError", rf"{_FUNCTION} missing \d+ required (?:positional|keyword-only) arguments?: (?P<names>[\w', ]{{1,400}})"),
    Form("TypeError", rf"{_FUNCTION} takes (?:no|\d+|from \d+ to \d+|at (?:most|least) \d+|exactly (?:\d+|one)) (?:positional |keyword )?arguments?"
         r"(?: but \d+[\w ()-]{0,80} given| \(\d+ given\))?"),
    Form("TypeError", rf"(?:(?P<function>{_NAME}) )?expected (?:at (?:least|most) )?\d+ (?:positional )?arguments?, got \d+"),
    Form("TypeError", rf"'(?P<type>{_DOTTED})' object is not (?:callable|subscriptable|iterable|an iterator|reversible|a mapping)"),
    Form("TypeError", rf"'(?P<type>{_DOTTED})' object (?:does not support|doesn't support|cannot be interpreted as|can't be) [\w ]{{1,60}}"),
    Form("TypeError", rf"object (?P<type>{_DOTTED}) can't be used in 'await' expression|object of type '(?P<type2>{_DOTTED})' has no len\(\)"),
    Form("TypeError", rf"Object of type '?(?P<type>{_DOTTED})'? is not JSON serializable|keys must be str, int, float, bool or None, not (?P<type2>{_NAME})"),
    Form("TypeError", rf"unhashable type: '(?P<type>{_DOTTED})'|cannot pickle '(?P<type2>{_DOTTED})' object"),
    Form("TypeError", rf"Can't instantiate abstract class (?P<type>{_NAME}) with(?:out an implementation for)? (?:the )?abstract methods? (?P<names>[\w', ]{{1,400}})"),
    # what is computed
    Form("TypeError", rf"unsupported operand type\(s\) for [^:\n]{{1,12}}: '(?P<type>{_DOTTED})' and '(?P<type2>{_DOTTED})'"),
    Form("TypeError", rf"bad operand type for (?:unary [-+~]|abs\(\)): '(?P<type>{_DOTTED})'"),
    Form("TypeError", rf"'[<>]=?' not supported between instances of '(?P<type>{_DOTTED})' and '(?P<type2>{_DOTTED})'"),
    Form("TypeError", rf"(?:list|tuple|string|bytearray|byte|range) (?:indices|index) must be (?:integers(?: or slices)?|an integer)(?:, not '?(?P<type>{_DOTTED})'?)?"),
    Form("TypeError", rf"can only concatenate \w+ \(not \"(?P<type>{_DOTTED})\"\) to \w+|must be str, not (?P<type2>{_NAME})"),
    Form("TypeError", rf"can't multiply sequence by non-int of type '(?P<type>{_DOTTED})'|cannot unpack non-iterable (?P<type2>{_DOTTED}) object"),
    Form("TypeError", rf"argument of type '(?P<type>{_DOTTED})' is not (?:iterable|a container or iterable)"),
    Form("TypeError", rf"sequence item \d+: expected (?:str instance|a bytes-like object), (?P<type>{_DOTTED}) found"),
    Form("TypeError", rf"(?:int|float|complex)\(\) argument must be [^\n]{{1,80}}, not '?(?P<type>{_DOTTED})'?|must be real number, not (?P<type2>{_DOTTED})"),
    Form("TypeError", rf"[\w():, ]{{0,40}}(?:expected|should be|must be) (?:str|string)[\w., ]{{0,40}}(?:os\.PathLike)?(?: object| or integer)?, not '?(?P<type>{_DOTTED})'?"),
    Form("TypeError", rf"(?:expected string or bytes-like object|a bytes-like object is required|(?:write\(\) )?argument must be (?:str|bytes))(?:, (?:got|not) '(?P<type>{_DOTTED})')?"),
    Form("TypeError", rf"not all arguments converted during string formatting|not enough arguments for format string|unsupported format string passed to (?P<type>{_DOTTED})\.__format__"),
    Form("ZeroDivisionError", r"(?:(?:integer |float )?(?:division or modulo|division|modulo)(?: by zero)?|float floor division by zero)"),
    Form("ValueError", r"(?:too many|not enough) values to unpack(?: \(expected (?:at least )?\d+(?:, got \d+)?\))?"),
    Form("ValueError", r"invalid literal for int\(\) with base \d+: (?P<text>[^\n]{1,80})|could not convert string to float: (?P<text2>[^\n]{1,80})"),
    Form("ValueError", r"(?P<text>[^\n]{1,80}) is not in (?:list|tuple|deque|range)|(?:list|tuple)\.(?:remove|index)\(x\): x not in (?:list|tuple)|substring not found"),
    Form("ValueError", r"(?:min|max)\(\) (?:arg is an empty sequence|iterable argument is empty)|math domain error|I/O operation on closed file\.?|"
         r"Sample larger than population or is negative|cannot convert float (?:NaN|infinity) to integer"),
    Form("ValueError", rf"(?P<text>[^\n]{{1,60}}) is not a valid (?P<type>{_DOTTED})"),
    Form("OverflowError", r"(?:Python )?int too (?:large|big) to convert(?: to (?:C \w+|float))?|cannot convert float infinity to integer|math range error"),
    # what is imported
    Form("ImportError", rf"cannot import name '?(?P<name>{_NAME})'?(?: from (?:partially initialized module )?'(?P<module>{_DOTTED})')?"
         r"(?: \((?:most likely due to a circular import|unknown location|[^()\n]*)\))*"),
    Form("ImportError ModuleNotFoundError", rf"No module named '?(?P<module>{_DOTTED})'?(?:; '?{_DOTTED}'? is not a package)?"),
    # files and processes
    Form("OSError FileNotFoundError FileExistsError PermissionError IsADirectoryError NotADirectoryError BrokenPipeError ConnectionRefusedError ConnectionResetError",
         r"\[(?:Errno (?:2|13|17|20|21|32|104|111)|WinError (?:2|3|5|32))\] [^'\n:]{1,160}(?:: b?(?P<quote>['\"])(?P<path>[^\n]*?)(?P=quote)(?: -> (?P<quote2>['\"])(?P<path2>[^\n]*?)(?P=quote2))?)?"),
    Form("CalledProcessError TimeoutExpired", r"Command (?P<command>'[^\n]{1,999}') (?:returned non-zero exit status|died with|timed out after) [^\n]{1,60}"),
    Form("JSONDecodeError", r"(?:Expecting (?:value|property name enclosed in double quotes|',' delimiter|':' delimiter)|Extra data|Unterminated string starting at|Invalid (?:control character at|\\escape))[^\n]{0,60}"),
    Form("UnicodeDecodeError UnicodeEncodeError", r"'[\w-]+' codec can't (?:de|en)code (?:byte|character)s? [^\n]{1,100}"),
    Form("EOFError", r"(?:Ran out of input|EOF when reading a line)?"),
    Form("RecursionError RuntimeError", r"maximum recursion depth exceeded[\w ]{0,60}"),
    Form("RuntimeError", r"(?:dictionary|Set|deque) (?:changed size|mutated|keys changed) during iteration|generator raised StopIteration|"
         r"super\(\): (?:no arguments|__class__ cell not found|bad __class__ cell)|No active exception to reraise|cannot schedule new futures after (?:interpreter )?shutdown"),
    # no words at all
    Form("AssertionError NotImplementedError RuntimeError ValueError TypeError IndexError KeyError Exception StopIteration MemoryError TimeoutError Empty", r"(?:-?\d{1,3})?"),
)  # fmt: skip
"""The messages of CPython 3.8 to 3.14 that leave the cause open. One that says its cause (``attempted relative import with no known
parent package``) is true of any code and does not stand here."""

_EVERYDAY = """
AdamW Attention Block ChunkManager Config DataLoader Dataset DatasetGroup Decoder Embedding Encoder FakeTokenizer
FinetuningConfig GPT Layer Linear LoRAModule LoRANetwork MLP Model Net NetworkTrainer Optimizer Pooling Scheduler
Tensor Tokenizer Trainer Transformer UNet _handles _setup_cache _streams accelerator accuracy adapter answer api
args attention attention_mask auto base base_model batch batch_size bias build cache cfg chat checkpoint common
completion config config_path content context convert cpu cuda data data_args dataset datasets decode decoder detach
device device_map dim dist dtype embedding encode encoder engine epoch epochs error evaluate example examples
features file files find fit float16 forward func fused generate grad helpers hidden hidden_size hidden_states id
ids idx image image_processor images index info initialize input input_ids inputs instruction instruction_zh item
items key keys kwargs label labels layer layers len line llm load load_state_dict loader log logger logits lora loss
lr lr_scheduler main map mask max max_length max_new_tokens message messages metric metrics mode model model_args
model_name model_parallel models module names net network num_labels numpy opt optim optimizer out output output_dir
outputs parameters params parser path pipe position_ids predict predictions preds pretrain print processor prompt
prompts quantize query question rank read references reset response result results reward rewards role row rows run
sample samples save score scores seed set shape size source split start state state_dict step str sum target targets
task tensor test text texts tok token tokenize tokenizer tokens total train train_dataset trainer training
training_args transformer type unet unsqueeze use utils val value values version view vocab vocab_size weight
weights
"""
EVERYDAY = frozenset(_EVERYDAY.split())
"""Names that scripts of many people have. Most stand in lines of users' own scripts in the samples of eight or more entries; a
reader added those of entries whose certainty seemed too much, although one library has them first (``FakeTokenizer``,
``ChunkManager``). A name that hardly anybody else gives (``pixel_values``) does not belong here."""

_OF_PYTHON = frozenset(
    {*dir(builtins), "NoneType", "function", "method", "module", "generator", "coroutine", "builtin_function_or_method"}
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
        return all(
            part in _OF_PYTHON or part in EVERYDAY or len(part) == 1 or (part.isdecimal() and len(part) < 4)
            for part in parts
        )


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
        if type_ in form.types.split() and (found := re.fullmatch(form.pattern, message)):
            return Generic(message, tuple(_slots(found)))
    return None


def _slots(found: re.Match[str]) -> Iterator[Slot]:
    for group, value in found.groupdict().items():
        kind = group.rstrip("0123456789")
        if not value or kind == "quote":
            continue
        start = found.start(group)
        if kind == "names":
            for name in re.finditer(r"\w{2,}", value):
                if name[0] != "and":
                    yield Slot(start + name.start(), start + name.end(), name[0], OTHER["name"])
        else:
            yield Slot(start, found.end(group), value, OTHER[kind])

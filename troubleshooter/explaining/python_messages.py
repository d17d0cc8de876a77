"""Messages of Python itself that say what was done with which kind of object, and from which follows what was expected there.

A rule stands here only if it tells more than the message: what kind of object the code needed, or what usually was forgotten.
"""

from __future__ import annotations

from troubleshooter.explaining.message_answer import MessageRule, told

_KIND = r"(?P<t>[\w.]{1,80})"
_OF_DATASETS = "map|filter|select|shuffle|train_test_split|column_names|features|remove_columns|rename_column|set_format|with_format|to_list|push_to_hub"
"""Attributes that a data set of ``datasets`` has, and that a list or a dictionary has not."""

RULES: tuple[MessageRule, ...] = (
    # what is asked for its items
    ("TypeError", rf"^(?P<s>tuple|list) indices must be integers or slices, not {_KIND}", told("py-numbered", "")),
    ("TypeError", r"^string indices must be integers", told("py-text-item", "", ("do-parse", "json.loads(text)"))),
    ("TypeError", r"^'NoneType' object is not subscriptable", told("py-none-item", "")),
    ("TypeError", r"^'(?P<t>method|function|builtin_function_or_method)' object is not subscriptable", told("py-brackets", "t")),
    ("TypeError", rf"^'{_KIND}' object does not support item assignment", told("py-fixed", "")),
    ("TypeError", rf"^argument of type '{_KIND}' is not (?:iterable|a container)", told("py-in", "")),
    ("TypeError AttributeError", r"'?(?P<t>coroutine|async_generator)'? object (?:is not|has no attribute|can't be used|was never awaited)", told("py-await", "", ("do-await", "await ..."))),
    ("TypeError", rf"^'{_KIND}' object is not iterable", told("py-iterable", "")),
    ("TypeError", rf"^unhashable type: '{_KIND}'", told("py-key-type", "")),
    ("IndexError KeyError", r"^'?pop(?:item\(\))?[ :](?:from (?:an )?empty )?(?P<s>list|deque|set|dictionary)", told("py-empty", "")),
    # what is called
    ("TypeError", r"^(?:'NoneType'?`? object is not callable|None is not a callable object)", told("py-call-none", "")),
    ("TypeError", r"^'module' object is not callable", told("py-call-module", "")),
    ("TypeError", rf"^'{_KIND}' object is not callable", told("py-call", "")),
    ("TypeError", r"^Can't instantiate abstract class (?P<c>\w{1,80}) with(?:out an implementation for)? (?:the )?abstract methods? (?P<a>'?\w[\w', ]{0,200})", told("py-abstract", "a")),
    # numbers, texts and paths
    ("TypeError", rf"^'{_KIND}' object cannot be interpreted as an integer", told("py-whole", "", ("own-convert", "int(...)"))),
    ("TypeError", r"^'(?P<op>[<>]=?)' not supported between instances of '(?P<a>[\w.]{1,60})' and '(?P<b>[\w.]{1,60})'", told("py-compare", "op")),
    ("TypeError", rf"^(?:(?:float|int|complex)\(\) argument must be [^\n]{{1,80}}, not '?|must be real number, not ){_KIND}", told("py-number", "")),
    ("TypeError", rf"(?:expected|should be|must be) (?:str|string), (?:bytes,? )?(?:or )?os\.PathLike(?: object| or integer)?, not '?{_KIND}", told("py-path", "")),
    ("TypeError", rf"^unsupported format string passed to {_KIND}\.__format", told("py-format", "")),
    ("TypeError", rf"^can only concatenate (?P<s>\w{{1,20}}) \(not \"{_KIND}\"\) to", told("py-join", "")),
    ("TypeError", rf"^sequence item \d{{1,9}}: expected str instance, {_KIND} found", told("py-join-items", "", ("own-convert", "map(str, ...)"))),
    ("TypeError", r"^not all arguments converted during string formatting", told("py-percent-more", "")),
    ("TypeError", r"^not enough arguments for format string", told("py-percent-less", "")),
    ("TypeError", rf"^Object of type {_KIND} is not JSON serializable", told("py-json", "")),
    ("TypeError", r"^a bytes-like object is required, not 'str'|^write\(\) argument must be bytes", told("py-bytes", "", ("do-encode", "text.encode()"))),
    ("TypeError", rf"^(?P<f>\w{{1,60}})\(\): data must be a sequence \(got {_KIND}\)", told("py-sequence", "f", ("do-listed", "[value]"))),
    ("ValueError", r"^invalid literal for int\(\) with base \d{1,2}: (?P<v>'[^']{0,120}'|b?\"[^\"]{0,120}\")", told("py-whole-text", "v")),
    ("ValueError", r"^could not convert string to float: (?P<v>'[^']{0,120}'|\"[^\"]{0,120}\")", told("py-number-text", "v")),
    ("JSONDecodeError", r"Expecting value: line \d{1,9} column \d{1,9} \(char 0\)", told("py-json-empty", "")),
    ("JSONDecodeError", r"^Extra data: line", told("py-json-lines", "")),
    ("UnicodeDecodeError", r"^'(?P<c>[\w-]{1,40})' codec can't decode byte (?P<b>0x\w{2}) in position (?P<p>\d{1,12})", told("py-decode", "")),
    ("EOFError", r"^Ran out of input", told("py-pickle-end", "")),
    # attributes and names
    ("AttributeError", rf"^'(?P<t>list|dict)' object has no attribute '(?P<a>{_OF_DATASETS})'", told("py-dataset", "a", ("do-dataset", "Dataset.from_list(rows)"))),
    ("AttributeError", r"^'dict' object has no attribute '(?P<a>\w{1,80})'", told("py-dict", "a")),
    ("AttributeError", r"^'function' object has no attribute '(?P<a>__func__|__self__)'", told("py-function", "a")),
    ("AttributeError", r"^type object '(?P<c>\w{1,80})' has no attribute '(?P<a>\w{1,80})'", told("py-class", "a")),
    ("AttributeError", r"^(?:can't set attribute|property .{0,160} has no setter)", told("py-property", "")),
    ("ImportError", r"^attempted relative import with no known parent package", told("py-relative", "", ("do-module", "python -m package.module"))),
    ("NameError", r"^name '(?P<x>\w{1,80})' is$", told("msg-name", "x")),
    # processes, threads and event loops
    ("RuntimeError", r"^There is no current event loop in thread", told("py-no-loop", "", ("do-new-loop", "asyncio.set_event_loop(asyncio.new_event_loop())"))),
    ("RuntimeError", r"^(?:asyncio\.run\(\) cannot be called from a running event loop|This event loop is already running)", told("py-in-loop", "", ("do-await", "await main()"))),
    ("RuntimeError", r"^dictionary changed size during iteration", told("py-changed", "", ("do-copy-keys", "for key in list(d):"))),
    ("AssertionError", r"^daemonic processes are not allowed to have children", told("py-daemon", "", ("do-workers", "num_workers=0"))),
    ("ValueError", r"^signal only works in main thread", told("py-signal", "")),
    ("ValueError", r"^I/O operation on closed file", told("py-closed", "")),
    # other
    ("DuplicateKeyError ConstructorError", r"^(?:while constructing a mapping|found duplicate key)", told("py-yaml-twice", "")),
)  # fmt: skip

"""Messages of Python itself that say what was done with which kind of object, and from which follows what was expected there.

A rule stands here only if it tells more than the message: what kind of object the code needed, or what usually was forgotten.
"""

from __future__ import annotations

from kb import lazy
from troubleshooter.explaining.message.message_answer import MessageRule, make_rule

_KIND = r"(?P<t>[\w.]{1,80})"
_OF_DATASETS = "map|filter|select|shuffle|train_test_split|column_names|features|remove_columns|rename_column|set_format|with_format|to_list|push_to_hub"
"""Attributes that a data set of ``datasets`` has, and that a list or a dictionary has not."""

RULES: tuple[MessageRule, ...] = (
    # what is asked for its items
    ("TypeError", lazy.compile(rf"^(?P<s>tuple|list) indices must be integers or slices, not {_KIND}"), make_rule("py-numbered", "")),
    ("TypeError", lazy.compile(r"^string indices must be integers"), make_rule("py-text-item", "", ("do-parse", "json.loads(text)"))),
    ("TypeError", lazy.compile(r"^'NoneType' object is not subscriptable"), make_rule("py-none-item", "")),
    ("TypeError", lazy.compile(r"^'(?P<t>method|function|builtin_function_or_method)' object is not subscriptable"), make_rule("py-brackets", "t")),
    ("TypeError", lazy.compile(rf"^'{_KIND}' object does not support item assignment"), make_rule("py-fixed", "")),
    ("TypeError", lazy.compile(rf"^argument of type '{_KIND}' is not (?:iterable|a container)"), make_rule("py-in", "")),
    ("TypeError AttributeError", lazy.compile(r"'?(?P<t>coroutine|async_generator)'? object (?:is not|has no attribute|can't be used|was never awaited)"), make_rule("py-await", "", ("do-await", "await ..."))),
    ("TypeError", lazy.compile(rf"^'{_KIND}' object is not iterable"), make_rule("py-iterable", "")),
    ("TypeError", lazy.compile(rf"^unhashable type: '{_KIND}'"), make_rule("py-key-type", "")),
    ("IndexError KeyError", lazy.compile(r"^'?pop(?:item\(\))?[ :](?:from (?:an )?empty )?(?P<s>list|deque|set|dictionary)"), make_rule("py-empty", "")),
    # what is called
    ("TypeError", lazy.compile(r"^(?:'NoneType'?`? object is not callable|None is not a callable object)"), make_rule("py-call-none", "")),
    ("TypeError", lazy.compile(r"^'module' object is not callable"), make_rule("py-call-module", "")),
    ("TypeError", lazy.compile(rf"^'{_KIND}' object is not callable"), make_rule("py-call", "")),
    ("TypeError", lazy.compile(r"^Can't instantiate abstract class (?P<c>\w{1,80}) with(?:out an implementation for)? (?:the )?abstract methods? (?P<a>'?\w[\w', ]{0,200})"), make_rule("py-abstract", "a")),
    # numbers, texts and paths
    ("TypeError", lazy.compile(rf"^'{_KIND}' object cannot be interpreted as an integer"), make_rule("py-whole", "", ("own-convert", "int(...)"))),
    ("TypeError", lazy.compile(r"^'(?P<op>[<>]=?)' not supported between instances of '(?P<a>[\w.]{1,60})' and '(?P<b>[\w.]{1,60})'"), make_rule("py-compare", "op")),
    ("TypeError", lazy.compile(rf"^(?:(?:float|int|complex)\(\) argument must be [^\n]{{1,80}}, not '?|must be real number, not ){_KIND}"), make_rule("py-number", "")),
    ("TypeError", lazy.compile(rf"^can't multiply sequence by non-int of type '{_KIND}'"), make_rule("py-times", "")),
    ("TypeError", lazy.compile(rf"(?:expected|should be|must be) (?:str|string), (?:bytes,? )?(?:or )?os\.PathLike(?: object| or integer)?, not '?{_KIND}"), make_rule("py-path", "")),
    ("TypeError", lazy.compile(rf"^unsupported format string passed to {_KIND}\.__format"), make_rule("py-format", "")),
    ("TypeError", lazy.compile(rf"^can only concatenate (?P<s>\w{{1,20}}) \(not \"{_KIND}\"\) to"), make_rule("py-join", "")),
    ("TypeError", lazy.compile(rf"^sequence item \d{{1,9}}: expected str instance, {_KIND} found"), make_rule("py-join-items", "", ("own-convert", "map(str, ...)"))),
    ("TypeError", lazy.compile(r"^not all arguments converted during string formatting"), make_rule("py-percent-more", "")),
    ("TypeError", lazy.compile(r"^not enough arguments for format string"), make_rule("py-percent-less", "")),
    ("TypeError", lazy.compile(rf"^Object of type {_KIND} is not JSON serializable"), make_rule("py-json", "")),
    ("TypeError", lazy.compile(r"^a bytes-like object is required, not 'str'|^write\(\) argument must be bytes"), make_rule("py-bytes", "", ("do-encode", "text.encode()"))),
    ("TypeError", lazy.compile(rf"^(?P<f>\w{{1,60}})\(\): data must be a sequence \(got {_KIND}\)"), make_rule("py-sequence", "f", ("do-listed", "[value]"))),
    ("ValueError", lazy.compile(r"^invalid literal for int\(\) with base \d{1,2}: (?P<v>'[^']{0,120}'|b?\"[^\"]{0,120}\")"), make_rule("py-whole-text", "v")),
    ("ValueError", lazy.compile(r"^could not convert string to float: (?P<v>'[^']{0,120}'|\"[^\"]{0,120}\")"), make_rule("py-number-text", "v")),
    ("JSONDecodeError", lazy.compile(r"Expecting value: line \d{1,9} column \d{1,9} \(char 0\)"), make_rule("py-json-empty", "")),
    ("JSONDecodeError", lazy.compile(r"^Extra data: line"), make_rule("py-json-lines", "")),
    ("UnicodeDecodeError", lazy.compile(r"^'(?P<c>[\w-]{1,40})' codec can't decode byte (?P<b>0x\w{2}) in position (?P<p>\d{1,12})"), make_rule("py-decode", "")),
    ("EOFError", lazy.compile(r"^Ran out of input"), make_rule("py-pickle-end", "")),
    ("OverflowError", lazy.compile(r"^can't convert negative (?:value to unsigned|int to unsigned)|^Python integer -\d{1,30} out of bounds for uint\d{1,3}"), make_rule("py-unsigned", "", ("do-signed", "int64"))),
    # attributes and names
    ("AttributeError", lazy.compile(rf"^'(?P<t>list|dict)' object has no attribute '(?P<a>{_OF_DATASETS})'"), make_rule("py-dataset", "a", ("do-dataset", "Dataset.from_list(rows)"))),
    ("AttributeError", lazy.compile(r"^'dict' object has no attribute '(?P<a>\w{1,80})'"), make_rule("py-dict", "a")),
    ("AttributeError", lazy.compile(r"^'function' object has no attribute '(?P<a>__func__|__self__)'"), make_rule("py-function", "a")),
    ("AttributeError", lazy.compile(r"^type object '(?P<c>\w{1,80})' has no attribute '(?P<a>\w{1,80})'"), make_rule("py-class", "a")),
    ("AttributeError", lazy.compile(r"^(?:can't set attribute|property .{0,160} has no setter)"), make_rule("py-property", "")),
    ("ImportError", lazy.compile(r"^attempted relative import with no known parent package"), make_rule("py-relative", "", ("do-module", "python -m package.module"))),
    ("NameError", lazy.compile(r"^name '(?P<x>\w{1,80})' is$"), make_rule("msg-name", "x")),
    # processes, threads and event loops
    ("RuntimeError", lazy.compile(r"^There is no current event loop in thread"), make_rule("py-no-loop", "", ("do-new-loop", "asyncio.set_event_loop(asyncio.new_event_loop())"))),
    ("RuntimeError", lazy.compile(r"^(?:asyncio\.run\(\) cannot be called from a running event loop|This event loop is already running)"), make_rule("py-in-loop", "", ("do-await", "await main()"))),
    ("RuntimeError", lazy.compile(r"^dictionary changed size during iteration"), make_rule("py-changed", "", ("do-copy-keys", "for key in list(d):"))),
    ("AssertionError", lazy.compile(r"^daemonic processes are not allowed to have children"), make_rule("py-daemon", "", ("do-workers", "num_workers=0"))),
    ("ValueError", lazy.compile(r"^signal only works in main thread"), make_rule("py-signal", "")),
    ("ValueError", lazy.compile(r"^I/O operation on closed file"), make_rule("py-closed", "")),
    # other
    ("DuplicateKeyError ConstructorError", lazy.compile(r"^(?:while constructing a mapping|found duplicate key)"), make_rule("py-yaml-twice", "")),
)  # fmt: skip

"""The catalogue: every language has the English phrases, the code contains no phrases itself, a new language is one file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from kb.nearest import did_you_mean
from kb.text import catalog, languages
from kb.text.catalog import ENGLISH, SHARED, Section, language, of_locale

ROOT = Path(__file__).parents[3]
MODULES = sorted(
    path
    for folder in ("kb", "troubleshooter")
    for path in (ROOT / folder).rglob("*.py")
    if not path.is_relative_to(ROOT / "kb" / "text" / "languages")
)
TEMPLATES = sorted(path for folder in ("kb", "troubleshooter") for path in (ROOT / folder).rglob("*.html"))
READ_IN_LOGS = ("kb/localized.py", "troubleshooter/redact/words.py", "troubleshooter/observe/ended.py")
"""Modules whose words of other languages are looked for in logs; they are said to nobody."""
OTHERS = [code for code in catalog.languages() if code != ENGLISH]
_SCRIPTS = re.compile(r"[\u0370-\u1fff\u3040-\ud7ff\uf900-\ufaff]")
"""Letters beyond the Latin ones."""


def phrases(code: str) -> Iterator[tuple[str, str, str]]:
    """``(section, key, phrase)`` of a language."""
    for section, found in language(code).phrases.items():
        for key, phrase in found.items():
            yield section, key, phrase


def placeholders(phrase: str) -> set[tuple[str, str, str]]:
    """The names of the placeholders, with how their values are written."""
    fields = {(name, form or "", how or "") for _, name, form, how in Formatter().parse(phrase) if name is not None}
    assert all(name.isidentifier() for name, _, _ in fields), phrase
    return fields


def counted(code: str, section: str, key: str) -> bool:
    """Whether the key is a form for some counts of another phrase."""
    base, _, ending = key.rpartition("-")
    english = language(ENGLISH).phrases.get(section, {})
    endings = {spoken.plural(n) for spoken in (language(code),) if spoken.plural is not None for n in range(200)} - {""}
    return ending in endings and "{count}" in english.get(base, "")


def unknown(code: str, section: str, key: str) -> str:
    """What is wrong with a phrase that English lacks, and the next step."""
    sections = language(ENGLISH).phrases
    place = f"kb/text/languages/{code}.py: "
    if section not in sections:
        return f"{place}no section {section!r}; {did_you_mean(section, sections, 'en.py has the sections')}"
    if "{count}" in sections[section].get(key.rpartition("-")[0], ""):
        return f"{place}{key!r} in section {section!r} is never said; `plural` of this file has to return its ending, as in en.py"
    return f"{place}no phrase {key!r} in section {section!r}; {did_you_mean(key, sections[section], 'en.py has the keys')}"


def test_a_wrong_key_is_told_with_its_file_and_the_next_step() -> None:
    assert unknown("es", "report", "shos") == "kb/text/languages/es.py: no phrase 'shos' in section 'report'; did you mean shows?"
    assert unknown("es", "reprot", "do").endswith("no section 'reprot'; did you mean report?")
    assert "`plural` of this file" in unknown("es", "report", "read-one")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('NAME = "español"\nPHRASES = {', "es.py:2: '{' was never closed; mend"),
        ('PHRASES = {"report": {}}', "kb/text/languages/es.py: NAME is missing; en.py shows"),
    ],
)
def test_a_broken_language_is_told_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "es.py").write_text(text, encoding="utf-8")
    log = str(ROOT / "tests" / "logs" / "gemma3-eval.log")
    done = subprocess.run(
        [sys.executable, "-c", MAIN, str(tmp_path), "--lang", "es", log], capture_output=True, encoding="utf-8", check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", OTHERS)
def test_every_language_has_the_keys_of_english(code: str) -> None:
    english, other = (
        {(section, key) for section, key, _ in phrases(one) if not counted(one, section, key)} for one in (ENGLISH, code)
    )
    assert [unknown(code, *one) for one in sorted(other - english)] == []
    if language(code).every_entry:  # a language that only begins may lack phrases
        assert english - other == set()


@pytest.mark.parametrize("code", catalog.languages())
def test_every_phrase_has_the_placeholders_of_english(code: str) -> None:
    english = {(section, key): phrase for section, key, phrase in phrases(ENGLISH)}
    for section, key, phrase in phrases(code):
        assert phrase, (section, key)
        base = key.rpartition("-")[0] if counted(code, section, key) else key
        assert (section, base) in english, f"English has no phrase {key!r} in section {section!r}"
        expected = placeholders(english[section, base])
        assert placeholders(phrase) in ([expected, expected - {("count", "", "")}] if base != key else [expected]), key


def test_a_shared_phrase_is_hidden_by_no_section() -> None:
    shared = set(language(ENGLISH).phrases[SHARED])
    hidden = {(section, key) for section, key, _ in phrases(ENGLISH) if section != SHARED and key in shared}
    by_name = {("commands", "hang"), ("exits", "hang")}  # asked for by a command's name, never by the severity's
    assert hidden - by_name == {("areas", "harmless")}, "which is the same word"


def test_no_module_asks_which_language_it_is() -> None:
    """What differs by language is a property of it or a phrase. One more language must change no module."""
    code = re.compile(rf"""['"]({'|'.join(OTHERS)})(/|\.yaml)?['"]""")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in [*MODULES, *TEMPLATES]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if code.search(line)
    ]
    assert found == []


def test_no_module_holds_phrases_of_another_language() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in [*MODULES, *TEMPLATES]
        if path.relative_to(ROOT).as_posix() not in READ_IN_LOGS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if _SCRIPTS.search(line)
    ]
    assert found == []


SENTENCE = re.compile(r"^[^<]*[A-Za-z]{2,}[^%{}<>|]* [a-z]{2,}")
"""Two words of which the second is no name."""
COMMAND = re.compile(r"troubleshoot [a-z-]+")
ENGLISH_ONLY = {
    ("troubleshooter/cli/knowledge.py", "explain"): "shows an entry's fields to its author, by their names",
    ("troubleshooter/scan/command.py", "run"): "tells on standard error what was kept, as errors are told: in English",
}


def own_sentences(function: ast.AST) -> Iterator[str]:
    """Sentences in a function, except its docstring, messages of errors, and texts for standard error."""
    for node in ast.iter_child_nodes(function):
        raises = isinstance(node, ast.If) and any(isinstance(one, ast.Raise) for one in node.body)
        diverted = isinstance(node, ast.Call) and any(keyword.arg == "file" for keyword in node.keywords)
        documents = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if raises or diverted or documents or isinstance(node, ast.Raise):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SENTENCE.search(COMMAND.sub("", node.value)):
            yield node.value
        yield from own_sentences(node)


def test_a_function_that_is_told_the_language_holds_no_sentence_of_its_own() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), function.name): list(own_sentences(function))
        for path in MODULES
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and {"lang", "language"} & {argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)}
    }
    assert len(found) > 50, "the functions are not found any more"
    assert {place: texts for place, texts in found.items() if texts and place not in ENGLISH_ONLY} == {}


def asked() -> Iterator[tuple[str, str, str]]:
    """``(module, section, key)`` of each call in which both are written out, such as ``say("do", lang)``."""
    sections: dict[str, dict[str, str]] = {}
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}
    for path, tree in trees.items():
        own = sections.setdefault(path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."), {})
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                call, (target,) = node.value, node.targets
                if getattr(call.func, "id", "") == "Section" and isinstance(target, ast.Name):
                    own[target.id] = ast.literal_eval(call.args[0])
    for path, tree in trees.items():
        names = dict(sections[path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in sections:
                known = sections[node.module]
                names.update({one.asname or one.name: known[one.name] for one in node.names if one.name in known})
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args:
                key = node.args[0]
                for one in (key.body, key.orelse) if isinstance(key, ast.IfExp) else (key,):
                    if isinstance(one, ast.Constant):
                        yield path.name, names[node.func.id], one.value


def test_every_phrase_that_is_asked_for_exists() -> None:
    found = list(asked())
    assert len(found) > 100, "the calls are not found any more"
    assert [one for one in found if Section(one[1]).find(one[2], ENGLISH) is None] == []


def test_every_command_and_option_has_its_line_of_help() -> None:
    from troubleshooter.cli.commands import COMMANDS

    english = language(ENGLISH).phrases
    assert {command.name for command in COMMANDS} == set(english["commands"])
    assert {command.name for command in COMMANDS if command.own_exits} == set(english["exits"])
    assert {option.help for command in COMMANDS for option in command.options} == set(english["options"])


def test_a_count_has_its_form() -> None:
    say = Section("report")
    assert say("read", "en", count=1) == "read 1 line"
    assert say("read", "en", count=2) == "read 2 lines"
    assert say("read", "zh", count=1) == "已读 1 行"


def test_a_phrase_that_is_nowhere_is_named() -> None:
    with pytest.raises(KeyError, match=r"no phrase 'quux' in section 'report' of kb/text/languages/en\.py"):
        Section("report")("quux", "zh")


@pytest.mark.parametrize(
    ("locale", "code"),
    [("zh_CN.UTF-8", "zh"), ("zh-Hans", "zh"), ("ZH", "zh"), ("en_US", "en"), ("C.UTF-8", "en"), ("fr_FR@euro", "en"), ("", "en")],
)
def test_a_locale_asks_for_a_language(locale: str, code: str) -> None:
    assert of_locale(locale) == code


KOREAN = '''
"""Korean: the headings of the report; all else is said in English."""

NAME = "한국어"

PHRASES = {
    "words": {"certain": "확실", "likely": "가능성 높음", "why": "원인", "crash": "비정상 종료"},
    "report": {
        "shows": "로그가 보여 주는 것", "do": "해결 방법", "also-harmless": "함께 나타났지만 무해함", "nearest": "비슷하지만 일치하지 않음",
        "page": "더 보기", "verify": "이 컴퓨터에서 확인", "apart": "아니라면? 구별하는 법", "nothing": "문제 없음",
    },
}
'''
MAIN = "import sys; from kb.text import languages; languages.__path__.append(sys.argv.pop(1)); from troubleshooter.__main__ import main; main()"


@pytest.fixture
def korean(tmp_path: Path) -> Path:
    """A folder with the one file that a contributor writes for a third language."""
    (tmp_path / "ko.py").write_text(textwrap.dedent(KOREAN), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "environ"), [(["--lang", "ko"], {}), ([], {"TROUBLESHOOT_LANG": "ko"}), ([], {"LC_ALL": "ko_KR.UTF-8"})]
)
def test_a_third_language_is_one_new_file(
    korean: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str], environ: dict[str, str]
) -> None:
    for name in ("TROUBLESHOOT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (environ | {"PYTHONIOENCODING": "utf-8"}).items():
        monkeypatch.setenv(name, value)
    done = subprocess.run(
        [sys.executable, "-c", MAIN, str(korean), *asked, str(ROOT / "tests" / "logs" / "gemma3-eval.log")],
        capture_output=True, encoding="utf-8", check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    for heading in ("확실: ", "로그가 보여 주는 것", "원인", "해결 방법", "함께 나타났지만 무해함", "더 보기: troubleshoot show", "이 컴퓨터에서 확인: "):
        assert heading in done.stdout, heading
    assert "crash" not in done.stdout.split("\n")[1]
    assert "Affected: transformers" in done.stdout, "what it lacks is said in English"


def test_a_third_language_is_offered(korean: Path) -> None:
    codes = "|".join(["en", *sorted({*OTHERS, "ko"})])
    for arguments, said in ((["--help"], f"--lang {codes}"), (["--lang", "ja", "x"], "'ko'")):
        done = subprocess.run(
            [sys.executable, "-c", MAIN, str(korean), *arguments], capture_output=True, encoding="utf-8", check=False, cwd=ROOT,
        )  # fmt: skip
        assert said in done.stdout + done.stderr


def test_pages_are_written_in_every_language_that_has_phrases_for_them(korean: Path, tmp_path: Path) -> None:
    with (korean / "ko.py").open("a", encoding="utf-8") as file:
        file.write('PHRASES["pages"] = {"why": "원인", "fixes": "고치는 법", "this-page": "이 페이지의 한국어판"}\n')
    script = """
        import sys; from kb.text import languages; languages.__path__.append(sys.argv[1])
        from pathlib import Path; from kb.pages.site import build; from kb.cache import knowledge
        build([knowledge().need("cache-object-float")[0]], Path(sys.argv[2]), "https://example.org/")
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(korean), str(tmp_path / "site")]
    subprocess.run(command, check=True, cwd=ROOT)
    name = "precision/cache-object-float.html"
    page = (tmp_path / "site" / "ko" / name).read_text(encoding="utf-8")
    assert '<html lang="ko">' in page
    assert "고치는 법</h2>" in page
    assert "This entry is not translated yet." in page
    assert f'href="../../{name}" hreflang="en"' in page
    assert f'href="../../zh/{name}" hreflang="zh"' in page
    english = (tmp_path / "site" / name).read_text(encoding="utf-8")
    assert f'href="../ko/{name}" hreflang="ko" lang="ko" title="이 페이지의 한국어판">한국어</a>' in english
    sitemap = (tmp_path / "site" / "sitemap.xml").read_text(encoding="utf-8")
    assert f'hreflang="ko" href="https://example.org/ko/{name}"' in sitemap


def test_a_language_has_the_plural_forms_that_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polish = """
        NAME = "polski"
        PHRASES = {"report": {"lines": "{count} linii", "lines-one": "1 linia", "lines-few": "{count} linie"}}

        def plural(count):
            return "one" if count == 1 else "few" if 2 <= count % 10 <= 4 and not 12 <= count % 100 <= 14 else ""
    """
    (tmp_path / "pl.py").write_text(textwrap.dedent(polish), encoding="utf-8")
    monkeypatch.setattr(languages, "__path__", [*languages.__path__, str(tmp_path)])
    for cached in (catalog.languages, catalog.language):
        cached.cache_clear()
    try:
        said = [Section("report")("lines", "pl", count=count) for count in (1, 3, 5, 12, 22)]
    finally:
        monkeypatch.undo()
        for cached in (catalog.languages, catalog.language):
            cached.cache_clear()
    assert said == ["1 linia", "3 linie", "5 linii", "12 linii", "22 linie"]


def test_only_the_language_that_is_asked_for_is_imported() -> None:
    script = "import sys; from kb.text.catalog import Section; Section('report')('do', 'zh'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True, cwd=ROOT)
    assert f"{languages.__name__}.zh" in done.stdout.split()
    assert f"{languages.__name__}.en" not in done.stdout.split()

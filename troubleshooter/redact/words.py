"""Secrets that only their context reveals: a value assigned to a name such as ``api_key``, or a random word near it."""

from __future__ import annotations

import re

import re2

from troubleshooter.redact.tokens import WRAP

_STRONG = (
    r"passwo?r?d|passwd|passphrase|passcode|(?<![a-z])pwd|secret|api[_-]?key|apikey|access[_-]?key|accesskey|private[_-]?key|account[_-]?key"
    r"|signing[_-]?key|encryption[_-]?key|license[_-]?key|secretkey|shared[_-]?access[_-]?key|sharedaccesskey|accountkey|auth[_-]?token"
    r"|access[_-]?token|refresh[_-]?token|hub[_-]?token|api[_-]?token|id[_-]?token|bearer|credential|_authtoken|_auth|x-amz-signature"
    r"|x-amz-security-token|x-amz-credential|x-goog-signature|x-goog-credential|client[_-]?secret|(?<=[_-])pat(?![a-z])|密码|口令|密钥|令牌"
)
_WEAK = (
    r"token|(?<![a-z])key|auth|(?<![a-z])sid|session[_-]?(?:id|key)|signature|(?<![a-z])sig|(?<![a-z])policy|(?<![a-z])dsn"
    r"|(?<![a-z])[sa]k(?![a-z])|cookie|login|secretid|webhook|(?<![a-z])pass(?![a-z])|client(?=\(\s?[\"'][A-Za-z0-9]{24,80}[\"'])"
)
_END = r"(?:s|id)?(?:[_-][\w-]{0,40})?(?![A-Za-z])"
"""The end of such a word. ``KeyError`` and ``keyword`` go on with letters and do not match."""
_NAME = rf"(?P<name>(?:(?P<strong>{_STRONG})|(?:{_WEAK})){_END})"
_QUOTED = r"(?P<quote>\\?[\"'`])(?P<quoted>(?:(?!\\?[\"'`\n]).){1,4000})"
_BARE = r"(?P<bare>[^\s'\"`,;)}\]&<>(\\][^\s'\"`,;)}\]&<>\\]{0,4000})"
_SCHEME = r"(?:(?:bearer|basic|token|digest)\s{1,3})?"
ASSIGNED = re.compile(
    rf"{_NAME}(?P<between>\\?[\"'`]?\]?\s{{0,3}}(?:=>|:=|==|!=|[:=：])\s{{0,3}}(?:[brfu]{{1,2}}(?=\\?[\"']))?"
    rf"|\\?[\"'`]\s{{0,3}},\s{{0,3}}(?:[brfu]{{1,2}}(?=\\?[\"']))?|>(?=[^<\s]))(?:{_QUOTED}|{_SCHEME}{_BARE})",
    re.IGNORECASE,
)
"""``name = value`` as JSON, YAML, keyword arguments, environment variables, headers, pairs in a list, and XML write it."""

FLAG = re.compile(
    rf"(?P<before>(?<![\w-])--?|\bENV\s|\bsetenv\s)[\w-]{{0,60}}?{_NAME}\s{{1,3}}(?:{_QUOTED}|{_BARE})", re.IGNORECASE
)
"""``--name value`` on a command line."""

SCHEME = re.compile(rf"\b(?P<kept>(?:bearer|basic)\s{{1,3}}){_BARE}", re.IGNORECASE)
COOKIE = re.compile(
    r"(?P<kept>\b(?:set-)?cookie\\?['\"]?\s{0,3}[:=]\s{0,3}b?\\?['\"]?)(?P<bare>[^'\"\n\\]{4,4000})", re.IGNORECASE
)
COMMANDS = (
    re.compile(r"(?P<kept>\b(?:curl|wget|http)\b[^\n]{0,140}?\s(?:-u|--user)[ =]{0,2}['\"]?[^\s:'\"]{1,80}:)(?P<bare>[^\s'\"]+)"),
    re.compile(r"(?P<kept>\bsshpass\s+-p\s{0,2}['\"]?)(?P<bare>[^\s'\"]+)"),
    re.compile(r"(?P<kept>\b(?:docker|podman|nerdctl|helm|az|oras)\b[^\n]{0,40}\blogin\b[^\n]{0,140}?\s-p[ =]?['\"]?)(?P<bare>[^\s'\"]+)"),
    re.compile(r"(?P<kept>\b(?:mysql|mysqldump|mongo)\b[^\n]{0,140}?\s-p)(?P<bare>[^\s'\"]{4,})"),
    re.compile(r"(?P<kept>\blogin\s{1,4}\S{1,80}\s{1,8}(?:account\s\S{1,40}\s{1,4})?password\s{1,4})(?P<bare>\S+)"),
    re.compile(r"(?P<kept>//(?=[^\s/@]{3,140}@)[^\s/:@'\"]{0,100}:)(?P<bare>[^\s@'\"]{1,140})(?=@)"),
    re.compile(r"(?P<kept>\b[a-z][a-z0-9+.-]{1,20}://)(?P<bare>[^\s/:@'\"?#]{16,400})(?=@)"),
    re.compile(r"(?P<kept>[?&](?:token|key|code|sig|signature|access_token|auth|apikey|api_key|x-[a-z]+-signature|st|se-sig|policy)=)(?P<bare>[^\s&'\"<>#]{6,})", re.IGNORECASE),
)  # fmt: skip
"""Passwords in command lines and addresses. ``kept`` stays, ``bare`` is replaced."""

NEAR = re.compile(rf"(?:(?P<strong>{_STRONG}|凭证)|{_WEAK}){_END}", re.IGNORECASE)
ANY = re2.compile(
    r"(?i)passw|passp|passc|pwd|secret|key|token|bearer|credential|auth|密码|口令|密钥|令牌|凭证|sid|sig|policy|dsn|cookie|login|webhook|pass|sk|ak|pat|x-amz|x-goog|client\("
)
"""A cheap first test: a line without a match holds none of the names above, so the slower patterns need not run."""
REACH, BEFORE = 60, 24
"""A random word counts as a secret if it begins at most `REACH` characters after a word about keys, or ends at most `BEFORE`
characters in front of one."""
RUN = re.compile(rf"[A-Za-z0-9+/_.!#%*~{WRAP}-]{{12,4000}}={{0,2}}")

_CLASSES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^A-Za-z\d]")
_NO_VALUE = re.compile(
    r"(?i)(?:none|null|nil|true|false|yes|no|str|int|bool|bytes|float|dict|list|tuple|string|optional|required|missing|empty|unset|not|set"
    r"|the|is|was|are|and|or|for|of|in|to|a|an|auto|default|undefined|redacted|hidden|x+|\*+|\.+|-+|\?+|type|class|object|any|value|invalid)"
)
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[(\[]?|[A-Za-z_]\w*[(\[].*|\$\{?\w+\}?.*|%\w+%|\{.*")
_PATH = re.compile(r"(?:[A-Za-z]:)?[~.]{0,2}[/\\](?:[\w.@+-]{1,80}[/\\])*[\w.@+-]{0,80}")
MOST_ALIKE, IN_DOUBT = 2.9, 3.6
"""A word looks random if its runs of one kind (a capitalised word, digits, a sign) are at most this long on average. Random
keys have 1.4 to 2.6, ordinary words more than 3. `IN_DOUBT` is for half a word that a line end broke, and near a word that
certainly means a key."""
MOST_WORDS = 0.5
"""In a random word with capitals, runs of four or more letters make up at most this share: ``AdamW8bit`` is a name."""
_PIECE = re.compile(r"[A-Za-z0-9]+")
_DIGEST = re.compile(r"[0-9a-f]{32,128}|[0-9A-F]{32,128}")


def random_looking(word: str, least: int = 12, most: float = MOST_ALIKE) -> bool:
    """True if a word has at least ``least`` letters and digits and mixes them as a random key does. ``most``: see
    `MOST_ALIKE`."""
    word = word.replace(WRAP, "").rstrip("=.")
    if word.startswith(("_Z", "0x", "sha256")):  # a mangled C++ name, an address, a digest that says so
        return False
    pieces = _PIECE.findall(word)
    size = sum(map(len, pieces))
    if size < least or not any(c.isdigit() for c in word) or sum(c.isalpha() for c in word) < 3:
        return False
    if _DIGEST.fullmatch(word) is not None:
        return True
    longest = max(map(len, pieces))
    if longest < min(6, least):
        return False
    runs = [run for piece in pieces for run in _CLASSES.findall(piece)]
    if size / len(runs) > (IN_DOUBT if longest >= 24 and longest == size else most):
        return False
    if most > MOST_ALIKE:
        return True
    if word.lower() != word and word.upper() != word:
        return sum(len(run) for run in runs if len(run) >= 4 and run.isalpha()) <= MOST_WORDS * size
    return longest >= 16 or not (set(word) & set("./_"))


def mixed(word: str) -> bool:
    """True if a word mixes letters with digits, or small with capital letters, more than ordinary words do."""
    if any(c.isdigit() for c in word):
        return any(c.isalpha() for c in word) and len(word) / len(_CLASSES.findall(word)) <= 5
    if word.endswith(("Error", "Exception", "Warning")) or word.upper() == word or sum(c.isupper() for c in word) < 2:
        return False
    return len(word) >= 6 and len(word) / len(_CLASSES.findall(word)) <= 4.5


def secret(value: str, strong: bool, name: str) -> bool:
    """True if the value assigned to ``name`` is a secret. ``strong``: the name alone says so (``password``)."""
    bare = value.replace(WRAP, "").strip()
    if len(bare) < 4 or bare.startswith(("<", "[")) or _NO_VALUE.fullmatch(bare) or _CODE.fullmatch(bare):
        return False
    if bare.startswith(("http://", "https://")) or (name.lower() == "pwd" and bare[0] in "/~ABCDE"):
        return False
    if strong:
        return (
            not (_PATH.fullmatch(bare) and not random_looking(bare))
            and not bare.replace(".", "").isdigit()
            and " " not in bare.strip()
        )
    return random_looking(bare, 8 if "token" in name.lower() or "pass" in name.lower() else 12)

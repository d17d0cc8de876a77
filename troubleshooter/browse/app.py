"""The routes of the live server: pages, the search's data, and the paste box's answers."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial

from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from kb.compiled import Body
from kb.nearest import nearest
from kb.pages.render import STATIC, Pages, Style, area_folders, asset, static_files
from kb.search import Index
from troubleshooter.browse.answer import OWN
from troubleshooter.browse.guard import Guard
from troubleshooter.browse.worker import Failed, Overrun, Starting, Worker
from troubleshooter.read.text import whole

LIMIT = 128 << 20
"""Bytes of a pasted log."""
ARRIVE = 60.0
"""Seconds in which it must have arrived."""
WAITING = 4
"""Logs that wait for their turn; more are turned away."""
FOR_EVER = "public, max-age=31536000, immutable"
HELD = 2
"""Logs of the largest size whose bytes may be in memory at a time, in whole or in parts; what comes above is turned away."""
KEPT = 256 << 10
"""A log of at most this many bytes stands in the box again where the answer is a page of its own."""

_SAID = {
    "large": ("The log is larger than {size} MiB. Use the command line: troubleshoot FILE",
              "日志超过 {size} MiB，请使用命令行：troubleshoot FILE"),
    "slow": ("The log did not arrive in time.", "日志没有在限定时间内传完。"),
    "long": ("The diagnosis took longer than {seconds} s and was stopped. Use the command line: troubleshoot FILE",
             "诊断超过 {seconds} 秒，已停止。请使用命令行：troubleshoot FILE"),
    "busy": ("Other logs are being read; try again in a moment.", "正在处理其他日志，请稍后再试。"),
    "starting": ("The entries are being compiled. This happens once after an installation or a change, and takes about half a "
                 "minute. Send the log again then.",
                 "正在编译条目。安装或更改后只需一次，大约半分钟。请稍后重新提交日志。"),
    "missing": ("No such page: {what}", "没有这个页面：{what}"),
    "near": ("Did you mean {link}?", "你要找的是不是 {link}？"),
}  # fmt: skip


Endpoint = Callable[[Request], Awaitable[Response]]


class TooLarge(Exception):
    """More bytes than `LIMIT`."""


class Busy(Exception):
    """Too many other logs are held or wait."""


class Site:
    """The pages of some entries, and a worker that diagnoses."""

    def __init__(self, bodies: Iterable[Body], worker: Worker, limit: int = LIMIT, index: Index | None = None) -> None:
        """``index``: the search's index over ``bodies`` where it is known."""
        self.pages = Pages(bodies, Style(live=True), OWN, index=index)
        self.worker = worker
        self.limit = limit
        self.waiting = 0
        self.held = 0
        """Bytes of logs that are in memory."""
        self.static = {p.relative_to(STATIC).as_posix(): p for p in static_files()}
        self._data: dict[str, tuple[str, bytes]] = {}

    def app(self, hosts: Iterable[str], any_address: bool = False) -> Guard:
        """The whole application behind its `Guard`."""
        index = self._script("index", self.pages.search_index)
        routes = [Route("/search-index.js", index), Route("/static/{path:path}", self.file)]
        routes.append(Route("/zh", lambda request: RedirectResponse("/zh/")))
        for lang, place in (("en", ""), ("zh", "/zh")):
            routes += [
                Route(f"{place}/", self._start(lang)),
                Route(f"{place}/index.html", self._start(lang)),
                Route(f"{place}/search-entries.js", self._script(lang, partial(self.pages.search_entries, lang))),
                Route(f"{place}/diagnose.html", self._diagnose(lang), methods=["GET", "POST"]),
                Route(f"{place}/{{folder}}/", self._area(lang)),
                Route(f"{place}/{{folder}}/index.html", self._area(lang)),
                Route(f"{place}/{{folder}}/{{name}}", self._entry(lang)),
                Route(f"{place}/{{name}}", self._entry(lang)),
            ]
        # The Chinese pages come first: "zh" is no area.
        routes.sort(key=lambda route: not route.path.startswith("/zh/"))
        packed = Middleware(GZipMiddleware, minimum_size=1000, compresslevel=6)
        return Guard(Starlette(routes=routes, middleware=[packed]), hosts, any_address)

    def _script(self, name: str, make: Callable[[], str]) -> Endpoint:
        """What the search loads. It is made when it is first asked for, beside the other requests."""
        lock = asyncio.Lock()

        async def script(request: Request) -> Response:
            async with lock:
                if name not in self._data:
                    loop = asyncio.get_running_loop()
                    content = (await loop.run_in_executor(None, make)).encode()
                    self._data[name] = _tag(content), content
            tag, content = self._data[name]
            return _kept(request, content, "text/javascript; charset=utf-8", tag)

        return script

    async def file(self, request: Request) -> Response:
        name = request.path_params["path"]
        path = self.static.get(name)
        if path is None:
            return self._missing("en", request.url.path, request.url.path.count("/") - 1)
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        if f"static/{name}?{request.url.query}" == asset(name):
            return Response(path.read_bytes(), media_type=kind, headers={"cache-control": FOR_EVER})
        return _kept(request, path.read_bytes(), kind)

    def _start(self, lang: str) -> Endpoint:
        async def start(request: Request) -> Response:
            return _page(request, self.pages.start(lang))

        return start

    def _area(self, lang: str) -> Endpoint:
        by_folder = area_folders(self.pages.areas)

        async def area(request: Request) -> Response:
            found = by_folder.get(request.path_params["folder"])
            if found is None:
                return self._missing(lang, request.path_params["folder"], 1)
            return _page(request, self.pages.area(found, lang))

        return area

    def _entry(self, lang: str) -> Endpoint:
        place = "/zh/" if lang == "zh" else "/"
        by_folder = area_folders(self.pages.areas)

        async def entry(request: Request) -> Response:
            name = request.path_params["name"]
            id_ = name.removesuffix(".html")
            if id_ not in self.pages.bodies:
                if name in by_folder:
                    return RedirectResponse(f"{place}{name}/")
                return self._missing(lang, name, len(request.path_params) - 1)
            address = f"{place}{self.pages.address(id_)}"
            if request.url.path != address:  # an id alone is an address too
                return RedirectResponse(address)
            return _page(request, self.pages.entry(id_, lang))

        return entry

    def _diagnose(self, lang: str) -> Endpoint:
        async def diagnose(request: Request) -> Response:
            if request.method == "GET":
                return RedirectResponse("index.html", status_code=303)
            try:
                async with self._body(request) as data:
                    made = await asyncio.get_running_loop().run_in_executor(None, self.worker.ask, data, lang)
                    return self._answer(request, lang, Markup(made), 200, bytes(data) if len(data) <= KEPT else b"")
            except TooLarge:
                return self._answer(request, lang, self._note(lang, "large", size=self.limit >> 20), 413)
            except (TimeoutError, asyncio.TimeoutError, ClientDisconnect):
                return self._answer(request, lang, self._note(lang, "slow"), 408)
            except Busy:
                return self._answer(request, lang, self._note(lang, "busy"), 503)
            except Starting:
                answer = self._answer(request, lang, self._note(lang, "starting"), 503)
                answer.headers["retry-after"] = "1"  # the page sends the log again by itself
                return answer
            except Overrun as error:
                return self._answer(request, lang, self._note(lang, "long", seconds=error), 503)
            except Failed as error:
                return self._answer(request, lang, Markup('<p class="note">{}</p>').format(error), 422)

        return diagnose

    @asynccontextmanager
    async def _body(self, request: Request) -> AsyncIterator[bytearray]:
        """The log's bytes, in memory only, as long as they are needed.

        Raises `TooLarge`, `Busy`, and TimeoutError for what does not arrive within `ARRIVE`. What is turned away is read to
        its end and dropped, so that the browser gets to see the answer.
        """
        if self.waiting >= WAITING:
            await asyncio.wait_for(self._read(request, None), ARRIVE)
            raise Busy
        self.waiting += 1
        data = bytearray()
        try:
            await asyncio.wait_for(self._read(request, data), ARRIVE)
            if request.headers.get("content-type", "").startswith("text/plain"):
                # A form without script sends "log=…" and a line end.
                data = data.removeprefix(b"log=").removesuffix(b"\r\n")
            yield data
        finally:
            self.waiting -= 1
            self.held -= request.scope.pop("held", 0)

    async def _read(self, request: Request, into: bytearray | None) -> None:
        """Take a body in, as far as there is room for it; None: none of it."""
        size = 0
        refused: type[Exception] | None = None
        async for chunk in request.stream():
            size += len(chunk)
            if size > self.limit:
                refused = TooLarge
            elif self.held + len(chunk) > HELD * self.limit:
                refused = refused or Busy
            if into is None:
                continue
            if refused is not None:
                into.clear()
                self.held -= request.scope.pop("held", 0)
            else:
                into += chunk
                self.held += len(chunk)
                request.scope["held"] = request.scope.get("held", 0) + len(chunk)
        if into is not None and refused is not None:
            raise refused

    def _answer(self, request: Request, lang: str, made: Markup, status: int, data: bytes = b"") -> Response:
        """The answer as a part for the page's script, else as a page with the log in the box again. It is not kept by the
        browser: it holds the log."""
        headers = {"cache-control": "no-store"}
        if request.headers.get("x-part") == "answer":
            return HTMLResponse(Markup('<div id="answer">{}</div>').format(made), status, headers)
        page = self.pages.start(lang, answer=made, log=whole(data), file_name="diagnose.html")
        return HTMLResponse(page, status, headers)

    def _note(self, lang: str, key: str, **values: object) -> Markup:
        return Markup('<p class="note">{}</p>').format(_SAID[key][lang == "zh"].format(**values))

    def _missing(self, lang: str, what: str, depth: int = 0) -> Response:
        """``depth``: how many folders below the language's the address is."""
        zh = lang == "zh"
        text = escape(_SAID["missing"][zh].format(what=what[:200]))
        hint = Markup()
        for near in nearest(what.removesuffix(".html"), self.pages.bodies):
            address = f"{'/zh/' if zh else '/'}{self.pages.address(near)}"
            link = Markup('<a href="{}">{}</a>').format(address, self.pages.title(near, lang))
            hint = Markup("<p>") + Markup(escape(_SAID["near"][zh])).format(link=link) + Markup("</p>")
        page = self.pages.show("missing.html", lang, "index.html", depth=depth, text=text, hint=hint)
        return HTMLResponse(page, status_code=404)


def _tag(content: bytes) -> str:
    # A weak one: the same bytes go out packed and not packed.
    return f'W/"{hashlib.blake2b(content, digest_size=8).hexdigest()}"'


def _kept(request: Request, content: bytes, kind: str, tag: str = "") -> Response:
    """Content that the browser keeps and asks about before it shows it again."""
    tag = tag or _tag(content)
    headers = {"cache-control": "no-cache", "etag": tag, "vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


def _page(request: Request, text: str) -> Response:
    return _kept(request, text.encode(), "text/html; charset=utf-8")

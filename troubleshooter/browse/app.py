"""The routes of the live server: pages, the search's data, and the paste box's answers."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

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
from kb.pages.words import LANGUAGES, place
from kb.search import SearchIndex
from kb.text.catalog import ENGLISH, Section
from troubleshooter.browse.answer import OWN
from troubleshooter.browse.guard import RequestGuard
from troubleshooter.browse.history import HistoryPages
from troubleshooter.browse.messages import MessagePages
from troubleshooter.browse.worker import Failed, Overrun, Starting, Worker
from troubleshooter.history.store import HistoryError
from troubleshooter.read.text import whole

LIMIT = 128 << 20
"""A pasted log may have this many bytes."""
ARRIVE = 60.0
"""A pasted log must have arrived within this many seconds."""
WAITING = 4
"""This many logs may be received or diagnosed at a time; further ones are refused."""
FOR_EVER = "public, max-age=31536000, immutable"
HELD = 2
"""All logs in memory together may have this many times `LIMIT` bytes; further ones are refused."""
KEPT = 256 << 10
"""When the answer is a whole page (a browser without script), a log of at most this many bytes is put back into its box."""

_say = Section("browse")


Endpoint = Callable[[Request], Awaitable[Response]]


class TooLarge(Exception):
    """More bytes than `LIMIT`."""


class Busy(Exception):
    """Too many other logs are in memory or waiting."""


class WebSite:
    """The pages of a set of entries, and the worker that diagnoses pasted logs."""

    def __init__(
        self,
        bodies: Iterable[Body],
        worker: Worker,
        limit: int = LIMIT,
        index: SearchIndex | None = None,
        history: Path | None = None,
    ) -> None:
        """``index``: the search index over ``bodies``, if it was built already."""
        self.pages = Pages(bodies, Style(live=True), OWN, index=index)
        self.messages = MessagePages(self.pages)
        self.history = HistoryPages(self.pages, history) if history is not None else None
        self.pages.jinja.globals["with_history"] = history is not None
        self.worker = worker
        self.limit = limit
        self.waiting = 0
        self.held = 0
        """Bytes of all logs in memory."""
        self.static = {p.relative_to(STATIC).as_posix(): p for p in static_files()}
        self._data: dict[str, tuple[str, bytes]] = {}

    def app(self, hosts: Iterable[str], any_address: bool = False) -> RequestGuard:
        """The application with all routes, behind its `RequestGuard` (which takes ``hosts`` and ``any_address``)."""
        index = self._script("index", self.pages.search_index)
        routes = [Route("/search-index.js", index), Route("/static/{path:path}", self.file)]
        # English comes last: its addresses have no language code, so /zh/ would be taken for an area.
        for lang in sorted(LANGUAGES, key=lambda code: code == ENGLISH):
            home = f"/{place(lang)}".rstrip("/")
            if home:
                routes.append(Route(home, partial(_moved, f"{home}/")))
            routes += [
                Route(f"{home}/", self._start(lang)),
                Route(f"{home}/index.html", self._start(lang)),
                Route(f"{home}/search-entries.js", self._script(lang, partial(self.pages.search_entries, lang))),
                Route(f"{home}/diagnose.html", self._diagnose(lang), methods=["GET", "POST"]),
                Route(f"{home}/messages/", self._messages(lang)),
                Route(f"{home}/messages/index.html", self._messages(lang)),
                Route(f"{home}/messages/{{package}}.html", self._package(lang)),
                Route(f"{home}/history/", self._history(lang)),
                Route(f"{home}/history/index.html", self._history(lang)),
                Route(f"{home}/history/run-{{number:int}}.html", self._run(lang)),
                Route(f"{home}/{{folder}}/", self._area(lang)),
                Route(f"{home}/{{folder}}/index.html", self._area(lang)),
                Route(f"{home}/{{folder}}/{{name}}", self._entry(lang)),
                Route(f"{home}/{{name}}", self._entry(lang)),
            ]
        packed = Middleware(GZipMiddleware, minimum_size=1000, compresslevel=6)
        return RequestGuard(Starlette(routes=routes, middleware=[packed]), hosts, any_address)

    def _script(self, name: str, make: Callable[[], str]) -> Endpoint:
        """Serve a script that the search loads. It is made on the first request, in a thread, so that other requests go on."""
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
        """A static file. Browsers may keep it for ever when the address holds its digest."""
        name = request.path_params["path"]
        path = self.static.get(name)
        if path is None:
            return self._missing(ENGLISH, request.url.path, request.url.path.count("/") - 1)
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
        home = f"/{place(lang)}"
        by_folder = area_folders(self.pages.areas)

        async def entry(request: Request) -> Response:
            name = request.path_params["name"]
            id_ = name.removesuffix(".html")
            id_ = self.pages.aliases.get(id_, id_)
            if id_ not in self.pages.bodies:
                if name in by_folder:
                    return RedirectResponse(f"{home}{name}/")
                return self._missing(lang, name, len(request.path_params) - 1)
            address = f"{home}{self.pages.address(id_)}"
            if request.url.path != address:  # the page can also be reached by its id alone
                return RedirectResponse(address)
            return _page(request, self.pages.entry(id_, lang))

        return entry

    def _messages(self, lang: str) -> Endpoint:
        async def messages(request: Request) -> Response:
            query = request.query_params.get("q", "")
            made = await asyncio.get_running_loop().run_in_executor(None, self.messages.statistics, lang, query)
            return self._missing(lang, "messages", 1) if made is None else _page(request, made)

        return messages

    def _package(self, lang: str) -> Endpoint:
        async def package(request: Request) -> Response:
            name, query = request.path_params["package"], request.query_params.get("q", "")
            number = request.query_params.get("page", "1")
            at = int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 1
            make = partial(self.messages.package, name, lang, query, at)
            made = await asyncio.get_running_loop().run_in_executor(None, make)
            return self._missing(lang, name, 1) if made is None else _page(request, made)

        return package

    def _history(self, lang: str) -> Endpoint:
        async def history(request: Request) -> Response:
            if self.history is None:
                return self._missing(lang, "history", 1)
            asked = (request.query_params.get(name, "") for name in ("cause", "host", "since"))
            return await self._of_history(request, lang, partial(self.history.overview, lang, *asked))

        return history

    def _run(self, lang: str) -> Endpoint:
        async def run(request: Request) -> Response:
            number = request.path_params["number"]
            if self.history is None or number >= 2**63:
                return self._missing(lang, f"run-{number}", 1)
            return await self._of_history(request, lang, partial(self.history.run, number, lang))

        return run

    async def _of_history(self, request: Request, lang: str, make: Callable[[], str | None]) -> Response:
        """A page of the history; what is wrong with the file is said on the page."""
        try:
            made = await asyncio.get_running_loop().run_in_executor(None, make)
        except HistoryError as error:
            return self._missing(lang, str(error), 1)
        return self._missing(lang, request.url.path, 1) if made is None else _page(request, made)

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
        """The bytes of the posted log. They stay in memory and are counted in ``held`` until the block ends.

        Raises `TooLarge`, `Busy`, and TimeoutError if the log does not arrive within `ARRIVE`. A refused log is still read
        to its end (and dropped), because a browser shows the answer only after it has sent everything.
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
        """Read a request's body to its end and append it to ``into``; with None it is only read.

        Raises `TooLarge` or `Busy`, after the end, if there was no room.
        """
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
        """The answer: a fragment if the page's script asked, else a whole page with the log in its box. Browsers must not
        store it, as it contains the log."""
        headers = {"cache-control": "no-store"}
        if request.headers.get("x-part") == "answer":
            return HTMLResponse(Markup('<div id="answer">{}</div>').format(made), status, headers)
        page = self.pages.start(lang, answer=made, log=whole(data), file_name="diagnose.html")
        return HTMLResponse(page, status, headers)

    def _note(self, lang: str, key: str, **values: object) -> Markup:
        return Markup('<p class="note">{}</p>').format(_say(key, lang, **values))

    def _missing(self, lang: str, what: str, depth: int = 0) -> Response:
        """The page for an unknown address. ``depth``: how many folders the address lies below the language's folder."""
        text = escape(_say("missing", lang, what=what[:200]))
        hint = Markup()
        for near in nearest(what.removesuffix(".html"), self.pages.bodies):
            address = f"/{place(lang)}{self.pages.address(near)}"
            link = Markup('<a href="{}">{}</a>').format(address, self.pages.title(near, lang))
            hint = Markup("<p>") + Markup(escape(_say("near", lang))).format(link=link) + Markup("</p>")
        page = self.pages.show("missing.html", lang, "index.html", depth=depth, text=text, hint=hint)
        return HTMLResponse(page, status_code=404)


async def _moved(address: str, request: Request) -> Response:
    return RedirectResponse(address)


def _tag(content: bytes) -> str:
    # A weak tag (W/): the same content is sent both compressed and uncompressed.
    return f'W/"{hashlib.blake2b(content, digest_size=8).hexdigest()}"'


def _kept(request: Request, content: bytes, kind: str, tag: str = "") -> Response:
    """A response that the browser may store but must revalidate before each use."""
    tag = tag or _tag(content)
    headers = {"cache-control": "no-cache", "etag": tag, "vary": "Accept-Encoding"}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


def _page(request: Request, text: str) -> Response:
    return _kept(request, text.encode(), "text/html; charset=utf-8")

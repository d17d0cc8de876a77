"""The routes of the live server: pages, the search's data, and the paste box's answers."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Awaitable, Callable, Iterable

from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from kb.compiled import Body
from kb.pages.render import STATIC, Pages, Style, static_files
from troubleshooter.browse.answer import OWN
from troubleshooter.browse.guard import Guard
from troubleshooter.browse.worker import Failed, Overrun, Worker
from troubleshooter.read.text import whole

LIMIT = 128 << 20
"""Bytes of a pasted log."""
ARRIVE = 60.0
"""Seconds in which it must have arrived."""
WAITING = 4
"""Logs that wait for their turn; more are turned away."""
KEPT = 256 << 10
"""A log of at most this many bytes stands in the box again where the answer is a page of its own."""

_SAID = {
    "large": ("The log is larger than {size} MiB. Use the command line: troubleshoot FILE",
              "日志超过 {size} MiB，请使用命令行：troubleshoot FILE"),
    "slow": ("The log did not arrive in time.", "日志没有在限定时间内传完。"),
    "long": ("The diagnosis took longer than {seconds} s and was stopped. Use the command line: troubleshoot FILE",
             "诊断超过 {seconds} 秒，已停止。请使用命令行：troubleshoot FILE"),
    "busy": ("Other logs are being read; try again in a moment.", "正在处理其他日志，请稍后再试。"),
    "missing": ("No such page: {what}", "没有这个页面：{what}"),
    "near": ("Did you mean {link}?", "你要找的是不是 {link}？"),
}  # fmt: skip


Endpoint = Callable[[Request], Awaitable[Response]]


class TooLarge(Exception):
    """More bytes than `LIMIT`."""


class Site:
    """The pages of some entries, and a worker that diagnoses."""

    def __init__(self, bodies: Iterable[Body], worker: Worker, limit: int = LIMIT) -> None:
        self.pages = Pages(bodies, Style(live=True), OWN)
        self.worker = worker
        self.limit = limit
        self.waiting = 0
        self.static = {p.relative_to(STATIC).as_posix(): p for p in static_files()}
        self.search = self.pages.search_data()

    def app(self, hosts: Iterable[str], any_address: bool = False) -> Guard:
        """The whole application behind its `Guard`."""
        routes = [Route("/search-data.js", self.data), Route("/static/{path:path}", self.file)]
        for lang, place in (("en", ""), ("zh", "/zh")):
            routes += [
                Route(f"{place}/", self._start(lang)),
                Route(f"{place}/index.html", self._start(lang)),
                Route(f"{place}/diagnose.html", self._diagnose(lang), methods=["GET", "POST"]),
                Route(f"{place}/{{name}}", self._entry(lang)),
            ]
        routes.insert(2, Route("/zh", lambda request: RedirectResponse("/zh/")))
        return Guard(Starlette(routes=routes), hosts, any_address)

    async def data(self, request: Request) -> Response:
        return Response(self.search, media_type="text/javascript; charset=utf-8")

    async def file(self, request: Request) -> Response:
        path = self.static.get(request.path_params["path"])
        if path is None:
            return self._missing("en", request.url.path)
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return Response(path.read_bytes(), media_type=kind)

    def _start(self, lang: str) -> Endpoint:
        async def start(request: Request) -> Response:
            return HTMLResponse(self.pages.start(lang))

        return start

    def _entry(self, lang: str) -> Endpoint:
        async def entry(request: Request) -> Response:
            name = request.path_params["name"]
            id_ = name.removesuffix(".html")
            if id_ not in self.pages.bodies:
                return self._missing(lang, name)
            if id_ == name:
                return RedirectResponse(f"{name}.html")
            return HTMLResponse(self.pages.entry(id_, lang))

        return entry

    def _diagnose(self, lang: str) -> Endpoint:
        async def diagnose(request: Request) -> Response:
            if request.method == "GET":
                return RedirectResponse("index.html", status_code=303)
            try:
                data = await asyncio.wait_for(self._body(request), ARRIVE)
            except TooLarge:
                return self._answer(request, lang, self._note(lang, "large", size=self.limit >> 20), 413)
            except (TimeoutError, asyncio.TimeoutError, ClientDisconnect):
                return self._answer(request, lang, self._note(lang, "slow"), 408)
            if self.waiting >= WAITING:
                return self._answer(request, lang, self._note(lang, "busy"), 503)
            self.waiting += 1
            try:
                made = await asyncio.get_running_loop().run_in_executor(None, self.worker.ask, data, lang)
            except Overrun as error:
                return self._answer(request, lang, self._note(lang, "long", seconds=error), 503)
            except Failed as error:
                return self._answer(request, lang, Markup('<p class="note">{}</p>').format(error), 422)
            finally:
                self.waiting -= 1
            return self._answer(request, lang, Markup(made), 200, data)

        return diagnose

    async def _body(self, request: Request) -> bytes:
        """The log's bytes, in memory only. What is too large is read to its end and dropped, so that the browser
        gets to see the answer."""
        parts: list[bytes] = []
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            if size <= self.limit:
                parts.append(chunk)
            else:
                parts.clear()
        if size > self.limit:
            raise TooLarge
        data = b"".join(parts)
        if request.headers.get("content-type", "").startswith("text/plain"):
            # A form without script sends "log=…" and a line end.
            data = data.removeprefix(b"log=").removesuffix(b"\r\n")
        return data

    def _answer(self, request: Request, lang: str, made: Markup, status: int, data: bytes = b"") -> Response:
        if request.headers.get("x-part") == "answer":
            return HTMLResponse(Markup('<div id="answer">{}</div>').format(made), status_code=status)
        log = whole(data) if len(data) <= KEPT else ""
        return HTMLResponse(self.pages.start(lang, answer=made, log=log, file_name="diagnose.html"), status_code=status)

    def _note(self, lang: str, key: str, **values: object) -> Markup:
        return Markup('<p class="note">{}</p>').format(_SAID[key][lang == "zh"].format(**values))

    def _missing(self, lang: str, what: str) -> Response:
        from rapidfuzz import process

        zh = lang == "zh"
        text = escape(_SAID["missing"][zh].format(what=what[:200]))
        near = process.extractOne(what.removesuffix(".html"), list(self.pages.bodies), score_cutoff=50)
        hint = Markup()
        if near is not None:
            root = "/zh/" if zh else "/"
            link = Markup('<a href="{}{}.html">{}</a>').format(root, near[0], self.pages.titles(lang)[near[0]])
            hint = Markup("<p>") + Markup(escape(_SAID["near"][zh])).format(link=link) + Markup("</p>")
        page = self.pages.show("missing.html", lang, "index.html", text=text, hint=hint)
        return HTMLResponse(page, status_code=404)

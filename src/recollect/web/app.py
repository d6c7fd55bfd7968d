"""The application: a table of pages, each called in a thread, with errors as pages in words."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from recollect.domain.secrets.detect import redact
from recollect.errors import RecollectError, StoreError, UnknownMemory
from recollect.sessions.state import state_of
from recollect.web.call import Call, fields_in
from recollect.web.guard import TooLarge, changes_something, is_csrf_token
from recollect.web.live import Live
from recollect.web.pages import health, map, memories, memory, preview, sessions, team, today
from recollect.web.render import HERE
from recollect.web.site import Site

Handler = Callable[[Call], Response]

# Each page is a module with rows of its own: method, path, handler.
PAGES = (today, sessions, memories, memory, preview, map, health, team)

_logger = logging.getLogger(__name__)


def build_app(site: Site, live: Live, end: Callable[[], None]) -> Starlette:
    """Return the application; `end` is called when no page has been open for long."""

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncGenerator[None]:
        watching = asyncio.create_task(live.watch(end))
        yield
        watching.cancel()

    async def missing(request: Request, _error: Exception) -> Response:
        return await _missing(site, request)

    rows = [("POST", "/undo/{name}", _undo), *(row for page in PAGES for row in page.ROUTES)]
    routes = [Route(path, partial(_answer, site, handler), methods=[method]) for method, path, handler in rows]
    return Starlette(
        routes=[
            *routes,
            Route("/events", partial(_events, live)),
            Route("/alive", partial(_alive, live)),
            Mount("/static", StaticFiles(directory=f"{HERE}/static")),
        ],
        exception_handlers={404: missing, TooLarge: _too_large},
        lifespan=running,
    )


def look_with(site: Site) -> Callable[[], asyncio.Future[str]]:
    """Return a function that looks at the state of the store, in a thread."""

    def look() -> str:
        try:
            with site.engine() as engine:
                return state_of(engine)
        except (RecollectError, OSError):
            site.let_go()  # whoever opens a page is told why
            return ""

    # In one thread: versions of a store are those of a connection, and each thread has its own.
    looking = ThreadPoolExecutor(1, "look")
    return lambda: asyncio.get_running_loop().run_in_executor(looking, look)


async def _answer(site: Site, handler: Handler, request: Request) -> Response:
    form: list[tuple[str, str]] = []
    try:
        query = fields_in(request.url.query)
        if changes_something(request.method):
            form = fields_in((await request.body()).decode("utf-8", "replace"))
    except ValueError:
        return PlainTextResponse("There are too many fields.", 413)
    call = Call(site, request.url.path, request.path_params, query, form)
    if changes_something(request.method) and not is_csrf_token(call.given("csrf"), site.csrf):
        return PlainTextResponse("The form is not from this page; reload it and try again.", 403)
    return await asyncio.get_running_loop().run_in_executor(site.threads, _handled, handler, call)


def _handled(handler: Handler, call: Call) -> Response:
    """Call a handler; an error is a page in words, or for a change a notice on the page that it came from."""
    try:
        return handler(call)
    except UnknownMemory as error:
        return _failed(call, str(error), 404)
    except (RecollectError, OSError) as error:
        if isinstance(error, StoreError):
            call.site.let_go()  # the next call opens it again
        return _failed(call, str(error), 500)
    except Exception as error:
        _logger.exception("%s failed", call.path)
        call.site.let_go()
        return _failed(
            call, f"unexpected error ({type(error).__name__}: {error}); `recollect doctor` may tell why", 500
        )


def _failed(call: Call, sentence: str, status: int) -> Response:
    if call.form:
        return call.failed(redact(sentence))
    return call.page("error.html", status=status, sentence=redact(sentence))


def _undo(call: Call) -> Response:
    notice = call.site.take(call.names["name"])
    if notice is None or notice.undo is None:
        return call.failed("this cannot be undone any more; the memory's own page has the way back")
    return call.done(notice.undo())


async def _events(live: Live, _request: Request) -> Response:
    return StreamingResponse(live.events(), media_type="text/event-stream")


async def _alive(live: Live, _request: Request) -> Response:
    live.is_seen()
    return Response(status_code=204)


async def _missing(site: Site, request: Request) -> Response:
    call = Call(site, request.url.path, {}, ())
    sentence = f"there is no page {request.url.path}; choose another one above"
    return await asyncio.get_running_loop().run_in_executor(
        site.threads, lambda: call.page("error.html", status=404, sentence=sentence)
    )


async def _too_large(_request: Request, _error: Exception) -> Response:
    return PlainTextResponse("The request is too large.", 413)

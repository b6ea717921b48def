"""What agents of a conversation say, as plain text, for as long as somebody listens."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import path

from a2ui import SurfaceChange
from envelopes.access import get_session, principal_of
from envelopes.delivery import Changed, Follower, NotInLog, PlacedDelta, Reader, UpToDate, streams
from envelopes.errors import BeachError, TooOften, Unavailable
from envelopes.protocol.rows import Row
from envelopes.registries.transports import SessionFacts, Transport
from envelopes.session_state import TooFarBack
from envelopes.types import Json


class Lines:
    """The presenter: a line for each part with text, as a pure function of the row."""

    busy = False

    def apply(self, row: Row, changes: Sequence[SurfaceChange], prev: int) -> str | None:
        text = row.data["part"].get("text") if row.kind == "part" else None
        return f"{row.seq} {text}\n" if text else None

    def place(self, turn: int) -> str | None:
        return None  # Text that is still being written is not shown.

    def snapshot(self) -> Json:
        return None  # It remembers nothing.


async def listen(request: HttpRequest, public_id: str) -> HttpResponseBase:
    """GET lines/<conversation>?after=<row>, for whoever owns it."""
    who = await sync_to_async(principal_of)(request)
    try:
        session = await sync_to_async(get_session)(who, public_id)
    except BeachError as error:
        raise Http404(error.message) from error

    async def check() -> None:
        if not (await sync_to_async(principal_of)(request)).is_known:
            raise Changed

    follower = Follower(session, LINES, Reader(), check=check)
    try:
        items = streams.opened(who.key, lines(follower, int(request.GET.get("after", 0))))
    except (TooOften, Unavailable) as error:
        status = 429 if isinstance(error, TooOften) else 503
        again = {"Retry-After": str(error.facts["retry_after"])}
        return HttpResponse(error.message, "text/plain", status, headers=again)
    return StreamingHttpResponse(items, content_type="text/plain")


async def lines(follower: Follower, after: int) -> AsyncGenerator[str, None]:
    try:
        async with aclosing(follower.follow(after)) as items:
            async for item in items:
                if not isinstance(item, UpToDate | PlacedDelta):
                    yield item.payload
    except (Changed, NotInLog, TooFarBack):
        yield "Begin at 0 again.\n"
    finally:
        follower.close()


def presenter(facts: SessionFacts, snapshot: Json | None) -> Lines:
    return Lines()


LINES = Transport(
    "planner.lines",
    "streaming",
    presenter=presenter,
    routes=lambda: [path("lines/<str:public_id>", listen)],
)

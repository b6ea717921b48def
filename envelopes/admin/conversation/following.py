"""That something has changed on the visitor's page: for the page of a conversation in the desk, which then asks for the
moment anew. Rows that the visitor's own page shows nothing of ring nobody."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from django.http import HttpRequest, HttpResponse, HttpResponseBase

from envelopes import access
from envelopes.database_threads import read_beside_sessions
from envelopes.delivery import (
    Changed,
    Follower,
    Item,
    NotInLog,
    PlacedDelta,
    Reader,
    UpToDate,
    event_stream,
    streams,
)
from envelopes.errors import TooOften, Unavailable
from envelopes.models import Session
from envelopes.registries.transports import transports
from envelopes.session_state import TooFarBack


def followed(request: HttpRequest, session: Session, seen_by: str, after: int) -> HttpResponseBase:
    """Server-sent events without data, one for each row after ``after`` that changes what the transport ``seen_by``
    shows; the id of each is its row. For whoever may view all conversations, as long as they may; 429 or 503 where too
    many are followed. To be called inside an event loop, with ``request.user`` read."""
    who = access.principal_of(request)
    key, cookie = request.session.session_key, request.COOKIES.get(access.COOKIE)

    def still_reads() -> bool:
        now = access.principal_now(key, cookie)
        return now.key == who.key and now.may_view_all()

    async def check() -> None:
        if not await read_beside_sessions(still_reads):
            raise Changed

    transport = transports[seen_by]
    reader = Reader("person", surfaces="surfaces" in transport.capabilities)
    follower = Follower(session, transport, reader, check=check, recheck_seconds=event_stream.RECHECK_SECONDS)
    try:
        rings = streams.opened(who.key, _rings(follower, after))
    except (TooOften, Unavailable) as error:
        follower.close()
        return HttpResponse(error.message, status=429 if isinstance(error, TooOften) else 503)
    return event_stream.event_response(rings)


async def _rings(follower: Follower, after: int) -> AsyncGenerator[str]:
    yield event_stream.BEGIN
    try:
        async with aclosing(_told(follower.begin(after))) as told:
            async for ring in told:
                yield ring
        async with aclosing(event_stream.new_events(follower, _told)) as told:
            async for ring in told:
                yield ring
    except (NotInLog, TooFarBack):
        # What lies in between is asked for as a whole; whoever comes back goes on from here.
        yield _ring(await read_beside_sessions(_last_row, follower.session.pk))
    except Changed:
        # Whoever comes back is sent to sign in.
        return
    finally:
        follower.close()


async def _told(items: AsyncGenerator[Item]) -> AsyncGenerator[str]:
    async with aclosing(items):
        async for item in items:
            if not isinstance(item, PlacedDelta | UpToDate):
                yield _ring(item.seq)


def _ring(seq: int) -> str:
    return f"id: {seq}\nevent: shown\ndata: \n\n"


def _last_row(session: int) -> int:
    return Session.objects.values_list("last_seq", flat=True).get(pk=session)

"""The operation: follow a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router
from ninja.params.functions import Header, Query

from envelopes.access import get_session
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
from envelopes.errors import NotFound, ValidationFailed
from envelopes.session_state import TooFarBack
from envelopes.transports.api import Problem, caller_of, still_reads
from envelopes.transports.sse.presenter import event
from envelopes.transports.sse.texts import Texts
from envelopes.transports.sse.transport import SSE

PIECE = 65_536
"""Characters of an event that are sent at once: what a reader that is behind has of a long one is no copy of all of
it."""

router = Router(tags=["sse"])

AFTER = Query(
    None,
    ge=0,
    lt=10**18,
    description="Go on after this row; 0 for all of it. Without it, and without the header: 0.",
)
LAST = Header("", alias="Last-Event-ID", max_length=18, description="The same, as an EventSource sends it.")
SURFACES = Query(False, description="The reader draws A2UI itself.")


@router.get(
    "/sessions/{session_id}/parts",
    response={400: Problem, 401: Problem, 403: Problem, 404: Problem, 429: Problem, 503: Problem},
    operation_id="follow",
    openapi_extra={
        "responses": {
            200: {
                "description": "Events until the caller goes: docs/peers.md lists them.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            }
        }
    },
)
async def follow(
    request: HttpRequest,
    session_id: str,
    after: Annotated[int | None, AFTER] = None,
    last: Annotated[str, LAST] = "",
    surfaces: Annotated[bool, SURFACES] = False,
) -> Any:
    """Everything after a row, then whatever comes, for as long as the caller listens."""
    caller = caller_of(request)
    caller.needs("read")
    who = caller.who
    session = await read_beside_sessions(get_session, who, session_id)
    if who.kind is None:
        raise NotFound
    reader = Reader(who.kind, who.consumes, surfaces)
    # What an EventSource sends when it comes back is newer than the address that it was made with.
    since = _row(last) if last else after or 0

    async def check() -> None:
        now = await read_beside_sessions(still_reads, request, who, session_id)
        if not now:
            raise Changed

    follower = Follower(session, SSE, reader, check=check, recheck_seconds=event_stream.RECHECK_SECONDS)
    events = streams.opened(who.key, _events(follower, since))
    return event_stream.event_response(events)


def _row(last: str) -> int:
    if not (last.isascii() and last.isdigit()):
        raise ValidationFailed("Last-Event-ID is the number of a row.", path="Last-Event-ID")
    return int(last)


async def _events(follower: Follower, after: int) -> AsyncGenerator[str]:
    yield event_stream.BEGIN
    texts = Texts(asyncio.get_running_loop().time)

    async def new(items: AsyncGenerator[Item]) -> AsyncGenerator[str]:
        async with aclosing(_pieces(items, texts)) as pieces:
            async for piece in pieces:
                yield piece
        if texts.ask_again():
            async with aclosing(_pieces(follower.begin(follower.cursor), texts, again=True)) as pieces:
                async for piece in pieces:
                    yield piece

    try:
        async with aclosing(_pieces(follower.begin(after), texts)) as pieces:
            async for piece in pieces:
                yield piece
        async with aclosing(event_stream.new_events(follower, new)) as pieces:
            async for piece in pieces:
                yield piece
    except (Changed, NotInLog, TooFarBack) as error:
        yield event("error", error.as_dict())
    finally:
        follower.close()


async def _pieces(items: AsyncGenerator[Item], texts: Texts, *, again: bool = False) -> AsyncGenerator[str]:
    async with aclosing(items):
        async for item in items:
            if texts.joins(item) and not (again and isinstance(item, UpToDate)):
                for piece in _told(item):
                    yield piece


def _told(item: Item) -> Iterator[str]:
    match item:
        case PlacedDelta():
            delta = item.delta
            told = delta.encoded("sse", lambda: event("textDelta", delta.as_json()))
        case UpToDate():
            told = event("upToDate", {"seq": item.seq, "busy": item.busy})
        case _:
            told = item.payload
    for at in range(0, len(told), PIECE):
        yield told[at : at + PIECE]

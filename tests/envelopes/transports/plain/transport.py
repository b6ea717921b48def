"""A door for plain text: one GET, and the conversation as lines for as long as one listens.

``7 Ada: Hello`` is row 7, ``~ billing: Two fl`` text that is being written, ``= 7`` the end of what was there, and
``! NotInLog`` the end of it all. ``?after=7`` goes on where a connection was cut; ``?consumes=`` names part types that
a program takes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import path

from envelopes.access import get_session, principal_of
from envelopes.delivery import Changed, Follower, Item, NotInLog, PlacedDelta, Reader, UpToDate
from envelopes.protocol.rows import Row
from envelopes.registries.transports import SessionFacts, Transport
from envelopes.session_state import TooFarBack


class Lines:
    """What people and agents say, a line each; ``working`` are the turns that go on, and who runs them."""

    def __init__(self, working: dict[str, str]) -> None:
        self.working = working

    @property
    def busy(self) -> bool:
        return bool(self.working)

    def apply(self, row: Row, changes: Sequence[Any], prev: int) -> str | None:
        if row.kind == "turn" and row.data["status"] != "suspended":
            self.working[str(row.turn)] = row.actor
        elif row.kind in ("turn", "settled"):
            self.working.pop(str(row.turn), None)
        said = row.data if row.kind == "message" else row.data.get("part", {})
        if not said.get("text"):
            return None
        return f"{row.seq} {row.actor or row.data.get('name') or 'you'}: {said['text']}"

    def place(self, turn: int) -> str | None:
        return self.working.get(str(turn))

    def snapshot(self) -> dict[str, str]:
        return dict(self.working)


async def door(request: HttpRequest, public_id: str) -> StreamingHttpResponse:
    session = await sync_to_async(get_session)(await sync_to_async(principal_of)(request), public_id)
    consumes = frozenset(request.GET.getlist("consumes"))

    async def check() -> None:
        if not (await sync_to_async(principal_of)(request)).is_known:
            raise Changed

    reader = Reader("service" if consumes else "person", consumes)
    follower = Follower(session, PLAIN, reader, check=check)
    return StreamingHttpResponse(
        _lines(follower, int(request.GET.get("after", 0))), content_type="text/plain"
    )


async def _lines(follower: Follower, after: int) -> AsyncGenerator[str, None]:
    try:
        async with aclosing(follower.follow(after)) as items:
            async for item in items:
                yield f"{_line(item)}\n"
    except (Changed, NotInLog, TooFarBack) as error:
        yield f"! {type(error).__name__}\n"
    finally:
        follower.close()


def _line(item: Item) -> str:
    match item:
        case PlacedDelta():
            return f"~ {item.place}: {item.delta.text}"
        case UpToDate():
            return f"= {item.seq}"
        case _:
            return item.payload


def _presenter(facts: SessionFacts, snapshot: Any) -> Lines:
    return Lines(dict(snapshot or {}))


PLAIN = Transport(
    "acme.plain", "streaming", presenter=_presenter, routes=lambda: [path("plain/<str:public_id>/", door)]
)

"""A buffered door: a program posts a message and waits for the envelope of its turn.

``POST call/<key>/`` with ``Authorization: Bearer <token>`` and ``{id, text, parts?}``. The key is one that the program
makes up for a conversation. 200 with the envelope, 202 while the turn waits for a person.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from envelopes.access import NOBODY, Principal, begin_session, program
from envelopes.delivery import Follower, Reader, UpToDate, envelope_for
from envelopes.errors import BeachError, Forbidden
from envelopes.intake import originator, post_message
from envelopes.protocol.rows import Row
from envelopes.registries.transports import SessionFacts, Transport

CALLERS = {
    "t-desk": program("peer", "desk", name="Front desk", consumes=["llm-context", "acme.tally"]),
    "t-cron": program("service", "cron"),
}
"""By token."""


class Standing:
    """Of each row that says so, where its turn stands now."""

    busy = False

    def apply(self, row: Row, changes: Sequence[Any], prev: int) -> str | None:
        return row.data.get("status", "settled") if row.kind in ("turn", "settled") else None

    def place(self, turn: int) -> None:
        return None

    def snapshot(self) -> None:
        return None


@csrf_exempt
async def door(request: HttpRequest, key: str) -> JsonResponse:
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    try:
        return await _answer(CALLERS.get(token, NOBODY), key, json.loads(request.body))
    except BeachError as error:
        return JsonResponse(error.as_dict(), status=403 if isinstance(error, Forbidden) else 400)


async def _answer(who: Principal, key: str, said: dict[str, Any]) -> JsonResponse:
    asked_by = originator(who)
    session, _ = await sync_to_async(begin_session)(who, "tester", key)
    post = sync_to_async(post_message)
    posted = await post(session, who, said["id"], said["text"], parts=said.get("parts", ()))
    follower = Follower(session, CALLING, Reader.of(asked_by))
    try:
        # The last row of a message is that of the turn that it opens.
        turn, status = await _over(follower, posted["seq"] - 1)
    finally:
        follower.close()
    if status == "suspended":
        return JsonResponse({"status": status}, status=202)
    found = await session.turns.select_related("session").aget(number=turn)
    return JsonResponse(await sync_to_async(envelope_for)(found, connection=CALLING.connection))


async def _over(follower: Follower, after: int) -> tuple[int, str]:
    """The turn of the row after this one, once it has nothing more to do, and where it stands then."""
    turn, status, is_now = 0, "", False
    async with aclosing(follower.follow(after)) as items:
        async for item in items:
            if isinstance(item, UpToDate):
                is_now = True
            elif not turn or item.turn == turn:
                turn, status = item.turn, item.payload
            if is_now and status in ("suspended", "settled"):
                break
    return turn, status


def _presenter(facts: SessionFacts, snapshot: Any) -> Standing:
    return Standing()


CALLING = Transport(
    "acme.calling", "buffered", presenter=_presenter, routes=lambda: [path("call/<str:key>/", door)]
)

"""The operation that makes a token for a page, which can send no header with a socket (reading, 2.1)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from envelopes.access import get_session
from envelopes.database_threads import beside_sessions
from envelopes.peers import authenticate
from envelopes.transports.api import Caller, Problem, caller_of
from envelopes.transports.live import tokens
from envelopes.transports.live.transport import PATH

router = Router(tags=["live"])


class LiveToken(Schema):
    """A token, and where it is good for."""

    wsToken: str = Field(
        description="For the payload of subscribe; good for 180 seconds, as often as needed."
    )
    expiresAt: datetime
    sessionId: str
    appId: str
    url: str = Field(description="The socket, relative to this site; open it with ?wsToken=1.")


@router.post(
    "/sessions/{session_id}/live-token",
    response={200: LiveToken, 401: Problem, 403: Problem, 404: Problem, 429: Problem},
    operation_id="liveToken",
)
async def live_token(request: HttpRequest, session_id: str) -> Any:
    """A token that lets a page of this caller's in to the live channel of one conversation of theirs."""
    caller = caller_of(request)
    caller.needs(tokens.SCOPE)
    return await beside_sessions(_issued, request, caller, session_id)


def _issued(request: HttpRequest, caller: Caller, session_id: str) -> dict[str, Any]:
    session = get_session(caller.who, session_id)
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    peer = authenticate(token) if kind.lower() == "bearer" else None
    login = request.session.session_key
    grant = tokens.Grant.of_peer(peer) if peer is not None else tokens.Grant.of_person(caller.who, login)
    made, expires = tokens.issue(tokens.SUBSCRIBE, session, grant)
    return {
        "wsToken": made,
        "expiresAt": expires,
        "sessionId": session.public_id,
        "appId": session.actor,
        "url": f"/{PATH}?wsToken=1",
    }

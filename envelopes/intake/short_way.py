"""The short way of what people do on surfaces again and again: tried on those at hand, from the event loop, and stored
with whatever else is on its way. Whether they own the session and whether the message is new is asked where it is
stored. Whatever cannot go this way goes the general one: what surfaces refuse, secrets, and what changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from a2ui import ActionError, InputError, SurfaceSet, Target
from envelopes.access import Principal
from envelopes.database_threads import in_session
from envelopes.intake.fields import edit_data, post_edit, post_show, show_data
from envelopes.intake.remembering import check_id, repeated
from envelopes.log.append import OwnerFence
from envelopes.log.backends.port import ClientRequest, Repeated
from envelopes.log.new_row import NewRow
from envelopes.models import Session
from envelopes.session_state import Attempted, LiveSession, attempt, live_sessions, store_attempted
from envelopes.types import Json, JsonObject


async def edit(session: Session, who: Principal, message_id: str, target: Target, value: Json) -> JsonObject:
    """As ``post_edit``. Whoever is cancelled meanwhile has handed it over."""

    def row(surfaces: SurfaceSet) -> NewRow | None:
        try:
            found = surfaces.edit(target, value)
        except InputError:
            # Said where nobody comes between, and where it is known whether the message has come before.
            return None
        # What was typed into an obscured field is sealed first (D24).
        return NewRow("edit", {**edit_data(found)}) if found.ops and not found.obscured else None

    answer = await _stored(session, who, message_id, row)
    if answer is None:
        answer = await in_session(session.pk, post_edit, session, who, message_id, target, value)
    return answer


async def show(session: Session, who: Principal, message_id: str, target: Target) -> JsonObject:
    """As ``post_show``. Whoever is cancelled meanwhile has handed it over."""

    def row(surfaces: SurfaceSet) -> NewRow | None:
        try:
            return NewRow("show", {**show_data(surfaces.more(target))})
        except ActionError:
            return None

    answer = await _stored(session, who, message_id, row)
    if answer is None:
        answer = await in_session(session.pk, post_show, session, who, message_id, target)
    return answer


async def _stored(
    session: Session, who: Principal, message_id: str, row: Callable[[SurfaceSet], NewRow | None]
) -> JsonObject | None:
    """The answer to the message, its row being stored; None, with nothing done, where it has to go the general way."""
    check_id(message_id)
    if not who.is_known:
        return None

    def tried(live: LiveSession) -> Attempted | None:
        new = row(live.surfaces)
        if new is None:
            return None
        request = ClientRequest(who.key, message_id, {"seq": live.seq + 1})
        return attempt(live, OwnerFence(who), [new], request)

    async with live_sessions.at_hand(session).writers():
        try:
            stored = await store_attempted(session, tried, tried)
        except Repeated as known:
            return repeated(known.answer)
    return None if stored is None else {"seq": stored.last}

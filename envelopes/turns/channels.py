"""Data that an agent sends to a channel of its own, by ``metadata.channel`` (live-channel source, "StreamEnvelope"):
checked against what it has declared before it is stored, with how it is folded and kept.

Contracts belong to a transport, so it says what holds (``check_with``); here nothing is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from django.db import transaction

from envelopes.errors import NotFound, ValidationFailed
from envelopes.models import LiveChannel, Session
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.parts import Part
from envelopes.protocol.surfaces import messages_of
from envelopes.types import Json, JsonObject

Check = Callable[[Session, str, Json, bool], JsonObject]
"""``check(session, channel, data, complete)`` gives ``{channel, mode, replay, complete?}``, and notes that the channel
is complete. Raises ``ValidationFailed`` with ``problems``. In the transaction that stores the part."""

_checks: list[Check] = []


def check_with(check: Check) -> None:
    """Ask ``check`` about what is sent to channels."""
    _checks[:] = [check]


def keep_contract(session_id: str, change: Callable[[Session, LiveChannel], None]) -> None:
    """Let ``change`` alter the contracts of the conversation with this public id, under its lock; what it raises leaves
    them as they are. Raises ``NotFound``."""
    with transaction.atomic():
        session = Session.objects.select_for_update().filter(public_id=session_id).first()
        if session is None:
            raise NotFound("There is no such conversation.")
        kept, _ = LiveChannel.objects.get_or_create(session=session)
        change(session, kept)
        kept.save(update_fields=["contract", "surfaces", "completed"])


def ends_surface(part: Part) -> bool:
    """Whether a part ends a surface, and with it what was declared for that."""
    return bool(_ended([("", part)]))


def end_contracts(session: Session, parts: Iterable[tuple[str, Part]]) -> None:
    """What was declared for surfaces that ``parts``, with whose they are, have ended ends with them. Under the lock of
    ``session``."""
    ended = _ended(parts)
    kept = LiveChannel.objects.filter(session=session).first() if ended else None
    if kept is None:
        return
    left = [one for one in kept.surfaces if (one["owner"], one["surfaceId"]) not in ended]
    if left != kept.surfaces:
        kept.surfaces = left
        kept.save(update_fields=["surfaces"])


def _ended(parts: Iterable[tuple[str, Part]]) -> set[tuple[str, str]]:
    """The surfaces of which the last that is said is their end."""
    found: dict[tuple[str, str], bool] = {}
    for owner, part in parts:
        if part.part_type != A2UI_SURFACE.name:
            continue
        for message in messages_of(part.data):
            for verb, body in message.items():
                if isinstance(body, dict) and isinstance(name := body.get("surfaceId"), str):
                    found[owner, name] = verb == "deleteSurface"
    return {key for key, is_end in found.items() if is_end}


def named_channel(part: Part) -> Json:
    """What the part names as its channel; None for nothing."""
    return (part.metadata.model_extra or {}).get("channel")


def streams_of(session: Session, parts: Sequence[Part]) -> dict[int, JsonObject]:
    """How those of ``parts`` travel that name a channel, by number. Raises ``ValidationFailed`` with a pointer."""
    found: dict[int, JsonObject] = {}
    for number, part in enumerate(parts):
        channel = named_channel(part)
        if channel is None:
            continue
        path = f"/parts/{number}"
        if not isinstance(channel, str) or part.part_type != DOMAIN_DATA.name or not _checks:
            raise ValidationFailed("Only data can name a channel of yours.", path=f"{path}/metadata/channel")
        complete = (part.metadata.model_extra or {}).get("complete", False)
        if not isinstance(complete, bool):
            raise ValidationFailed("complete is true or false.", path=f"{path}/metadata/complete")
        try:
            found[number] = _checks[0](session, channel, part.data, complete)
        except ValidationFailed as error:
            raise ValidationFailed(error.message, **{**error.facts, "path": f"{path}/data"}) from error
    return found

"""Data that an agent sends to a channel of its own, by ``metadata.channel`` (live-channel source, "StreamEnvelope"):
checked against what it has declared before it is stored, with how it is folded and kept.

Contracts belong to a transport, so it says what holds (``check_with``); here nothing is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from envelopes.errors import NotFound, ValidationFailed
from envelopes.models import LiveChannel, Session
from envelopes.part_types.domain_data import DOMAIN_DATA
from envelopes.protocol.parts import Part
from envelopes.types import Json, JsonObject

Check = Callable[[Session, str, Json, bool], JsonObject]
"""``check(session, channel, data, complete)`` gives ``{channel, mode, replay, complete?}``, and notes that the channel
is complete. Raises ``ValidationFailed`` with ``problems``. In the transaction that stores the part."""

_checks: list[Check] = []


def check_with(check: Check) -> None:
    """Ask ``check`` about what is sent to channels."""
    _checks[:] = [check]


def keep_contract(session_id: str, document: JsonObject | None) -> None:
    """Store the contract of the conversation with this public id, which was checked. Raises ``NotFound``."""
    session = Session.objects.filter(public_id=session_id).first()
    if session is None:
        raise NotFound("There is no such conversation.")
    LiveChannel.objects.update_or_create(session=session, defaults={"contract": document, "completed": []})


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

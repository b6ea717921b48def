"""What an agent declares for a conversation, or for one surface of it, while it goes on."""

from __future__ import annotations

from collections.abc import Mapping

from envelopes.errors import ValidationFailed
from envelopes.models import LiveChannel, Session
from envelopes.transports.live.stored import joined, of_session
from envelopes.turns.channels import keep_contract
from envelopes.types import Json, JsonObject

SURFACE_ID_CHARACTERS = 1_000
"""Of the id of a surface that something is declared for."""


def declare(
    session_id: str,
    contract: Mapping[str, Json] | None,
    *,
    surface: str | None = None,
    owner: str | None = None,
) -> None:
    """Let ``contract`` hold for the conversation with this public id; None for that of its actor. Its channels begin
    anew.

    With ``surface``, the id of a surface of the agent ``owner`` (by default the conversation's), it holds beside the
    conversation's, also before there is such a surface, and until that is deleted; None ends it sooner. What two of
    them declare in different ways is refused.

    Raises ``ContractRefused`` with all that is wrong, ``ValidationFailed`` for an id that is none, ``TooLarge``, and
    ``NotFound``: then those of before still hold. In a thread.
    """
    document = None if contract is None else dict(contract)
    if surface is not None and not 0 < len(surface) <= SURFACE_ID_CHARACTERS:
        told = f"The id of a surface has 1 to {SURFACE_ID_CHARACTERS:,} characters."
        raise ValidationFailed(told, path="/surface")

    def change(session: Session, kept: LiveChannel) -> None:
        if surface is None:
            begins = [of_session(session, kept), document]
            kept.contract = document
        else:
            whose = owner or session.actor
            others = [one for one in kept.surfaces if (one["owner"], one["surfaceId"]) != (whose, surface)]
            begins = [document, *(one["contract"] for one in kept.surfaces if one not in others)]
            made: JsonObject = {"owner": whose, "surfaceId": surface, "contract": document}
            kept.surfaces = [*others, made] if document else others
        joined(of_session(session, kept), kept)
        anew = {name for one in begins if one is not None for name in one.get("streamSpec", ())}
        kept.completed = [name for name in kept.completed if name not in anew]

    keep_contract(session_id, change)

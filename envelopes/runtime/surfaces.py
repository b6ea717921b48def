"""Checking an agent's surface messages before they are stored: under the session's lock, at its last row (D42)."""

from __future__ import annotations

from a2ui import Diagnostic
from envelopes.delivery.live import views
from envelopes.errors import RespondRefused
from envelopes.models import Session
from envelopes.protocol.parts import Part
from envelopes.protocol.surfaces import check_reserved, messages_of
from envelopes.types import JsonObject


def check_surfaces(session: Session, owner: str, parts: list[Part]) -> list[JsonObject]:
    """Try the surface parts of one call on a copy of what the session shows.

    Returns what the engine repaired, for the model to read. Raises ``RespondRefused`` with every refusal when a
    message would change nothing, and for reserved names (D22); ``ValidationFailed`` when it is no surface data.
    """
    found: list[tuple[int, list[JsonObject]]] = []
    for number, part in enumerate(parts):
        if part.part_type == "a2ui-surface":
            messages = messages_of(part.data)
            check_reserved(messages)
            found.append((number, messages))
    if not found:
        return []
    repaired: list[JsonObject] = []
    refused: list[JsonObject] = []
    with views.open(session) as view:
        trial = view.engine.restore(view.surfaces.snapshot())
    for number, messages in found:
        for message in messages:
            for diagnostic in trial.apply(message, owner=owner):
                (refused if diagnostic.refused else repaired).append(_as_json(number, diagnostic))
    # Drawn once, since some faults show only then: an unknown function, a list that is cut.
    trial.flush()
    repaired += [_as_json(found[-1][0], diagnostic) for diagnostic in trial.diagnostics()]
    if refused:
        first = refused[0]
        raise RespondRefused(
            f"The surface was refused: {first['message']}",
            path=first["part"],
            problems=refused[:20],
            a2ui=first["code"],
        )
    return repaired[:20]


def _as_json(part: int, diagnostic: Diagnostic) -> JsonObject:
    return {
        "part": f"/parts/{part}",
        "code": diagnostic.code,
        "surfaceId": diagnostic.surface_id,
        "path": diagnostic.path,
        "message": diagnostic.message,
    }

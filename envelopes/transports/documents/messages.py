"""Message envelopes (reading 1.3): what a program says by one. What it is told is in ``outbound``."""

from __future__ import annotations

from envelopes.access import Principal
from envelopes.intake import post_message
from envelopes.models import ClientMessage, Event, Session
from envelopes.nonces import DatabaseNonces
from envelopes.part_types.artifact import ARTIFACT
from envelopes.transports.documents.formats.errors import InvalidInput
from envelopes.transports.documents.shapes.message import MessageEnvelope
from envelopes.transports.documents.webhooks.receiving import WINDOW_MS
from envelopes.types import JsonObject


def post_envelope(session: Session, who: Principal, envelope: MessageEnvelope, now: float) -> JsonObject:
    """Say what ``envelope`` holds, as ``who``; a repeat, known by its id, has no effect. ``{seq, turn}``: the turn that
    answers.

    What it says of its sender and of how far to trust it is the sender's word: it is not read. Files are those that the
    conversation has. Raises ``InvalidInput`` for another conversation's, and where it is not the first with its nonce;
    what ``post_message`` raises.
    """
    payload = envelope.payload
    if payload.origin.conversation_id not in ("", session.public_id):
        raise InvalidInput(
            "This message is of another conversation.",
            reason="InvalidValue",
            path="payload.origin.conversation_id",
        )
    _check_replay(session, who, envelope, now)
    parts = [
        # Public ids are ULIDs in small letters. What the file is, the server says in place of this.
        {
            "metadata": {"partType": ARTIFACT.name},
            "data": {"artifactId": one.artifact_id.lower(), "mimeType": f"{one.kind}/*", "sizeBytes": 0},
        }
        for one in payload.content.attachments
    ]
    said = post_message(session, who, envelope.id, payload.content.text, parts=parts)
    turn = Event.objects.values_list("turn", flat=True).get(session=session, seq=said["seq"])
    return {"seq": said["seq"], "turn": turn}


def _check_replay(session: Session, who: Principal, envelope: MessageEnvelope, now: float) -> None:
    """Whoever is here has shown a token, so the nonce is theirs to use up: for this message, which may come again where
    it could not be taken."""
    protection = envelope.payload.security.replay_protection
    known = ClientMessage.objects.filter(session=session, principal=who.key, message_id=envelope.id)
    if protection is None or known.exists():
        return
    path = "payload.security.replay_protection"
    if abs(protection.timestamp_unix_ms - now * 1_000) > WINDOW_MS:
        raise InvalidInput(
            "Its time is more than five minutes from now.",
            reason="InvalidValue",
            path=f"{path}.timestamp_unix_ms",
        )
    until = (protection.timestamp_unix_ms + WINDOW_MS) / 1_000
    message = f"{session.public_id} {envelope.id}"
    if not DatabaseNonces(who.key).use(protection.nonce, until, by=message):
        raise InvalidInput("Its nonce has been used.", reason="InvalidValue", path=f"{path}.nonce")

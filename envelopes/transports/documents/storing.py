"""Patches of documents as rows: what somebody sends becomes a part of theirs (``turns.append_parts``), checked under
the session's lock against the document as it is. Synchronous."""

from __future__ import annotations

from envelopes.access import Principal
from envelopes.errors import NotFound
from envelopes.intake import originator
from envelopes.intake.remembering import once
from envelopes.log.append import Writer
from envelopes.log.reserving import Reserved
from envelopes.models import Document, Session, Turn
from envelopes.registries.statuses import TurnStatus
from envelopes.transports.documents.formats.difference import difference
from envelopes.transports.documents.formats.errors import InvalidInput
from envelopes.transports.documents.formats.limits import DEFAULT_LIMITS, DocumentLimits
from envelopes.transports.documents.formats.normalise import Normalised, check_size, empty, normalise
from envelopes.transports.documents.formats.patches import PatchDocument, apply, parse_patch
from envelopes.transports.documents.formats.strict import check_document
from envelopes.transports.documents.governance import holding
from envelopes.transports.documents.shapes.a2ui import A2uiEnvelope
from envelopes.transports.documents.shapes.common import without_nothing
from envelopes.turns.lifecycle import open_turn, settle
from envelopes.turns.parts import append_parts
from envelopes.types import JsonObject

_NEW = Reserved(rows=3, turns=1)
"""A turn of its own, the part, its end. A patch of what is there is one row; an experimental document takes more."""


def post_patch(
    session: Session, who: Principal, envelope: A2uiEnvelope, limits: DocumentLimits = DEFAULT_LIMITS
) -> JsonObject:
    """Apply the patch of ``envelope`` to the document of ``who`` on this surface; the first one begins with an empty
    one. A repeat, known by the envelope's id, has no effect and gets the same answer.

    Returns ``{surface, version, shown, repairs, seq}``. Raises ``DocumentError`` and then nothing has changed;
    ``Forbidden`` for a session that is not theirs, ``RespondRefused`` for a surface that cannot be drawn.
    """
    sent = without_nothing(envelope)
    patch = parse_patch(sent["patch"], limits)
    block = sent.get("experimental")

    def effect(writer: Writer) -> JsonObject:
        kept = Document.objects.filter(session=session, owner=who.key, surface=envelope.surface).first()
        before = kept.document if kept is not None else empty(envelope.surface)
        found = _patched(before, patch, block, limits)
        if found.surface != envelope.surface:
            raise InvalidInput(
                f"The document is of the surface {found.surface[:40]!r}, the envelope of another one.",
                reason="InvalidValue",
                path="surface",
            )
        check_size(found.document, limits)
        now = _kept(writer, who, kept, found.document, _effective(before, found.document, patch, limits))
        told = {"version": now.version, "shown": not now.blocked, "repairs": found.report.as_json()}
        return {"surface": found.surface, **told}

    return once(session, who, envelope.id, effect, _NEW)


def _patched(
    before: JsonObject, patch: PatchDocument, block: JsonObject | None, limits: DocumentLimits
) -> Normalised:
    after = apply(before, patch, limits)
    if block is not None and isinstance(after, dict):
        after = {**after, "experimental": block}
    if any(not operation["path"] for operation in patch.ops):
        # What comes whole is held to the strict stage; what patches make of it is repaired.
        check_document(after)
    return normalise(after, limits)


def _effective(
    before: JsonObject, after: JsonObject, patch: PatchDocument, limits: DocumentLimits
) -> PatchDocument:
    """The patch that makes ``after`` of ``before`` to the letter: what was sent, unless it had to be repaired."""
    return patch if apply(before, patch, limits) == after else difference(before, after, limits)


def _kept(
    writer: Writer, who: Principal, kept: Document | None, document: JsonObject, patch: PatchDocument
) -> Document:
    """Store it, with the row that shows it or, of an experimental one that may not be seen, the one that does not."""
    held = holding.judge(writer, who.key, document)
    before = holding.on_screen(writer, kept)
    if kept is None:
        turn = _opened(writer, who, document["surface"])
        kept = Document(
            session=writer.session, turn=turn, owner=who.key, surface=document["surface"], version=0
        )
    elif before is not None and (kept.document, kept.blocked) == (document, held):
        return kept
    part = holding.part_to(before, document, held, patch)
    if part is not None:
        append_parts(writer, kept.turn, [part], "actor", actor=who.key)
    if kept.turn.status != TurnStatus.SETTLED:
        settle(writer, kept.turn, turn_state="complete", finalized_by="complete")
    kept.version += 1
    holding.keep(writer, kept, document, held)
    return kept


def _opened(writer: Writer, who: Principal, surface: str) -> Turn:
    """A turn of the sender's, in which the document stands. No runner sees it: it is settled at once."""
    trigger: JsonObject = {
        "kind": "injection",
        "injection": "document",
        "payload": {"surface": surface, "from": who.name},
    }
    return open_turn(writer, trigger, actor=who.key, originators=[originator(who)], status=TurnStatus.RUNNING)


def current(session: Session, owner: str, surface: str) -> Document:
    """The document of ``owner`` on a surface. Raises ``NotFound``."""
    found = Document.objects.filter(session=session, owner=owner, surface=surface).first()
    if found is None:
        raise NotFound("There is no such document in this conversation.")
    return found

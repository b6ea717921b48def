"""The surface on which the runtime asks a person for consent, with what was said so far: its own, which no agent can
make or change (D21, D22, R3)."""

from __future__ import annotations

import hashlib
from typing import Final

from django.utils.translation import gettext as _

from a2ui.compose import Button, Card, Column, Component, Row, Surface, Text, changes, event, plain
from envelopes.errors import RespondRefused
from envelopes.intake.runtime_surfaces import surface_id
from envelopes.log.append import Writer
from envelopes.models import Consent, Turn
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.rows import DiagnosticData
from envelopes.protocol.surfaces import RUNTIME
from envelopes.protocol.text import clean_text, clip
from envelopes.registries.actors import actors
from envelopes.session_state import live_sessions
from envelopes.transports.documents.formats.experimental import Experimental
from envelopes.transports.documents.governance.verdicts import owner_of
from envelopes.turns.parts import append_parts
from envelopes.types import PROGRAMS, JsonObject

NAME: Final = "consent"
EVENT: Final = "beach:consent"
GRANTED, REFUSED = Consent.State.GRANTED, Consent.State.REFUSED


def ask(writer: Writer, turn: Turn, asker: str, block: Experimental) -> None:
    """Ask whoever owns the conversation, in ``turn``; again where they have been asked other words before. Nobody is
    asked in a program's: it could not say yes for a person."""
    whose = owner_of(writer.session)
    if whose is None or whose.owner_key.startswith(tuple(f"{kind}:" for kind in PROGRAMS)):
        return
    known = Consent.objects.filter(
        session=writer.session, owner=asker, track_id=block.track_id, flag=block.feature_flag
    ).first()
    before = None if known is None else body_of(known)
    consent = known or Consent(
        session=writer.session, owner=asker, track_id=block.track_id, flag=block.feature_flag
    )
    consent.summary, consent.listens = block.support_summary, block.listens
    consent.state, consent.by = Consent.State.ASKED, ""
    consent.asked_at, consent.decided_at, consent.turn = writer.now, None, turn
    consent.save()
    show(writer, before, consent)


def show(writer: Writer, before: JsonObject | None, consent: Consent) -> None:
    """Append what makes the question that stands there, ``before``, the one of now."""
    named, body = surface_id(NAME, consent.public_id), body_of(consent)
    writer.flush()
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        is_there = view.surfaces.get(RUNTIME, named) is not None
    create = [{"version": "1.0", "createSurface": body}]
    messages = changes(before, body) if is_there and before is not None else create
    if not messages:
        return
    part = Part(data={"messages": messages}, metadata=Metadata(partType=A2UI_SURFACE.name))
    try:
        append_parts(writer, consent.turn, [part], "runtime", actor=RUNTIME)
    except RespondRefused as error:
        # There is no room for another surface. Nobody consents who has not been asked, so nothing is shown either.
        told: DiagnosticData = {
            "part": "",
            "code": "CONSENT_NOT_ASKED",
            "surfaceId": named,
            "path": "",
            "message": clip(clean_text(error.message), 512),
        }
        writer.add("diagnostic", told, turn=consent.turn, actor=RUNTIME, audience="audit")


def body_of(consent: Consent) -> JsonObject:
    """The body of the ``createSurface`` message of the question, with what was said to it so far."""
    known = actors.get(consent.owner)
    name = known.display_name if known is not None else _("A program")
    wants = (
        _("{} wants to listen to you while you hold a button.")
        if consent.listens
        else _("{} wants to show you something that is tried out.")
    )
    lines: list[Component] = [
        Text(f"#### {plain(wants.format(name))}", id="wants"),
        Text(plain(consent.summary), id="summary"),
        Text(plain(_("Experiment: {}").format(consent.track_id)), variant="caption", id="track"),
    ]
    allow, refuse = _button(consent, GRANTED, _("Allow")), _button(consent, REFUSED, _("Don’t allow"))
    match consent.state:
        case Consent.State.GRANTED:
            take_back = _button(consent, REFUSED, _("Don’t allow any more"))
            lines += [Text(_("You allow this."), id="said"), Row(take_back, id="answers")]
        case Consent.State.REFUSED:
            lines += [Text(_("You don’t allow this."), id="said"), Row(allow, id="answers")]
        case _:
            lines += [Row(refuse, allow, id="answers")]
    surface = Surface(surface_id(NAME, consent.public_id), Card(Column(*lines, id="question")))
    (message,) = surface.create()
    body: JsonObject = message["createSurface"]
    return body


def _button(consent: Consent, decision: str, words: str) -> Button:
    """Its id is of the words that it answers: a click on a question that has changed meanwhile finds nothing."""
    asked = hashlib.sha256(f"{consent.listens} {consent.state} {consent.summary}".encode()).hexdigest()[:12]
    name = f"{decision}-{asked}"
    return Button(Text(words, id=f"{name}-words"), event(EVENT, decision=str(decision)), id=name)

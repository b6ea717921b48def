"""A person's consent to an experimental document: given, refused and taken back.

Whoever owns the conversation answers, if that is a person or a guest; a program never does (R10). Staff take back what
was given, in the admin.
"""

from __future__ import annotations

from a2ui import ClientAction
from envelopes.access import Principal
from envelopes.errors import BeachError, Forbidden, NotFound
from envelopes.intake.runtime_surfaces import RuntimeSurface, key_of, runtime_surfaces
from envelopes.log.append import Writer, writing
from envelopes.models import Consent, Document
from envelopes.protocol.rows import ConsentData
from envelopes.transports.documents.governance import holding
from envelopes.transports.documents.governance.asking import GRANTED, NAME, REFUSED, body_of, show
from envelopes.types import PROGRAMS, JsonObject


def decide(writer: Writer, who: Principal, click: ClientAction) -> JsonObject | BeachError:
    """What somebody said who owns the conversation. Raises ``NotFound`` where nothing is asked; returns ``Forbidden``
    for a program, which is recorded."""
    key = key_of(click.surface_id)
    asked = Consent.objects.select_related("turn")
    consent = asked.filter(session=writer.session, public_id=key).first()
    decision = click.message["action"].get("context", {}).get("decision")
    if consent is None or decision not in (GRANTED, REFUSED):
        raise NotFound("Nothing is asked here any more.")
    if who.kind in PROGRAMS:
        _tell(writer, consent, "tried", who.key)
        return Forbidden("Only a person can consent.")
    return _decided(writer, consent, decision, who.key)


def take_back(consent: Consent, who: Principal) -> bool:
    """Refuse in a person's stead what they have granted; whether there was anything to take back. Raises ``Forbidden``
    for whoever may not decide in all conversations."""
    if not who.may_decide_all():
        raise Forbidden
    with writing(consent.session_id) as writer:
        current = Consent.objects.select_related("turn").get(pk=consent.pk)
        if current.state != GRANTED:
            return False
        _decided(writer, current, REFUSED, who.key)
    return True


def _decided(writer: Writer, consent: Consent, decision: str, by: str) -> JsonObject:
    before = body_of(consent)
    consent.state, consent.by, consent.decided_at = decision, by, writer.now
    consent.save(update_fields=["state", "by", "decided_at"])
    _tell(writer, consent, decision, by)
    held = Document.objects.filter(session=writer.session, owner=consent.owner, flag=consent.flag)
    for document in held.select_related("turn"):
        holding.look_again(writer, document)
    show(writer, before, consent)
    return {"state": decision}


def _tell(writer: Writer, consent: Consent, decision: str, by: str) -> None:
    told: ConsentData = {
        "owner": consent.owner,
        "trackId": consent.track_id,
        "flag": consent.flag,
        "summary": consent.summary,
        "decision": decision,
        "by": by,
    }
    writer.add("consent", told, audience="audit")


CONSENT = runtime_surfaces.register(RuntimeSurface(NAME, decide))

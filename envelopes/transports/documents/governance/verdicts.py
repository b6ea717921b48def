"""Whether an experimental document may be shown in a conversation, and why not. The order of the questions is that of
the reasons in ``protocol.rows.Blocked``: a person is asked only where nothing else stands in the way."""

from __future__ import annotations

from typing import Literal, TypeAlias

from envelopes import flags
from envelopes.models import Consent, Participant, Session
from envelopes.protocol.rows import Blocked
from envelopes.transports.documents.formats.experimental import Experimental

Verdict: TypeAlias = Blocked | Literal[""]
"""Why it is not shown; "" where it is."""


def verdict(block: Experimental, session: Session, asker: str) -> Verdict:
    """Of the block of a document of ``asker``. One page is drawn for all who look at a conversation, so it is asked of
    its owner, whoever looks (D43)."""
    match block.rollout_stage:
        case "disabled":
            return "stage_disabled"
        case "dark_launch":
            return "dark_launch"
    whose = owner_of(session)
    user = whose.user if whose is not None else None
    if block.rollout_stage == "operator_preview" and not (
        user is not None and user.is_active and user.is_staff
    ):
        return "not_an_operator"
    on = flags.is_on(block.feature_flag, user)
    if not on:
        return "flag_unknown" if on is None else "flag_off"
    return _consent(block, session, asker) if block.consent_required else ""


def owner_of(session: Session) -> Participant | None:
    """Whose conversation it is."""
    owners = session.participants.filter(role=Participant.Role.OWNER).select_related("user")
    return owners.order_by("pk").first()


def _consent(block: Experimental, session: Session, asker: str) -> Verdict:
    said = Consent.objects.filter(
        session=session,
        owner=asker,
        track_id=block.track_id,
        flag=block.feature_flag,
        # For other words somebody else may have said yes.
        summary=block.support_summary,
        listens=block.listens,
    ).first()
    match said.state if said is not None else Consent.State.ASKED:
        case Consent.State.GRANTED:
            return ""
        case Consent.State.REFUSED:
            return "consent_refused"
    return "consent_needed"

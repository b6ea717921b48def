"""What stands beside a conversation: whose it is, who answers, what it has cost, what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from envelopes import costs
from envelopes.access import Principal
from envelopes.admin.conversation.rows import Near
from envelopes.admin.people import account_name
from envelopes.desk.times import moment
from envelopes.intake.staff import may_take_over
from envelopes.markup.html import html, reveal
from envelopes.models import Claim, Note, Participant, Session
from envelopes.protocol.zones import zone_of
from envelopes.registries.actors import actors
from envelopes.search.visitors import guest_code

NOTES = 50
"""The newest notes that the page shows."""


@dataclass(frozen=True)
class Care:
    """Who looks after the conversation, as one reader sees it. ``taken``: staff write in it."""

    claim: Claim | None
    taken: bool
    mine: bool
    may_operate: bool
    may_take: bool
    agent: str

    @property
    def writes(self) -> bool:
        return self.taken and self.mine


@dataclass(frozen=True)
class Beside:
    facts: Sequence[tuple[str, SafeString | str]]
    visitor: str
    notes: Sequence[Note] = field(default_factory=tuple)
    older: bool = False


def care_of(session: Session, reader: Principal) -> Care:
    claim = getattr(session, "claim", None)
    return Care(
        claim=claim,
        taken=bool(session.taken_by),
        mine=claim is not None and claim.user_id == reader.user.pk,
        may_operate=reader.may_operate(),
        may_take=may_take_over(reader, session),
        agent=agent_of(session),
    )


def agent_of(session: Session) -> str:
    actor = actors.get(session.held_by) or actors.get(session.actor)
    return actor.display_name if actor is not None else session.actor


def beside(session: Session, near: Near) -> Beside:
    owners = session.participants.filter(role=Participant.Role.OWNER).select_related("user")
    owner = owners.first()
    known, email = _owner(owner)
    tokens = sum(row.usage for row in near.rows if row.seq <= near.at)
    cost = sum(row.cost for row in near.rows if row.seq <= near.at)
    errors = [row for row in near.rows if row.failed and row.seq <= near.at]
    ends = [row for row in near.rows if row.kind == "settled" and row.seq <= near.at]
    recovered = bool(errors and ends and not ends[-1].failed)
    told = ngettext("{}, recovered", "{}, recovered", len(errors)) if recovered else "{}"
    facts = [
        (_("Visitor"), known),
        (_("Email"), reveal(email) if email else _none(_("Not given"))),
        (_("Agent"), reveal(agent_of(session))),
        (_("Started"), moment(session.created_at)),
        (
            _("Tokens"),
            costs.with_cost(f"{tokens:,}", cost) if tokens else _none(_("Not reported by the model")),
        ),
        (_("Errors"), told.format(len(errors)) if errors else _none(_("None"))),
    ]
    if time := visitors_time(session.timezone):
        facts.append((_("Zone"), time))
    if near.rows and near.rows[0].seq > 1:
        facts.append((_("Counted from"), _("row {}").format(f"{near.rows[0].seq:,}")))
    notes = list(session.notes.order_by("-pk")[: NOTES + 1])
    return Beside(facts, _name(owner) or _("the visitor"), notes[:NOTES][::-1], older=len(notes) > NOTES)


def visitors_time(zone: str) -> SafeString | None:
    """The time of day in the visitor's time zone, in which the conversation is shown; None where it is the reader's."""
    now, known = timezone.now(), zone_of(zone)
    there = now.astimezone(known)
    if there.utcoffset() == timezone.localtime(now).utcoffset():
        return None
    return html("{} <small>{}</small>", known.key, _("{} now").format(f"{there:%H:%M}"))


def _owner(owner: Participant | None) -> tuple[SafeString, str]:
    """How staff tell a visitor from others, and their address."""
    if owner is None:
        return _none(_("Nobody")), ""
    user: Any = owner.user
    name = _name(owner)
    key = "" if user is not None else owner.owner_key
    code = key if ":" in key else key and _("Guest {}").format(guest_code(key))
    if not name:
        shown = reveal(code or _("Deleted account"))
    else:
        shown = html("{} <small>{}</small>", reveal(name), code) if code else reveal(name)
    return shown, str(getattr(user, user.get_email_field_name(), "")) if user is not None else ""


def _name(owner: Participant | None) -> str:
    """What a visitor is called; "" for a guest who has given no name."""
    if owner is None:
        return ""
    return owner.name or (account_name(owner.user) if owner.user is not None else "")


def _none(told: str) -> SafeString:
    return html('<span class="dk-none">{}</span>', told)

"""A question in words alone, for doors that draw no card: mails, and messages with buttons."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from envelopes.approvals.surface import WHOLE, shown_facts
from envelopes.models import Approval
from envelopes.ownership import owner_of
from envelopes.registries.actors import actors


class Fact(NamedTuple):
    """One argument; ``more`` is how many characters of it are left out."""

    label: str
    value: str
    more: int


def facts_of(approval: Approval) -> list[Fact]:
    """All arguments, each of at most ``surface.WHOLE`` characters. Where one is cut nobody approves by what was sent:
    the rest is unseen."""
    actor = actors.get(approval.handler)
    tool = actor.tool(approval.tool_name) if actor is not None else None
    shown = shown_facts(list(tool.fields) if tool is not None else [], approval.args, approval.session.locale)
    return [_fact(fact["label"], fact["value"]) for fact in shown]


def _fact(label: str, value: str) -> Fact:
    # Lines of a value stand below its label, and pass for no others.
    return Fact(label, value[:WHOLE].replace("\n", "\n    "), max(0, len(value) - WHOLE))


def is_cut(approval: Approval) -> bool:
    """Whether not all arguments are shown whole."""
    return any(fact.more for fact in facts_of(approval))


def question_of(approval: Approval) -> str:
    """In one line."""
    return " ".join(approval.question.split())


def agent_of(approval: Approval) -> str:
    """Who asks."""
    actor = actors.get(approval.handler)
    return actor.display_name if actor is not None else approval.handler


def behalf_of(approval: Approval) -> str:
    """For whom; "" for a guest."""
    owner = owner_of(approval.session)
    return "" if owner is None else name_of(owner.user) or owner.name


def name_of(user: Any) -> str:
    """``user``: of whatever model the site has for accounts; None for nobody."""
    return str(user.get_full_name() or user.get_username()) if user is not None else ""


def decider_of(approval: Approval) -> str:
    """Who has decided."""
    user = approval.decided_by_user
    return name_of(user) if user is not None else _("the visitor")

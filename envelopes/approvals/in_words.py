"""A question in words alone, for doors that draw no card: mails, and messages with buttons."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from envelopes.approvals.surface import WHOLE, shown_facts
from envelopes.models import Approval
from envelopes.ownership import owner_of
from envelopes.protocol.text import shorten
from envelopes.registries.actors import actors
from envelopes.registries.tools import Tool

WAS = 80
"""Characters of what an argument was before."""


class Fact(NamedTuple):
    """One argument; ``more`` is how many characters of it are left out, ``was`` what the agent had written, where
    people have changed it."""

    label: str
    value: str
    more: int
    was: str = ""

    def line(self) -> str:
        """In one text, with what it was before."""
        told = f"{self.label}: {self.value}"
        return f"{told} {_('(was {})').format(self.was)}" if self.was else told


def facts_of(approval: Approval) -> list[Fact]:
    """All arguments, each of at most ``surface.WHOLE`` characters. Where one is cut nobody approves by what was sent:
    the rest is unseen."""
    tool = _tool(approval)
    fields, locale = list(tool.fields) if tool is not None else [], approval.session.locale
    edited = (
        approval.earlier.filter(cause="edited").order_by("version").first() if approval.version > 1 else None
    )
    before = shown_facts(fields, edited.args, locale) if edited is not None else []
    was: dict[str, str] = {fact["label"]: fact["value"] for fact in before}
    shown = shown_facts(fields, approval.args, locale)
    return [_fact(fact["label"], fact["value"], was.get(fact["label"]) or fact["value"]) for fact in shown]


def _fact(label: str, value: str, was: str) -> Fact:
    # Lines of a value stand below its label, and pass for no others.
    text = value[:WHOLE].replace("\n", "\n    ")
    before = shorten(" ".join(was.split()), WAS) if was != value else ""
    return Fact(label, text, max(0, len(value) - WHOLE), before)


def anew_of(approval: Approval) -> str:
    """Why a question is asked anew, in a sentence; "" for one that is asked for the first time."""
    was = approval.earlier.order_by("version").last() if approval.version > 1 else None
    if was is None:
        return ""
    if was.cause == "expired":
        return _("Nobody decided this in time, so it is asked again.")
    return _("{} has changed this request.").format(name_of(was.by_user) or was.name or _("The visitor"))


def is_cut(approval: Approval) -> bool:
    """Whether not all arguments are shown whole."""
    return any(fact.more for fact in facts_of(approval))


def question_of(approval: Approval) -> str:
    """In one line."""
    return " ".join(approval.question.split())


def risk_of(approval: Approval) -> str:
    """As the card has it: how high the risk is, and what of."""
    words = {"high": _("High risk"), "low": _("Low risk")}.get(approval.risk, _("Medium risk"))
    tool = _tool(approval)
    note = tool.approval.risk_note.strip() if tool is not None and tool.approval is not None else ""
    return f"{words}: {note}" if note else words


def _tool(approval: Approval) -> Tool | None:
    actor = actors.get(approval.handler)
    return actor.tool(approval.tool_name) if actor is not None else None


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

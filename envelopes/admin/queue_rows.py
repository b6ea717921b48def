"""A row of the queue as the page shows it: the question, who asks for whom, what would run, how long there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from envelopes.access import Principal
from envelopes.admin.approval_state import decider_of, mark_of
from envelopes.admin.display import change_url
from envelopes.admin.owners import owners
from envelopes.desk.times import ago, left
from envelopes.markup import arguments
from envelopes.markup.context import babel_of, current_locale
from envelopes.markup.facts import Fact, Row, facts
from envelopes.markup.html import NOTHING, SafeString, brief, html, join, reveal
from envelopes.models import Approval
from envelopes.registries.actors import actors, agent_name
from envelopes.types import Json

PEEK = 60
"""Characters of one argument in a list; both of its ends are among them."""
LABEL = 40
"""Characters of what an argument is called, likewise."""
IN_SIGHT = 8
"""Arguments on the line of a list; how many more there are is said."""
_RISKS = {"high": "b-tag--coral", "medium": "b-tag--ochre"}
_RISK_NAMES = {"high": gettext_noop("High"), "medium": gettext_noop("Medium"), "low": gettext_noop("Low")}


@dataclass(frozen=True)
class QueueRow:
    """``pk`` as it is written. ``state`` is empty while it waits, ``gone`` for one that was decided while the list
    stood open, else ``over``."""

    pk: str
    url: str
    question: SafeString
    asked_for: SafeString
    tool: SafeString
    runs: SafeString
    risk: str
    risk_tag: str
    asked: SafeString
    when: SafeString
    state: str = ""


def drawn(
    approvals: Iterable[Any],
    who: Principal,
    *,
    gone: Iterable[Any] = (),
    named: Mapping[int, SafeString] | None = None,
) -> list[QueueRow]:
    """The rows of ``queue.page``, and ``gone`` behind them; one query for whose they are, unless ``named`` knows."""
    waiting, over = list(approvals), list(gone)
    if named is None:
        named = owners(approval.session_id for approval in [*waiting, *over])
    return [
        *(_row(one, who, named.get(one.session_id, NOTHING)) for one in waiting),
        *(_row(one, who, named.get(one.session_id, NOTHING), gone=True) for one in over),
    ]


def _row(approval: Any, who: Principal, owner: SafeString, *, gone: bool = False) -> QueueRow:
    pending = approval.state == "pending"
    return QueueRow(
        pk=str(approval.pk),
        url=change_url(approval),
        question=reveal(approval.question),
        asked_for=_asked_for(approval, owner, titled=who.may_view_all()),
        tool=html("<code>{}</code>", reveal(approval.tool_name)),
        runs=_runs(approval),
        risk=_risk(approval.risk),
        risk_tag=_RISKS.get(approval.risk, ""),
        asked=ago(approval.requested_at),
        when=left(approval.expires_at) if pending else _outcome(approval, who.key, short=gone),
        state="" if pending else "gone" if gone else "over",
    )


def _asked_for(approval: Approval, owner: SafeString, *, titled: bool) -> SafeString:
    agent = reveal(agent_name(approval.handler))
    told = html(_("{} for {}"), agent, owner or _("a visitor"))
    if titled:  # a title is a part of a conversation
        told = html(_("{} in “{}”"), told, brief(str(approval.session), 80))
    return html("{} · {}", told, _("attempt {}").format(approval.attempt)) if approval.attempt > 1 else told


def _runs(approval: Any) -> SafeString:
    """While it waits the arguments of its call, in the words of its card: in one line, all of them behind it."""
    args = approval.waiting_args
    if not isinstance(args, dict) or not args:
        return NOTHING
    found = facts(_declared(approval), args, babel_of(current_locale()))
    # What was not sent stands in the rows: in the line it would take the place of what was.
    sent = [row for row in (*found.rows, *found.strange) if any(fact.at for fact in row.facts)]
    line = join(map(_brief, sent[:IN_SIGHT]), ", ")
    if len(sent) > IN_SIGHT:
        line = html("{}, {}", line, _("and {} more").format(len(sent) - IN_SIGHT))
    rows = arguments.shown(found, f"a{approval.pk}v")
    return html('<details class="adm-args is-more"><summary>{}</summary>{}</details>', line, rows.html)


def _declared(approval: Approval) -> Iterable[Json]:
    """As the tool declares its arguments now: of how it did when it was asked, each row would have to be looked up."""
    actor = actors.get(approval.handler)
    tool = actor.tool(approval.tool_name) if actor is not None else None
    return tool.fields if tool is not None else ()


def _brief(row: Row) -> SafeString:
    # A label is set apart from every value, and each keeps its own direction: no value passes for another argument.
    label = arguments.label(row.label)
    if sum(len(part.text) for part in row.label) > LABEL:
        label = html("<code>{}</code>", brief(", ".join(part.text for part in row.label), LABEL))
    values = (html('<span dir="auto">{}</span>', brief(_said(fact), PEEK)) for fact in row.facts)
    return html('<b dir="auto">{}</b>: {}', label, join(values, " · "))


def _said(fact: Fact) -> str:
    return fact.text.replace("\n", " ") if fact.how == "written" else fact.text


def _risk(risk: str) -> str:
    return _(_RISK_NAMES[risk]) if risk in _RISK_NAMES else risk


def _outcome(approval: Approval, reader: str, *, short: bool) -> SafeString:
    """What was decided, by whom and when; ``short`` in the place of what was left, as ``Denied by Maria, 12 s ago``."""
    who, at = decider_of(approval, reader), approval.decided_at
    when = ago(at) if at is not None else NOTHING
    if not short:
        by = html(_("by {}, {}"), who, when) if who and approval.state != "expired" else when
        return format_html("{}<small>{}</small>", mark_of(approval), by)
    words = {"granted": _("Approved by {}"), "denied": _("Denied by {}")}.get(approval.state)
    told = html(words, who) if words and who else _("Expired")
    return html('<span class="dk-when">{}, {}</span>', told, when)

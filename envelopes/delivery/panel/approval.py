"""An approval card: a stored question about one exact call, what was decided, and what came of it.

Drawn from rows only. The same card is updated in place wherever the conversation has gone meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from django.utils.translation import gettext as _

from envelopes.delivery.panel import arguments
from envelopes.delivery.panel.markup import NOTHING, SafeString, cut, html, icon, join, text, trusted
from envelopes.delivery.panel.view import Brush, View
from envelopes.types import JsonObject

_RISK_TAGS = {"high": "b-tag--coral", "medium": "b-tag--ochre"}


class Words(NamedTuple):
    state: str
    icon: str
    result: str
    about: str


@dataclass
class Approval(View):
    """``call`` holds the fields of the approval-request part, ``about`` its metadata."""

    kind = "approval"

    actor: str
    call: JsonObject
    about: JsonObject = field(default_factory=dict)
    state: str = "pending"
    decided_by: str = ""
    decided_at: str = ""
    source: str = ""
    reason: str = ""
    summary: str = ""
    error: str = ""

    @property
    def approval_id(self) -> str:
        return str(self.call.get("approvalId") or "")

    @property
    def tool(self) -> str:
        return str(self.call.get("toolName") or "")

    @property
    def question(self) -> str:
        return str(self.about.get("question") or "").strip() or _("May {} be called?").format(self.tool)

    def html(self, brush: Brush) -> SafeString:
        if self.state == "pending":
            return self._pending(brush)
        words = self._words(brush)
        if self.state in ("done", "denied", "expired", "withdrawn"):
            return self._line(brush, words)
        return self._told(brush, words)

    # -- states -------------------------------------------------------------------------------------------------------

    def _pending(self, brush: Brush) -> SafeString:
        name = brush.context.name(self.actor)
        why = [html(_("{} will call {} once."), text(name), html("<code>{}</code>", text(self.tool)))]
        if self.about.get("why"):
            why.append(text(self.about["why"]))
        attempt = self.about.get("attempt")
        if isinstance(attempt, int) and attempt > 1:
            why.append(html("<b>{}</b>", _("This is attempt {}.").format(attempt)))
        buttons = join(
            html(
                '<button class="a2-btn{}" type="button" data-decide="{}" data-approval="{}">{}</button>',
                extra,
                decision,
                text(self.approval_id),
                label,
            )
            for decision, label, extra in (
                ("denied", _("Deny"), ""),
                ("granted", _("Approve"), " a2-btn--soft"),
            )
        )
        return self._card(
            html(
                '<header class="b-approval__head"><span class="b-approval__state">{}<span>{}</span></span>{}</header>',
                icon("shield"),
                _("Needs your approval"),
                self._risk(),
            ),
            html(
                '<div class="b-approval__body"><div class="b-approval__ask" dir="auto">{}</div>'
                '<p class="b-approval__why" dir="auto">{}</p>{}'
                '<div class="b-approval__act"><span class="b-approval__edit"></span>{}</div></div>',
                text(self.question),
                join(why, " "),
                arguments.table(self._args, self._labels),
                buttons,
            ),
            html('<footer class="b-approval__foot">{}{}</footer>', self._expiry(brush), self._digest()),
            label=_("Needs your approval"),
        )

    def _line(self, brush: Brush, words: Words) -> SafeString:
        """Settled: one line that opens."""
        return self._card(
            html(
                '<details class="b-approval__fold"><summary class="b-approval__head">{}{}'
                '<span class="b-approval__end"><span class="b-iconbtn">{}</span></span></summary>'
                '<div class="b-approval__body">{}{}</div></details>',
                self._head(words),
                self._who(brush),
                icon("down"),
                html('<p class="b-approval__result" dir="auto">{}</p>', text(words.result))
                if words.result
                else "",
                join(
                    (
                        html('<p class="b-approval__why">{}</p>', words.about),
                        arguments.table(self._args, self._labels),
                    )
                ),
            ),
            label=words.state,
        )

    def _told(self, brush: Brush, words: Words) -> SafeString:
        """Running, failed or unknown: said in full."""
        bar: object = ""
        if self.state == "running":
            bar = html('<progress class="b-bar" aria-label="{}"></progress>', _("Running"))
        return self._card(
            html(
                '<header class="b-approval__head">{}{}</header>{}', self._head(words), self._who(brush), bar
            ),
            html(
                '<div class="b-approval__body"><p class="b-approval__result" dir="auto">{}</p>'
                '<details class="b-approval__more"><summary>{}{}</summary>{}</details></div>',
                text(words.result),
                icon("right", "b-icon--flip"),
                words.about,
                arguments.table(self._args, self._labels),
            ),
            html('<footer class="b-approval__foot"><span></span>{}</footer>', self._digest())
            if self.state == "unknown"
            else "",
            label=words.state,
        )

    # -- pieces -------------------------------------------------------------------------------------------------------

    def _card(self, *pieces: str, label: str) -> SafeString:
        return html(
            '<section class="b-approval" id="{}" data-state="{}" aria-label="{}">{}</section>',
            self.id,
            "expired" if self.state == "withdrawn" else self.state,
            text(label),
            join(pieces),
        )

    def _words(self, brush: Brush) -> Words:
        name = brush.context.name(self.actor)
        label = str(self.about.get("label") or "").strip()
        asked = _("What was asked")
        match self.state:
            case "running":
                told = _("You can close this page. The result will be here.")
                return Words(label or _("Running"), "", told, _("What is running"))
            case "done":
                short = self.summary and len(self.summary) <= 120
                result = "" if short else self.summary
                return Words(self.summary.rstrip(".") if short else _("Done"), "check", result, _("What ran"))
            case "failed":
                told = self.error or self.summary or _("It did not work.")
                return Words(_("This was not done"), "x", told, _("What was tried"))
            case "denied":
                told = _("Nothing was run. {} has been told.").format(name)
                if self.reason:
                    told = f"{told} {_('Reason: {}').format(self.reason)}"
                return Words(_("Not approved"), "minus", told, asked)
            case "expired":
                return Words(
                    _("Expired"), "clock", _("Nothing was run. {} has been told.").format(name), asked
                )
            case "withdrawn":
                told = _("The turn ended before a decision. Nothing was run.")
                return Words(_("No longer asked"), "minus", told, asked)
            case _:
                told = self.error or _("The connection was lost while this was running.")
                told = f"{told} {_('It will not be tried again. Staff check what happened.')}"
                return Words(_("Outcome unknown"), "alert", told, _("What was tried"))

    def _head(self, words: Words) -> SafeString:
        mark = icon(words.icon) if words.icon else trusted('<span class="b-spin" aria-hidden="true"></span>')
        what: object = ""
        if self.state in ("denied", "expired", "withdrawn"):
            what = html('<span class="b-approval__what" dir="auto">{}</span>', text(cut(self.question, 90)))
        return html(
            '<span class="b-approval__state">{}<span dir="auto">{}</span></span>{}',
            mark,
            text(words.state),
            what,
        )

    def _who(self, brush: Brush) -> SafeString:
        at = brush.context.clock(self.decided_at) if self.decided_at else ""
        if self.state == "withdrawn" or not self.decided_at:
            return NOTHING
        if self.state == "expired":
            return html('<span class="b-approval__who">{}</span>', html(_("No decision by {}"), at))
        return html('<span class="b-approval__who">{}, {}</span>', self._decision(), at)

    def _decision(self) -> SafeString:
        """What was decided, by whom or where. Everybody reads the same page, so nobody on it is "you"."""
        denied = self.state == "denied"
        if not self.decided_by:
            return text(_("Denied in chat") if denied else _("Approved in chat"))
        who = html("<bdi>{}</bdi>", text(self.decided_by))
        if self.source == "admin":
            return html(_("Denied by {} in the admin") if denied else _("Approved by {} in the admin"), who)
        return html(_("Denied by {}") if denied else _("Approved by {}"), who)

    def _risk(self) -> SafeString:
        risk = str(self.about.get("risk") or "medium")
        words = {"high": _("High risk"), "medium": _("Medium risk"), "low": _("Low risk")}.get(
            risk, _("Medium risk")
        )
        note = str(self.about.get("riskNote") or "").strip()
        label = f"{words}: {note}" if note else words
        return html('<span class="b-tag {}">{}</span>', _RISK_TAGS.get(risk, ""), text(label))

    def _expiry(self, brush: Brush) -> SafeString:
        until = self.call.get("expiresAt")
        if not isinstance(until, str) or not until:
            return html("<span>{}{}</span>", icon("clock"), _("No time limit"))
        told = html(_("Expires at {}"), brush.context.clock(until))
        return html('<span>{}<span data-expires="{}">{}</span></span>', icon("clock"), until, told)

    def _digest(self) -> SafeString:
        digest = str(self.about.get("digest") or "")
        short = f"{digest[:4]} {digest[4:8]}".strip()
        if not short:
            return NOTHING
        hint = _("Digest of the tool and its exact arguments")
        return html(
            '<span title="{}: {}">{} <span class="b-mono">{}</span></span>',
            hint,
            text(digest),
            _("Digest"),
            text(short),
        )

    @property
    def _args(self) -> JsonObject:
        args = self.call.get("args")
        return args if isinstance(args, dict) else {}

    @property
    def _labels(self) -> JsonObject:
        labels = self.about.get("labels")
        return labels if isinstance(labels, dict) else {}

"""An approval card: a stored question about one exact call, what was decided, and what came of it.

Plain data in, HTML out. Chat and admin draw the same card, a page that is made for deciding with a form of its own
(``DecisionPage``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from django.utils.translation import gettext as _

from envelopes.markup import approval_rule, arguments
from envelopes.markup.approval_words import Words, words_of
from envelopes.markup.card_states import FOLDED
from envelopes.markup.context import PageContext
from envelopes.markup.facts import Facts, facts
from envelopes.markup.html import NOTHING, SafeString, html, icon, isolated, join, reveal, text, trusted
from envelopes.registries.doors import doors
from envelopes.types import JsonObject

_RISK_TAGS = {"high": "b-tag--coral", "medium": "b-tag--ochre"}


class DecisionPage(NamedTuple):
    """A page made for deciding (D23). ``action`` is where its form goes, empty where its reader may not decide;
    ``fields`` stand in the form before the buttons; ``note`` says what else matters now; ``edit`` is the address of the
    form in which the arguments are corrected first."""

    action: str = ""
    fields: SafeString = NOTHING
    note: str = ""
    edit: str = ""


@dataclass
class ApprovalCard:
    """``id`` is the DOM id; ``call`` holds the fields of the approval-request part, ``about`` its metadata.

    ``given`` are those who have approved, ``{name, role, source, reason, at}`` each, where several have to; ``rule`` is
    the one that approved (``policy:...``), where nobody was asked.
    """

    id: str
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
    rule: str = ""
    given: list[JsonObject] = field(default_factory=list)

    @property
    def approval_id(self) -> str:
        return str(self.call.get("approvalId") or "")

    @property
    def tool(self) -> str:
        return str(self.call.get("toolName") or "")

    @property
    def question(self) -> str:
        return str(self.about.get("question") or "").strip() or _("May {} be called?").format(self.tool)

    def card(self, page: PageContext, form: DecisionPage | None = None) -> SafeString:
        """The card; None is the chat, where a click on a button is a message of the page's own."""
        if self.state == "pending":
            return self._pending(page, form)
        words = words_of(self, page)
        if self.state in FOLDED:
            return self._line(page, words, unfold=form is not None)
        return self._running(page, words)

    # -- states -------------------------------------------------------------------------------------------------------

    def _pending(self, page: PageContext, form: DecisionPage | None) -> SafeString:
        rows = self._rows(page, unfold=form is not None)
        return self._card(
            html(
                '<header class="b-approval__head"><span class="b-approval__state">{}'
                '<span class="b-approval__mine">{}</span><span class="b-approval__theirs">{}</span></span>'
                "{}{}</header>",
                icon("shield"),
                _("Needs your approval"),
                _("Waiting for approval"),
                NOTHING if form else self._deciding(),
                self._risk(),
            ),
            html(
                '<div class="b-approval__body">{}{}{}{}{}</div>',
                self._question(),
                self._why(page, rows.changed),
                rows.html,
                approval_rule.votes(self.about, self.given, page),
                self._exact(),
            ),
            self._dock(page, [] if form else rows.folded, form),
            mine=form is None or bool(form.action),
        )

    def _running(self, page: PageContext, words: Words) -> SafeString:
        return self._card(
            html(
                '<header class="b-approval__head">{}{}</header><progress class="b-bar" aria-label="{}"></progress>',
                self._head(words),
                self._who(page),
                _("Running"),
            ),
            html(
                '<div class="b-approval__body"><p class="b-approval__result">{}</p>{}{}</div>',
                words.result,
                html('<p class="b-approval__result">{}</p>', words.reasons) if words.reasons else NOTHING,
                self._exact(),
            ),
            label=words.state,
        )

    def _line(self, page: PageContext, words: Words, *, unfold: bool) -> SafeString:
        """Settled: one line that opens; what did or did not happen stands below it. It is open on a page that has
        nothing else to show."""
        return self._card(
            html(
                '<details class="b-approval__fold"{}><summary class="b-approval__head"><span>{}{}</span>{}</summary>'
                '<div class="b-approval__body">{}{}{}{}</div></details>{}',
                trusted(" open") if unfold else NOTHING,
                self._head(words),
                self._who(page),
                icon("down"),
                html('<p class="b-approval__result" dir="auto">{}</p>', reveal(words.result))
                if words.result
                else "",
                html('<p class="b-approval__asked" dir="auto">{}</p>', reveal(self.question)),
                self._rows(page).html,
                self._exact(),
                words.below,
            ),
            label=words.state,
        )

    # -- what is asked ------------------------------------------------------------------------------------------------

    def _card(self, *pieces: str, label: str = "", mine: bool = True) -> SafeString:
        named = html('aria-label="{}"', text(label)) if label else html('aria-labelledby="{}q"', self.id)
        return html(
            '<div class="b-approval" id="{}" role="group" data-state="{}"{}{} {}>{}</div>',
            self.id,
            "expired" if self.state == "withdrawn" else self.state,
            "" if mine else trusted(' data-mine="no"'),
            approval_rule.attributes(self.about, self.given) if self.state == "pending" else NOTHING,
            named,
            join(pieces),
        )

    def _deciding(self) -> SafeString:
        """The state between a click in the chat and its answer, which only the page knows: it shows then."""
        return html(
            '<span class="b-approval__state b-approval__deciding"><span class="b-spin"></span>{}</span>',
            _("Saving your decision…"),
        )

    def _question(self) -> SafeString:
        return html('<h2 class="b-approval__ask" id="{}q" dir="auto">{}</h2>', self.id, reveal(self.question))

    def _why(self, page: PageContext, changed: int) -> SafeString:
        told = str(self.about.get("why") or "").strip()
        why = [reveal(told) if told else html(_("{} will run this once."), isolated(page.name(self.actor)))]
        if changed:
            why.append(html("<b>{}</b>", approval_rule.edited(self.about, changed)))
        attempt = self.about.get("attempt")
        if isinstance(attempt, int) and attempt > 1:
            why.append(html("<b>{}</b>", _("This is attempt {}.").format(attempt)))
        return html('<p class="b-approval__why" dir="auto">{}</p>', join(why, " "))

    def _rows(self, page: PageContext, *, unfold: bool = False) -> arguments.Shown:
        was = self.about.get("was")
        before = self._facts(page, was) if isinstance(was, dict) else None
        return arguments.shown(self._facts(page, self._args), f"{self.id}v", unfold=unfold, before=before)

    def _facts(self, page: PageContext, args: JsonObject) -> Facts:
        declared = self.about.get("fields")
        return facts(declared if isinstance(declared, list) else (), args, page.babel)

    def _exact(self) -> SafeString:
        return arguments.exact(self.tool, self._args, str(self.about.get("digest") or ""))

    def _risk(self) -> SafeString:
        risk = str(self.about.get("risk") or "medium")
        words = {"high": _("High risk"), "medium": _("Medium risk"), "low": _("Low risk")}.get(
            risk, _("Medium risk")
        )
        note = str(self.about.get("riskNote") or "").strip()
        label = f"{words}: {note}" if note else words
        return html('<span class="b-tag {}">{}</span>', _RISK_TAGS.get(risk, ""), reveal(label))

    # -- how it is answered -------------------------------------------------------------------------------------------

    def _dock(
        self, page: PageContext, folded: list[arguments.Folded], form: DecisionPage | None
    ) -> SafeString:
        """Expiry and buttons, at the lower edge of the card."""
        if form is not None and not form.action:
            note = form.note or approval_rule.theirs(self.about)
            return html(
                '<div class="b-approval__dock"><p class="b-approval__first">{}</p>{}</div>',
                note,
                self._expiry(page),
            )
        first, waits = self._first(folded), NOTHING
        if folded:
            waits = html(' aria-disabled="true" aria-describedby="{}f"', self.id)
        if form is None:
            buttons = join(
                html(
                    '<button class="a2-btn{}" type="button" data-decide="{}" data-approval="{}"{}>{}</button>',
                    extra,
                    decision,
                    text(self.approval_id),
                    more,
                    label,
                )
                for decision, label, extra, more in (
                    ("denied", _("Deny"), "", ""),
                    ("granted", _("Approve"), " a2-btn--soft", waits),
                )
            )
            return html(
                '<div class="b-approval__dock">{}{}{}<p class="b-approval__theirs">{}</p>{}'
                '<div class="b-approval__btns b-approval__act">{}</div></div>',
                first,
                self._expiry(page),
                self._edit(self.edit_address(page)),
                approval_rule.theirs(self.about),
                approval_rule.gave(self.about, self.given),
                buttons,
            )
        # The least permissive one has the focus (D23) and stands first. Same size, same weight, neither is solid.
        return html(
            '<form class="b-approval__dock" method="post" action="{}">{}{}{}{}<div class="b-approval__btns">'
            '<button class="a2-btn" type="submit" name="decision" value="denied" autofocus>{}</button>'
            '<button class="a2-btn a2-btn--soft" type="submit" name="decision" value="granted">{}</button>'
            "</div></form>",
            form.action,
            form.fields,
            html('<p class="b-approval__first">{}</p>', form.note) if form.note else "",
            self._expiry(page),
            self._edit(form.edit),
            _("Deny"),
            _("Approve"),
        )

    def edit_address(self, page: PageContext) -> str:
        """Where the arguments are corrected first; "" where this card leads nowhere."""
        return ""

    def _edit(self, address: str) -> SafeString:
        if not address or self.about.get("editable") is not True:
            return NOTHING
        words = _("Edit again") if "was" in self.about else _("Edit before deciding")
        return html('<a class="b-approval__edit b-approval__mine" href="{}">{}</a>', address, words)

    def _first(self, folded: list[arguments.Folded]) -> SafeString:
        """What has to be opened before an approval counts."""
        if not folded:
            return NOTHING
        links = [html('<a href="#{}">{}</a>', each.id, each.label) for each in folded]
        if len(links) == 1:
            told = html(_("Open {} first; it is too long to show whole."), links[0])
        else:
            told = html(
                _("Open {} and {} first; they are too long to show whole."), join(links[:-1], ", "), links[-1]
            )
        return html('<p class="b-approval__first" id="{}f">{}</p>', self.id, told)

    def _expiry(self, page: PageContext) -> SafeString:
        until = self.call.get("expiresAt")
        if not isinstance(until, str) or not until:
            return html('<span class="b-approval__when">{}{}</span>', icon("clock"), _("No time limit"))
        told = html(_("Expires {}, {}"), page.short_day(until), page.clock(until))
        return html(
            '<span class="b-approval__when">{}<span data-expires="{}">{}</span></span>',
            icon("clock"),
            until,
            told,
        )

    # -- what came of it ----------------------------------------------------------------------------------------------

    def _head(self, words: Words) -> SafeString:
        mark = icon(words.icon) if words.icon else trusted('<span class="b-spin" aria-hidden="true"></span>')
        return html(
            '<span class="b-approval__state">{}<span dir="auto">{}</span></span>', mark, reveal(words.state)
        )

    def _who(self, page: PageContext) -> SafeString:
        if self.state == "withdrawn" or not self.decided_at:
            return NOTHING
        at = page.clock(self.decided_at)
        told = (
            html(_("No decision by {}"), at)
            if self.state == "expired"
            else html("{}, {}", self._decision(), at)
        )
        # News from elsewhere tells how old it is.
        elsewhere = self.state != "expired" and not self._names_owner
        fresh = trusted(" data-ago") if elsewhere else NOTHING
        return html('<span class="b-approval__who"{}>{}</span>', fresh, told)

    def _decision(self) -> SafeString:
        """What was decided, by whom or where. Everybody reads the same page, so nobody on it is "you"."""
        if self.rule:
            return approval_rule.by_rule(self.rule, self.decided_by)
        denied = self.state == "denied"
        door = doors.get(self.source)
        where = text(str(door.label)) if door is not None else NOTHING
        if len(self.given) > 1 and not denied:
            told, where = html(_("Approved by {}"), approval_rule.by_several(self.given)), NOTHING
        elif not self.decided_by:
            told = html("{}", _("Denied") if denied else _("Approved"))
        else:
            who = isolated(self.decided_by)
            told = html(_("Denied by {}") if denied else _("Approved by {}"), who)
            where = NOTHING if self._names_owner else where
        return html("{} {}", told, where) if where else told

    @property
    def _names_owner(self) -> bool:
        door = doors.get(self.source)
        return door is None or door.names_owner

    @property
    def _args(self) -> JsonObject:
        args = self.call.get("args")
        return args if isinstance(args, dict) else {}

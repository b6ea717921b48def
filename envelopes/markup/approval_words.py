"""What a decided approval card says: how it ended, and what did or did not happen."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from django.utils.translation import gettext as _

from envelopes.markup.approval_rule import who
from envelopes.markup.context import PageContext
from envelopes.markup.html import NOTHING, SafeString, html, isolated, join
from envelopes.types import JsonObject


class Words(NamedTuple):
    """``said`` stands below the line, ``result`` inside of it. ``reasons`` are what people wrote with an approval; why
    something was denied is a part of what is said."""

    state: str
    icon: str
    said: SafeString = NOTHING
    result: str = ""
    reasons: SafeString = NOTHING

    @property
    def below(self) -> SafeString:
        """All that stands below the line."""
        told = (one for one in (self.said, self.reasons) if one)
        return join(html('<p class="b-approval__said">{}</p>', one) for one in told)


class Told(Protocol):
    """What of a card its words are made of."""

    state: str
    actor: str
    about: JsonObject
    reason: str
    summary: str
    error: str
    given: list[JsonObject]


def words_of(card: Told, page: PageContext) -> Words:
    """The words of a card that waits for nobody any more."""
    name = isolated(page.name(card.actor))
    label = str(card.about.get("label") or "").strip()
    nothing, why = html(_("Nothing was run. {} has been told."), name), _reasons(card)
    match card.state:
        case "running":
            told = _("You can close this page. The result will be here.")
            return Words(label or _("Running"), "", result=told, reasons=why)
        case "done":
            short = card.summary and len(card.summary) <= 120
            return Words(
                card.summary.rstrip(".") if short else _("Done"),
                "check",
                result="" if short else card.summary,
                reasons=why,
            )
        case "failed":
            told = card.error or card.summary or _("It did not work. It will not be tried again.")
            return Words(_("This was not done"), "x", isolated(told), reasons=why)
        case "denied":
            said = html("<q>{}</q> {}", isolated(card.reason), nothing) if card.reason else nothing
            return Words(_("Not approved"), "minus", said)
        case "expired":
            return Words(_("Expired"), "clock", nothing)
        case "withdrawn":
            told = _("The turn ended before a decision. Nothing was run.")
            return Words(_("No longer asked"), "minus", html("{}", told))
        case _:
            told = card.error or _("The connection was lost while this was running.")
            more = html("<b>{}</b> {}", _("It will not be tried again."), _("Staff check what happened."))
            return Words(_("Outcome unknown"), "alert", html("{} {}", isolated(told), more), reasons=why)


def _reasons(card: Told) -> SafeString:
    """Why it was approved, in the words of whoever did; of several with their names."""
    if len(card.given) < 2:
        return html(_("Reason: {}"), _quoted(card.reason)) if card.reason else NOTHING
    return join(
        (
            html(_("Reason given by {}: {}"), who(one), _quoted(str(one["reason"])))
            for one in card.given
            if one.get("reason")
        ),
        " ",
    )


def _quoted(reason: str) -> SafeString:
    return html("<q>{}</q>", isolated(reason))

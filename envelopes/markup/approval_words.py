"""What a decided approval card says: how it ended, and what did or did not happen."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from django.utils.translation import gettext as _

from envelopes.markup.context import PageContext
from envelopes.markup.html import NOTHING, SafeString, html, isolated
from envelopes.types import JsonObject


class Words(NamedTuple):
    """``said`` stands below the line, ``result`` inside of it."""

    state: str
    icon: str
    said: SafeString = NOTHING
    result: str = ""


class Told(Protocol):
    """What of a card its words are made of."""

    state: str
    actor: str
    about: JsonObject
    reason: str
    summary: str
    error: str


def words_of(card: Told, page: PageContext) -> Words:
    """The words of a card that waits for nobody any more."""
    name = isolated(page.name(card.actor))
    label = str(card.about.get("label") or "").strip()
    nothing = html(_("Nothing was run. {} has been told."), name)
    match card.state:
        case "running":
            told = _("You can close this page. The result will be here.")
            return Words(label or _("Running"), "", result=told)
        case "done":
            short = card.summary and len(card.summary) <= 120
            return Words(
                card.summary.rstrip(".") if short else _("Done"),
                "check",
                result="" if short else card.summary,
            )
        case "failed":
            told = card.error or card.summary or _("It did not work. It will not be tried again.")
            return Words(_("This was not done"), "x", isolated(told))
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
            return Words(_("Outcome unknown"), "alert", html("{} {}", isolated(told), more))

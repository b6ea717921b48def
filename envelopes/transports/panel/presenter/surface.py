"""The frame round an A2UI surface. The frame is the runtime's and says whose card it is; the inside is the agent's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from a2ui import ops
from envelopes.approvals.surface import approval_of
from envelopes.errors import ValidationFailed
from envelopes.markup.html import SafeString, html, icon, text, trusted
from envelopes.protocol.surfaces import RUNTIME, messages_of
from envelopes.transports.panel.presenter.part_view import Key, PartView, RenderContext, stored
from envelopes.transports.panel.presenter.questions import details
from envelopes.types import Json

if TYPE_CHECKING:
    from a2ui import SurfaceChange
    from envelopes.transports.panel.presenter.row import RowContext


def frame(
    view: PartView,
    render: RenderContext,
    actor: str,
    *,
    note: object,
    body: object,
    state: str = "",
    data: bool = False,
    aim: bool = False,
) -> SafeString:
    """The box that every card of an agent stands in. ``aim``: links lead to it, and take the focus along.

    Whose it is, the runtime says: in the name of the group, and to whoever asks with the button on its edge, which no
    content of a card can reach. ``note`` stands there too.
    """
    name = text(render.page.name(actor))
    title = html(_("Data from {}") if data else _("Card from {}"), name)
    return html(
        '<div class="b-surface" id="{0}" role="group" aria-label="{1}"{2}{7}><div class="b-surface__body">{3}</div>'
        '<button class="b-surface__who" type="button" popovertarget="{0}w" aria-label="{4}">{5}</button>'
        '<div class="b-pop" id="{0}w" popover role="note"><b>{1}</b>{6}</div></div>',
        view.id,
        title,
        html(' data-state="{}"', state) if state else "",
        body,
        _("Whose card this is"),
        icon("card"),
        note,
        trusted(' tabindex="-1"') if aim else "",
    )


@stored
@dataclass(slots=True)
class Card(PartView):
    """A live surface. ``updated`` is when the agent changed it last; ``ended``: its turn broke off after that."""

    kind = "card"

    actor: str
    surface_id: str
    at: str
    updated: str = ""
    closed: bool = False
    ended: bool = False

    @property
    def fixed(self) -> bool:
        return self.closed

    @property
    def settled(self) -> bool:
        return self.closed

    def keys(self) -> tuple[Key, ...]:
        return () if self.closed else (("card", self.actor, self.surface_id),)

    def note(self, render: RenderContext) -> SafeString:
        if self.closed:
            said = html(_("Closed {}"), render.page.clock(self.updated or self.at))
        elif self.updated:
            said = html(_("Updated {}"), render.page.clock(self.updated))
        else:
            said = html(_("Shown {}"), render.page.clock(self.at))
        return html('<span id="{}n">{}</span>', self.id, said)

    def rest(self) -> SafeString:
        """What is said of components that did not come; the stylesheet shows it where some are missing."""
        said = _("The rest of this card did not arrive.") if self.ended else ""
        return html('<p class="b-cut b-surface__rest" id="{}r">{}</p>', self.id, said)

    def html(self, render: RenderContext) -> SafeString:
        if self.closed:
            body = html('<p class="a2-text">{}</p>', _("This card was closed."))
            return frame(self, render, self.actor, note=self.note(render), body=body, state="closed")
        body = html("{}{}", trusted(render.draw(self.actor, self.surface_id)), self.rest())
        return frame(self, render, self.actor, note=self.note(render), body=body)


@stored
@dataclass
class Unshown(PartView):
    """What stands in for a card of which nothing could be applied."""

    kind = "unshown"

    actor: str
    at: str
    code: str = ""

    def html(self, render: RenderContext) -> SafeString:
        name = render.page.name(self.actor)
        body = html(
            '<div class="a2-fallback">{}<b>{}</b><p class="a2-text">{}</p>{}</div>',
            icon("card"),
            _("This card couldn’t be shown"),
            text(_("{} has been told and may send it again.").format(name)),
            details(self.code) if self.code else "",
        )
        return frame(self, render, self.actor, note=shown(render, self.at), body=body)


def shown(render: RenderContext, at: str) -> SafeString:
    """The note of a card that does not change."""
    return html("<span>{}</span>", html(_("Shown {}"), render.page.clock(at)))


def changed(context: RowContext, changes: Sequence[SurfaceChange]) -> None:
    """What the engine says that this row did to surfaces, whichever kind of row it is."""
    for change in changes:
        if change.owner == RUNTIME and approval_of(change.surface_id):
            # This question has a card of the page's own.
            continue
        card = _open_card(context, change.owner, change.surface_id)
        if change.kind == "created":
            if card is not None:
                _close(context, card)
            made = Card(context.new_id(), change.owner, change.surface_id, context.at)
            context.model.add(context.segment(), made)
        elif card is None:
            continue
        elif change.kind == "deleted":
            _close(context, card)
        else:
            for op in change.ops:
                context.model.op(op)
            if context.row.kind != "part":
                continue
            if card.ended:
                card.ended = False
                context.model.op(ops.replace(f"{card.id}r", card.rest()))
            if card.updated != context.at:
                card.updated = context.at
                context.model.op(ops.replace(f"{card.id}n", card.note(context.render)))


def end(context: RowContext, turn: int, owner: str = "") -> None:
    """The turn broke off, or an actor that was asked in it, ``owner``: what its cards still wait for does not come."""
    for card in context.model.of_turn(turn, Card):
        if not card.closed and not card.ended and owner in ("", card.actor):
            card.ended = True
            context.model.op(ops.replace(f"{card.id}r", card.rest()))


def show(context: RowContext) -> list[Card]:
    """An a2ui-surface part: the changes have said what it did; what did nothing is said to have done nothing. Returns
    the cards of it that there are now."""
    named, harmless = _named(context.data)
    cards = [card for name in sorted(named) if (card := _open_card(context, context.row.actor, name))]
    if cards or context.changes or harmless or context.row.actor == RUNTIME:
        return cards
    context.model.add(
        context.segment(), Unshown(context.new_id(), context.row.actor, context.at, "invalid_surface")
    )
    return []


def _named(data: Json) -> tuple[set[str], bool]:
    """The surfaces that a part speaks of, and whether it only takes some away (which may find nothing, D32)."""
    try:
        messages = messages_of(data)
    except ValidationFailed:
        return set(), False
    named: set[str] = set()
    for message in messages:
        for verb, body in message.items():
            if isinstance(body, dict) and isinstance(body.get("surfaceId"), str) and verb != "deleteSurface":
                named.add(body["surfaceId"])
    return named, bool(messages) and all("deleteSurface" in message for message in messages)


def _open_card(context: RowContext, owner: str, surface_id: str) -> Card | None:
    return next(iter(context.model.found(("card", owner, surface_id), Card)), None)


def _close(context: RowContext, card: Card) -> None:
    card.closed = True
    card.updated = context.at
    context.model.touch(card)

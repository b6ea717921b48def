"""The frame round an A2UI surface. The frame is the runtime's and says whose card it is; the inside is the agent's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from envelopes.delivery.panel.markup import SafeString, html, icon, text, trusted
from envelopes.delivery.panel.questions import details
from envelopes.delivery.panel.view import Brush, View
from envelopes.errors import ValidationFailed
from envelopes.protocol.surfaces import messages_of
from envelopes.types import Json

if TYPE_CHECKING:
    from a2ui import SurfaceChange
    from envelopes.delivery.panel.scene import Scene


def frame(
    view: View, brush: Brush, actor: str, *, note: object, body: object, state: str = "", data: bool = False
) -> SafeString:
    """The box that every card of an agent stands in. Attribution never comes from the agent."""
    name = text(brush.context.name(actor))
    title = _("Data from {}") if data else _("Card from {}")
    return html(
        '<div class="b-surface" id="{}" role="group" aria-label="{}"{}>'
        '<header class="b-surface__head">{}<span>{}</span><span class="b-surface__note" id="{}n">{}</span></header>'
        '<div class="b-surface__body">{}</div></div>',
        view.id,
        html(title, name),
        html(' data-state="{}"', state) if state else "",
        icon("card"),
        html(title, html('<span class="b-surface__by">{}</span>', name)),
        view.id,
        note,
        body,
    )


@dataclass
class Card(View):
    """A live surface. ``updated`` is when the agent changed it last."""

    kind = "card"

    actor: str
    surface_id: str
    at: str
    updated: str = ""
    closed: bool = False

    def note(self, brush: Brush) -> SafeString:
        if self.closed:
            return html("<span>{}</span>", html(_("Closed {}"), brush.context.clock(self.updated or self.at)))
        if self.updated:
            return html("<span>{}</span>", html(_("Updated {}"), brush.context.clock(self.updated)))
        return brush.context.clock(self.at)

    def html(self, brush: Brush) -> SafeString:
        if self.closed:
            body = html('<p class="a2-text">{}</p>', _("This card was closed."))
            return frame(self, brush, self.actor, note=self.note(brush), body=body, state="closed")
        body = trusted(brush.draw(self.actor, self.surface_id))
        return frame(self, brush, self.actor, note=self.note(brush), body=body)


@dataclass
class Unshown(View):
    """What stands in for a card of which nothing could be applied."""

    kind = "unshown"

    actor: str
    at: str
    code: str = ""

    def html(self, brush: Brush) -> SafeString:
        name = brush.context.name(self.actor)
        body = html(
            '<div class="a2-fallback">{}<b>{}</b><p class="a2-text">{}</p>{}</div>',
            icon("card"),
            _("This card couldn’t be shown"),
            text(_("{} has been told and may send it again.").format(name)),
            details(self.code) if self.code else "",
        )
        return frame(self, brush, self.actor, note=brush.context.clock(self.at), body=body)


def changed(scene: Scene, changes: Sequence[SurfaceChange]) -> None:
    """What the engine says that this row did to surfaces, whichever kind of row it is."""
    for change in changes:
        card = _open_card(scene, change.owner, change.surface_id)
        if change.kind == "created":
            if card is not None:
                _close(scene, card)
            if scene.may_show:
                scene.canvas.add(
                    scene.segment(), Card(scene.new_id(), change.owner, change.surface_id, scene.at)
                )
        elif card is None:
            continue
        elif change.kind == "deleted":
            _close(scene, card)
        else:
            for op in change.ops:
                scene.canvas.op(*op)
            if scene.row.kind == "part" and card.updated != scene.at:
                card.updated = scene.at
                scene.canvas.op("r", f"{card.id}n", _note(scene, card))


def show(scene: Scene) -> None:
    """An a2ui-surface part: the changes have said what it did; what did nothing is said to have done nothing."""
    slot = scene.slot()
    if slot not in scene.turn.shown:
        scene.turn.shown.append(slot)
    if scene.changes:
        return
    named, harmless = _named(scene.data)
    if harmless or any(_open_card(scene, scene.row.actor, name) for name in named):
        return
    scene.canvas.add(scene.segment(), Unshown(scene.new_id(), scene.row.actor, scene.at, "invalid_surface"))


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


def _open_card(scene: Scene, owner: str, surface_id: str) -> Card | None:
    for card in scene.canvas.each(Card):
        if not card.closed and (card.actor, card.surface_id) == (owner, surface_id):
            return card
    return None


def _close(scene: Scene, card: Card) -> None:
    card.closed = True
    card.updated = scene.at
    scene.canvas.touch(card)


def _note(scene: Scene, card: Card) -> SafeString:
    return html('<span class="b-surface__note" id="{}n">{}</span>', card.id, card.note(scene.brush))

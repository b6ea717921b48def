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
    """The box that every card of an agent stands in.

    Whose it is, the runtime says: in the name of the group, and to whoever asks with the button on its edge, which no
    content of a card can reach. ``note`` stands there too.
    """
    name = text(brush.context.name(actor))
    title = html(_("Data from {}") if data else _("Card from {}"), name)
    return html(
        '<div class="b-surface" id="{0}" role="group" aria-label="{1}"{2}><div class="b-surface__body">{3}</div>'
        '<button class="b-surface__who" type="button" popovertarget="{0}w" aria-label="{4}">{5}</button>'
        '<div class="b-pop" id="{0}w" popover role="note"><b>{1}</b>{6}</div></div>',
        view.id,
        title,
        html(' data-state="{}"', state) if state else "",
        body,
        _("Whose card this is"),
        icon("card"),
        note,
    )


@dataclass
class Card(View):
    """A live surface. ``updated`` is when the agent changed it last; ``ended``: its turn broke off after that."""

    kind = "card"

    actor: str
    surface_id: str
    at: str
    updated: str = ""
    closed: bool = False
    ended: bool = False

    def note(self, brush: Brush) -> SafeString:
        if self.closed:
            said = html(_("Closed {}"), brush.context.clock(self.updated or self.at))
        elif self.updated:
            said = html(_("Updated {}"), brush.context.clock(self.updated))
        else:
            said = html(_("Shown {}"), brush.context.clock(self.at))
        return html('<span id="{}n">{}</span>', self.id, said)

    def rest(self) -> SafeString:
        """What is said of components that did not come; the stylesheet shows it where some are missing."""
        said = _("The rest of this card did not arrive.") if self.ended else ""
        return html('<p class="b-cut b-surface__rest" id="{}r">{}</p>', self.id, said)

    def html(self, brush: Brush) -> SafeString:
        if self.closed:
            body = html('<p class="a2-text">{}</p>', _("This card was closed."))
            return frame(self, brush, self.actor, note=self.note(brush), body=body, state="closed")
        body = html("{}{}", trusted(brush.draw(self.actor, self.surface_id)), self.rest())
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
        return frame(self, brush, self.actor, note=shown(brush, self.at), body=body)


def shown(brush: Brush, at: str) -> SafeString:
    """The note of a card that does not change."""
    return html("<span>{}</span>", html(_("Shown {}"), brush.context.clock(at)))


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
            if scene.row.kind != "part":
                continue
            if card.ended:
                card.ended = False
                scene.canvas.op("r", f"{card.id}r", card.rest())
            if card.updated != scene.at:
                card.updated = scene.at
                scene.canvas.op("r", f"{card.id}n", card.note(scene.brush))


def end(scene: Scene, turn: int) -> None:
    """The turn broke off: what its cards still wait for does not come."""
    for card in scene.canvas.each(Card):
        home = scene.canvas.home(card)
        if home is not None and home.turn == turn and not card.closed and not card.ended:
            card.ended = True
            scene.canvas.op("r", f"{card.id}r", card.rest())


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

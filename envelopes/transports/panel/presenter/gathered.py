"""An agent's data in the thread: drawn as soon as it is there, one card a slot (D11, seed 001 "Slot keys and merge
strategy").

What comes for a slot later is merged into the card that stands already, where it stands, and the turn that brings it
has a line that leads there. A card of the agent's own for that data takes the place of the generic one, which is kept
out of sight: what comes later is merged into what it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from envelopes.markup.html import NOTHING, SafeString, html, icon, text
from envelopes.protocol.encoding import encoded
from envelopes.protocol.slots import key_of, update_of
from envelopes.registries.turn_states import emits_envelope
from envelopes.transports.panel.presenter import surface
from envelopes.transports.panel.presenter.citations import Data, Marked, Marks, bind, kept, marked_in
from envelopes.transports.panel.presenter.data import Sheet
from envelopes.transports.panel.presenter.part_view import Key, PartView, RenderContext, stored
from envelopes.types import Json, JsonObject

if TYPE_CHECKING:
    from envelopes.protocol.merging import Update
    from envelopes.transports.panel.presenter.row import RowContext

OPEN_CARDS = 32
"""So many slots of a conversation are brought up to date in their place: those that changed last."""

LONGEST = 256 * 1024
"""Bytes of JSON up to which a card takes in more."""

OPEN: Key = ("gathered",)


@stored
@dataclass
class SlotCard(Marked):
    """Data of one slot. ``key``: what later data must have to join it, empty where none does; ``slot``: how its parts
    name it; ``turn``: the first of the turns that it is from, ``seq`` the row that changed it last, at ``updated``.
    ``covered``: a card of the agent shows it; ``waits``: the turn that may still bring one, 0 for none;
    ``bared``: the turn that has brought data and none. ``cut``: later data for it is in another card. ``cites``: the
    marks of sources at its values; ``changed``: the turn that changed it last, whose citations may mean it."""

    kind = "gathered"

    actor: str
    at: str
    turn: int
    seq: int
    data: Json
    slot: str = ""
    key: list[str] = field(default_factory=list)
    updated: str = ""
    covered: bool = False
    waits: int = 0
    bared: int = 0
    cut: bool = False
    cites: list[JsonObject] = field(default_factory=list)
    changed: int = 0

    @property
    def settled(self) -> bool:
        return not self.key and not self.waits

    def keys(self) -> tuple[Key, ...]:
        waiting = (waiting_in(self.waits),) if self.waits else ()
        marked = (marked_in(self.changed),)
        return (
            (tuple(self.key), of_turn(self.turn), OPEN, *waiting, *marked)
            if self.key
            else (*waiting, *marked)
        )

    def html(self, render: RenderContext) -> SafeString:
        if self.covered:
            return html('<div id="{}" hidden></div>', self.id)
        said = _("Later data stands in a card of its own.") if self.cut else ""
        body = html(
            '<div class="a2-col">{}{}</div>',
            Sheet(Marks(self.cites)).value(self.data, 0),
            html('<p class="b-cut">{}</p>', said) if said else NOTHING,
        )
        note = surface.shown(render, self.at)
        if self.updated:
            note = html("<span>{}</span>", html(_("Updated {}"), render.page.clock(self.updated)))
        return surface.frame(self, render, self.actor, note=note, body=body, data=True, aim=True)


@stored
@dataclass
class UpdatedLine(PartView):
    """What a turn says whose data is in a card further up: ``card`` is its DOM id."""

    kind = "updated"

    turn: int
    card: str
    slot: str

    def keys(self) -> tuple[Key, ...]:
        return (about(self.turn, self.card),)

    def html(self, render: RenderContext) -> SafeString:
        link = html('<a href="#{}">{}</a>', self.card, text(self.slot))
        return html(
            '<p class="b-ack" id="{}">{}<span dir="auto">{}</span></p>',
            self.id,
            icon("up", "b-icon--s"),
            html(_("Updated further up: {}"), link),
        )


def of_turn(turn: int) -> Key:
    """The key of the cards that are from this turn."""
    return ("gathered", str(turn))


def waiting_in(turn: int) -> Key:
    """The key of the cards that wait for one of the agent's own in this turn."""
    return ("waits", str(turn))


def about(turn: int, card: str) -> Key:
    """The key of what a turn says about a card in an earlier one."""
    return ("updated", str(turn), card)


def gather(context: RowContext) -> None:
    """A part that holds data."""
    update = update_of(context.part)
    if update is None:
        return
    first = context.turn.first
    key = key_of(context.metadata, first)
    covered = context.row.data.get("drawn") is True or _is_covered(context, context.slot())
    waits = context.turn.number if context.row.data.get("ownCard") is True and not covered else 0
    card = next(iter(context.model.found(key, SlotCard)), None) if key is not None else None
    if card is None or not _take(context, card, update):
        card = _begin(context, update, key, covered=covered, waits=waits)
    elif card.covered and waits:
        card.waits = waits
        context.model.settle(card)
    elif not covered:
        _uncover(context, card)
    elif not card.covered:
        card.covered = True
        context.model.touch(card)
    bind(context, [Data(card.slot, card.data, card)])


def _is_covered(context: RowContext, slot: str) -> bool:
    return slot in context.turn.shown or "" in context.turn.shown


def _uncover(context: RowContext, card: SlotCard) -> None:
    """It is to be seen; from another turn there is a line that leads there."""
    if card.covered:
        card.covered, card.bared = False, context.turn.number
        context.model.touch(card)
    if card.turn != context.turn.first:
        _refer(context, card.id, card.slot)


def stop(context: RowContext) -> None:
    """The turn has stopped: what has waited in vain for a card of the agent's is drawn, below what was said."""
    for card in context.model.found(waiting_in(context.turn.number), SlotCard):
        card.waits = 0
        context.model.settle(card)
        if _is_covered(context, card.slot):
            continue
        if card.turn == context.turn.first:
            card.covered = False
            context.model.drop(card)
            context.model.add(context.segment(), card)
        else:
            _uncover(context, card)


def _take(context: RowContext, card: SlotCard, update: Update) -> bool:
    """Merge ``update`` into what a card holds. False where it has become too much: then nothing joins it any more."""
    data = update.of(card.data)
    if update.strategy != "replace" and len(encoded(data)) > LONGEST:
        _close(context, card)
        return False
    card.seq = context.row.seq
    if card.changed != context.turn.number:
        card.changed = context.turn.number
        context.model.settle(card)
    if data != card.data:
        card.cites = kept(card.cites, card.data, data)
        card.data, card.updated = data, context.at
        context.model.touch(card)
    return True


def _begin(context: RowContext, update: Update, key: Key | None, *, covered: bool, waits: int) -> SlotCard:
    open_cards = context.model.found(OPEN, SlotCard)
    if key is not None and len(open_cards) >= OPEN_CARDS:
        _close(context, min(open_cards, key=lambda card: card.seq))
    card = SlotCard(
        context.new_id(),
        context.row.actor,
        context.at,
        context.turn.first,
        context.row.seq,
        update.data,
        context.slot(),
        list(key or ()),
        covered=covered or bool(waits),
        waits=waits,
        changed=context.turn.number,
    )
    context.model.add(context.segment(), card)
    return card


def _close(context: RowContext, card: SlotCard) -> None:
    """Nothing joins a card any more, though more may come."""
    card.key, card.cut = [], True
    context.model.touch(card)


def _refer(context: RowContext, card_id: str, slot: str) -> None:
    """A line in this turn about a card in an earlier one, once."""
    turn = context.row.turn
    if not context.model.found(about(turn, card_id), UpdatedLine):
        context.model.add(context.segment(), UpdatedLine(context.new_id(), turn, card_id, slot))


def show_surface(context: RowContext) -> None:
    """An a2ui-surface part. Where there is a card of it now, that shows what this turn has of its slot, of everything
    where it names none: the generic view of it goes. Data that an earlier turn has shown stays, as it is by now."""
    slot, turn = context.slot(), context.turn
    cards = surface.show(context)
    # One that comes late finds the turn as it was shown, and it may not be kept here any more.
    if not cards or turn.status == "settled":
        return
    if slot not in turn.shown:
        turn.shown += (slot,)
        _cover(context, slot)
    for card in cards if context.metadata.get("slotKey") else ():
        home = context.model.home(card)
        if home is None or home.turn != context.row.turn:
            _refer(context, card.id, slot)


def _cover(context: RowContext, slot: str) -> None:
    for view in context.model.of_turn(context.row.turn, PartView):
        if isinstance(view, SlotCard) and not view.covered and slot in ("", view.slot):
            view.covered = True
            context.model.touch(view)
        elif isinstance(view, UpdatedLine) and slot in ("", view.slot):
            context.model.drop(view)
    for card in context.model.found(("slot", slot), SlotCard):
        if card.bared == context.turn.number:
            card.covered = True
            context.model.touch(card)


def close(context: RowContext, turn_state: str) -> None:
    """The turn has settled: what is for it alone changes no more, unless another goes on with it."""
    if not emits_envelope(turn_state):
        return
    for card in context.model.found(of_turn(context.turn.first), SlotCard):
        if card.key[0] != "slot":
            card.key = []
            context.model.settle(card)

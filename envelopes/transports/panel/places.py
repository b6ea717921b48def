"""Where something stands: the block with a row or a DOM id in it, for links that lead there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from envelopes.errors import NotFound
from envelopes.models import Event, Session
from envelopes.session_state import PresentedSession, frozen
from envelopes.transports.panel.presenter.blocks import Segment
from envelopes.transports.panel.presenter.model import Standing, block_of
from envelopes.transports.panel.presenter.panel import thread_of
from envelopes.transports.panel.presenter.part_view import PartView
from envelopes.transports.panel.presenter.window import views_in
from envelopes.transports.panel.transport import PANEL

NEAR = 16
"""Blocks before a row among which the one is looked for that shows it."""

_OF_ROW = re.compile(r"[dew]?(\d{1,15})(?:[-a-z].*)?")
_OF_TURN = re.compile(r"t(\d{1,9})-\d+")


@dataclass(frozen=True)
class Place:
    """``number`` of the block, None where a page has it at first; ``anchor``: the DOM id to scroll to."""

    number: int | None
    anchor: str


def place_of(shown: PresentedSession, session: Session, target: str) -> Place:
    """Where ``target`` stands: a row's number, or the DOM id of a block or of a part. A row that shows nothing by
    itself stands where its turn does. Raises ``NotFound``.
    """
    model = thread_of(shown).model
    if target in model.afar:
        return Place(model.afar[target], target)
    if model.find(target, PartView) is not None:
        return Place(None, target)
    if _OF_TURN.fullmatch(target):
        found = frozen.with_id(session.pk, PANEL, target)
        pending = (each for each in model.frozen.values() if each.data and each.data["id"] == target)
        found = found or next(pending, None)
        if found is None:
            raise NotFound
        return Place(found.number, target)
    row = _OF_ROW.fullmatch(target)
    turn = (
        row and Event.objects.filter(session=session, seq=int(row[1])).values_list("turn", flat=True).first()
    )
    if row is None or turn is None:
        raise NotFound
    return _nearest(shown, int(row[1]), turn, target if not target.isdecimal() else f"e{target}")


def _nearest(shown: PresentedSession, seq: int, turn: int, wanted: str) -> Place:
    near = [(number, block) for number, block in _upto(shown, seq) if block.seq <= seq][:NEAR]
    for number, block in near:
        if wanted in (view.id for view in views_in(block)):
            return Place(number, wanted)
    of_turn = ((number, block) for number, block in near if isinstance(block, Segment) and block.turn == turn)
    for number, block in chain(of_turn, near):
        return Place(number, block.id)
    raise NotFound


def _upto(shown: PresentedSession, seq: int) -> Iterator[tuple[int | None, Standing]]:
    """Blocks with their numbers, newest first, from where row ``seq`` may stand on."""
    model = thread_of(shown).model
    for block in reversed(model.blocks):
        yield None, block
    for block in reversed(model.held.values()):
        yield None, block
    pending = [each for each in model.frozen.values() if not each.name]
    stored = frozen.upto_row(shown.state.session_pk, PANEL, seq, NEAR)
    for each in sorted(
        {each.number: each for each in (*stored, *pending)}.values(), key=lambda each: -each.number
    ):
        if each.data is not None:
            yield each.number, block_of(each.data)

"""A turn that stops for a while, or goes on further down: what moved in it folds, where it stands."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from a2ui import ops
from envelopes.transports.panel.presenter import activity, gathered
from envelopes.transports.panel.presenter.blocks import Me, Segment
from envelopes.transports.panel.presenter.prose import Stopped

if TYPE_CHECKING:
    from envelopes.transports.panel.presenter.row import RowContext, TurnMemory


def pause(context: RowContext) -> None:
    """The turn runs no longer: its live lines fold, streamed text that is left goes, an empty segment goes too."""
    turn = context.turn
    gathered.stop(context)
    ran = _seconds(turn.since, context.at)
    turn.since = ""
    _fold(context, turn, ran)


def go_on_below(context: RowContext) -> None:
    """A message was read by the turn that was at work when it came (D66): what that says from here on stands below."""
    model, thread = context.model, context.thread
    turn = thread.turn(int(context.row.data["joined"]), context.row.actor)
    if turn.status != "running":
        # Staff answer together what waits; nobody is at work on it.
        return
    row = context.row.data.get("message")
    for block in reversed(model.blocks):
        if isinstance(block, Me) and block.seq == row:
            block.joined = True
            model.touch(block)
            break
    last = model.blocks[-1] if model.blocks else None
    if not (isinstance(last, Segment) and last.turn == turn.number):
        # Whoever was speaking there goes on.
        segments = model.segments_of(turn.number)
        speaker = segments[-1].actor if segments else turn.actor
        activity.begin(context, speak_below(context, turn, speaker))


def speak_below(context: RowContext, turn: TurnMemory, actor: str) -> Segment:
    """``actor`` is at work in ``turn`` from here on, under its own name: what moved above folds."""
    _fold(context, turn, 0.0, goes_on=True)
    return context.thread.open_segment(context, turn, actor)


def stopped_in(context: RowContext) -> Segment:
    """Where a turn that was at work says that it was stopped: where it was writing, though what waited in line behind
    it has been stopped before."""
    model, turn = context.model, context.turn
    for segment in reversed(model.segments) if turn.status == "running" else ():
        if segment.turn == turn.number and not any(segment is each for each in model.held.values()):
            return segment
        if not all(isinstance(view, Stopped) for view in segment.parts):
            break
    return context.segment()


def _fold(context: RowContext, turn: TurnMemory, ran: float, *, goes_on: bool = False) -> None:
    model = context.model
    for segment in model.segments_of(turn.number):
        if activity.is_open(segment):
            activity.fold(context, segment, ran, goes_on=goes_on)
            ran = 0.0
        if segment.parts:
            model.op(ops.text(segment.zone_id, ""))
        else:
            model.drop(segment)


def _seconds(since: str, until: str) -> float:
    if not since:
        return 0.0
    return max(0.0, (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds())

"""The thread: rows in, operations out, and the conversation as HTML at any time.

A pure function of rows (and of the surfaces that the same rows made): two processes that read the same log hold the
same thread with the same DOM ids, and what the operations built is what ``html()`` draws.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from a2ui import ops
from a2ui.ops import Op
from envelopes.errors import BeachError
from envelopes.markup.context import PageContext, speaking
from envelopes.protocol.rows import Row
from envelopes.protocol.text import shorten
from envelopes.protocol.titles import title_of
from envelopes.registries.part_types import part_types
from envelopes.transports.panel.presenter import (
    activity,
    artifact,
    decisions,
    drawing,
    gathered,
    pausing,
    progress,
    prose,
    questions,
    staff,
    surface,
    window,
)
from envelopes.transports.panel.presenter.blocks import Click, Day, Me, Segment
from envelopes.transports.panel.presenter.enclosed import enclosed
from envelopes.transports.panel.presenter.model import Standing, ThreadModel
from envelopes.transports.panel.presenter.part_view import RenderContext
from envelopes.transports.panel.presenter.row import RowContext, TurnMemory
from envelopes.transports.panel.presenter.streamed import live_id
from envelopes.transports.panel.presenter.working import Working
from envelopes.transports.panel.reader import gets
from envelopes.types import Json

if TYPE_CHECKING:
    from a2ui import SurfaceChange, SurfaceSet

__all__ = ["PageContext", "Thread"]
DEFAULT_WINDOW = 100


class Outdated(BeachError):
    """What made a snapshot is not what is registered now: the thread has to be made from the log again."""

    code = "snapshot_outdated"
    fault = "configuration"


class Thread:
    """``model`` is the view model; everything else is what later rows need to know. ``rows``: at least so many rows are
    in the window; of those before them, only what may still change is kept here."""

    def __init__(self, page: PageContext, rows: int = DEFAULT_WINDOW) -> None:
        self.page, self.rows = page, rows
        self.model = ThreadModel()
        self.title = ""
        self._turns: dict[int, TurnMemory] = {}
        self._forgotten = 0
        self.working = Working()
        self._day = ""
        self._asked = ""
        # Who has drawn the part types of applications.
        self._drawn: dict[str, str] = {}

    # -- for the world ------------------------------------------------------------------------------------------------

    def apply(self, row: Row, changes: Sequence[SurfaceChange]) -> list[Op]:
        """Take in the next row, with what it did to the surfaces. Returns the operations for pages that show the rows
        before it; empty when it shows nothing."""
        context = RowContext(self, row, changes)
        with speaking(self.page.language):
            handler = _KINDS.get(row.kind)
            if handler is not None and row.audience == "delivered":
                handler(self, context)
            if row.kind != "part":
                surface.changed(context, changes)
            ops = self.model.take(context.render)
        if window.slide(self.model, row.seq, self.rows, self._goes_on):
            self._forget_turns()
        return ops

    def html(self, surfaces: SurfaceSet, more: Mapping[int, Standing] | None = None) -> str:
        """The window, what is held before it, and ``more`` of the blocks before, to stand before the tail element."""
        with speaking(self.page.language):
            return window.whole(self.model, self.rendering(surfaces), more or {})

    def html_of(self, surfaces: SurfaceSet, blocks: Mapping[int, Standing]) -> str:
        """These blocks alone."""
        with speaking(self.page.language):
            return window.only(blocks, self.rendering(surfaces))

    def gap(self, above: int, below: int, follows: str, name: int) -> str:
        """What stands for the blocks between two numbers, as ``window.gap`` says it."""
        with speaking(self.page.language):
            return window.gap(above, below, follows, name)

    def rendering(self, surfaces: SurfaceSet) -> RenderContext:
        def draw(owner: str, surface_id: str) -> str:
            found = surfaces.get(owner, surface_id)
            return found.html() if found is not None else ""

        return RenderContext(self.page, draw)

    @property
    def busy(self) -> bool:
        """Whether an agent is at work, or will be without anybody doing anything."""
        return bool(self.working)

    def container(self, turn: int) -> str | None:
        """The DOM id of the element that streamed text of this turn goes into; None before the turn has begun."""
        segments = self.model.segments_of(turn)
        return segments[-1].parts_id if segments else None

    def snapshot(self) -> Json:
        return copy.deepcopy(
            {
                "title": self.title,
                "day": self._day,
                "asked": self._asked,
                "forgotten": self._forgotten,
                "drawn": self._drawn,
                "taken": self.working.taken,
                "turns": [turn.dump() for turn in self._turns.values()],
                "model": self.model.dump(),
            }
        )

    @classmethod
    def restore(cls, page: PageContext, snapshot: Json, rows: int = DEFAULT_WINDOW) -> Thread:
        """Raises ``Outdated`` where the same rows would not make the same thread by now."""
        thread = cls(page, rows)
        kept = copy.deepcopy(snapshot)
        if others := drawing.drawn_otherwise(kept["drawn"]):
            raise Outdated(f"Others draw {', '.join(others)} by now.")
        thread._drawn = kept["drawn"]
        thread.title = kept["title"]
        thread._day = kept["day"]
        thread._asked = kept["asked"]
        thread._forgotten = kept["forgotten"]
        thread._turns = {turn["number"]: TurnMemory(**turn) for turn in kept["turns"]}
        thread.working = Working(thread._turns.values(), taken=kept["taken"])
        thread.model = ThreadModel.load(kept["model"])
        if thread.model.has_gone:
            raise Outdated("The code of some of its views is gone.")
        return thread

    # -- for the drawers ----------------------------------------------------------------------------------------------

    def turn(self, number: int, actor: str) -> TurnMemory:
        if number not in self._turns:
            if number and number <= self._forgotten:
                return TurnMemory(number, actor, status="settled")
            self._turns[number] = TurnMemory(number, actor, asked=self._asked)
        return self._turns[number]

    def _goes_on(self, turn: int) -> bool:
        return turn in self._turns and self._turns[turn].status != "settled"

    def _forget_turns(self) -> None:
        """Turns that have settled are forgotten with all that they said, and those before them that said nothing: rows
        begin turns in the order of their numbers, so it is known of each."""
        shown = {segment.turn for segment in self.model.segments}
        last = max(shown, default=max(self._turns, default=0))
        silent = [each for each in self._turns if 0 < each < last and each not in shown]
        for number in [each for each in silent if not self._goes_on(each)]:
            del self._turns[number]
            self._forgotten = max(self._forgotten, number)

    def segment(self, context: RowContext) -> Segment:
        """Where the next part of the row's turn goes: its last segment, or a new one when another turn has begun below.

        Messages and clicks below do not count: what waits in line stays below the answer that is being written.
        """
        number, turn = context.row.turn, context.turn
        actor = context.row.actor or turn.actor
        if (last := self.model.last(number)) is not None and not (turn.aside and turn.status == "running"):
            if not turn.speakers or last.actor == actor or actor not in (turn.actor, *turn.speakers):
                return last
            return pausing.speak_below(context, turn, actor)
        turn.aside = False
        return self.open_segment(context, turn, actor)

    def open_segment(self, context: RowContext, turn: TurnMemory, actor: str) -> Segment:
        """A new stretch of ``turn``, at the end."""
        self.new_day(context)
        # Of a turn that has settled it may not be known by now how many it has.
        which = context.row.seq if turn.status == "settled" else turn.segments
        made = Segment(f"t{turn.number}-{which}", turn.number, actor, context.at, seq=context.row.seq)
        turn.segments += 1
        self.model.open(made)
        return made

    def new_day(self, context: RowContext) -> None:
        day = self.page.day(context.at)
        if day != self._day:
            self._day = day
            self.model.open(Day(f"d{context.row.seq}", day, seq=context.row.seq))

    # -- kinds of rows ------------------------------------------------------------------------------------------------

    def _message(self, context: RowContext) -> None:
        words = str(context.row.data.get("text") or "")
        questions.answered(context, words)
        self.new_day(context)
        mid = context.row.data.get("id")
        mid = mid if isinstance(mid, str) else ""
        came = list(enclosed(context))
        self.model.open(Me(context.new_id(), words, context.at, mid, came, seq=context.row.seq))
        self._asked = words
        if not self.title:
            self.title = title_of(words)
            self.model.op(ops.text("title", self.title))
            self.model.op(ops.text("side-title", self.title))
            self.model.op(ops.text("tab", f"{self.title} · Beach"))

    def _action(self, context: RowContext) -> None:
        self.new_day(context)
        label = shorten(str(context.row.data.get("label") or ""), 120)
        self.model.open(Click(context.new_id(), label, context.at, seq=context.row.seq))
        self._asked = ""

    def _turn(self, context: RowContext) -> None:
        turn = context.turn
        status = str(context.row.data.get("status") or "")
        if turn.status == "settled":
            return
        if isinstance(before := context.row.data.get("goesOn"), int):
            turn.first = self.turn(before, context.row.actor).first
        if isinstance(asker := context.row.data.get("delegatedFrom"), int):
            # What it says stands in the turn that waits for it, where something moves all the time.
            turn.asker = asker
            self._set_status(turn, status)
            self._anew(context, asker)
            self._speaks(context, self.turn(asker, ""))
            return
        if status in ("running", "waiting"):
            if turn.status not in ("running", "waiting"):
                turn.since = context.at
            self._set_status(turn, status)
            activity.begin(context, context.segment())
            self._anew(context, turn.number)
            activity.tries_again(context)
        else:
            self._set_status(turn, status)
            pausing.pause(context)
            turn.aside = context.row.data.get("reason") == "state" if status == "suspended" else turn.aside

    def _speaks(self, context: RowContext, asker: TurnMemory) -> None:
        """An actor that was asked is at work: what it says stands under its own name."""
        actor = context.row.actor
        if context.turn.status != "running" or actor == asker.actor:
            return
        if actor not in asker.speakers:
            asker.speakers += (actor,)
        last = self.model.last(asker.number)
        if last is None or last.actor != actor:
            last = pausing.speak_below(context, asker, actor)
        activity.begin(context, last)

    def _part(self, context: RowContext) -> None:
        name = context.row.part_type
        if drawing.is_own(name) and name not in self._drawn:
            self._drawn[name] = drawing.drawn_by(name)
        if not gets(part_types.get(name), late=bool(context.row.data.get("late"))):
            # No text of it has streamed here either. A frame of it would be one that no page gets.
            return
        self._remove_streamed([context.row.data.get("live")])
        surface.changed(context, context.changes)
        drawing.draw(context)

    def _withdrawn(self, context: RowContext) -> None:
        self._remove_streamed(context.row.data.get("live") or ())

    def _settled(self, context: RowContext) -> None:
        turn = context.turn
        if turn.status == "settled":
            return
        if "joined" in context.row.data:
            pausing.go_on_below(context)
        elif "delegatedFrom" not in context.row.data:
            self._end(context, turn)
        elif context.row.data.get("finalizedBy") in questions.BROKEN_OFF:
            surface.end(context, turn.asker, turn.actor)
        self._set_status(turn, "settled")

    def _end(self, context: RowContext, turn: TurnMemory) -> None:
        finalized_by = str(context.row.data.get("finalizedBy") or "complete")
        gathered.close(context, str(context.row.data.get("turnState") or ""))
        progress.close(context, finalized_by)
        artifact.end(context, turn.number)
        decisions.close(context, turn.number)
        if finalized_by in questions.BROKEN_OFF:
            surface.end(context, turn.number)
        if finalized_by == "cancelled":
            by = str(context.row.data.get("stoppedBy") or "person")
            self.model.add(pausing.stopped_in(context), prose.Stopped(context.new_id(), by))
        else:
            questions.ended(context, finalized_by)
        pausing.pause(context)

    def _set_status(self, turn: TurnMemory, status: str) -> None:
        turn.status = status
        self.working.take(turn)

    def _anew(self, context: RowContext, turn: int) -> None:
        """What a runner that is gone was writing did not become a part; it is written anew."""
        if context.row.data.get("reason") == "recovered" and (last := self.model.last(turn)) is not None:
            self.model.op(ops.text(last.zone_id, ""))

    def _remove_streamed(self, keys: Iterable[Json]) -> None:
        for key in keys:
            if isinstance(key, str) and (dom_id := live_id(key)):
                self.model.op(ops.remove(dom_id))


_KINDS: dict[str, Callable[[Thread, RowContext], None]] = {
    "message": Thread._message,
    "action": Thread._action,
    "turn": Thread._turn,
    "part": Thread._part,
    "takeover": lambda thread, context: staff.took_over(context, thread.working),
    "withdrawn": Thread._withdrawn,
    "tool": lambda _thread, context: decisions.outcome(context),
    "grant": lambda _thread, context: decisions.granted(context),
    "settled": Thread._settled,
}

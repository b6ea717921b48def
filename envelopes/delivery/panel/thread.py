"""The thread: rows in, operations out, and the whole conversation as HTML at any time.

A pure function of rows (and of the surfaces that the same rows made): two processes that read the same log hold the
same thread with the same DOM ids, and what the operations built is what ``html()`` draws.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.utils import translation
from django.utils.translation import gettext as _

from envelopes.delivery.panel import activity, artifact, data, decisions, progress, prose, questions, surface
from envelopes.delivery.panel.approval import Approval
from envelopes.delivery.panel.blocks import Click, Day, Me, Segment
from envelopes.delivery.panel.canvas import Canvas, Op
from envelopes.delivery.panel.context import ThreadContext
from envelopes.delivery.panel.scene import Scene, Turn
from envelopes.delivery.panel.view import Brush
from envelopes.log.rows import Row
from envelopes.protocol.text import shorten
from envelopes.protocol.titles import title_of
from envelopes.registries.part_types import part_types
from envelopes.types import Json

if TYPE_CHECKING:
    from a2ui import SurfaceChange, SurfaceSet

__all__ = ["Op", "Pending", "Thread", "ThreadContext"]

BUSY = ("running", "queued", "waiting")
BROKEN_OFF = ("cancelled", "error", "timeout")
"""How a turn ends that did not get to say all it had to."""


@dataclass(frozen=True)
class Pending:
    """An approval that waits for a decision."""

    approval_id: str
    question: str
    expires_at: str | None
    dom_id: str


Drawer = Callable[[Scene], None]

DRAWERS: dict[str, Drawer] = {
    "ack": activity.note,
    "thinking": activity.note,
    "response": prose.answer,
    "clarify": questions.ask,
    "error": questions.fail,
    "domain-data": data.hold,
    "a2ui-surface": surface.show,
    "artifact": artifact.keep,
    "citation": prose.cite,
    "progress": progress.advance,
    "approval-request": decisions.request,
    "approval-response": decisions.respond,
}
"""Who draws a part type. A registered type that is not here gets the readable fallback."""

AFTER_SETTLEMENT = ("approval-response",)
"""Part types that speak of something already on the page, whenever they come."""


class Thread:
    """``canvas`` is the view model; everything else is what later rows need to know."""

    def __init__(self, context: ThreadContext) -> None:
        self.context = context
        self.canvas = Canvas()
        self.title = ""
        self._turns: dict[int, Turn] = {}
        self._day = ""
        self._asked = ""

    # -- for the world ------------------------------------------------------------------------------------------------

    def apply(self, row: Row, changes: Sequence[SurfaceChange]) -> list[Op]:
        """Take in the next row, with what it did to the surfaces. Returns the operations for pages that show the rows
        before it; empty when it shows nothing."""
        scene = Scene(self, row, changes)
        with translation.override(self.context.language):
            handler = _KINDS.get(row.kind)
            if handler is not None and row.audience == "delivered":
                handler(self, scene)
            if row.kind != "part":
                surface.changed(scene, changes)
            return self.canvas.take(scene.brush)

    def html(self, surfaces: SurfaceSet) -> str:
        """All blocks, in order, to stand before the tail element."""

        def draw(owner: str, surface_id: str) -> str:
            found = surfaces.get(owner, surface_id)
            return found.html() if found is not None else ""

        with translation.override(self.context.language):
            return self.canvas.html(Brush(self.context, draw))

    @property
    def busy(self) -> bool:
        """Whether an agent is at work, or will be without anybody doing anything."""
        return any(turn.status in BUSY for turn in self._turns.values())

    @property
    def pending(self) -> list[Pending]:
        return [
            Pending(card.approval_id, card.question, card.call.get("expiresAt"), card.id)
            for card in self.canvas.each(Approval)
            if card.state == "pending"
        ]

    def container(self, turn: int) -> str | None:
        """The DOM id of the element that streamed text of this turn goes into; None before the turn has begun."""
        segment = self._last_segment(turn)
        return segment.parts_id if segment else None

    def snapshot(self) -> Json:
        return copy.deepcopy(
            {
                "title": self.title,
                "day": self._day,
                "asked": self._asked,
                "turns": [asdict(turn) for turn in self._turns.values()],
                "blocks": self.canvas.dump(),
            }
        )

    @classmethod
    def restore(cls, context: ThreadContext, snapshot: Json) -> Thread:
        thread = cls(context)
        kept = copy.deepcopy(snapshot)
        thread.title = kept["title"]
        thread._day = kept["day"]
        thread._asked = kept["asked"]
        thread._turns = {turn["number"]: Turn(**turn) for turn in kept["turns"]}
        thread.canvas = Canvas.load(kept["blocks"])
        return thread

    # -- for the drawers ----------------------------------------------------------------------------------------------

    def turn(self, number: int, actor: str) -> Turn:
        if number not in self._turns:
            self._turns[number] = Turn(number, actor, asked=self._asked)
        return self._turns[number]

    def segment(self, scene: Scene) -> Segment:
        """Where the next part of the row's turn goes: its last segment, or a new one when another turn has begun below.

        Messages and clicks below do not count: what waits in line stays below the answer that is being written.
        """
        number = scene.row.turn
        last = self._last_segment(number)
        if last is not None and self._is_lowest(last):
            return last
        turn = scene.turn
        self._new_day(scene)
        made = Segment(f"t{number}-{turn.segments}", number, scene.row.actor or turn.actor, scene.at)
        turn.segments += 1
        self.canvas.open(made)
        return made

    def _last_segment(self, turn: int) -> Segment | None:
        for block in reversed(self.canvas.blocks):
            if isinstance(block, Segment) and block.turn == turn:
                return block
        return None

    def _segments(self, turn: int) -> list[Segment]:
        return [block for block in self.canvas.blocks if isinstance(block, Segment) and block.turn == turn]

    def _is_lowest(self, segment: Segment) -> bool:
        for block in reversed(self.canvas.blocks):
            if isinstance(block, Segment):
                return block is segment
        return False

    def _new_day(self, scene: Scene) -> None:
        day = self.context.day(scene.at)
        if day != self._day:
            self._day = day
            self.canvas.open(Day(f"d{scene.row.seq}", day))

    # -- kinds of rows ------------------------------------------------------------------------------------------------

    def _message(self, scene: Scene) -> None:
        words = str(scene.row.data.get("text") or "")
        questions.answered(scene, words)
        self._new_day(scene)
        mid = scene.row.data.get("id")
        self.canvas.open(Me(scene.new_id(), words, scene.at, mid if isinstance(mid, str) else ""))
        self._asked = words
        if not self.title:
            self.title = title_of(words)
            self.canvas.op("t", "title", self.title)
            self.canvas.op("t", "side-title", self.title)

    def _action(self, scene: Scene) -> None:
        self._new_day(scene)
        label = scene.row.data.get("label")
        self.canvas.open(
            Click(scene.new_id(), shorten(label, 120) if isinstance(label, str) else "", scene.at)
        )
        self._asked = ""

    def _turn(self, scene: Scene) -> None:
        turn = scene.turn
        status = str(scene.row.data.get("status") or "")
        if turn.status == "settled":
            return
        if status in ("running", "waiting"):
            if turn.status not in ("running", "waiting"):
                turn.since = scene.at
            turn.status = status
            segment = scene.segment()
            if scene.row.data.get("reason") == "recovered":
                # What the runner that is gone was writing did not become a part; it is written anew.
                self.canvas.op("t", segment.zone_id, "")
            activity.begin(scene, segment)
        else:
            turn.status = status
            self._pause(scene)
            if status == "suspended":
                data.release(scene)

    def _part(self, scene: Scene) -> None:
        kind = part_types.get(scene.row.part_type)
        live = scene.row.data.get("live")
        if isinstance(live, str) and (dom_id := live_id(live)):
            self.canvas.op("d", dom_id)
        surface.changed(scene, scene.changes)
        if kind is None or not kind.delivered_to_panel:
            return
        if scene.may_show or kind.name in AFTER_SETTLEMENT:
            DRAWERS.get(kind.name, data.strange)(scene)

    def _withdrawn(self, scene: Scene) -> None:
        for key in scene.row.data.get("live") or ():
            if isinstance(key, str) and (dom_id := live_id(key)):
                self.canvas.op("d", dom_id)

    def _tool(self, scene: Scene) -> None:
        decisions.outcome(scene)

    def _settled(self, scene: Scene) -> None:
        turn = scene.turn
        if turn.status == "settled":
            return
        how = str(scene.row.data.get("finalizedBy") or "complete")
        data.release(scene)
        self._close_progress(turn, how)
        decisions.close(scene, turn.number)
        if how in BROKEN_OFF:
            surface.end(scene, turn.number)
        if how == "timeout":
            body = _("The answer was stopped. Try again, or ask for less.")
            questions.broke(scene, title=_("This took too long"), body=body)
        elif how == "error" and not turn.failed:
            body = _("The problem is on our side and has been logged. Your messages are saved.")
            questions.broke(scene, title=_("This answer couldn’t be finished"), body=body)
        elif how == "cancelled":
            self.canvas.add(scene.segment(), prose.Stopped(scene.new_id()))
        self._pause(scene)
        turn.status = "settled"

    # -- pieces of them -----------------------------------------------------------------------------------------------

    def _pause(self, scene: Scene) -> None:
        """The turn runs no longer: its live lines fold, streamed text that is left goes, an empty segment goes too."""
        turn = scene.turn
        ran = _seconds(turn.since, scene.at)
        turn.since = ""
        for segment in self._segments(turn.number):
            if any(isinstance(part, activity.Activity) and part.live for part in segment.parts):
                activity.fold(scene, segment, ran)
                ran = 0.0
            if segment.parts:
                self.canvas.op("t", segment.zone_id, "")
            else:
                self.canvas.drop(segment)

    def _close_progress(self, turn: Turn, how: str) -> None:
        for card_id in turn.cards.values():
            card = self.canvas.find(card_id, progress.Progress)
            if card is not None and not card.settled:
                card.close(how)
                self.canvas.touch(card)


_KINDS: dict[str, Callable[[Thread, Scene], None]] = {
    "message": Thread._message,
    "action": Thread._action,
    "turn": Thread._turn,
    "part": Thread._part,
    "withdrawn": Thread._withdrawn,
    "tool": Thread._tool,
    "settled": Thread._settled,
}


def live_id(key: str) -> str:
    """The DOM id of the bubble that streams under ``key``; empty for a key that cannot be part of an id."""
    return f"v{key}" if key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key) else ""


def _seconds(since: str, until: str) -> float:
    if not since:
        return 0.0
    return max(0.0, (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds())

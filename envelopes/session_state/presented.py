"""A session as one transport presents it: a presenter at a row, and the last frames that it made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from a2ui import SurfaceChange
from envelopes.protocol.bubbles import ENDED, place_of
from envelopes.protocol.rows import Row
from envelopes.registries.transports import Presenter, SeesSurfaces, Transport
from envelopes.session_state.state import SessionState
from envelopes.tracing import is_on

KEPT_FRAMES = 512
KEPT_CHARACTERS = 16_777_216
LARGE_CHARACTERS = 65_536
"""The last so many frames are kept for everybody, while they have so many characters together. Only with one that is
large is that looked at: of others so many have no more than twice that."""

KEPT_ENDS = 64
"""Of how many settled turns it is remembered that their text is over: what still comes of a turn comes at once."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What one row means to a transport, encoded once for everybody who follows it there.

    ``prev`` is the row of the frame before it: whoever has that one misses nothing in between. ``over``: streamed text
    of ``turn`` up to this place is over with it. ``part_type`` ("" for what is no part) and ``late`` are what rules ask
    of it for a single reader. ``at`` is when the row was written, while spans are taken (``tracing``).
    """

    seq: int
    turn: int
    prev: int
    over: tuple[int, ...]
    payload: str
    part_type: str = ""
    late: bool = False
    at: datetime | None = None


class PresentedSession:
    """``presenter`` stands where ``state`` stands; ``sent`` is the row of the last frame.

    ``over``: the place up to which streamed text is over, by turn, of those at work and the last that were settled.
    ``told`` is whatever one reader was told last, kept for others there; gone with the next row, and with frames.
    ``sees_surfaces``: the presenter looks at the surfaces themselves (``SeesSurfaces``).
    Use it within ``LiveSessions.present`` only. Frames are a function of the rows alone, so each process and each
    replay makes the same ones.
    """

    def __init__(
        self, state: SessionState, transport: Transport, presenter: Presenter, *, sent: int = 0
    ) -> None:
        self.transport = transport
        self.presenter = presenter
        self.state = state
        self.sent = sent
        self.frames: list[Frame] = []
        self.kept_frames = KEPT_FRAMES
        self.kept_characters = KEPT_CHARACTERS
        self.over: dict[int, tuple[int, ...]] = {}
        self.told: object = None
        self._ended: list[int] = []

    @property
    def state(self) -> SessionState:
        """The state that it moves with."""
        return self._state

    @state.setter
    def state(self, state: SessionState) -> None:
        self._state = state
        presenter: object = self.presenter
        self.sees_surfaces = isinstance(presenter, SeesSurfaces)
        if isinstance(presenter, SeesSurfaces):
            presenter.see(state.surfaces)

    @property
    def busy(self) -> bool:
        """Whether an agent is at work, or will be without anybody doing anything."""
        return self.presenter.busy

    def place(self, turn: int) -> str | None:
        """Where text that this turn streams belongs now; None as long as there is no place for it."""
        return self.presenter.place(turn)

    def take(self, row: Row, changes: Sequence[SurfaceChange]) -> None:
        """One row, which ``state`` has taken in: one frame, if there is something to send."""
        self.told = None
        payload = self.presenter.apply(row, changes, self.sent)
        over = over_by(row)
        if over:
            self._end(row, over)
        if payload is None:
            return
        late = bool(row.data.get("late"))
        at = row.at if is_on() else None
        self.frames.append(Frame(row.seq, row.turn, self.sent, over, payload, row.part_type, late, at))
        del self.frames[: -self.kept_frames]
        if len(payload) > LARGE_CHARACTERS:
            self._drop_large()
        self.sent = row.seq

    def _drop_large(self) -> None:
        size = 0
        for count, frame in enumerate(reversed(self.frames)):
            size += len(frame.payload)
            if size > self.kept_characters:
                # The newest stays, whatever size it has.
                del self.frames[: -max(1, count)]
                return

    def _end(self, row: Row, over: tuple[int, ...]) -> None:
        self.over[row.turn] = max(over, self.over.get(row.turn, ()))
        if row.kind == "settled":
            self._ended.append(row.turn)
            if len(self._ended) > KEPT_ENDS:
                self.over.pop(self._ended.pop(0), None)

    def keep_frames(self, since: int) -> None:
        """Let go of those up to row ``since``."""
        self.told = None
        self.frames = [frame for frame in self.frames if frame.seq > since]

    def keep_earlier(self, made: Sequence[Frame]) -> None:
        """Keep those of ``made``, which follow one another, that come right before what is kept, as many as there is
        room for: whoever comes next may lack them too."""
        first = self.frames[0].prev if self.frames else self.sent
        earlier = [frame for frame in made if frame.seq <= first]
        room = KEPT_FRAMES - len(self.frames)
        if earlier and earlier[-1].seq == first and room > 0:
            self.frames[:0] = earlier[-room:]
            self._drop_large()

    def frames_after(self, seq: int) -> list[Frame] | None:
        """The frames that follow row ``seq``, or None when they are no longer kept."""
        if seq >= self.sent:
            return []
        following: list[Frame] = []
        for frame in reversed(self.frames):
            if frame.seq <= seq:
                break
            following.append(frame)
        following.reverse()
        return following if following and following[0].prev <= seq else None


def over_by(row: Row) -> tuple[int, ...]:
    """The place up to which streamed text of the row's turn is over with it: text and rows may come by different ways,
    and what comes late must not appear again."""
    match row.kind:
        case "settled":
            return ENDED
        case "turn":
            attempt = row.data.get("attempt")
            if not isinstance(attempt, int):
                return ()
            return (attempt,) if row.data.get("status") in ("queued", "running") else (attempt + 1,)
        case "part" | "withdrawn":
            live = row.data.get("live")
            keys = [live] if isinstance(live, str) else live or []
            return max((place_of(key) for key in keys if isinstance(key, str)), default=())
        case _:
            return ()

"""A session as it was at any row, from the log alone: for staff who look back (``admin.conversation``).

Built beside the live session, which nobody disturbs: from the last snapshot or keyframe before the row, and the rows
after it. A replay stores a keyframe every ``KEYFRAME_ROWS`` rows that it passes, so the next one starts near; what one
request replays is bounded, and where that is not enough it says how far it has come. The last few stay at hand: a step
onwards costs one row.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from envelopes.models.session import Session
from envelopes.models.snapshot import Snapshot
from envelopes.registries.transports import Transport, transports
from envelopes.session_state import snapshots
from envelopes.session_state.live import LiveSession
from envelopes.session_state.presented import PresentedSession
from envelopes.session_state.snapshots import SNAPSHOT_EVERY

KEYFRAME_ROWS = 1_000
"""A replay stores a keyframe after so many rows."""

KEPT_KEYFRAMES = 64
"""Of one session; of more the first that were made go."""

REPLAYED_AT_ONCE = 4_000
"""Rows that one request replays at most; at least twice ``KEYFRAME_ROWS``, so that each comes further."""

AT_HAND = 8
"""Replays that a process keeps, each as large as its conversation."""


@dataclass(frozen=True)
class Reached:
    """``presented`` stands at row ``seq``, which is the one that was asked for, or as far as one request goes."""

    presented: PresentedSession
    seq: int


class Replay(LiveSession):
    """A session that moves forward over its log, for one transport."""

    def __init__(self, session: Session, transport: Transport) -> None:
        super().__init__(session)
        self._transport = transport

    def move_to(self, seq: int) -> Reached:
        """At row ``seq``, or ``REPLAYED_AT_ONCE`` rows nearer to it. It must not be behind ``seq`` already."""
        if not self.presented:
            # Where there is none yet, nothing is looked for.
            start = (
                snapshots.newest(self.session_pk, self._transport, upto=seq)
                if seq >= SNAPSHOT_EVERY
                else None
            )
            self.begin(self._transport, start)
        end = min(seq, self.seq + REPLAYED_AT_ONCE)
        while (before := self.seq) < end:
            self.state(upto=min(end, (self.seq // KEYFRAME_ROWS + 1) * KEYFRAME_ROWS))
            if self.seq == before:
                # The log is shorter than that by now.
                break
            presented = self.presented[self._transport.name]
            # What pages would be sent is nobody's here.
            presented.frames.clear()
            if self.seq % KEYFRAME_ROWS == 0:
                self._keep_frame()
        return Reached(self.presented[self._transport.name], self.seq)

    def _keep_frame(self) -> None:
        made = self._snapshots()
        for snapshot in made:
            snapshot.keyframe = True
        Snapshot.objects.bulk_create(made, ignore_conflicts=True)
        frames = Snapshot.objects.filter(session=self.session_pk, keyframe=True)
        old = list(frames.order_by("-pk").values_list("pk", flat=True)[len(made) * KEPT_KEYFRAMES :])
        if old:
            frames.filter(pk__in=old).delete()


class _Replays:
    """Those at hand, by session and transport; the one that was used last is the last to go."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, str], Replay] = OrderedDict()

    def take(self, session: Session, transport: Transport, seq: int) -> Replay:
        """One that is not beyond ``seq``, for this caller alone."""
        with self._lock:
            found = self._kept.pop((session.pk, transport.name), None)
        if found is None or found.seq > seq or found.facts.session_id != session.public_id:
            return Replay(session, transport)
        return found

    def give_back(self, replay: Replay, transport: Transport) -> None:
        with self._lock:
            self._kept[replay.session_pk, transport.name] = replay
            while len(self._kept) > AT_HAND:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


_replays = _Replays()


@contextmanager
def at_row(session: Session, transport: str, seq: int) -> Iterator[Reached]:
    """``session`` as ``transport`` presented it at row ``seq``, or at an earlier one where that is further than one
    request goes: whoever asks again comes further. Raises ``RegistrationError`` for a transport that presents
    nothing."""
    registered = transports[transport]
    replay = _replays.take(session, registered, seq)
    yield replay.move_to(seq)
    # Not after an error: what is half applied is nothing to go on from.
    _replays.give_back(replay, registered)


def forget_all() -> None:
    """Let go of those at hand: for tests, whose sessions come and go."""
    _replays.clear()

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

from envelopes.models.keyframe import Keyframe
from envelopes.models.session import Session
from envelopes.registries.transports import Transport, transports
from envelopes.session_state import snapshots
from envelopes.session_state.live import LiveSession
from envelopes.session_state.presented import PresentedSession
from envelopes.session_state.snapshots import SNAPSHOT_VERSION, Kept

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
        self._start: Kept | None = None

    def move_to(self, seq: int) -> Reached:
        """At row ``seq``, or ``REPLAYED_AT_ONCE`` rows nearer to it. It must not be behind ``seq`` already."""
        if not self.presented:
            self._start = self._nearest(seq)
            self.present(self._transport.name, upto=0 if self._start is None else self._start.seq)
            self._start = None
        end = min(seq, self.seq + REPLAYED_AT_ONCE)
        while self.seq < end:
            self.state(upto=min(end, (self.seq // KEYFRAME_ROWS + 1) * KEYFRAME_ROWS))
            presented = self.presented[self._transport.name]
            # What pages would be sent is nobody's here.
            presented.frames.clear()
            if self.seq % KEYFRAME_ROWS == 0:
                self._keep_frame(presented)
        return Reached(self.presented[self._transport.name], self.seq)

    def _kept(self, transport: Transport, upto: int | None) -> Kept | None:
        return self._start

    def _nearest(self, seq: int) -> Kept | None:
        """The last snapshot or keyframe up to row ``seq``."""
        transport = self._transport
        stored = snapshots.newest(self.session_pk, transport, upto=seq)
        found = Keyframe.objects.filter(
            session=self.session_pk, transport=transport.name, version=_version(transport), seq__lte=seq
        )
        # What they hold may be large: first which, then what.
        at = found.order_by("-seq").values_list("seq", flat=True).first()
        if at is None or (stored is not None and stored.seq >= at):
            return stored
        frame = found.filter(seq=at).first()
        return stored if frame is None else Kept(at, frame.data["surfaces"], frame.data["presenter"])

    def _keep_frame(self, presented: PresentedSession) -> None:
        data = {
            "surfaces": presented.state.surfaces.snapshot(),
            "presenter": {"sent": presented.sent, "presenter": presented.presenter.snapshot()},
        }
        of_session = Keyframe.objects.filter(session=self.session_pk)
        Keyframe.objects.bulk_create(
            [
                Keyframe(
                    session_id=self.session_pk,
                    transport=self._transport.name,
                    version=_version(self._transport),
                    seq=self.seq,
                    data=data,
                )
            ],
            ignore_conflicts=True,
        )
        old = list(of_session.order_by("-pk").values_list("pk", flat=True)[KEPT_KEYFRAMES:])
        if old:
            of_session.filter(pk__in=old).delete()


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


def _version(transport: Transport) -> str:
    return f"{SNAPSHOT_VERSION}.{transport.snapshot_version}"

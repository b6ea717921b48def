"""What a subscription sends: what is replayed, then the log as it grows, each delivery with the number of its view.

The log is the queue: nothing is held, since whatever is appended meanwhile stands behind row ``Plan.row`` and is read
from there. So each delivery comes once, in order (reading, section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import orjson

from envelopes.delivery import Item, PlacedDelta
from envelopes.protocol.bubbles import SURFACE_PREVIEW
from envelopes.session_state import Frame
from envelopes.transports.live import frames
from envelopes.transports.live.contracts import PREVIEW
from envelopes.transports.live.presenter.deliveries import OF_SURFACES, OURS
from envelopes.transports.live.presenter.envelopes import Body, envelope
from envelopes.transports.live.presenter.pieces import Payload, Piece
from envelopes.transports.live.previews import Previews
from envelopes.transports.live.subscribing import Subscription
from envelopes.transports.live.surfaces import Dialect
from envelopes.types import Json, JsonObject

SHARED_CHARACTERS = 65_536
"""Frames of longer payloads are made for each reader: what is kept of them for the next one has a bound."""


class _Sent:
    """What readers who want the same, in one dialect, are sent of a row: made once for all who follow at the same row,
    as most do."""

    __slots__ = ("_dialect", "_last", "_wants")

    def __init__(self, wants: frozenset[str], dialect: Dialect) -> None:
        self._wants, self._dialect = wants, dialect
        self._last: tuple[Payload | None, int, tuple[str, ...]] = (None, 0, ())

    def of(self, payload: Payload, seq: int) -> tuple[str, ...]:
        """The frames, with the numbers that follow ``seq``."""
        last, after, made = self._last
        if payload is last and seq == after:
            return made
        wanted = [piece for piece in payload.pieces if piece.kind in self._wants]
        made = tuple(
            frames.data(piece.in_dialect(self._dialect), number)
            for number, piece in enumerate(wanted, seq + 1)
        )
        if len(payload) <= SHARED_CHARACTERS:
            self._last = (payload, seq, made)
        return made


_sent = lru_cache(maxsize=64)(_Sent)


@dataclass(frozen=True, slots=True)
class Rendered:
    """The interface has changed as a whole with row ``row``: it consists of these surfaces now. None: it may have,
    since a turn has settled, which may have declared another contract."""

    row: int
    surfaces: list[JsonObject] | None


class Tail:
    """Counts the deliveries of one subscription: ``seq`` is that of the last one that was passed. ``rendered`` is set
    with a row that may have changed the interface as a whole, for the door to take."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._plan = subscription.plan
        self.seq = self._plan.counted
        self._previews = Previews()
        self.rendered: Rendered | None = None
        self._has_surfaces = OF_SURFACES in subscription.wants
        self._sent = _sent(subscription.wants, subscription.dialect)

    def early(self) -> Iterator[str]:
        """What is replayed of before row ``Plan.after``."""
        for seq, piece in self._plan.early:
            yield frames.data(piece.envelope, seq)

    def row_at_once(self, item: Frame) -> tuple[str, ...] | None:
        """The frames of a row, where there is no more to it than to send them; ``passed`` says that they were."""
        if item.seq <= self._plan.row or self._previews.open:
            return None
        payload = item.payload
        if not isinstance(payload, Payload) or payload.settles:
            return None
        if payload.surfaces is not None and self._has_surfaces:
            return None
        return self._sent.of(payload, self.seq)

    def text_at_once(self, item: PlacedDelta) -> str | None:
        """The frame of streamed text that is no picture of a surface."""
        return self._delta(item) if item.delta.part_type != SURFACE_PREVIEW else None

    def passed(self, made: tuple[str, ...]) -> None:
        """These have been sent, without ``told``."""
        self.seq += len(made)

    def told(self, item: Item) -> Iterable[str]:
        """The frames of what a follower hands on."""
        match item:
            case Frame(payload=Payload() as payload):
                return self._told(item, payload)
            case PlacedDelta() if item.delta.part_type == SURFACE_PREVIEW:
                return [
                    self._preview(payload, last=last) for payload, last in self._previews.take(item.delta)
                ]
            case PlacedDelta():
                return (self._delta(item),)
            case _:
                return ()

    def _told(self, item: Frame, payload: Payload) -> Iterable[str]:
        made = self._sent.of(payload, self.seq)
        first, self.seq = self.seq + 1, self.seq + len(made)
        if item.seq > self._plan.row:
            surfaces = payload.surfaces if self._has_surfaces else None
            if payload.settles or surfaces is not None:
                self.rendered = Rendered(item.seq, surfaces)
        else:
            made = tuple(text for seq, text in enumerate(made, first) if seq in self._plan.kept)
        if not self._previews.open:
            return made
        return [*(text for piece in payload.pieces for text in self._over(piece)), *made]

    def _over(self, piece: Piece) -> Iterator[str]:
        """The end of previews that are over before this delivery; it may be what one became."""
        payload = orjson.loads(piece.envelope + "}")["payload"]
        turn = payload.get("turn", 0) if isinstance(payload, dict) else 0
        for told, last in self._previews.before(_event(piece, payload), turn):
            yield self._preview(told, last=last)

    def _preview(self, payload: Json, *, last: bool) -> str:
        body = envelope(self._subscription.session.public_id, PREVIEW, Body(payload, complete=last))
        return f'{{"type":"data","payload":{body}}}}}'

    def _delta(self, item: PlacedDelta) -> str:
        delta, session = item.delta, self._subscription.session.public_id

        def encoded() -> str:
            channel = f"{OURS}{delta.part_type}"
            text = envelope(session, channel, Body({"delta": True, **delta.as_json()}))
            return f'{{"type":"data","payload":{text}}}}}'

        return delta.encoded("live", encoded)


def _event(piece: Piece, payload: Json) -> str:
    """The kind of row that a delivery is of; the turn and what ends it share a channel."""
    kind = piece.kind.partition(":")[2]
    return str(payload.get("event", kind)) if kind in ("turn", "settled", "withdrawn") else kind

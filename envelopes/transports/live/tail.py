"""What a subscription sends: what is replayed, then the log as it grows, each delivery with the number of its view.

The log is the queue: nothing is held, since whatever is appended meanwhile stands behind row ``Plan.row`` and is read
from there. So each delivery comes once, in order (reading, section 3).
"""

from __future__ import annotations

from collections.abc import Iterator

from envelopes.delivery import Item, PlacedDelta, UpToDate
from envelopes.transports.live import frames
from envelopes.transports.live.presenter.deliveries import OURS
from envelopes.transports.live.presenter.envelopes import Body, envelope, pieces
from envelopes.transports.live.subscribing import Subscription


class Tail:
    """Counts the deliveries of one subscription: ``seq`` is that of the last one that was passed."""

    def __init__(self, subscription: Subscription) -> None:
        self._subscription = subscription
        self._plan = subscription.plan
        self.seq = self._plan.counted

    def early(self) -> Iterator[str]:
        """What is replayed of before row ``Plan.after``."""
        for seq, piece in self._plan.early:
            yield frames.data(piece.envelope, seq)

    def told(self, item: Item) -> Iterator[str]:
        """The frames of what a follower hands on."""
        match item:
            case PlacedDelta():
                yield self._delta(item)
            case UpToDate():
                return
            case _:
                for piece in pieces(item.payload):
                    if piece.kind not in self._subscription.wants:
                        continue
                    self.seq += 1
                    if item.seq > self._plan.row or self.seq in self._plan.kept:
                        yield frames.data(piece.envelope, self.seq)

    def _delta(self, item: PlacedDelta) -> str:
        delta, session = item.delta, self._subscription.session.public_id

        def encoded() -> str:
            channel = f"{OURS}{delta.part_type}"
            text = envelope(session, channel, Body({"delta": True, **delta.as_json()}))
            return f'{{"type":"data","payload":{text}}}}}'

        return delta.encoded("live", encoded)

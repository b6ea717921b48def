"""Frames made again from the log, for one reader."""

from __future__ import annotations

import sys

from envelopes.errors import BeachError
from envelopes.models.session import Session
from envelopes.session_state.live import LiveSession
from envelopes.session_state.presented import Frame

REPLAYED_ROWS = 2_000
"""At most this many rows are made into frames again for one reader."""


class TooFarBack(BeachError):
    """The reader is so far behind that to begin again at the start is quicker than to catch up."""

    code = "too_far_back"
    fault = "client"


def resume(session: Session, transport: str, after: int, *, most: int | None = None) -> list[Frame]:
    """The frames of ``transport`` after row ``after``, made again from the log: for a reader that was away longer than
    they are kept. ``most``: until they have so many characters; the first ones then.

    Raises ``TooFarBack`` beyond ``REPLAYED_ROWS``: replaying a long session holds everybody else up.
    """
    if session.last_seq - after > REPLAYED_ROWS:
        raise TooFarBack
    live = LiveSession(session)
    presented = live.present(transport, upto=after)
    presented.frames, presented.kept_frames, presented.kept_characters = [], REPLAYED_ROWS, sys.maxsize
    # Rows may be large: one, then two, then four.
    upto, rows = after, 1
    while most is not None and (upto := upto + rows) < session.last_seq:
        live.state(upto=upto)
        if sum(len(frame.payload) for frame in presented.frames) >= most:
            return presented.frames
        rows *= 2
    live.state()
    return presented.frames

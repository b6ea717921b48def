"""What a reader lacks, read in the database's thread: a page of rows at a time, however much that is."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from envelopes.delivery.deltas import deltas
from envelopes.delivery.news import Look, News, log_at, news_of
from envelopes.errors import BeachError
from envelopes.models import Session
from envelopes.session_state import Frame, PresentedSession, TooFarBack, live_sessions, resume

logger = logging.getLogger(__name__)

PAGE_CHARACTERS = 1_048_576
"""Of so many characters of frames one reader has hold at once, or of one frame. The others are read when these have
gone: a reader that is slow, or does not read at all, holds no more."""


class NotInLog(BeachError):
    """The reader has rows that are not in the log, which has been set back: begin again at its start."""

    code = "not_in_log"
    fault = "us"


class Changed(BeachError):
    """Who you are, or what you may do here, has changed."""

    code = "changed"
    fault = "client"


def page_of(frames: list[Frame]) -> list[Frame]:
    """The first of ``frames``, as many as one reader holds."""
    size = 0
    for count, frame in enumerate(frames):
        size += len(frame.payload)
        if size > PAGE_CHARACTERS and count:
            return frames[:count]
    return frames


def at_hand(session_pk: int, transport: str, after: int, upto: int, turns: set[int]) -> News | None:
    """What follows row ``after``, where this process has all of it up to row ``upto``; for an event loop."""
    try:
        return live_sessions.glance(session_pk, transport, upto, partial(_glance, after, turns))
    except Exception:
        # Whoever reads on in a thread hears what fails there. A bell that raises would have rung for nobody.
        logger.exception("Rows of session %s are not at hand.", session_pk)
        return None


@dataclass(frozen=True, slots=True)
class _Told:
    """``news`` for whoever has row ``after`` and asks for these turns."""

    after: int
    turns: frozenset[int]
    news: News


def _glance(after: int, turns: set[int], shown: PresentedSession) -> News | None:
    told = shown.told
    if isinstance(told, _Told) and told.after == after and told.turns == turns:
        # A bell rings for all readers, and most of them stand at the same row.
        return told.news
    if (frames := shown.frames_after(after)) is None:
        return None
    news = news_of(shown, page_of(frames), turns, of=len(frames))
    shown.told = _Told(after, frozenset(turns), news)
    return news


def find(session: Session, transport: str, after: int, turns: set[int], *, mark: int | None = None) -> News:
    """What follows row ``after``, for a reader that begins there: with the texts that stream, as they are saved.

    Raises ``NotInLog``: the log of a database that was restored may be shorter than what a reader or this process has
    seen of it, or have grown past that by other rows; then row ``after`` has another ``mark`` than the reader knows.
    ``Changed`` where the session is gone, and what ``news_after`` does.
    """
    found = log_at(session.pk, after)
    if found is None:
        raise Changed
    session.last_seq = found.last_seq
    live_sessions.check(session)
    if after > found.last_seq:
        raise NotInLog
    if mark is not None and found.mark is not None and mark != found.mark:
        # What this process remembers may be of the same rows.
        live_sessions.forget(session.pk)
        raise NotInLog
    if found.is_at_rest:
        # After a restart everybody asks at once, and most wait for nothing. What comes later has the session built.
        return News([], {}, after, busy=False, texts=[], mark=found.mark)
    if found.running is None:
        news = news_after(session, transport, after, turns)
        news.mark = found.mark
        return news
    texts = found.texts
    # What is told in this process may be saved nowhere yet, and stand in another turn than the one that runs.
    streaming = {text.turn for text in (*texts, *deltas.told(session.pk))}
    news = news_after(session, transport, after, turns | {found.running[0]} | streaming)
    news.texts, news.mark = texts, found.mark
    return news


def news_after(
    session: Session,
    transport: str,
    seq: int,
    turns: set[int],
    make: Look | None = None,
    upto: int | None = None,
) -> News:
    """What follows row ``seq`` (up to ``upto``), where ``turns`` stand then, and what ``make`` makes of that. Raises
    ``TooFarBack``, and ``Changed`` where the session is gone."""
    frames: list[Frame] = []
    while True:
        after = frames[-1].seq if frames else seq
        with live_sessions.present(session, transport, upto=upto, since=after) as shown:
            shown.keep_earlier(frames)
            kept = shown.frames_after(after)
            if kept is not None:
                frames += kept
                return news_of(shown, page_of(frames), turns, make, of=len(frames))
        _refresh(session)
        if not (made := resume(session, transport, after, most=PAGE_CHARACTERS)):
            raise TooFarBack  # what was sent once is not made from the log any more: nothing leads on
        frames += made
        if _size(frames) >= PAGE_CHARACTERS:
            return News(page_of(frames), {}, 0, busy=True, texts=[], more=True)
        upto = None  # they go as far as the log does, and so must what is told of turns


def _size(frames: Sequence[Frame]) -> int:
    return sum(len(frame.payload) for frame in frames)


def _refresh(session: Session) -> None:
    try:
        session.refresh_from_db(fields=["last_seq"])
    except Session.DoesNotExist as error:
        raise Changed from error

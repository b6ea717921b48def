"""The live view: what a session looks like at a row, kept once per process and shared by everybody who watches.

Built from the last snapshot plus later rows; one apply and one render for every viewer (design, section 2).
"""

from __future__ import annotations

import logging
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.conf import settings
from django.db import connection

from a2ui import Diagnostic, Edit, Engine, EngineOptions, Limits, More, PatchError, SurfaceSet
from envelopes.conf import a2ui_limits, image_hosts
from envelopes.delivery.deltas import place_of
from envelopes.delivery.panel.thread import Thread, ThreadContext
from envelopes.errors import BeachError
from envelopes.log.read import rows_after
from envelopes.log.rows import Row
from envelopes.models.session import Session
from envelopes.models.snapshot import Snapshot
from envelopes.protocol.surfaces import is_reserved, messages_of
from envelopes.registries.actors import actors
from envelopes.secrets import reveal
from envelopes.types import JsonObject

logger = logging.getLogger(__name__)

SNAPSHOT_VERSION = 2
"""Raise it when what a snapshot holds changes shape, or the same rows make something else: older ones are then ignored
and the log is replayed."""

SNAPSHOT_EVERY = 100
KEPT_SNAPSHOTS = 4
"""A few, since a socket that was away resumes from one that is older than what it missed."""

KEPT_FRAMES = 512
REPLAYED_ROWS = 2_000
"""So many rows are made into frames again for one socket."""

IDLE_VIEWS = 64


class Frame:
    """What one row means to a panel, encoded once for every viewer: ``{seq, prev, ops, busy}`` (D34, D41).

    ``over``: of the row's turn, streamed text up to this place is over with it.
    """

    __slots__ = ("over", "payload", "prev", "seq", "turn")

    def __init__(self, row: Row, prev: int, ops: list[Any], busy: bool) -> None:
        self.seq = row.seq
        self.turn = row.turn
        self.over = over_by(row)
        self.prev = prev
        self.payload = orjson.dumps({"seq": row.seq, "prev": prev, "ops": ops, "busy": busy}).decode()


class LiveView:
    """A session at row ``seq``: surfaces, thread, and the last frames.

    Not safe by itself: whoever uses one holds ``lock``. Frames are a function of the rows alone, so each process and
    each replay makes the same ones.
    """

    def __init__(self, session: Session, *, upto: int | None = None) -> None:
        self.lock = threading.RLock()
        self.session_pk = session.pk
        self.context = ThreadContext(
            session_id=session.public_id,
            actors={actor.name: actor.display_name for actor in actors},
            locale=session.locale,
            timezone=session.timezone,
            image_hosts=image_hosts(),
            debug=settings.DEBUG,
        )
        self.frames: deque[Frame] = deque(maxlen=KEPT_FRAMES)
        self.over: dict[int, tuple[int, ...]] = {}
        self.engine = engine_for(session.locale, self.context.zone.key)
        snapshots = Snapshot.objects.filter(session=session, version=SNAPSHOT_VERSION)
        if upto is not None:
            snapshots = snapshots.filter(seq__lte=upto)
        snapshot = snapshots.order_by("-seq").first()
        if snapshot is None:
            self.seq = self.sent = self.base = 0
            self.surfaces: SurfaceSet = self.engine.surfaces()
            self.thread = Thread(self.context)
        else:
            self.seq = self.base = snapshot.seq
            self.sent = snapshot.data["sent"]
            self.surfaces = self.engine.restore(snapshot.data["surfaces"])
            self.thread = Thread.restore(self.context, snapshot.data["thread"])
        self._snapshot_seq = self.seq

    def catch_up(self, *, upto: int | None = None) -> None:
        """Apply the rows that are new in the database."""
        for row in rows_after(self.session_pk, self.seq, upto=upto):
            self.apply(row)

    def apply(self, row: Row) -> None:
        """Apply one row: surfaces first, then the thread, then one frame if there is something to show.

        A row was checked before it was stored, so a surface that refuses it now means that code changed since; that
        is logged and the rest of the session goes on.
        """
        if row.audience == "delivered":
            for diagnostic in apply_to_surfaces(self.surfaces, row):
                if diagnostic.refused:
                    logger.error("Row %s of session %s: %s", row.seq, self.session_pk, diagnostic.message)
            ops = self.thread.apply(row, self.surfaces.flush())
            for diagnostic in self.surfaces.diagnostics():
                # The agent heard of what its messages caused; this is what people's edits bring up.
                logger.debug("Row %s of session %s: %s", row.seq, self.session_pk, diagnostic.message)
            if ops or row.kind in ("turn", "settled"):
                frame = Frame(row, self.sent, ops, self.thread.busy)
                self.frames.append(frame)
                self.over[frame.turn] = max(frame.over, self.over.get(frame.turn, ()))
                self.sent = row.seq
        self.seq = row.seq

    def frames_after(self, seq: int) -> list[Frame] | None:
        """The frames that follow row ``seq``, or None when they are no longer kept."""
        if seq >= self.sent:
            return []
        following = [frame for frame in self.frames if frame.seq > seq]
        if following and following[0].prev <= seq:
            return following
        return None

    def html(self) -> str:
        return self.thread.html(self.surfaces)

    def due_snapshot(self) -> Snapshot | None:
        """A snapshot to be stored, when enough rows have passed since the last one."""
        if self.seq - self._snapshot_seq < SNAPSHOT_EVERY:
            return None
        self._snapshot_seq = self.seq
        data: JsonObject = {
            "sent": self.sent,
            "surfaces": self.surfaces.snapshot(),
            "thread": self.thread.snapshot(),
        }
        return Snapshot(session_id=self.session_pk, seq=self.seq, version=SNAPSHOT_VERSION, data=data)


def over_by(row: Row) -> tuple[int, ...]:
    """The place up to which streamed text of the row's turn is over with it: text and rows may come by different ways,
    and what comes late must not appear again."""
    match row.kind:
        case "settled":
            return (sys.maxsize,)
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


def apply_to_surfaces(surfaces: SurfaceSet, row: Row) -> list[Diagnostic]:
    """What a row means to the surfaces: an agent's messages, a person's edit, a person's wish to see more."""
    if row.kind == "part" and row.part_type == "a2ui-surface":
        found: list[Diagnostic] = []
        for message in messages_of(row.data["part"].get("data")):
            found += surfaces.apply(message, owner=row.actor)
        return found
    if row.kind == "edit":
        try:
            surfaces.apply_edit(Edit(row.data["owner"], row.data["surfaceId"], row.data["ops"]))
        except PatchError as error:
            return [Diagnostic(error.code, error.message, refused=True)]
    if row.kind == "show":
        surfaces.apply_more(
            More(row.data["owner"], row.data["surfaceId"], row.data["target"], row.data["count"])
        )
    return []


@dataclass(frozen=True)
class PageView:
    """What the first page load needs. ``seq`` is where the socket goes on from."""

    seq: int
    html: str
    busy: bool
    empty: bool


def open_page(session: Session) -> PageView:
    views.check(session)
    with views.open(session) as view:
        return PageView(seq=view.sent, html=view.html(), busy=view.thread.busy, empty=view.seq == 0)


class TooFarBack(BeachError):
    """This page is so far behind that loading it again is quicker than catching up."""

    code = "too_far_back"
    fault = "client"


def resume(session: Session, after: int) -> list[Frame]:
    """The frames after row ``after``, made again from the log: for a socket that was away longer than they are kept.

    Raises ``TooFarBack`` beyond ``REPLAYED_ROWS``: replaying a long session holds everybody else up.
    """
    if session.last_seq - after > REPLAYED_ROWS:
        raise TooFarBack
    view = LiveView(session, upto=after)
    view.catch_up(upto=after)
    view.frames = deque()
    view.catch_up()
    return list(view.frames)


_engines: dict[tuple[str, str, Limits], Engine] = {}


def engine_for(locale: str, timezone: str) -> Engine:
    """The shared engine for a locale and a time zone."""
    limits = a2ui_limits()
    key = (locale, timezone, limits)
    if key not in _engines:
        _engines[key] = Engine(
            EngineOptions(
                limits=limits,
                locale=locale,
                timezone=ZoneInfo(timezone),
                image_hosts=image_hosts(),
                debug=settings.DEBUG,
                reveal=reveal,
                reserved=lambda owner, name: is_reserved(name),
            )
        )
    return _engines[key]


def _store(snapshot: Snapshot) -> None:
    """Keep it and the few before it: each holds the whole conversation, so all of them would outgrow the log."""
    Snapshot.objects.bulk_create([snapshot], ignore_conflicts=True)
    of_session = Snapshot.objects.filter(session=snapshot.session_id)
    kept = of_session.order_by("-version", "-seq").values("pk")[:KEPT_SNAPSHOTS]
    of_session.exclude(pk__in=list(kept.values_list("pk", flat=True))).delete()


class LiveViews:
    """The views of this process: watched ones stay, of the others the last few."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._views: OrderedDict[int, LiveView] = OrderedDict()
        self._watchers: dict[int, int] = {}

    @contextmanager
    def open(self, session: Session) -> Iterator[LiveView]:
        """The view of ``session``, caught up and locked for the block."""
        with self._lock:
            view = self._views.get(session.pk)
        if view is None:
            made = LiveView(session)
            with self._lock:
                view = self._views.setdefault(session.pk, made)
        with view.lock:
            try:
                view.catch_up()
            except BaseException:
                # Half applied: the next one starts from the log again.
                self.forget(session.pk)
                raise
            yield view
            # Never by a writer: drawing it up takes long, and a writer holds the session's lock meanwhile.
            snapshot = None if connection.in_atomic_block else view.due_snapshot()
        if snapshot is not None:
            # Outside the lock: a writer holds the database's lock while it waits for this one.
            _store(snapshot)
        self._trim(session.pk)

    def check(self, session: Session) -> None:
        """Forget the view of ``session``, just read from the database, if the log is shorter than what was seen of it:
        a backup may have been restored under this process."""
        with self._lock:
            view = self._views.get(session.pk)
        if view is None or view.seq <= session.last_seq:
            return
        with view.lock:
            # Most likely it has grown since the session was read.
            session.refresh_from_db(fields=["last_seq"])
            if view.seq > session.last_seq:
                self.forget(session.pk)

    def watch(self, session_pk: int) -> None:
        with self._lock:
            self._watchers[session_pk] = self._watchers.get(session_pk, 0) + 1

    def unwatch(self, session_pk: int) -> None:
        with self._lock:
            count = self._watchers.get(session_pk, 0) - 1
            if count > 0:
                self._watchers[session_pk] = count
            else:
                self._watchers.pop(session_pk, None)
        self._trim(None)

    def container(self, session_pk: int, turn: int) -> str | None:
        """The id of the element in which what ``turn`` says appears now, as far as this process knows."""
        with self._lock:
            view = self._views.get(session_pk)
        return view.thread.container(turn) if view is not None else None

    def forget(self, session_pk: int) -> None:
        with self._lock:
            self._views.pop(session_pk, None)

    def clear(self) -> None:
        with self._lock:
            self._views.clear()
            self._watchers.clear()

    def _trim(self, used: int | None) -> None:
        with self._lock:
            if used is not None and used in self._views:
                self._views.move_to_end(used)
            idle = [pk for pk in self._views if pk not in self._watchers]
            for pk in idle[: max(0, len(idle) - IDLE_VIEWS)]:
                del self._views[pk]


views = LiveViews()
"""The live views of this process."""

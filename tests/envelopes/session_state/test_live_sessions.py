"""A session and what presents it are functions of the rows: watched all along, built anew, or restored from a snapshot
at any row, they show the same page and send the same frames."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from envelopes.log.append import writing
from envelopes.log.read import rows_after
from envelopes.models import Session, Snapshot, Turn
from envelopes.session_state import (
    LiveSessions,
    PresentedSession,
    SessionState,
    presented,
    registry,
    resume,
    snapshots,
)
from envelopes.session_state.live import LiveSession
from envelopes.transports.panel.presenter.panel import PanelPresenter, html_of
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
COMPONENTS = [
    {"id": "root", "component": "Column", "children": ["head", "q", "list"]},
    {"id": "head", "component": "Text", "text": {"path": "/title"}},
    {"id": "q", "component": "TextField", "label": "Q", "value": {"path": "/q"}},
    {"id": "list", "component": "List", "children": {"path": "/items", "componentId": "item"}},
    {"id": "item", "component": "Text", "text": {"path": "name"}},
]
SMALLER = [{"id": "root", "component": "Column", "children": ["list"]}]


def _message(verb: str, surface: str, **body: Any) -> dict[str, Any]:
    return {"version": "v0.9", verb: {"surfaceId": surface, **body}}


surfaces = st.sampled_from(["s1", "s2"])
turns = st.integers(1, 2)
words = st.sampled_from(["", "one", "Two **bold**", "<b>&", "\u202eevil", "long " * 40])
items = st.lists(st.builds(lambda key, name: {"id": key, "name": name}, st.integers(1, 4), words), max_size=4)
message = st.one_of(
    st.builds(lambda s: _message("createSurface", s, catalogId=BASIC), surfaces),
    st.builds(
        lambda s, c: _message("updateComponents", s, components=c),
        surfaces,
        st.sampled_from([COMPONENTS, COMPONENTS, SMALLER]),
    ),
    st.builds(lambda s, v: _message("updateDataModel", s, path="/items", value=v), surfaces, items),
    st.builds(lambda s, v: _message("updateDataModel", s, path="/title", value=v), surfaces, words),
    st.builds(lambda s: _message("deleteSurface", s), surfaces),
)
step = st.one_of(
    st.tuples(st.just("message"), words),
    st.tuples(st.just("turn"), turns, st.sampled_from(["queued", "running", "waiting", "suspended"])),
    st.tuples(st.just("text"), turns, st.sampled_from(["ack", "thinking", "response", "clarify"]), words),
    st.tuples(st.just("surface"), turns, st.lists(message, min_size=1, max_size=3)),
    st.tuples(
        st.just("edit"),
        surfaces,
        st.sampled_from(["/q", "/items/0/name", "/nowhere/at/all"]),
        words,
    ),
    st.tuples(st.just("progress"), turns, st.integers(0, 12)),
    st.tuples(st.just("withdrawn"), turns),
    st.tuples(st.just("audit"), turns),
    st.tuples(st.just("settled"), turns, st.sampled_from(["complete", "error", "cancelled"])),
)
steps = st.lists(step, min_size=1, max_size=14)
# Where things happen on purpose: two surfaces with lists, filled in a running turn.
OPENING: list[tuple[Any, ...]] = [
    ("message", "Hello"),
    ("turn", 1, "running"),
    *(
        (
            "surface",
            1,
            [
                _message("createSurface", name, catalogId=BASIC),
                _message("updateComponents", name, components=COMPONENTS),
                _message("updateDataModel", name, path="/items", value=[{"id": 1, "name": "first"}]),
            ],
        )
        for name in ("s1", "s2")
    ),
]


def _store(session: Session, given_steps: list[tuple[Any, ...]]) -> None:
    with writing(session.pk) as writer:
        for number, (kind, *rest) in enumerate(given_steps):
            _add(writer, number, kind, rest)


def _add(writer: Any, number: int, kind: str, rest: list[Any]) -> None:
    if kind == "message":
        writer.add("message", {"text": rest[0], "name": "Ada", "id": f"m{number}"})
        return
    if kind == "edit":
        name, path, value = rest
        ops = [{"op": "add", "path": path, "value": value}]
        writer.add("edit", {"owner": "sally", "surfaceId": name, "ops": ops})
        return
    turn, actor = rest[0], "sally" if rest[0] == 1 else "other"
    part: dict[str, Any] | None = None
    match kind:
        case "turn":
            data = {"turnId": f"t{turn}", "number": turn, "actor": actor, "status": rest[1], "reason": ""}
        case "text":
            part = {"metadata": {"partType": rest[1]}, "text": rest[2]}
            data = {"part": part, "turnState": "awaiting", "live": f"L{turn}-1-0-0-{number}-0"}
        case "surface":
            part = {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": rest[1]}}
        case "progress":
            part = {
                "metadata": {"partType": "progress"},
                "data": {"id": "p", "current": rest[1], "total": 10},
            }
        case "withdrawn":
            data = {"live": [f"L{turn}-1-0-0-{number}-0"]}
        case "audit":
            kind, data = "note", {"note": "PRIVATE"}
        case _:
            data = {"turnState": rest[1], "finalizedBy": rest[1]}
    if part is not None and kind != "text":
        data = {"part": part, "turnState": "awaiting"}
    writer.add(
        "part" if part is not None else kind,
        data,
        part_type=part["metadata"]["partType"] if part is not None else "",
        turn=Turn(number=turn, actor=actor),
        actor=actor,
    )


def _presented(session: Session, *, upto: int | None = None) -> PresentedSession:
    return LiveSession(session).present("panel", upto=upto)


def _payloads(shown: PresentedSession, after: int = 0) -> list[str]:
    return [frame.payload for frame in shown.frames if frame.seq > after]


def _watched(session: Session) -> tuple[PresentedSession, list[str]]:
    """A session that moves one row at a time, as one that somebody watches; and its page after each row."""
    live, pages = LiveSession(session), []
    shown = live.present("panel", upto=0)
    for row in rows_after(session.pk, 0):
        live.state(upto=row.seq)
        pages.append(html_of(shown))
    return shown, pages


@hypothesis(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(given_steps=steps, cut=st.integers(0, 17))
def test_frames_and_page_are_the_same_however_a_view_came_to_be(
    given_steps: list[tuple[Any, ...]], cut: int
) -> None:
    session = factories.make_session(factories.make_visitor()[0])
    _store(session, OPENING + given_steps)
    watched, pages = _watched(session)
    cut = min(cut, len(pages))

    anew = _presented(session)
    assert _payloads(anew) == _payloads(watched)
    assert html_of(anew) == pages[-1]
    resumed = [frame.payload for frame in resume(session, "panel", cut)]
    assert resumed == _payloads(watched, cut)

    late = LiveSession(session)
    unseen = late.state(upto=cut)
    assert late.state().surfaces.snapshot() == watched.state.surfaces.snapshot()
    assert late.state() is unseen
    joined = late.present("panel")
    assert _payloads(joined) == _payloads(watched)
    assert html_of(joined) == pages[-1]
    assert late.state() is joined.state is not unseen

    early = LiveSession(session)
    early.present("panel", upto=cut)
    if cut:
        early.saved = -snapshots.SNAPSHOT_EVERY
        snapshots.store(early.due_snapshots())
    undrawn = _presented(session)
    assert _payloads(undrawn) == _payloads(watched, cut)
    restored = LiveSession(session)
    again = restored.present("panel", upto=cut)
    assert restored.saved == again.state.seq == cut
    assert html_of(again) == (pages[cut - 1] if cut else html_of(again))
    restored.state()
    assert _payloads(again) == _payloads(watched, cut)
    assert html_of(again) == pages[-1]
    assert again.busy == watched.busy
    assert again.state.surfaces.snapshot() == watched.state.surfaces.snapshot()
    unshown = LiveSession(session).state()
    assert unshown.surfaces.snapshot() == watched.state.surfaces.snapshot()


@hypothesis(max_examples=13, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(given_steps=steps)
def test_frames_form_one_chain_and_tell_no_audit(given_steps: list[tuple[Any, ...]]) -> None:
    session = factories.make_session(factories.make_visitor()[0])
    _store(session, OPENING + given_steps)
    shown = _presented(session)
    last = 0
    for frame in shown.frames:
        told = json.loads(frame.payload)
        assert (told["seq"], told["prev"]) == (frame.seq, frame.prev)
        assert frame.prev == last < frame.seq
        last = frame.seq
        assert "PRIVATE" not in frame.payload
    assert last == shown.sent <= shown.state.seq == _last_seq(session)


def _last_seq(session: Session) -> int:
    return Session.objects.get(pk=session.pk).last_seq


# -- snapshots ----------------------------------------------------------------------------------------------------


def _talked(rows: int) -> Session:
    session = factories.make_session(factories.make_visitor()[0])
    _store(session, [*OPENING, *(("text", 1, "response", f"Line {number}") for number in range(rows))])
    return session


def test_snapshots_are_stored_every_so_many_rows_and_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    session, live_sessions = _talked(30), LiveSessions()
    with live_sessions.present(session, "panel") as shown:
        html = html_of(shown)
    stored = Snapshot.objects.filter(session=session)
    assert {(one.transport, one.seq) for one in stored} == {
        (name, _last_seq(session)) for name in ("", "panel")
    }
    with live_sessions.present(session, "panel"):
        pass
    assert stored.count() == 2
    live_sessions.clear()
    with live_sessions.present(session, "panel") as shown:
        assert not shown.frames
        assert html_of(shown) == html


def test_only_the_last_snapshots_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds the whole conversation: all of them together grew with the square of its length."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 5)
    monkeypatch.setattr(snapshots, "KEPT_SNAPSHOTS", 2)
    session, other, live_sessions = _talked(5), _talked(5), LiveSessions()
    seqs = []
    for _ in range(4):
        for one in (session, other):
            with live_sessions.present(one, "panel"):
                pass
        seqs.append(_last_seq(session))
        _more(session, 6)
    for name in ("", "panel"):
        kept = Snapshot.objects.filter(session=session, transport=name).order_by("seq")
        assert [snapshot.seq for snapshot in kept] == seqs[-2:]
    assert Snapshot.objects.filter(session=other).count() == 2


def test_processes_that_present_nothing_do_not_crowd_out_what_a_presenter_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker stores surfaces only, and often; a presenter goes on from the surfaces of its own row."""
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 5)
    monkeypatch.setattr(snapshots, "KEPT_SNAPSHOTS", 2)
    session, page, worker = _talked(5), LiveSessions(), LiveSessions()
    with page.present(session, "panel"):
        pass
    presented_at = _last_seq(session)
    for _ in range(4):
        _more(session, 6)
        with worker.open(session):
            pass
    page.clear()
    with page.present(session, "panel") as shown:
        assert min(frame.seq for frame in shown.frames) > presented_at
    of_surfaces = Snapshot.objects.filter(session=session, transport="").order_by("seq")
    assert next(one.seq for one in of_surfaces) == presented_at
    assert of_surfaces.count() <= 4


def test_snapshots_of_long_sessions_come_less_often() -> None:
    """Each is as long as the conversation: all of them together cost a row no more than in a short one (R11)."""
    assert snapshots.is_due(200, 0)
    assert not snapshots.is_due(399, 200)
    assert not snapshots.is_due(24_999, 23_800)
    assert snapshots.is_due(25_000, 23_750)


def _more(session: Session, rows: int) -> None:
    with writing(session.pk) as writer:
        for number in range(rows):
            writer.add("message", {"text": f"more {number}", "name": "Ada"})


def test_a_time_zone_that_this_machine_does_not_know_still_gives_a_page() -> None:
    session = _talked(3)
    Session.objects.filter(pk=session.pk).update(timezone="Moon/Tranquility")
    session.refresh_from_db()
    with LiveSessions().present(session, "panel") as shown:
        assert html_of(shown)


def test_a_snapshot_of_another_version_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    session, live_sessions = _talked(20), LiveSessions()
    with live_sessions.present(session, "panel") as shown:
        html = html_of(shown)
    Snapshot.objects.update(data={"nothing": "that this code could read"})
    monkeypatch.setattr(snapshots, "SNAPSHOT_VERSION", snapshots.SNAPSHOT_VERSION + 1)
    live_sessions.clear()
    with live_sessions.present(session, "panel") as shown:
        assert shown.frames[0].prev == 0
        assert html_of(shown) == html


def test_a_snapshot_that_cannot_be_read_is_told_and_the_log_read_instead(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 10)
    session, live_sessions = _talked(20), LiveSessions()
    with live_sessions.present(session, "panel") as shown:
        html = html_of(shown)
    Snapshot.objects.update(data={"nothing": "that this code could read"})
    live_sessions.clear()
    with live_sessions.present(session, "panel") as shown:
        assert html_of(shown) == html
    live_sessions.clear()
    Snapshot.objects.update(data={"nothing": "that this code could read"})
    with live_sessions.open(session) as state:
        assert len(state.surfaces) == 2
    assert caplog.text.count("cannot be read") == 2


def test_without_its_snapshots_a_session_is_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 5)
    session, live_sessions = _talked(20), LiveSessions()
    with live_sessions.present(session, "panel") as shown:
        html = html_of(shown)
    Snapshot.objects.all().delete()
    live_sessions.clear()
    with live_sessions.present(session, "panel") as shown:
        assert html_of(shown) == html


# -- the sessions of a process --------------------------------------------------------------------------------------


def test_nothing_is_drawn_where_nobody_presents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 5)
    session, live_sessions = _talked(10), LiveSessions()
    with live_sessions.open(session) as state:
        assert len(state.surfaces) == 2
        assert not any(surface.view.live for surface in state.surfaces)
    assert {one.transport for one in Snapshot.objects.all()} == {""}
    live_sessions.clear()
    _store(session, [("surface", 1, [_message("updateDataModel", "s1", path="/title", value="New")])])
    with live_sessions.open(session) as state:
        assert state.surfaces.get("sally", "s1").data_model["title"] == "New"  # type: ignore[union-attr]
        assert not any(surface.view.live for surface in state.surfaces)


def test_a_state_that_broke_while_it_caught_up_is_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    session, live_sessions = _talked(3), LiveSessions()
    with live_sessions.present(session, "panel") as shown:
        html = html_of(shown)
    _store(session, [("text", 1, "response", "After the break")])
    with monkeypatch.context() as patched:
        patched.setattr(SessionState, "apply", lambda self, row: 1 / 0)
        with pytest.raises(ZeroDivisionError), live_sessions.open(session):
            pass
    with live_sessions.present(session, "panel") as shown:
        assert html_of(shown) != html
        assert "Line 2" in html_of(shown)
        assert "After the break" in html_of(shown)


def test_a_presenter_that_fails_takes_only_its_own_readers_with_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What people write must not be refused because of how it is shown to somebody."""
    session, live_sessions = _talked(3), LiveSessions()
    with live_sessions.present(session, "panel"):
        pass
    _store(session, [("text", 1, "response", "After the break")])
    with monkeypatch.context() as patched:
        patched.setattr(PanelPresenter, "apply", lambda self, row, changes, prev: 1 / 0)
        with live_sessions.open(session) as state:
            assert state.seq == _last_seq(session)
        assert "for panel" in caplog.text
        with pytest.raises(ZeroDivisionError), live_sessions.present(session, "panel"):
            pass
    with live_sessions.present(session, "panel") as shown:
        assert "After the break" in html_of(shown)


def test_watched_sessions_stay_and_of_the_others_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "IDLE_SESSIONS", 2)
    live_sessions, many = LiveSessions(), [_talked(0) for _ in range(5)]
    live_sessions.watch(many[0].pk, "panel")
    for session in many:
        with live_sessions.open(session):
            pass
    assert list(live_sessions._sessions) == [many[0].pk, many[3].pk, many[4].pk]
    live_sessions.unwatch(many[0].pk, "panel")
    assert list(live_sessions._sessions) == [many[0].pk, many[4].pk]


def test_frames_that_are_not_kept_any_more_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presented, "KEPT_FRAMES", 4)
    session = _talked(12)
    shown = _presented(session)
    assert shown.frames_after(shown.sent) == []
    assert shown.frames_after(0) is None
    made = resume(session, "panel", 0)
    assert [frame.payload for frame in made][-4:] == _payloads(shown)
    assert made[0].prev == 0
    kept = shown.frames_after(made[-3].seq)
    assert kept is not None
    assert [frame.seq for frame in kept] == [made[-2].seq, made[-1].seq]


def test_what_is_built_for_a_page_keeps_no_frames_that_it_has() -> None:
    session = factories.make_session(factories.make_visitor()[0])
    _store(session, OPENING)
    session.refresh_from_db()
    whole = LiveSession(session).present("panel", since=0)
    assert len(whole.frames) > 2
    last = whole.frames[-1]
    behind = LiveSession(session).present("panel", since=last.prev)
    assert list(behind.frames) == behind.frames_after(last.prev) == [last]
    page = LiveSession(session).present("panel", since=session.last_seq)
    assert not page.frames
    assert page.frames_after(page.sent) == []
    assert page.frames_after(last.prev) is None


def test_what_was_built_from_the_log_is_compiled_when_it_changes() -> None:
    session = factories.make_session(factories.make_visitor()[0])
    _store(session, OPENING)
    live = LiveSession(session)
    with live.lock:
        state = live.present("panel").state
        first, second = state.surfaces
        assert not first.view.live
        _store(session, [("surface", 1, [_message("updateDataModel", "s1", path="/title", value="New")])])
        frame = live.present("panel").frames[-1]
        assert first.view.live
        assert not second.view.live
    assert "New" in frame.payload


def test_frames_that_were_made_again_are_kept_where_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presented, "KEPT_FRAMES", 4)
    session = _talked(12)
    made = resume(session, "panel", 0)
    shown = LiveSession(session).present("panel", since=made[-2].seq)
    assert list(shown.frames) == made[-1:]
    shown.keep_earlier([])
    shown.keep_earlier(made[:-2])
    assert list(shown.frames) == made[-1:]
    shown.keep_earlier(made)
    assert list(shown.frames) == made[-4:]
    shown.keep_earlier(made)
    assert list(shown.frames) == made[-4:]
    page = LiveSession(session).present("panel", since=made[-1].seq)
    page.keep_earlier(made[:-1])
    assert not page.frames
    page.keep_earlier(made)
    assert list(page.frames) == made[-4:]

"""The live view is a function of the rows: watched all along, built anew, or restored from a snapshot at any row, it
shows the same page and sends the same frames."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from envelopes.delivery import live
from envelopes.delivery.live import LiveView, LiveViews, resume
from envelopes.log.append import writing
from envelopes.log.read import rows_after
from envelopes.models import Session, Snapshot
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
    added = writer.add(
        "part" if part is not None else kind,
        data,
        part_type=part["metadata"]["partType"] if part is not None else "",
        actor=actor,
    )
    added.turn = turn


def _payloads(view: LiveView, after: int = 0) -> list[str]:
    return [frame.payload for frame in view.frames if frame.seq > after]


def _watched(session: Session) -> tuple[LiveView, list[str]]:
    """A view that applies one row at a time, as one that somebody watches; and its page after each row."""
    view, pages = LiveView(session), []
    for row in rows_after(session.pk, 0):
        view.catch_up(upto=row.seq)
        pages.append(view.html())
    return view, pages


@hypothesis(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(given_steps=steps, cut=st.integers(0, 17))
def test_frames_and_page_are_the_same_however_a_view_came_to_be(
    given_steps: list[tuple[Any, ...]], cut: int
) -> None:
    session = factories.make_session(factories.make_visitor()[0])
    _store(session, OPENING + given_steps)
    watched, pages = _watched(session)
    cut = min(cut, len(pages))

    anew = LiveView(session)
    anew.catch_up()
    assert _payloads(anew) == _payloads(watched)
    assert anew.html() == pages[-1]
    resumed = [frame.payload for frame in resume(session, cut)]
    assert resumed == _payloads(watched, cut)

    early = LiveView(session)
    early.catch_up(upto=cut)
    if cut:
        early._snapshot_seq = -live.SNAPSHOT_EVERY
        snapshot = early.due_snapshot()
        assert snapshot is not None
        snapshot.save()
    undrawn = LiveView(session)
    undrawn.catch_up()
    assert _payloads(undrawn) == _payloads(watched, cut)
    restored = LiveView(session)
    assert restored.seq == cut
    assert restored.html() == (pages[cut - 1] if cut else restored.html())
    restored.catch_up()
    assert _payloads(restored) == _payloads(watched, cut)
    assert restored.html() == pages[-1]
    assert restored.thread.busy == watched.thread.busy
    assert restored.surfaces.snapshot() == watched.surfaces.snapshot()


@hypothesis(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(given_steps=steps)
def test_frames_form_one_chain_and_tell_no_audit(given_steps: list[tuple[Any, ...]]) -> None:
    session = factories.make_session(factories.make_visitor()[0])
    _store(session, OPENING + given_steps)
    view = LiveView(session)
    view.catch_up()
    last = 0
    for frame in view.frames:
        told = json.loads(frame.payload)
        assert (told["seq"], told["prev"]) == (frame.seq, frame.prev)
        assert frame.prev == last < frame.seq
        last = frame.seq
        assert "PRIVATE" not in frame.payload
    assert last == view.sent <= view.seq == _last_seq(session)


def _last_seq(session: Session) -> int:
    return Session.objects.get(pk=session.pk).last_seq


# -- snapshots ----------------------------------------------------------------------------------------------------


def _talked(rows: int) -> Session:
    session = factories.make_session(factories.make_visitor()[0])
    _store(session, [*OPENING, *(("text", 1, "response", f"Line {number}") for number in range(rows))])
    return session


def test_a_snapshot_is_stored_every_so_many_rows_and_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SNAPSHOT_EVERY", 10)
    session, views = _talked(30), LiveViews()
    with views.open(session) as view:
        html = view.html()
    (snapshot,) = Snapshot.objects.filter(session=session)
    assert snapshot.seq == _last_seq(session)
    with views.open(session):
        pass
    assert Snapshot.objects.filter(session=session).count() == 1
    views.clear()
    with views.open(session) as view:
        assert view.base == snapshot.seq
        assert view.html() == html


def test_only_the_last_snapshots_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds the whole conversation: all of them together grew with the square of its length."""
    monkeypatch.setattr(live, "SNAPSHOT_EVERY", 5)
    monkeypatch.setattr(live, "KEPT_SNAPSHOTS", 2)
    session, other, views = _talked(5), _talked(5), LiveViews()
    seqs = []
    for _ in range(4):
        for one in (session, other):
            with views.open(one):
                pass
        seqs.append(_last_seq(session))
        with writing(session.pk) as writer:
            for number in range(6):
                writer.add("message", {"text": f"more {number}", "name": "Ada"})
    kept = Snapshot.objects.filter(session=session).order_by("seq")
    assert [snapshot.seq for snapshot in kept] == seqs[-2:]
    assert Snapshot.objects.filter(session=other).count() == 1


def test_a_time_zone_that_this_machine_does_not_know_still_gives_a_page() -> None:
    session = _talked(3)
    Session.objects.filter(pk=session.pk).update(timezone="Moon/Tranquility")
    session.refresh_from_db()
    with LiveViews().open(session) as view:
        assert view.html()


def test_a_snapshot_of_another_version_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SNAPSHOT_EVERY", 10)
    session, views = _talked(20), LiveViews()
    with views.open(session) as view:
        html = view.html()
    Snapshot.objects.update(data={"nothing": "that this code could read"})
    monkeypatch.setattr(live, "SNAPSHOT_VERSION", live.SNAPSHOT_VERSION + 1)
    views.clear()
    with views.open(session) as view:
        assert view.base == 0
        assert view.html() == html


def test_without_its_snapshots_a_session_is_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SNAPSHOT_EVERY", 5)
    session, views = _talked(20), LiveViews()
    with views.open(session) as view:
        html = view.html()
    Snapshot.objects.all().delete()
    views.clear()
    with views.open(session) as view:
        assert view.html() == html


# -- the views of a process -----------------------------------------------------------------------------------------


def test_a_view_that_broke_while_it_caught_up_is_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    session, views = _talked(3), LiveViews()
    with views.open(session) as view:
        html = view.html()
    _store(session, [("text", 1, "response", "After the break")])
    with monkeypatch.context() as patched:
        patched.setattr(LiveView, "apply", lambda self, row: 1 / 0)
        with pytest.raises(ZeroDivisionError), views.open(session):
            pass
    with views.open(session) as view:
        assert view.html() != html
        assert "Line 2" in view.html()
        assert "After the break" in view.html()


def test_watched_views_stay_and_of_the_others_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "IDLE_VIEWS", 2)
    views, many = LiveViews(), [_talked(0) for _ in range(5)]
    views.watch(many[0].pk)
    for session in many:
        with views.open(session):
            pass
    assert list(views._views) == [many[0].pk, many[3].pk, many[4].pk]
    views.unwatch(many[0].pk)
    assert list(views._views) == [many[3].pk, many[4].pk]


def test_frames_that_are_not_kept_any_more_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "KEPT_FRAMES", 4)
    session = _talked(12)
    view = LiveView(session)
    view.catch_up()
    assert view.frames_after(view.sent) == []
    assert view.frames_after(0) is None
    made = resume(session, 0)
    assert [frame.payload for frame in made][-4:] == _payloads(view)
    assert made[0].prev == 0
    kept = view.frames_after(made[-3].seq)
    assert kept is not None
    assert [frame.seq for frame in kept] == [made[-2].seq, made[-1].seq]

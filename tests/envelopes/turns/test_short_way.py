"""What jobs say goes the short way into the log: tried on live surfaces, undone for whoever comes between."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from django.db import connection
from django.db.models.sql.compiler import SQLCompiler
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from envelopes.log.backends.port import Behind, Stored
from envelopes.log.backends.sqlite import SqliteBackend
from envelopes.models import ClientMessage, Snapshot
from envelopes.session_state import LiveSession, attempted, live, live_sessions, snapshots
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.turns.short_way import ShortWay
from tests import nursery
from tests.envelopes.log.databases import url_of
from tests.writers import BETWEEN, KINDS, World, opened

pytestmark = pytest.mark.django_db(transaction=True)

WHERE = st.integers(0, 1)


class Writers(RuleBasedStateMachine):
    """Writers, readers, refusals, failing commits, gaps and restarts, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self._opened = opened()
        self.world: World = self._opened.__enter__()

    def teardown(self) -> None:
        self._opened.__exit__(None, None, None)

    @rule(at=WHERE, job=WHERE, kind=st.sampled_from(KINDS), between=st.sampled_from(BETWEEN))
    def emit(self, at: int, job: int, kind: str, between: str) -> None:
        self.world.emit(at, job, kind, between)

    @rule(count=st.integers(1, 4))
    def emit_at_once(self, count: int) -> None:
        self.world.emit_at_once(count)

    @rule(
        at=WHERE,
        ids=st.lists(st.integers(0, 5), min_size=1, max_size=4),
        updates=st.integers(0, 3),
        fails=st.sampled_from(["", "", "", "before", "after"]),
    )
    def edits(self, at: int, ids: list[int], updates: int, fails: str) -> None:
        self.world.edits(at, ids, updates, fails)

    @rule(at=WHERE, what=st.sampled_from(["edit", "gap", "settle", "forget", "open"]))
    def other(self, at: int, what: str) -> None:
        getattr(self.world, what)(self.world.talks[at])

    @rule(at=WHERE, job=WHERE, how=st.sampled_from(["before", "after"]))
    def fail(self, at: int, job: int, how: str) -> None:
        self.world.fail_once(at, job, how)

    @invariant()
    def live_sessions_are_a_replay(self) -> None:
        self.world.check()


def run(examples: int, steps: int, machine: type[Writers] = Writers) -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_live_surfaces_are_a_replay_of_the_log_whatever_happens() -> None:
    run(3, 10)


@pytest.fixture
def world() -> Any:
    with opened(1) as made:
        yield made


@pytest.mark.parametrize("between", sorted({*BETWEEN} - {"", "settle", "forget"}))
def test_who_comes_between_undoes_what_is_on_its_way(world: World, between: str) -> None:
    (talk,) = world.talks
    world.emit(0, 0, "value")
    world.emit(0, 0, "value", between)
    world.check()
    assert len(talk.stored[0]) == 2


def test_what_a_job_goes_on_saying_needs_no_look_at_the_database(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (talk,) = world.talks
    world.read(talk)
    world.emit(0, 0, "value")
    before = live_sessions.glance(talk.session.pk, "panel", 0, lambda shown: shown.sent)
    assert before is not None

    def refuse(*_: Any) -> Any:
        raise AssertionError("the database was asked")

    with monkeypatch.context() as patched:
        patched.setattr(ShortWay, "_in_thread", refuse)
        patched.setattr(live, "rows_after", refuse)
        world.emit(0, 0, "items")
        world.emit(0, 0, "value")
    kept = live_sessions.glance(
        talk.session.pk, "panel", before + 3, lambda shown: [frame.seq for frame in shown.frames]
    )
    assert kept is not None
    assert kept[-3:] == [before + 1, before + 2, before + 3]
    world.check()


def test_a_row_on_its_way_makes_no_query_of_djangos(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where it is tried, nor where it is stored, nor where it is read (R11)."""
    (talk,) = world.talks
    world.read(talk)
    world.emit(0, 0, "value")
    asked: list[str] = []
    execute = SQLCompiler.execute_sql

    def noted(compiler: SQLCompiler, *arguments: Any, **options: Any) -> Any:
        asked.append(str(compiler.query))
        return execute(compiler, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(SQLCompiler, "execute_sql", noted)
        world.emit(0, 0, "items")
        world.emit(0, 0, "value")
        world.read(talk)
    assert asked == []
    world.check()


def test_a_refused_message_changes_nothing_and_the_next_one_goes_on(world: World) -> None:
    (talk,) = world.talks
    for kind in ("no surface", "value", "no path", "items"):
        world.emit(0, 0, kind)
        world.check()
    assert (len(talk.refused), len(talk.stored[0])) == (2, 2)


@pytest.mark.parametrize("fails", ["", "before", "after"])
def test_edits_that_come_again_race_with_a_job_and_count_once(world: World, fails: str) -> None:
    (talk,) = world.talks
    world.emit(0, 0, "value")
    world.edits(0, [1, 2, 1, 1], 3, fails)
    world.check()
    # Those of whom nobody knows are sent again, as pages do.
    world.edits(0, [1, 2, 3], 3)
    world.check()
    kept = ClientMessage.objects.filter(session=talk.session).values_list("message_id", flat=True)
    assert sorted(kept) == ["id1", "id2", "id3"]
    assert len(talk.refused) == 2


def test_a_person_who_types_needs_no_look_at_the_database(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (talk,) = world.talks
    world.read(talk)

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the database was asked")

    target = world._field(talk)
    with monkeypatch.context() as patched:
        patched.setattr(attempted, "_in_thread", refuse)
        patched.setattr(live, "rows_after", refuse)
        for number in range(3):
            world.run(world._type(talk, target, f"id{number}", f"w{number}"))
    assert len(talk.answered) == 3
    world.check()


def test_whoever_is_behind_reads_what_others_wrote_before_the_next_try(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a slow machine the first try would send the second to the thread, which is never behind.
    monkeypatch.setattr(attempted, "LONG_SECONDS", 60.0)
    (talk,) = world.talks
    world.emit(0, 0, "value")
    world.gap(talk)
    world.gate.outcomes.clear()
    world.emit(0, 0, "value")
    assert [type(outcome) for outcome in world.gate.outcomes] == [Behind, Stored]
    world.check()


def test_what_a_job_says_is_kept_while_nobody_reads_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_EVERY", 5)
    (talk,) = world.talks
    for _ in range(12):
        world.emit(0, 0, "value")
    kept = Snapshot.objects.filter(session=talk.session).values_list("seq", flat=True)
    assert len(kept) == 2
    last = LiveSession(talk.session).state().seq
    assert last - max(kept) <= snapshots.SNAPSHOT_EVERY
    world.check()


@pytest.mark.parametrize("how", ["before", "after"])
def test_a_commit_that_fails_leaves_what_the_log_has(world: World, how: str) -> None:
    (talk,) = world.talks
    world.emit(0, 0, "value")
    world.fail_once(0, 0, how)
    world.check()
    assert len(talk.unknown) == 1
    world.emit(0, 1, "value")
    world.check()
    assert len(talk.stored[1]) == 1


def test_a_full_disk_leaves_what_the_log_has(world: World) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a disk can be full for SQLite only")
    (talk,) = world.talks
    world.emit(0, 0, "value")
    backend = world.gate.backend
    assert isinstance(backend, SqliteBackend)
    full = backend._connected().connection.cursor()
    # Other tests may have left pages empty.
    full.execute("VACUUM")
    pages = full.execute("PRAGMA page_count").fetchall()[0][0]
    full.execute(f"PRAGMA max_page_count = {pages}")
    for _ in range(60):
        world.emit(0, 0, "items")
    assert talk.unknown
    world.check()
    full.execute("PRAGMA max_page_count = 1000000")
    world.emit(0, 1, "value")
    assert len(talk.stored[1]) == 1
    world.check()


def test_a_process_that_is_killed_between_commit_and_frame_has_written(world: World) -> None:
    (talk,) = world.talks
    environ = {**os.environ, "BEACH_TEST_DATABASE_URL": url_of("default")}
    words = [str(talk.jobs[0].call.pk), "last word"]
    process = nursery.run(words, environ, module="tests.envelopes.turns.emitting")
    assert process.returncode == -signal.SIGKILL, process.stderr
    with live_sessions.present(talk.session, "panel") as shown:
        assert "last word" in html_of(shown)
    world.check()

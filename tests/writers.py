"""Sessions in which jobs write, readers read and whatever may go wrong does: driven step by step, held against the log.

``World`` is what the model of ``tests/envelopes/turns/test_short_way.py`` drives, and the long one of ``tests/long``.
After every step ``check`` compares what this process has at hand with a replay, byte for byte.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

from asgiref.sync import sync_to_async
from django.db import OperationalError

from envelopes import intake
from envelopes.errors import RespondRefused
from envelopes.log.append import JobFence, writing
from envelopes.log.backends import backend_for
from envelopes.log.backends.port import Append, Backend, NewRow, Outcome
from envelopes.log.commits import Committer
from envelopes.log.read import rows_after
from envelopes.models import ClientMessage, Session, Turn
from envelopes.protocol.rows import Row
from envelopes.runtime.executing import RunningCall, context_of
from envelopes.session_state import LiveSession, PresentedSession, attempted, live_sessions
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.turns.lifecycle import turn_data
from envelopes.turns.parts import append_parts
from envelopes.types import JsonObject
from tests import factories
from tests.envelopes.log.databases import make_job, make_turn

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
COMPONENTS = [
    {"id": "root", "component": "Column", "children": ["value", "field", "list"]},
    {"id": "value", "component": "Text", "text": {"path": "/value"}},
    {"id": "field", "component": "TextField", "label": "Q", "value": {"path": "/typed"}},
    {"id": "list", "component": "List", "children": {"path": "/items", "componentId": "item"}},
    {"id": "item", "component": "Text", "text": {"path": "name"}},
]


def surface(*messages: JsonObject) -> JsonObject:
    return {"metadata": {"partType": "a2ui-surface"}, "data": {"messages": list(messages)}}


def message(verb: str, surface_id: str = "live", **body: Any) -> JsonObject:
    return {"version": "v0.9", verb: {"surfaceId": surface_id, **body}}


def update(value: str) -> JsonObject:
    return surface(message("updateDataModel", path="/value", value=value))


def items(names: Sequence[str]) -> JsonObject:
    rows = [{"id": str(number), "name": name} for number, name in enumerate(names)]
    return surface(message("updateDataModel", path="/items", value=rows))


TRANSPORTS = ("panel", "live")
"""One that draws what has changed, and one that looks at the surfaces themselves."""


class Gate:
    """A backend that can be held before it commits, and made to fail then: with nothing stored, or with all of it."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.go, self.reached = threading.Event(), threading.Event()
        self.go.set()
        self.fails = ""
        self.outcomes: list[Outcome] = []

    def write(self, group: Sequence[Append]) -> list[Outcome]:
        self.reached.set()
        assert self.go.wait(30)
        if self.fails == "before":
            raise OperationalError("database or disk is full")
        outcomes = self.backend.write(group)
        self.outcomes += outcomes
        if self.fails == "after":
            raise OperationalError("the connection was lost")
        return outcomes

    def for_all(self, error: Exception) -> bool:
        return self.fails == "after" or self.backend.for_all(error)

    def close(self) -> None:
        self.backend.close()


class Conversation:
    """A session with a surface, two jobs that write, and what they were told."""

    def __init__(self) -> None:
        self.who, _ = factories.make_visitor()
        self.session = factories.make_session(self.who)
        self.turn = make_turn(self.session)
        with writing(self.session.pk) as writer:
            writer.add("turn", turn_data(self.turn, "running", reason="new"), turn=self.turn)
            made = [
                message("createSurface", catalogId=BASIC),
                message("updateComponents", components=COMPONENTS),
            ]
            append_parts(writer, self.turn, [surface(*made)], "actor")
        first = make_job(self.turn)
        second = type(first).objects.create(
            session=self.session, turn=self.turn, call_id="other", name="job", state="running", attempt=1
        )
        self.jobs: list[RunningCall] = [context_of(call, JobFence(call.pk, 1)) for call in (first, second)]
        self.stored: defaultdict[int, list[str]] = defaultdict(list)
        self.refused: set[str] = set()
        self.unknown: set[str] = set()
        self.answered: dict[str, tuple[int, str]] = {}
        """Of a person's edits, by id: the row that they were told, and what they typed."""


class World:
    """Use within ``opened``."""

    def __init__(self, gate: Gate, count: int) -> None:
        self.gate = gate
        self.talks = [Conversation() for _ in range(count)]
        self.words = (f"w{number}" for number in itertools.count())
        self.loop = asyncio.new_event_loop()
        self.other = backend_for()

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    # -- what happens -------------------------------------------------------------------------------------------

    async def _emit(self, talk: Conversation, job: int, parts: Sequence[JsonObject], word: str) -> None:
        try:
            await talk.jobs[job].emit(*parts)
        except RespondRefused:
            talk.refused.add(word)
        except OperationalError:
            talk.unknown.add(word)
        else:
            talk.stored[job].append(word)

    def emit(self, at: int, job: int, kind: str, between: str = "") -> None:
        """A job says something; ``between`` its trial and its commit something else happens."""
        talk, word = self.talks[at % len(self.talks)], next(self.words)
        parts = {
            "value": [update(word)],
            "items": [items([word, "ä", "<b>"]), update(word)],
            "text": [
                {"metadata": {"partType": "progress"}, "data": {"id": "p", "label": word}},
                update(word),
            ],
            "no surface": [
                update(word),
                surface(message("updateDataModel", "gone", path="/value", value=word)),
            ],
            "no path": [surface(message("updateDataModel", path="/value/0/x", value=word)), update(word)],
        }[kind]

        async def held() -> None:
            if between:
                self.gate.reached.clear()
                self.gate.go.clear()
            emitting = asyncio.create_task(self._emit(talk, job, parts, word))
            try:
                if between and await asyncio.to_thread(self._waits_at_gate, emitting):
                    await sync_to_async(getattr(self, between))(talk)
            finally:
                self.gate.go.set()
            await emitting

        self.run(held())

    def _waits_at_gate(self, emitting: asyncio.Task[None]) -> bool:
        while not emitting.done():
            if self.gate.reached.wait(0.005):
                return True
        return False

    def emit_at_once(self, count: int) -> None:
        """All jobs of all sessions, each ``count`` times."""

        async def job(talk: Conversation, number: int) -> None:
            for _ in range(count):
                word = next(self.words)
                await self._emit(talk, number, [update(word)], word)

        async def all_jobs() -> None:
            await asyncio.gather(*(job(talk, number) for talk in self.talks for number in (0, 1)))

        self.run(all_jobs())

    def read(self, talk: Conversation) -> None:
        for transport in TRANSPORTS:
            with live_sessions.present(talk.session, transport):
                pass

    def open(self, talk: Conversation) -> None:
        with live_sessions.open(talk.session) as state:
            state.surfaces.snapshot()

    def edit(self, talk: Conversation) -> None:
        """A person types, and it goes the general way."""
        word = next(self.words)
        target = self._field(talk)
        talk.answered[word] = intake.post_edit(talk.session, talk.who, word, target, word)["seq"], word

    def _field(self, talk: Conversation) -> str:
        with live_sessions.open(talk.session) as state:
            html = "".join(found.html() for found in state.surfaces)
        target = re.search(r'id="([^"]+)"[^>]*data-in="text"', html)
        assert target is not None
        return target[1]

    async def _type(self, talk: Conversation, target: str, message_id: str, word: str) -> None:
        try:
            answer = await intake.edit(talk.session, talk.who, message_id, target, word)
        except OperationalError:
            talk.unknown.add(word)
            return
        except intake.SurfaceRefused:
            talk.refused.add(word)
            return
        if answer.get("repeated"):
            # Of one that nobody was told of, because the connection was lost, it is known by now.
            assert answer["seq"] == talk.answered.get(message_id, (answer["seq"], ""))[0]
        else:
            assert message_id not in talk.answered
            talk.answered[message_id] = answer["seq"], word

    def edits(self, at: int, ids: Sequence[int], updates: int, fails: str = "") -> None:
        """A person's edits through several sockets at once, some of them with an id that has come before, while a job
        goes on; one is of a field that is not there. The commits fail, or not."""
        talk = self.talks[at % len(self.talks)]
        target = self._field(talk)
        typed = [(target, f"id{number}", next(self.words)) for number in ids]
        typed.append(("nowhere", next(self.words), next(self.words)))
        said = [next(self.words) for _ in range(updates)]

        async def job() -> None:
            for word in said:
                await self._emit(talk, 0, [update(word)], word)

        async def all_of_it() -> None:
            await asyncio.gather(*(self._type(talk, *one) for one in typed), job())

        self.gate.fails = fails
        try:
            self.run(all_of_it())
        finally:
            self.gate.fails = ""

    def gap(self, talk: Conversation) -> None:
        """Another process writes, and nobody says so."""
        word = next(self.words)
        part = {"part": items([word]), "turnState": "awaiting"}
        row = NewRow("part", part, part_type="a2ui-surface", actor=talk.turn.actor, turn=1)
        self.other.write([Append(talk.session.pk, None, [NewRow("note", {"note": word}), row])])

    def settle(self, talk: Conversation) -> None:
        """What jobs say from here on is late."""
        with writing(talk.session.pk) as writer:
            turn = Turn.objects.get(pk=talk.turn.pk)
            if turn.status == "running":
                turn.status = "settled"
                turn.save(update_fields=["status"])
                writer.add("settled", {"turnState": "complete", "finalizedBy": "complete"}, turn=turn)

    def forget(self, talk: Conversation) -> None:
        """As if the process began again, for this session."""
        live_sessions.forget(talk.session.pk)

    def fail_once(self, at: int, job: int, how: str) -> None:
        """The commit of what a job says fails."""
        self.gate.fails = how
        try:
            self.emit(at, job, "value")
        finally:
            self.gate.fails = ""

    # -- what has to hold ---------------------------------------------------------------------------------------

    def check(self) -> None:
        for talk in self.talks:
            rows = rows_after(talk.session.pk, 0)
            self._check_log(talk, rows)
            alone = LiveSession(talk.session)
            for anew in [alone.present(transport) for transport in TRANSPORTS]:
                # As it is, before anybody catches up. What is on its way is in nobody's.
                live_sessions.glance(talk.session.pk, anew.transport.name, 0, partial(_same_row, anew))
                with live_sessions.open(talk.session) as state:
                    assert state.surfaces.snapshot() == anew.state.surfaces.snapshot()
                with live_sessions.present(talk.session, anew.transport.name) as shown:
                    _same(shown, anew)

    def _check_log(self, talk: Conversation, rows: Sequence[Row]) -> None:
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        assert Session.objects.get(pk=talk.session.pk).last_seq == len(rows)
        texts = [json.dumps(row.data) for row in rows]
        for words in talk.stored.values():
            places = []
            for word in words:
                found = [number for number, text in enumerate(texts) if f'"{word}"' in text]
                assert found, f"{word} is lost"
                places.append(found[0])
            assert places == sorted(places)
            assert len(set(places)) == len(places)
        for word in talk.refused:
            assert not any(f'"{word}"' in text for text in texts)
        for seq, word in talk.answered.values():
            assert (rows[seq - 1].kind, rows[seq - 1].data["ops"][-1]["value"]) == ("edit", word)
        edited = [row.data["ops"][-1]["value"] for row in rows if row.kind == "edit"]
        assert len(set(edited)) == len(edited)
        assert len(edited) == ClientMessage.objects.filter(session=talk.session).count()
        over = next((row.seq for row in rows if row.kind == "settled"), len(rows) + 1)
        for row in rows:
            if row.kind == "part" and row.seq > 2 and '"w' in texts[row.seq - 1] and row.data.get("late"):
                assert row.seq > over
        late = [row for row in rows if row.kind == "part" and row.seq > over and self._is_emitted(talk, row)]
        assert all(row.data.get("late") for row in late)

    def _is_emitted(self, talk: Conversation, row: Row) -> bool:
        text = json.dumps(row.data)
        return any(f'"{word}"' in text for words in talk.stored.values() for word in words)


def _same_row(anew: PresentedSession, shown: PresentedSession) -> None:
    if shown.state.seq == anew.state.seq:
        _same(shown, anew)


def _same(shown: PresentedSession, anew: PresentedSession) -> None:
    assert shown.state.seq == anew.state.seq
    assert shown.sent == anew.sent
    if shown.transport.name == "panel":
        assert html_of(shown) == html_of(anew)
    frames = [frame.payload for frame in shown.frames]
    assert not frames or frames == [frame.payload for frame in anew.frames][-len(frames) :]
    assert shown.state.surfaces.snapshot() == anew.state.surfaces.snapshot()


@contextmanager
def opened(count: int = 2) -> Iterator[World]:
    """A world with so many conversations, and a committer of its own."""
    live_sessions.clear()
    made: list[Gate] = []

    def gated() -> Gate:
        made.append(gate)
        return gate

    gate = Gate(backend_for())
    committer = Committer(gated)
    with patch.object(attempted, "committer", committer):
        world = World(gate, count)
        try:
            yield world
        finally:
            gate.go.set()
            assert committer.stop(30)
            for talk in world.talks:
                for job in talk.jobs:
                    job.close()
            world.other.close()
            world.loop.run_until_complete(world.loop.shutdown_default_executor())
            world.loop.close()
            live_sessions.clear()


BETWEEN: tuple[str, ...] = ("", "", "read", "open", "edit", "gap", "settle", "forget")
KINDS: tuple[str, ...] = ("value", "value", "items", "text", "no surface", "no path")
Step = Callable[[World], None]

"""Shared cases of streamed parts: what stays inside, what ends, what cannot be written."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import html5lib
import pytest
from asgiref.sync import sync_to_async
from django.test import Client
from django.urls import reverse

from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.models import Session, Turn
from envelopes.providers.scripted import Call, Fail, Raw, Reply, Say, Think, data, text
from envelopes.registries.part_types import part_types
from envelopes.registries.tools import Tool, ToolContext
from envelopes.session_state import PresentedSession, live_sessions
from envelopes.session_state.live import LiveSession
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.types import Json, JsonObject
from tests import factories
from tests.desk import Desk, desk, replies
from tests.envelopes.cases.world import Mail, case_variants, text_of, until
from tests.shared import case, needs_shared
from tests.sockets import Socket, panel

pytestmark = [pytest.mark.django_db(transaction=True), needs_shared]


def _stored(given: list[Any]) -> Session:
    """Rows as a peer or an older version may have left them, settled at the end where the case says so."""
    session = factories.make_session(factories.make_visitor()[0])
    turn = factories.make_turn(session)
    for kind, *rest in given:
        if kind == "state":
            factories.settle_turn(turn, rest[0])
            continue
        part_id, content = rest
        known = part_types.get(kind)
        hidden = known is not None and known.streaming in ("drop", "audit-only")
        words: dict[str, Any] = {"text": content} if isinstance(content, str) else {"data": content}
        if kind == "progress":
            words["data"] = {"id": part_id, **content}
        factories.add_part(turn, kind, partId=part_id, audience="audit" if hidden else None, **words)
    return session


def _page(session: Session) -> str:
    live_sessions.clear()
    with live_sessions.present(session, "panel") as view:
        return html_of(view)


def test_st_internal_parts_stay_internal(caplog: pytest.LogCaptureFixture) -> None:
    loaded = case("streaming/st-internal-parts-stay-internal.yaml")
    expected = loaded["expected"]
    session = _stored(loaded["input"]["parts"])
    view = _view(session)
    boss = factories.make_user("boss", superuser=True)
    client = Client()
    client.force_login(boss)
    turn = Turn.objects.get(session=session)
    shown = {
        "panel of the user": html_of(view),
        "page reload": _page(session),
        "JSON in the page source": client.get(reverse("envelopes:session", args=[session.public_id])).content,
        "websocket frames": "".join(frame.payload for frame in view.frames),
        "peer without extension": json.dumps(envelope_for(turn)),
        "peer consuming llm-context": json.dumps(
            envelope_for(turn, Reader("peer", consumes=frozenset({"llm-context"})))
        ),
        "audit view in the admin": client.get(
            reverse("admin:envelopes_session_change", args=[session.pk])
        ).content,
    }
    told = {name: page.decode() if isinstance(page, bytes) else page for name, page in shown.items()}
    assert text_of(told["page reload"], "b-prose") == expected["chat_text"]
    for name, words in expected["absent_from"].items():
        for word in words:
            assert word not in told[name], f"{word} in {name}"
    for name, words in expected["present_in"].items():
        for word in words:
            assert word in told[name], f"{word} not in {name}"
    warnings = {record.getMessage() for record in caplog.records if record.levelname == "WARNING"}
    assert len(warnings) >= expected["warnings_logged_min"]


# -- nothing after settlement -----------------------------------------------------------------------------------------


def _as_part(kind: str, part_id: str, content: Any) -> JsonObject:
    if kind == "progress":
        percent = content.pop("percent", None)
        numbers = {"current": percent, "total": 100} if percent is not None else {}
        return data("progress", {"id": part_id, **content, **numbers})
    return text(kind, content, partId=part_id)


def _said(parts: list[Any]) -> list[Any]:
    """The respond() calls with which a model says these parts, up to where the case breaks off."""
    blocks: list[Any] = []
    waiting: list[JsonObject] = []
    for kind, *rest in parts:
        if kind == "state":
            if waiting:
                extra = [text("error", "It broke.")] if rest[0] == "error" else []
                blocks.append(Say([*waiting, *extra], rest[0]))
            elif blocks:
                # Settled again, with something that nobody gets to see.
                blocks.append(Say([data("reasoning-trace", {"text": "again"})], rest[0]))
            else:
                blocks.append(Raw('{"parts": [], "turnState": "complete"}'))
            waiting = []
        elif kind == "connection_lost_to_agent":
            blocks += [
                *(Say([part], "awaiting") for part in waiting),
                Think("What else?"),
                Fail("error", retryable=False),
            ]
        else:
            waiting.append(_as_part(kind, *rest))
    return blocks


@pytest.mark.parametrize(
    ("given", "expected"), case_variants("streaming/st-nothing-after-settlement-and-no-open-ends.yaml")
)
async def test_st_nothing_after_settlement_and_no_open_ends(
    given: dict[str, Any], expected: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    parts = given["parts"]
    end = next((number for number, part in enumerate(parts) if part[0] == "state"), len(parts))
    late = [part for part in parts[end + 1 :] if part[0] != "state"]
    said = _said(parts if not late else parts[: end + 1])
    if late:
        await _with_late_parts(said, late, expected)
        return
    async with desk(replies(Reply(said))) as d:
        await d.say("Go")
        await _ended(d, expected)
        settled = await d.rows("settled")
        assert len(settled) == expected.get("envelopes_to_buffered_peers", 1)
        if expected.get("marked") == "interrupted":
            assert settled[0].data["finalizedBy"] == "error"
            assert "The model did not answer" in await d.html()
        if "progress_shown_as" in expected:
            assert 'data-state="running"' not in await d.html()
    if expected.get("no_exception"):
        assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def _with_late_parts(said: list[Any], late: list[Any], expected: dict[str, Any]) -> None:
    """Only work in the background can still speak when its turn is over."""
    told = asyncio.Event()
    release = asyncio.Event()

    async def work(context: ToolContext, args: Mail) -> Json:
        await release.wait()
        for part in late:
            await context.emit(_as_part(*part))
        told.set()
        # What it ends with would begin a new turn.
        await asyncio.Event().wait()
        return {}

    tool = Tool("work", "", Mail, work, background=True)
    async with desk(replies([Say([text("ack", "On it.")], "awaiting"), Call("work")], said), tool) as d:
        await d.say("Go", wait=False)
        await until(lambda: _has_settled(d))
        release.set()
        await asyncio.wait_for(told.wait(), 10)
        await _ended(d, expected)
        rows = [row for row in await d.rows("part") if row.data.get("late")]
        assert len(rows) == expected["late_parts_logged"]
        html = await d.html()
        assert not [words for _, _, words in late if isinstance(words, str) and words in html]


async def _has_settled(d: Desk) -> bool:
    return bool(await d.rows("settled"))


async def _ended(d: Desk, expected: dict[str, Any]) -> None:
    def read() -> tuple[str, bool]:
        with live_sessions.present(d.session, "panel") as view:
            return html_of(view), view.busy

    html, busy = await sync_to_async(read)()
    assert busy is expected.get("busy_indicator", False)
    for moving in ("b-typing", "b-spin"):
        assert moving not in html
    if "chat_text" in expected:
        assert text_of(html, "b-prose", but="b-error__body") == expected["chat_text"]


def test_st_progress_values(caplog: pytest.LogCaptureFixture) -> None:
    loaded = case("streaming/st-progress-values.yaml")
    expected = loaded["expected"]
    given = loaded["input"]["parts"]
    seen: dict[str, list[float | None]] = {}
    labels = {part[1]: part[1] for part in given if part[0] == "progress"}
    for length in range(1, len(given) + 1):
        bars = _bars(_page(_stored([_labelled(part) for part in given[:length]])))
        for name in labels:
            if name in bars:
                seen.setdefault(name, []).append(bars[name])
        # One line for each id, however often it was told.
        told = {part[1] for part in given[:length] if part[0] == "progress"}
        assert set(bars) == told
    low, high = expected["bars"]["p1"]["never_outside"]
    for values in seen.values():
        numbers = [value for value in values if value is not None]
        assert all(low <= value <= high for value in numbers)
        assert numbers == sorted(numbers)
    assert seen["p1"][-1] == expected["bars"]["p1"]["last"]
    assert set(seen["p2"]) <= {None, 0}
    # While it runs; when its turn is over nothing is indeterminate any more.
    assert set(seen["p4"][:-1]) == {None}
    first = html5lib.parseFragment(_page(_stored(given[:1])), namespaceHTMLElements=False)
    (label,) = [node for node in first.iter("bdi") if "".join(node.itertext()) == given[0][2]["label"]]
    for rule in expected["dom"]:
        # The panel sets things in bold itself; what was told brings no element of its own.
        assert len(list(label.iter(rule["css"]))) == rule["count"]
    assert _view(_stored(given)).busy is expected["busy_indicator"]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def _labelled(part: list[Any]) -> list[Any]:
    """With its id as its label, so that its bar can be found."""
    return [part[0], part[1], {**part[2], "label": part[1]}] if part[0] == "progress" else part


def _view(session: Session) -> PresentedSession:
    return LiveSession(session).present("panel")


def _bars(html: str) -> dict[str, float | None]:
    """The value of each line's <progress> by its accessible name; None where it is indeterminate."""
    tree = html5lib.parseFragment(html, namespaceHTMLElements=False)
    bars: dict[str, float | None] = {}
    for line in tree.iter("li"):
        bar = next(line.iter("progress"), None)
        label = next(node for node in line.iter("bdi"))
        value = bar.get("value") if bar is not None else None
        name = "".join(label.itertext())
        assert name not in bars, "one line for each id"
        if bar is not None:
            assert bar.get("aria-label") == name
            assert bar.get("max", "100") == "100"
        bars[name] = float(value) if value is not None else None
    return bars


# -- what cannot be written ---------------------------------------------------------------------------------------


async def test_st_unencodable_and_control_characters() -> None:
    loaded = case("streaming/st-unencodable-and-control-characters.yaml")
    lines, expected = loaded["input"]["lines"], loaded["expected"]
    # The text matters: it reaches the parser as it stands.
    calls = [Raw(f'{{"parts": [{_nested(line)}], "turnState": "awaiting"}}') for line in lines[:-1]]
    calls.append(Raw(f'{{"parts": [{_nested(lines[-1])}], "turnState": "complete"}}'))
    async with panel(replies(Reply(calls))) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        await socket.ask({"type": "message", "text": "Go"})
        await socket.settled()
        await socket.caught_up()
        first = await sync_to_async(_page)(session)
        again = await Socket(browser, session.public_id).open()
        assert [f for f in again.frames if "ops" in f] == [f for f in socket.frames if "ops" in f]
        assert await sync_to_async(_page)(session) == first
        assert await sync_to_async(session.events.filter(kind="part").count)() == len(lines)
        for words in expected["text_contains"]:
            assert words in text_of(first)
        for words in expected["text_lacks"]:
            assert words not in first
        for one in (socket, again):
            await one.close()


def _nested(line: str) -> str:
    """The part as a model writes it; the case leaves ``metadata`` out."""
    head, kind, rest = line.partition(",")
    return f'{{"metadata": {head}}}{kind}{rest}'

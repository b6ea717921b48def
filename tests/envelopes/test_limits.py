"""Limits: set in the settings, in force everywhere, and each says which it is and what to do."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from a2ui import Limits
from a2ui.teaching.whole import MOST_BYTES
from beachsite.suite import ROOT
from envelopes.artifacts.reading import AT_ONCE
from envelopes.checks.registered import MOST_TAUGHT
from envelopes.conf import KNOWN
from envelopes.delivery.catching_up import PAGE_CHARACTERS
from envelopes.delivery.streamed import WAITING, WAITING_CHARACTERS
from envelopes.engine_settings import a2ui_limits, image_hosts
from envelopes.log.read import rows_after
from envelopes.metrics import KINDS
from envelopes.protocol.payloads import MAX_ATTEMPTS, MAX_RETRY_SECONDS
from envelopes.protocol.references import MOST as MOST_REFERENCES
from envelopes.protocol.respond import MAX_PARTS, MAX_TASK
from envelopes.providers.chat_reading import AT_ONCE as AT_ONCE_WRITTEN
from envelopes.providers.clients import MOST as MOST_CLIENTS
from envelopes.providers.failures import KIND, WORDS
from envelopes.providers.scripted import Say, data
from envelopes.registries.outputs import TOLD_CHARACTERS
from envelopes.registries.retelling import DATA_CHARACTERS
from envelopes.registries.retries import LONGEST_WAIT, MOST_TIMES
from envelopes.runtime.blocks import rules_of
from envelopes.runtime.calling import GRACE_SECONDS
from envelopes.runtime.executing import KEPT_TRIES
from envelopes.runtime.hearing import QUIET_SECONDS
from envelopes.runtime.tool_threads import WAIT_SECONDS
from envelopes.runtime.translating import CONTEXT_CHARACTERS, WORDS_CHARACTERS
from envelopes.runtime.translating import DATA_CHARACTERS as CONTEXT_DATA
from envelopes.runtime.under_way import REPLY_BYTES
from envelopes.serving.daphne_backpressure import FRAMES_WAITING, HELD_BYTES
from envelopes.session_state import snapshots
from envelopes.session_state.engines import engine_for
from envelopes.session_state.live import LiveSession
from envelopes.session_state.presented import KEPT_CHARACTERS, KEPT_FRAMES
from envelopes.session_state.resumed import REPLAYED_ROWS
from envelopes.testing import create_session
from envelopes.transports.panel.presenter.gathered import LONGEST, OPEN_CARDS
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.transports.sse.api import PIECE
from envelopes.turns.delegating import MAX_DEPTH
from envelopes.turns.leases import MAX_RECOVERIES
from envelopes.turns.lifecycle import MAX_HANDOFFS
from envelopes.turns.on_screen import SCREEN_CHARACTERS
from envelopes.turns.reply import KEPT_ASIDE, MAX_CALLS
from envelopes.turns.strictness import MOST_TOLD
from envelopes.turns.telling import SAID_CHARACTERS
from envelopes.turns.window import EARLIER_TURNS
from tests.desk import Desk, desk, replies
from tests.sockets import Socket, anonymous, panel

pytestmark = pytest.mark.django_db(transaction=True)

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
LIST = [
    {"id": "root", "component": "List", "children": {"componentId": "t", "path": "/l"}},
    {"id": "t", "component": "TextField", "label": "Note", "value": {"path": "n"}},
]


def created(surface: str = "s", components: Any = LIST, model: Any = None) -> Any:
    value = {"l": [{"id": n, "n": f"row {n}"} for n in range(8)]} if model is None else model
    return data(
        "a2ui-surface",
        {
            "version": "v0.9",
            "createSurface": {"surfaceId": surface, "catalogId": BASIC},
            "updateDataModel": {"surfaceId": surface, "value": value},
            "updateComponents": {"surfaceId": surface, "components": components},
        },
    )


ANSWER = replies([Say([created()])])


# ---- the setting


def test_the_defaults_are_the_engines(settings: Any) -> None:
    assert a2ui_limits() == Limits()


def test_a_dictionary_over_the_defaults(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"list_items": 7}

    assert a2ui_limits() == Limits(list_items=7)
    assert engine_for("en", "UTC").options.limits == Limits(list_items=7)


def test_a_wrong_name_stops_loudly(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"list_item": 7}

    with pytest.raises(ValueError, match="'list_item'"):
        a2ui_limits()


def test_every_limit_is_documented() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")

    for field in fields(Limits):
        row = next((line for line in text.splitlines() if line.startswith(f"| `{field.name}` |")), None)
        assert row is not None, field.name
        assert f"| {field.default:,} |" in row
    for name in (
        "BEACH_A2UI_LIMITS",
        "BEACH_FRAMES_PER_SECOND",
        "BEACH_FRAME_BYTES",
        "BEACH_MESSAGE_CHARACTERS",
        "BEACH_READER_SECONDS",
        "BEACH_SOCKETS_PER_CALLER",
        "BEACH_STREAMS",
        "BEACH_STREAMS_PER_CALLER",
        "BEACH_DOWNLOADS",
        "BEACH_DOWNLOADS_PER_CALLER",
    ):
        assert f"`{name}`" in text
        assert name in KNOWN


def test_what_waits_for_a_reader_is_documented() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    table = text.split("## Of what waits for a reader")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]

    assert {row[0].removeprefix("| "): row[1] for row in rows} == {
        "bytes that a connection holds before its application waits": f"{HELD_BYTES:,}",
        "frames of one socket that wait for their application": f"{FRAMES_WAITING:,}",
        "characters of rows that are read at once for a reader, or one row": f"{PAGE_CHARACTERS:,}",
        "characters of an event of a stream that are sent at once": f"{PIECE:,}",
        "rows of a session that are kept for all readers of a transport, and characters": (
            f"{KEPT_FRAMES:,} and {KEPT_CHARACTERS:,}"
        ),
        "pieces of streamed text, and characters": f"{WAITING:,} and {WAITING_CHARACTERS:,}",
        "bytes of a file that are read at once": f"{AT_ONCE:,}",
    }


def test_the_limits_of_other_agents_and_attempts_are_documented() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    table = text.split("## Of other agents and other attempts")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]

    assert {row[0].removeprefix("| "): row[1] for row in rows} == {
        "actors that ask each other, one within the other's turn": f"{MAX_DEPTH:,}",
        "characters of what another actor is asked to do": f"{MAX_TASK:,}",
        "attempts of a retry policy": f"{MAX_ATTEMPTS:,}",
        "seconds before the next attempt": f"{MAX_RETRY_SECONDS:,.0f}",
    }


def test_the_limits_of_a_turn_are_documented() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    table = text.split("## Of a turn")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]

    assert {row[0].removeprefix("| "): row[1] for row in rows} == {
        "parts of one respond() call": f"{MAX_PARTS:,}",
        "calls in one reply, respond() included": f"{MAX_CALLS:,}",
        "blocks of a chat completion that are written at once": f"{AT_ONCE_WRITTEN:,}",
        "seconds that a model says nothing, though its side keeps the connection awake": f"{QUIET_SECONDS:,.0f}",
        "bytes of one reply of a model, but of code": f"{REPLY_BYTES:,}",
        "characters of a block of text or thinking that the log keeps": f"{KEPT_ASIDE:,}",
        "characters of what a model's side says of an error, and of its word for it": f"{WORDS} and {KIND}",
        "kinds of such errors that `/metrics` tells apart": f"{KINDS:,}",
        "clients of one SDK, each of one address and key, that a process keeps unused": f"{MOST_CLIENTS:,}",
        "seconds that a stopped stream of a provider has to end in": f"{GRACE_SECONDS:,.0f}",
        "actors that pass a turn on, one after the other": f"{MAX_HANDOFFS:,}",
        "times that a turn is taken over without a step in between": f"{MAX_RECOVERIES:,}",
        "earlier turns that a model reads": f"{EARLIER_TURNS:,}",
        "characters of what one of them said": f"{SAID_CHARACTERS:,}",
        "characters about the surfaces on screen": f"{SCREEN_CHARACTERS:,}",
        "references to results of tools in one respond() call": f"{MOST_REFERENCES:,}",
        "problems of one refused call that its model is told": f"{MOST_TOLD:,}",
        "bytes of the prompt about A2UI, catalogs and examples included": f"{MOST_BYTES:,}",
        "bytes of the prompt that one part type takes, its example included": f"{MOST_TAUGHT:,}",
        "characters of data of an earlier turn that a model reads": f"{DATA_CHARACTERS:,}",
        "rows that are made into frames again for one reader": f"{REPLAYED_ROWS:,}",
        "characters of what was said that a second model reads": f"{WORDS_CHARACTERS:,}",
        "characters of data that it reads": f"{CONTEXT_DATA:,}",
        "characters that it writes": f"{CONTEXT_CHARACTERS:,}",
    }
    assert f"| {OPEN_CARDS}, those that changed last |" in text
    assert f"| {LONGEST:,} |" in text


def test_the_limits_of_tools_are_documented() -> None:
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    table = text.split("## Of tools")[1].split("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]

    assert {row[0].removeprefix("| "): row[1] for row in rows} == {
        "tries of a call after the first": f"{MOST_TIMES}",
        "seconds between two tries": f"{LONGEST_WAIT:g}",
        "runs that are kept with a call": f"{KEPT_TRIES}",
        "seconds that a call waits for a thread": f"{WAIT_SECONDS:g}",
        "seconds that an async function has to end in": f"{GRACE_SECONDS:g}",
        "characters of the form of a result that a model reads": f"{TOLD_CHARACTERS}",
    }


def test_hosts_below_a_host(settings: Any) -> None:
    settings.BEACH_IMAGE_HOSTS = ["*.Example.com", "img.example.org"]

    assert image_hosts() == {".example.com", "img.example.org"}


def test_code_of_this_process_may_send_more_than_a_model() -> None:
    class Model:
        trusted = "yes"

    class Code:
        trusted = True

    assert rules_of(Model()).limit == 1024 * 1024  # type: ignore[arg-type]
    assert rules_of(Code()).limit == 4 * 1024 * 1024  # type: ignore[arg-type]


# ---- what the agent is told


async def refusals(d: Desk) -> str:
    return str([row.data for row in await d.rows("refused")])


async def test_too_many_surfaces_say_which_limit_and_what_to_do(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"surfaces": 2}
    three = [created(f"s{n}") for n in range(3)]
    async with desk(replies([Say(three)], [Say([created("s9")])])) as d:
        await d.say("Go")
        told = await refusals(d)
        assert "at most 2 surfaces" in told
        assert "Delete one" in told
        assert (await d.html()).count('class="a2-surface"') == 1


async def test_a_call_that_is_too_large_says_how_large_it_may_be(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"trusted_message_bytes": 2_000}
    async with desk(replies([Say([created(model={"l": [{"n": "x" * 3_000}]})])], [Say([created()])])) as d:
        await d.say("Go")
        assert "2000 bytes" in await refusals(d)
        assert "row 1" in await d.html()


async def test_a_list_that_is_cut_is_told_to_the_agent(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"list_items": 3}
    async with desk(ANSWER) as d:
        await d.say("Go")
        assert "3 of 8 shown" in await d.html()
        assert "Only the first 3 items" in str([row.data for row in await d.rows("diagnostic")])


# ---- show more, through the socket


async def test_more_is_a_row_that_every_viewer_and_every_replay_shows(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"list_items": 3}
    async with panel(ANSWER) as (session, browser, _):
        one, other = [await Socket(browser, session.public_id).open() for _ in range(2)]
        await one.ask({"type": "message", "text": "Go"})
        await one.settled()
        assert "3 of 8 shown" in one.shown

        answer = await one.ask({"type": "show", "target": "a1-0"}, message_id="show-1")
        again = await one.ask({"type": "show", "target": "a1-0"}, message_id="show-1")
        await other.until(lambda frame: frame.get("seq") == answer["seq"])

        assert answer["type"] == "ack"
        assert again["repeated"] is True
        assert "6 of 8 shown" in other.shown
        rows = await sync_to_async(rows_after)(session.pk, 0)
        (row,) = [row for row in rows if row.kind == "show"]
        assert row.data == {"owner": "tester", "surfaceId": "s", "target": "a1-0", "count": 6}

        def replayed() -> list[str]:
            live = LiveSession(session)
            whole = live.present("panel")
            live.saved = -1000
            snapshots.store(live.due_snapshots())
            restored = LiveSession(session)
            again = restored.present("panel")
            assert restored.saved == whole.state.seq
            return [html_of(whole), html_of(again)]

        pages = await sync_to_async(replayed)()
        assert pages[0] == pages[1]
        assert "6 of 8 shown" in pages[0]
        await one.close()
        await other.close()


async def test_more_is_refused_where_there_is_none_and_to_strangers(settings: Any) -> None:
    settings.BEACH_A2UI_LIMITS = {"list_items": 3}
    async with panel(ANSWER) as (session, browser, _):
        one = await Socket(browser, session.public_id).open()
        await one.ask({"type": "message", "text": "Go"})
        await one.settled()
        for target in ("a1-1-n0", "a1", "a9-0", "a1-0-xb", "x" * 500):
            answer = await one.ask({"type": "show", "target": target})
            assert (answer["type"], answer["code"]) == ("error", "not_found")
        stranger, who = anonymous()
        theirs = await sync_to_async(create_session)(who, "tester")
        two = await Socket(stranger, theirs.public_id).open()
        assert (await two.ask({"type": "show", "target": "a1-0"}))["code"] == "not_found"
        await one.close()
        await two.close()


async def test_a_flood_names_the_limit(settings: Any) -> None:
    settings.BEACH_FRAMES_PER_SECOND = 1
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        answers = []
        for _ in range(4):
            await socket.send({"type": "ping"})
            answers.append(await socket.until(lambda frame: frame.get("type") in ("pong", "error")))
        told = answers[-1]
        assert (told["code"], told["limit"], told["allowed"]) == ("too_fast", "BEACH_FRAMES_PER_SECOND", 1)
        assert "Wait" in told["message"]
        await socket.close()

"""Part types of an application that are not for everybody: on rows, in envelopes, on pages and while being written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from envelopes.delivery.envelope import envelope_for
from envelopes.delivery.rules import Reader
from envelopes.models import Event, Session, Turn
from envelopes.providers.scripted import Say, text
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.transports import Connection
from envelopes.transports.panel.reader import gets
from tests.desk import replies
from tests.envelopes.transports.panel.talk import Talk
from tests.sockets import Browser, Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

MAIL = Connection("email", "buffered")
SECRET = "Not for pages: " + "the other agent should know that this is so. " * 20
WORDS = "Two flights were found. " * 20


def _type(**fields: Any) -> PartType:
    cells = {"streaming": "flush", "buffered": "once"} | fields
    return PartType("acme.aside", frozenset({"actor"}), text="required", streams_text=True, **cells)


def _said(session: Session, reader: Reader) -> list[str]:
    envelope = envelope_for(Turn.objects.get(session=session), reader, connection=MAIL)
    return [part["metadata"]["partType"] for part in envelope["parts"]]


async def _page_of(session: Session, browser: Browser) -> str:
    page = AsyncClient()
    page.cookies.load(browser.cookies)
    return str((await page.get(f"/chat/{session.public_id}/")).content.decode())


async def _told(kind: PartType) -> tuple[Session, list[str], list[str]]:
    """A turn that says something of this type and then answers: what the envelope has of it for a person and for a
    peer that asks for the type. On the way it is held that no page hears of it."""
    script = replies([Say([text("acme.aside", SECRET), text("response", WORDS)])])
    with part_types.including(kind):
        async with panel(script) as (session, browser, _):
            socket = await Socket(browser, session.public_id).open()
            await socket.ask({"type": "message", "text": "Hello"})
            await socket.settled()
            late = await Socket(browser, session.public_id).open()
            for one in (socket, late):
                assert "Not for pages" not in json.dumps(one.frames)
                assert WORDS.strip() in one.shown
                # The page misses no frame either, or it would ask for ever.
                rows = [frame for frame in one.frames if "ops" in frame]
                assert [row["prev"] for row in rows] == [0, *(row["seq"] for row in rows[:-1])]
            streamed = {frame["partType"] for frame in socket.frames if frame.get("type") == "delta"}
            assert streamed == {"response"}
            assert "Not for pages" not in await _page_of(session, browser)
            await socket.close()
            await late.close()
        person = await sync_to_async(_said)(session, Reader("person"))
        peer = await sync_to_async(_said)(session, Reader("peer", consumes=frozenset({"acme.aside"})))
    return session, person, peer


async def test_s11_what_streaming_readers_drop_is_still_in_the_envelope() -> None:
    session, person, peer = await _told(_type(streaming="drop"))

    assert person == peer == ["acme.aside", "response"]
    row = await Event.objects.aget(session=session, part_type="acme.aside")
    assert row.audience == "delivered"


async def test_s12_what_peers_have_to_ask_for_never_streams_to_a_page() -> None:
    _, person, peer = await _told(_type(requires_peer_consumes=True))

    assert person == ["response"]
    assert peer == ["acme.aside", "response"]


async def test_what_may_not_travel_by_pages_does_not_stream_to_them() -> None:
    _, person, _ = await _told(_type(allowed_transports=frozenset({"a2a", "email"})))

    assert person == ["acme.aside", "response"]


async def test_what_is_kept_for_audit_reaches_nobody() -> None:
    session, person, peer = await _told(_type(streaming="audit-only", buffered="audit-only"))

    assert person == peer == ["response"]
    row = await Event.objects.aget(session=session, part_type="acme.aside")
    assert row.audience == "audit"


@pytest.mark.parametrize(
    "fields",
    [
        {"streaming": "drop"},
        {"requires_peer_consumes": True},
        {"allowed_transports": frozenset({"email"})},
        {"streaming": "audit-only"},
    ],
    ids=str,
)
def test_a_page_makes_no_frame_of_what_its_reader_does_not_get(fields: dict[str, Any]) -> None:
    """The follower would leave the frame out, and the page would miss it for ever."""
    talk = Talk()
    talk.turn(1)
    with part_types.including(_type(**fields)):
        assert not gets(part_types["acme.aside"])
        assert talk.part("acme.aside", "Not for pages", live="L1-1-0-0-0-0") == []
    # Nor of a type whose application has gone.
    assert talk.part("acme.gone", "Not for pages", live="L1-1-0-0-0-1") == []

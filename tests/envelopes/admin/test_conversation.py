"""One conversation as its people saw it, at any row, and what staff do with it, through the admin's page."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Permission
from django.test import AsyncClient, Client
from django.urls import reverse
from pydantic import BaseModel

from envelopes.access import Principal
from envelopes.admin.conversation import following
from envelopes.admin.conversation.pages import NAME
from envelopes.delivery import event_stream
from envelopes.errors import TooOften
from envelopes.models import AuditEntry, Note, Session, Snapshot
from envelopes.providers.port import ModelRequest
from envelopes.providers.scripted import Call, Conversation, Reply, Say, data, text
from envelopes.registries.tools import ApprovalPolicy, Tool, ToolContext
from envelopes.session_state import LiveSession, replay
from envelopes.transports.panel.presenter.panel import html_of
from envelopes.types import Json
from tests.desk import Desk, desk
from tests.envelopes.admin.pages import client_of, text_of, url
from tests.factories import make_principal, make_session, make_user
from tests.markup import elements

pytestmark = pytest.mark.django_db(transaction=True)

BASIC = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"
FORM = [
    {"id": "root", "component": "Column", "children": ["name", "go"]},
    {"id": "name", "component": "TextField", "label": "Passenger", "value": {"path": "/name"}},
    {"id": "go", "component": "Button", "child": "t", "action": {"event": {"name": "book"}}},
    {"id": "t", "component": "Text", "text": "Book it"},
]


class _Flight(BaseModel):
    number: str


async def _book(context: ToolContext, args: _Flight) -> Json:
    return {"reference": "X7K2"}


async def _look(context: ToolContext, args: _Flight) -> Json:
    return {"price": 94}


TOOLS = (
    Tool("look", "Looks a flight up.", _Flight, _look),
    Tool("book", "Books.", _Flight, _book, approval=ApprovalPolicy(lambda args: "Buy it?")),
)


def _script(request: ModelRequest) -> Reply:
    seen = Conversation(request)
    if seen.click is not None:
        return Reply(
            [Call("book", {"number": "EJ1"})]
            if not seen.calls
            else [Say([text("response", "Booked: X7K2.")])]
        )
    if not seen.calls:
        return Reply([Say([text("ack", "Looking.")], "awaiting"), Call("look", {"number": "EJ1"})])
    form = {
        "messages": [
            {"version": "v0.9", "createSurface": {"surfaceId": "f", "catalogId": BASIC}},
            {"version": "v0.9", "updateComponents": {"surfaceId": "f", "components": FORM}},
        ]
    }
    return Reply([Say([text("response", "It is **£94**."), data("a2ui-surface", form)])])


async def _booked(d: Desk) -> None:
    """A booking as it is recorded: words, a form that is filled in, a click, a question, an answer."""
    await d.say("What is EJ1?")
    html = await d.html()
    field, button = (next(e for e in elements(html) if mark in e)["id"] for mark in ("data-in", "data-act"))
    await d.edit(field, "Ada")
    await d.edit(field, "Ada Lovelace")
    await d.act(button)
    await d.decide("granted")


def _panel_at(session: Session, seq: int) -> str:
    """What a panel shows that was built from rows 1 to ``seq``, and from nothing else."""
    live = LiveSession(session)
    shown = live.present("panel", upto=0)
    live.state(upto=seq)
    return html_of(shown)


def _replayed(session: Session, seq: int) -> str:
    with replay.at_row(session, "panel", seq) as reached:
        assert reached.seq == seq
        pieces = reached.presented.presenter.drawn(reached.presented.state.surfaces)  # type: ignore[attr-defined]
        return "".join(piece.html for piece in pieces)


async def test_at_every_row_of_a_booking_the_page_is_what_a_panel_shows_of_the_rows_up_to_there() -> None:
    replay.forget_all()
    async with desk(_script, *TOOLS) as d:
        await _booked(d)
        last = (await d.rows())[-1].seq
        assert last > 20
        steps = [*range(1, last + 1), *range(last, 0, -7), last]
        for seq in steps:
            expected = await sync_to_async(_panel_at)(d.session, seq)
            assert await sync_to_async(_replayed)(d.session, seq) == expected, f"at row {seq}"
        assert "Ada Lovelace" in expected


async def test_a_long_log_is_replayed_from_keyframes_and_one_request_goes_so_far(monkeypatch: Any) -> None:
    monkeypatch.setattr(replay, "KEYFRAME_ROWS", 5)
    monkeypatch.setattr(replay, "REPLAYED_AT_ONCE", 12)
    monkeypatch.setattr(replay, "SNAPSHOT_EVERY", 1)
    monkeypatch.setattr(replay, "KEPT_KEYFRAMES", 3)
    replay.forget_all()

    def reached(session: Session, seq: int) -> int:
        with replay.at_row(session, "panel", seq) as came:
            return came.seq

    def keyframes(session: Session) -> list[int]:
        found = Snapshot.objects.filter(session=session, keyframe=True, transport="panel").order_by("pk")
        return list(found.values_list("seq", flat=True))

    async with desk(_script, *TOOLS) as d:
        await _booked(d)
        last = (await d.rows())[-1].seq
        assert await sync_to_async(reached)(d.session, last) == 12
        replay.forget_all()  # another process is asked next
        assert await sync_to_async(reached)(d.session, last) == min(22, last)
        assert await sync_to_async(reached)(d.session, last) == last
        assert await sync_to_async(reached)(d.session, last + 9) == last
        assert len(await sync_to_async(keyframes)(d.session)) == 3
        replay.forget_all()
        assert await sync_to_async(_replayed)(d.session, last) == await sync_to_async(_panel_at)(
            d.session, last
        )


# -- the page ---------------------------------------------------------------------------------------------------------


def _member(*permissions: str, name: str = "Grace") -> tuple[Client, Principal]:
    user = make_user(staff=True, permissions=permissions)
    user.first_name, user.last_name = name, "Hopper"
    user.save()
    return client_of(user), make_principal(user)


operator = sync_to_async(lambda **more: _member("view_session", "operate_session", **more))


async def _get(client: Client, session: Session, **asked: Any) -> str:
    answer = await sync_to_async(client.get)(url(session, "conversation"), asked)
    assert answer.status_code == 200, answer.status_code
    return str(answer.content.decode())


async def _post(client: Client, session: Session, **given: Any) -> Any:
    return await sync_to_async(client.post)(url(session, "conversation"), {"key": "k1", **given})


async def test_the_page_folds_what_the_runtime_did_and_has_no_way_to_act_in_what_was_seen() -> None:
    async with desk(_script, *TOOLS) as d:
        await _booked(d)
        client, _ = await operator()
        page = await _get(client, d.session, runtime=1)
        read = text_of(page)
        assert "You are reading along. The visitor cannot see you." in read
        assert "2 model calls, 1 tool" in read
        assert page.count('class="dk-fold"') <= 6, "62 rows are few lines"
        assert '<fieldset class="dk-seen dk-seen--full" disabled' in page
        log = await sync_to_async(client.get)(url(d.session, "change"))
        assert f'href="{url(d.session, "conversation")}"' in log.content.decode()
        early = await _get(client, d.session, at=1)
        assert "What is EJ1?" in early
        assert "£94" not in early
        assert f"1 of {(await d.rows())[-1].seq}" in text_of(early)
        part = await _get(client, d.session, at=1, part="")
        assert "<html" not in part
        assert "What is EJ1?" in part


async def test_whatever_is_asked_for_lies_within_the_log() -> None:
    client, _ = await operator()
    session = await sync_to_async(make_session)()
    for at in ("0", "7", "-1", "x", "9" * 30):
        assert "Nothing has been said yet." in await _get(client, session, at=at)


async def test_the_page_takes_twelve_queries_however_many_rows_there_are(
    django_assert_max_num_queries: Any,
) -> None:
    async with desk(_script, *TOOLS) as d:
        await _booked(d)
        client, _ = await operator()
        replay.forget_all()

        def asked() -> None:
            # Two of them for the frame of an account that decides nothing by its rights: whether a rule names it.
            with django_assert_max_num_queries(14):
                client.get(url(d.session, "conversation"))

        await sync_to_async(asked)()


async def test_staff_without_the_right_read_and_change_nothing() -> None:
    async with desk(_script, takeover=True) as d:
        await d.say("What is EJ1?")
        reader, _ = await sync_to_async(lambda: _member("view_session", name="Rita"))()
        page = await _get(reader, d.session)
        assert 'value="take"' not in page
        for act in ("claim", "note", "take", "say", "back", "release"):
            assert (await _post(reader, d.session, act=act, text="Hm")).status_code == 403
        blind, _ = await sync_to_async(lambda: _member(name="Bob"))()
        assert (await sync_to_async(blind.get)(url(d.session, "conversation"))).status_code == 404
        assert not await Note.objects.aexists()


async def test_taking_over_through_the_page_without_script_and_a_text_that_comes_back() -> None:
    async with desk(_script, takeover=True) as d:
        await d.say("What is EJ1?")
        grace, _ = await operator()
        maria, _ = await operator(name="Maria")
        assert (await _post(grace, d.session, act="take", key="t1")).status_code == 302
        page = await _get(grace, d.session)
        assert "You write as Grace Hopper. Tester waits until you hand back." in text_of(page)
        assert (
            await _post(grace, d.session, act="say", key="s1", text="Shall I hold it?")
        ).status_code == 302
        refused = await _post(maria, d.session, act="say", key="s2", text="My long answer")
        assert refused.status_code == 409
        assert "Grace Hopper has taken this conversation over." in text_of(refused.content)
        assert "My long answer" in refused.content.decode()
        as_json = await sync_to_async(maria.post)(
            url(d.session, "conversation"),
            {"act": "say", "key": "s3", "text": "x"},
            headers={"Accept": "application/json"},
        )
        assert (as_json.status_code, "Grace Hopper" in as_json.json()["message"]) == (409, True)
        assert (await _post(grace, d.session, act="back", key="b1")).status_code == 302
        assert await d.texts("staff-message") == ["Shall I hold it?"]
        page = await _get(grace, d.session)
        assert "Grace Hopper joined" in text_of(page)
        assert "You are reading along." in text_of(page)


async def test_notes_and_claims_are_for_staff_and_conflicts_are_told() -> None:
    async with desk(_script, takeover=True) as d:
        await d.say("What is EJ1?")
        grace, _ = await operator()
        maria, _ = await operator(name="Maria")
        await _post(grace, d.session, act="note", key="n1", text="Wants a <b>quiet</b> seat.")
        assert "Wants a &lt;b&gt;quiet&lt;/b&gt; seat." in await _get(maria, d.session)
        assert "quiet" not in await d.html()
        await _post(grace, d.session, act="claim")
        assert "Claimed by Grace Hopper" in text_of(await _get(maria, d.session))
        refused = await _post(maria, d.session, act="claim")
        assert (refused.status_code, "Grace Hopper has claimed" in text_of(refused.content)) == (409, True)
        await _post(grace, d.session, act="release")
        assert "Claimed by" not in text_of(await _get(maria, d.session))


async def test_looking_along_shows_a_question_to_nobody_in_the_chat() -> None:
    async with desk(_script, *TOOLS) as d:
        await d.say("What is EJ1?")
        button = next(e for e in elements(await d.html()) if "data-act" in e)["id"]
        await d.act(button)
        (approval,) = await d.approvals()
        client, _ = await operator()
        approver = await sync_to_async(
            lambda: client_of(
                make_user(staff=True, permissions=("view_session", "view_approval", "decide_approval"))
            )
        )()
        page = (await sync_to_async(approver.get)(url(approval, "change"))).content.decode()
        (beside,) = re.findall(r'data-seen="([^"]+)"', page)
        seen = await sync_to_async(approver.get)(beside)
        assert "Buy it?" in text_of(seen.content)
        assert "Buy it?" in text_of(await _get(client, d.session))
        shown = AuditEntry.objects.filter(kind="shown").values_list("door", flat=True)
        assert await sync_to_async(list)(shown) == ["admin"]


def _rows(text: str) -> list[int]:
    return [int(line.removeprefix("id: ")) for line in text.splitlines() if line.startswith("id: ")]


async def test_a_page_hears_of_what_is_edited_and_only_as_long_as_its_reader_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.02)
    monkeypatch.setattr(event_stream, "RECHECK_SECONDS", 0.0)
    async with desk(_script, *TOOLS) as d:
        await d.say("What is EJ1?")
        before = (await d.rows())[-1].seq
        address = f"{url(d.session, 'conversation')}follow/?after={before}"
        user = await sync_to_async(make_user)(staff=True, permissions=("view_session",))
        client = AsyncClient()
        await client.aforce_login(user)
        stream = aiter(await client.get(address))  # type: ignore[call-overload]
        heard = ""

        async def until(holds: Callable[[], bool]) -> None:
            nonlocal heard
            async with asyncio.timeout(20):
                while not holds():
                    heard += (await anext(stream)).decode()

        await until(lambda: "still here" in heard)
        assert _rows(heard) == []
        field = next(e for e in elements(await d.html()) if "data-in" in e)["id"]
        await d.edit(field, "Ada")
        (edited,) = [row.seq for row in await d.rows() if row.kind == "edit"]
        await until(lambda: _rows(heard) == [edited])
        # Whoever comes from too far ahead or behind is told of the last row, and goes on from there.
        ahead = await client.get(f"{address}00")
        assert _rows(b"".join([piece async for piece in ahead]).decode()) == [edited]  # type: ignore[union-attr]
        await sync_to_async(user.user_permissions.clear)()
        with pytest.raises(StopAsyncIteration):
            await until(lambda: False)
        assert (await client.get(address)).status_code == 404
        assert (await AsyncClient().get(address)).status_code == 404
        monkeypatch.setattr(following.streams, "opened", Mock(side_effect=TooOften("Too many.")))
        await sync_to_async(user.user_permissions.set)(
            Permission.objects.filter(codename="view_session", content_type__app_label="envelopes")
        )
        assert (await client.get(address)).status_code == 429


def test_staff_in_another_time_zone_see_the_visitors_time() -> None:
    """The conversation is shown in it, as the visitor has it."""
    session = make_session()
    client = client_of(make_user(superuser=True))

    def told() -> str:
        return text_of(client.get(reverse(f"admin:{NAME}", args=[session.pk])).content)

    assert not re.search(r"\d\d:\d\d now", told())
    Session.objects.filter(pk=session.pk).update(timezone="Asia/Tokyo")
    assert re.search(r"Zone ?Asia/Tokyo ?\d\d:\d\d now", told())

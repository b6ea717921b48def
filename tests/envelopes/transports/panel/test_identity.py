"""Who sits at a socket: cookies read as a page's are, and a change of who that is never costs what was written."""

from __future__ import annotations

import io
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.handlers.asgi import ASGIRequest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from envelopes.access import COOKIE, Principal
from envelopes.models import Event, Participant, Session
from envelopes.providers.scripted import Say, text
from envelopes.testing import create_session
from envelopes.transports.panel import consumer
from tests.desk import replies
from tests.envelopes.transports.closing import close_code
from tests.sockets import HOST, Browser, Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = replies([Say([text("response", "Hello to you.")])])


class Raw(Browser):
    """Cookie headers as they are."""

    def __init__(self, *headers: bytes) -> None:
        super().__init__({})
        self.raw = headers

    def headers(self, origin: str | None = f"http://{HOST}") -> list[tuple[bytes, bytes]]:
        plain = [pair for pair in super().headers(origin) if pair[0] != b"cookie"]
        return [*plain, *((b"cookie", value) for value in self.raw)]


# -- S2 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [
        b'consent={"stats":true}',
        "city=Zürich".encode(),
        "city=Zürich".encode("latin-1"),
        b"a b=1",
        b"flag",
        b"=lonely",
        b"a=b=c;; ;x",
        b'q="unfinished',
        b"list=[1,2,3]",
        b"Expires=never; HttpOnly",
        b"bad\x01name=1",
        "emoji=🏖".encode(),
    ],
)
async def test_s2_a_cookie_of_another_app_locks_nobody_out(other: bytes) -> None:
    async with panel(ANSWER) as (session, browser, _):
        mine = f"{COOKIE}={browser.cookies[COOKIE]}".encode()
        for jar in (other + b"; " + mine, mine + b"; " + other):
            socket = await Socket(Raw(jar), session.public_id).open()
            assert (await socket.ask({"type": "message", "text": "Hello"}))["type"] == "ack"
            await socket.close()


@given(st.lists(st.binary(max_size=60), max_size=3))
def test_s2_socket_and_page_read_the_same_cookies(jars: list[bytes]) -> None:
    from envelopes.transports.panel.identity import cookies_of

    headers = [(b"cookie", jar) for jar in jars]
    scope = {"type": "websocket", "path": "/ws/chat/x/", "headers": headers}
    request = ASGIRequest({"type": "http", "method": "GET", "path": "/", "headers": headers}, io.BytesIO())
    assert cookies_of(scope) == request.COOKIES


async def test_s2_a_session_cookie_that_is_no_text_is_nobodys(caplog: pytest.LogCaptureFixture) -> None:
    async with panel(ANSWER) as (session, _, _who):
        socket = Socket(Raw(rb'sessionid="\000\000abcdefgh"'), session.public_id)
        await socket.wire.connect(timeout=30)
        assert await close_code(socket) == 4401
    assert "Traceback" not in caplog.text


# -- S3 -----------------------------------------------------------------------------------------------------------


async def _user(name: str = "ada", **more: Any) -> Any:
    return await sync_to_async(get_user_model().objects.create_user)(name, password="a sound one", **more)  # type: ignore[attr-defined]


async def _client(user: Any) -> Client:
    client = Client()
    await sync_to_async(client.force_login)(user)
    return client


def _browser_of(client: Client) -> Browser:
    return Browser({name: morsel.value for name, morsel in client.cookies.items() if morsel.value})


async def _is_sent_again(was: Socket, now: Browser, session: Session, frame: dict[str, Any]) -> None:
    """The frame is neither answered nor done; the socket says to come back, and then the same frame counts once."""
    await was.send(frame)
    assert await close_code(was) == 4411
    assert not await Event.objects.filter(session=session, kind="message").aexists()
    again = await Socket(now, session.public_id).open()
    assert (await again.ask(frame, message_id=frame["id"]))["type"] == "ack"
    assert (await again.ask(frame, message_id=frame["id"]))["repeated"] is True
    await again.close()


async def test_s3_signing_in_elsewhere_sends_the_socket_back_with_the_cookies_of_now() -> None:
    await _user()
    async with panel(ANSWER) as (session, browser, _):
        socket = await Socket(browser, session.public_id).open()
        # Another tab of the same browser: the conversation becomes the user's, the session key a new one.
        client = Client()
        client.cookies[COOKIE] = browser.cookies[COOKIE]
        form = {"username": "ada", "password": "a sound one"}
        answer = await sync_to_async(client.post)("/accounts/login/", form)
        assert answer.status_code == 302
        frame = {"type": "message", "id": "typed-before", "text": "Still here"}
        await _is_sent_again(socket, _browser_of(client), session, frame)


async def test_s3_signing_out_elsewhere_is_final_at_the_next_handshake_only() -> None:
    user = await _user()
    client = await _client(user)
    async with panel(ANSWER):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        socket = await Socket(_browser_of(client), session.public_id).open()
        await sync_to_async(client.logout)()
        await socket.send({"type": "message", "id": "m1", "text": "still me?"})
        assert await close_code(socket) == 4411
        gone = Socket(_browser_of(client), session.public_id)
        await gone.wire.connect(timeout=30)
        assert await close_code(gone) == 4401
        assert not await Event.objects.filter(session=session).aexists()


async def test_s3_a_changed_password_sends_back_and_the_new_cookies_go_on() -> None:
    user = await _user()
    client = await _client(user)
    async with panel(ANSWER):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        before = _browser_of(client)
        socket = await Socket(before, session.public_id).open()
        user.set_password("another one")
        await user.asave()
        client = await _client(user)
        frame = {"type": "message", "id": "m1", "text": "Hello"}
        await _is_sent_again(socket, _browser_of(client), session, frame)


async def test_s3_somebody_else_at_the_same_browser_does_not_speak_through_an_open_socket() -> None:
    """Signing out leaves the owner cookie of before: that is somebody, but not the one who was let in."""
    user = await _user()
    client = await _client(user)
    async with panel(ANSWER) as (_, browser, _who):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        both = Browser({**_browser_of(client).cookies, **browser.cookies})
        socket = await Socket(both, session.public_id).open()
        await sync_to_async(client.logout)()
        await socket.send({"type": "message", "id": "m1", "text": "Who am I?"})
        assert await close_code(socket) == 4411
        again = Socket(Browser(browser.cookies), session.public_id)
        await again.wire.connect(timeout=30)
        assert await close_code(again) == 4403


async def test_what_waits_in_a_page_of_one_person_is_not_sent_as_another() -> None:
    """Who may look at everything and decide everywhere would be let in, and decide what somebody else pressed."""
    user, other = await _user(), await _user("grace", is_staff=True, is_superuser=True)
    browser = _browser_of(await _client(other))
    async with panel(ANSWER):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        for meant in (
            f"?person=user:{user.pk}",
            f"?person=user:{other.pk}&person=user:{user.pk}",
            "?person=x",
        ):
            socket = Socket(browser, session.public_id, query=meant)
            await socket.wire.connect(timeout=30)
            assert await close_code(socket) == 4401
        for meant in (f"?person=user:{other.pk}", "?person=", ""):
            await (await Socket(browser, session.public_id, query=meant).open()).close()


@pytest.mark.parametrize("how", ["frame", "ping", "hello"])
async def test_s3_rights_that_have_changed_send_back_whatever_is_asked(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of staff who may look at every conversation, and of one that is no longer theirs to write in."""
    # As if it were so long since who they are was asked.
    monkeypatch.setattr(consumer, "PING_SECONDS", 0.0)
    user = await _user(is_staff=True)
    await user.user_permissions.aadd(
        await Permission.objects.aget(codename="view_session", content_type__app_label="envelopes")
    )
    client = await _client(user)
    async with panel(ANSWER):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        socket = await Socket(_browser_of(client), session.public_id).open()
        await Participant.objects.filter(session=session, role="owner").aupdate(user=await _user("bob"))
        asked = {
            "frame": {"type": "message", "id": "m1", "text": "Mine?"},
            "ping": {"type": "ping"},
            "hello": {"type": "hello", "after": 0},
        }
        await socket.send(asked[how])
        assert await close_code(socket) == 4411
        # They may look at it; to write is refused for good, with the text in their hands again.
        watching = await Socket(_browser_of(client), session.public_id).open()
        refused = await watching.ask({"type": "message", "text": "Mine?"})
        assert (refused["code"], refused["retry"]) == ("forbidden", False)
        await watching.close()


async def test_s3_a_user_who_was_deactivated_is_sent_back_and_then_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(consumer, "PING_SECONDS", 0.0)
    user = await _user()
    client = await _client(user)
    async with panel(ANSWER):
        session = await sync_to_async(create_session)(Principal(user=user, name="ada"), "tester")
        socket = await Socket(_browser_of(client), session.public_id).open()
        await get_user_model().objects.filter(pk=user.pk).aupdate(is_active=False)
        await socket.send({"type": "ping"})
        assert await close_code(socket) == 4411
        again = Socket(_browser_of(client), session.public_id)
        await again.wire.connect(timeout=30)
        assert await close_code(again) == 4401


@pytest.mark.parametrize("greeted", [True, False])
async def test_s3_a_conversation_that_was_deleted_sends_back_and_is_then_not_there(greeted: bool) -> None:
    async with panel(ANSWER) as (session, browser, _):
        socket = Socket(browser, session.public_id)
        await (socket.open() if greeted else socket.wire.connect(timeout=30))
        # Answered once it is known who they are.
        await socket.send({"type": "ping"})
        await socket.until(lambda frame: frame == {"type": "pong"})
        await Session.objects.filter(pk=session.pk).adelete()
        message = {"type": "message", "id": "m1", "text": "Anybody?"}
        await socket.send(message if greeted else {"type": "hello", "after": 0})
        assert await close_code(socket) == 4411
        again = Socket(browser, session.public_id)
        await again.wire.connect(timeout=30)
        assert await close_code(again) == 4403

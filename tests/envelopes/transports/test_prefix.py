"""Below whatever prefix a project includes the addresses, pages, sockets and the card know it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import Client
from django.urls import clear_url_caches, include, path, reverse, set_script_prefix
from django.utils.html import escape

from envelopes.access import Principal
from envelopes.addresses import resolved
from envelopes.asgi import wrap
from envelopes.desk.zone import is_of_desk
from envelopes.testing import create_session
from envelopes.transports import prefixes, routing

below = [path("deep/beach/", include("envelopes.urls"))]
urlpatterns: list[Any] = below


@pytest.fixture(autouse=True)
def _project(settings: Any) -> None:
    settings.ROOT_URLCONF = __name__
    settings.BEACH_ANONYMOUS = False
    settings.LOGIN_URL, settings.LOGOUT_REDIRECT_URL = "/accounts/login/", None


@pytest.fixture
def client(db: None) -> Client:
    return Client()


def test_the_page_names_its_socket_and_its_own_sign_in_where_the_project_has_none(client: Client) -> None:
    answer = client.get("/deep/beach/")
    assert answer.headers["Location"] == "/deep/beach/sign-in?next=/deep/beach/"
    assert 'href="/deep/beach/"' in client.get("/deep/beach/sign-in").text

    User.objects.create_user("ada", password="pw")
    answer = client.post("/deep/beach/sign-in", {"username": "ada", "password": "pw"})
    assert answer.headers["Location"] == "/deep/beach/"
    page = client.get("/deep/beach/").text
    assert 'data-socket="/deep/beach/ws/chat/"' in page
    assert 'action="/deep/beach/sign-out"' in page
    assert client.post("/deep/beach/sign-out").headers["Location"] == "/deep/beach/"


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("/who/", "/who/?next=/deep/beach/"),
        ("who", "/who/?next=/deep/beach/"),
        ("https://id.example/in", "https://id.example/in?next=/deep/beach/"),
        ("nobody", "/deep/beach/sign-in?next=/deep/beach/"),
    ],
)
def test_people_sign_in_where_the_project_says_if_that_is_anywhere(
    given: str, address: str, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = path("who/", lambda request: HttpResponse("who?"), name="who")
    monkeypatch.setitem(globals(), "urlpatterns", [theirs, *below])
    settings.LOGIN_URL = given

    assert client.get("/deep/beach/").headers["Location"] == address


@pytest.mark.parametrize(
    ("scope", "ours"),
    [
        ({"path": "/deep/beach/ws/chat/x/"}, True),
        ({"path": "/deep/beach/ws/live/"}, True),
        ({"path": "/app/deep/beach/ws/live/", "root_path": "/app"}, True),
        ({"path": "/ws/chat/x/"}, False),
        ({"path": "/deep/ws/chat/x/"}, False),
        ({"path": "/deep/beach/ws/live/", "root_path": "/made-up"}, False),
    ],
)
def test_sockets_are_below_the_prefix(scope: dict[str, str], ours: bool) -> None:
    assert routing.is_ours(scope) is ours


ODD = ["a b c/", "ü/", "x.y/", "a+b(c)$[d]{1,2}^|/", "q?x#y/"]
"""Django itself makes no address below one with a per cent sign."""


@pytest.mark.parametrize("prefix", ODD)
@pytest.mark.parametrize("script", ["/", "/app é/"])
def test_a_prefix_may_be_anything(
    prefix: str, script: str, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers have addresses as they are meant, browsers quoted."""
    urls = [path(prefix, include("envelopes.urls")), path(f"{prefix}desk/", admin.site.urls)]
    monkeypatch.setitem(globals(), "urlpatterns", urls)
    settings.FORCE_SCRIPT_NAME = None if script == "/" else script[:-1]
    clear_url_caches()
    set_script_prefix(script)
    try:
        quoted = prefixes.address()
        assert (
            quoted.isascii()
            and " " not in quoted
            and "?" not in quoted
            and unquote(quoted) == script + prefix
        )
        assert prefixes.own() == f"/{prefix}"
        root = "" if script == "/" else script[:-1]
        for below in ("ws/chat/x/", "ws/live/"):
            assert routing.is_ours({"path": f"{script}{prefix}{below}", "root_path": root})
        assert not routing.is_ours({"path": f"{script}other/ws/live/", "root_path": root})
        assert is_of_desk(f"{script}{prefix}desk/") and not is_of_desk(f"{script}{prefix}")
        # The client is not told of the script's prefix: it is before what it asks for.
        asked = "/" + quoted.removeprefix(quote(script))
        answer = client.get(asked)
        assert answer.headers["Location"] == f"{quoted}sign-in?next={quote(quoted, safe='/')}"
        User.objects.create_user("ada", password="pw")
        then = parse_qs(urlsplit(answer.headers["Location"]).query)["next"][0]
        signed = client.post(f"{asked}sign-in", {"username": "ada", "password": "pw", "next": then})
        assert signed.headers["Location"] == quoted
        page = client.get(asked).text
        assert f'data-socket="{escape(quoted)}ws/chat/"' in page
        session = create_session(Principal(user=User.objects.get()), "sally")
        address = reverse("envelopes:session", args=[session.public_id])
        assert resolved(address).kwargs == {"public_id": session.public_id}
    finally:
        set_script_prefix("/")
        clear_url_caches()


def test_a_script_name_is_no_part_of_what_sockets_are_below() -> None:
    set_script_prefix("/app/")
    try:
        assert (prefixes.own(), prefixes.address("ws/live/")) == ("/deep/beach/", "/app/deep/beach/ws/live/")
    finally:
        set_script_prefix("/")


def test_the_card_names_the_sockets_below_it(client: Client) -> None:
    card = client.get("/deep/beach/.well-known/agent-card.json").json()

    assert {door["url"] for door in card["supportedInterfaces"]} == {
        "http://testserver/deep/beach/api/",
        "ws://testserver/deep/beach/ws/live/",
    }


async def _heard(application: Any, scope: dict[str, Any]) -> list[Any]:
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    await application({"headers": [], **scope}, receive, send)
    return sent


async def test_sockets_elsewhere_are_the_projects(settings: Any) -> None:
    async def others(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "theirs"})

    scope = {"type": "websocket", "path": "/news/"}
    assert await _heard(wrap(None, sockets=others), scope) == [{"type": "theirs"}]
    # Without any, and for ours, the gate refuses what has no origin.
    refused = [{"type": "websocket.close", "code": 4403}]
    assert await _heard(wrap(None), scope) == refused
    assert await _heard(wrap(None, sockets=others), {**scope, "path": "/deep/beach/ws/live/"}) == refused


def test_without_addresses_the_application_says_what_to_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "urlpatterns", [])
    with pytest.raises(ImproperlyConfigured, match=r'add path\("beach/", include\("envelopes.urls"\)\)'):
        wrap(None)

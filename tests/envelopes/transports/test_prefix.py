"""Below whatever prefix a project includes the addresses, pages, sockets and the card know it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import Client
from django.urls import include, path, set_script_prefix

from envelopes.asgi import wrap
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

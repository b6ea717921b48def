"""Who signs in elsewhere is known to pages and to sockets, by the classes of docs/operating.md."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from envelopes.access import principal_now
from tests.operating.guide import piece, pieces
from tests.operating.provider import CLIENT, OpenIdProvider, open_id

ADA = {"sub": "u-17", "email": "ada@example.com", "given_name": "Ada", "groups": ["support-leads"]}


@pytest.fixture
def mysite(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the page as modules of a project."""
    for name in ("mysite", "mysite.sign_on", "mysite.proxied"):
        module = ModuleType(name)
        if name != "mysite":
            exec(piece(f"{name.replace('.', '/')}.py"), module.__dict__)  # noqa: S102
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def provider(mysite: None, settings: Any) -> Iterator[OpenIdProvider]:
    """The settings of the page, with the provider on loopback in place of its own."""
    with open_id() as found:
        words: dict[str, Any] = {"os": os, "INSTALLED_APPS": []}
        exec(pieces("mysite/production.py")[1], words)  # noqa: S102
        for name, value in words.items():
            # An application without models: its addresses are what is used.
            if name.isupper() and name != "INSTALLED_APPS":
                given = (
                    value.replace("https://id.example.com", found.url) if isinstance(value, str) else value
                )
                setattr(settings, name, given)
        settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT, "secret"
        settings.ROOT_URLCONF = "tests.operating.sign_on_urls"
        settings.BEACH_ANONYMOUS = False
        yield found


def _come_back(client: Client) -> Any:
    """From a page that asks for a login to the provider, and where that sends to; what the site answers then."""
    asked = client.get("/", follow=False)
    assert asked.status_code == 302 and asked["Location"].startswith("/oidc/authenticate/?next=/")
    away = client.get(asked["Location"])["Location"]
    back = httpx.get(away).headers["Location"]
    return client.get(back.removeprefix("http://testserver"))


@pytest.mark.django_db
def test_whoever_the_provider_knows_is_signed_in_for_pages_and_sockets(
    provider: OpenIdProvider, client: Client
) -> None:
    for name in ("Beach viewer", "Beach approver"):
        Group.objects.get_or_create(name=name)
    provider.claims = ADA

    assert _come_back(client)["Location"] == "/"
    ada = User.objects.get(username="u-17")
    assert (ada.first_name, ada.is_staff, [group.name for group in ada.groups.all()]) == (
        "Ada",
        True,
        ["Beach approver"],
    )
    assert client.get("/").status_code == 200
    assert principal_now(client.session.session_key, None).user == ada

    # Somebody else has that address now, and she has no role any more.
    provider.claims = {**ADA, "sub": "u-18", "groups": []}
    _come_back(Client())
    assert User.objects.get(username="u-18").is_staff is False
    provider.claims = {**ADA, "groups": []}
    _come_back(Client())
    ada.refresh_from_db()
    assert (User.objects.count(), ada.is_staff, ada.groups.count()) == (2, False, 0)


@pytest.mark.django_db
def test_a_token_for_another_site_signs_nobody_in(provider: OpenIdProvider, client: Client) -> None:
    provider.claims, provider.audience = ADA, "shop"

    assert _come_back(client).status_code in (302, 400)
    assert not User.objects.exists()


@pytest.mark.django_db
def test_whom_a_proxy_names_is_signed_in_for_sockets_too_and_nobody_else_is(
    mysite: None, client: Client, settings: Any
) -> None:
    words: dict[str, Any] = {"MIDDLEWARE": list(settings.MIDDLEWARE)}
    exec(pieces("mysite/production.py")[2], words)  # noqa: S102
    settings.MIDDLEWARE, settings.AUTHENTICATION_BACKENDS = (
        words["MIDDLEWARE"],
        words["AUTHENTICATION_BACKENDS"],
    )
    settings.BEACH_ANONYMOUS = False

    assert client.get("/").status_code == 302
    assert client.get("/", headers={"X-Remote-User": "ada"}).status_code == 200
    assert principal_now(client.session.session_key, None).user == User.objects.get(username="ada")
    # The proxy names nobody: signed out there, signed out here.
    assert client.get("/").status_code == 302
    assert principal_now(client.session.session_key, None).user is None

"""What every answer of the site has in common, and the two questions of a supervisor."""

from __future__ import annotations

import logging
import re
import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.test import AsyncClient, Client

from envelopes.serving import health
from tests.factories import make_user


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/admin/login/", "/no/such/page"])
def test_a_page_carries_the_strict_policy(client: Client, path: str) -> None:
    policy = client.get(path).headers["Content-Security-Policy"]
    directives = {name: set(values) for name, *values in (part.split() for part in policy.split("; "))}

    assert directives["default-src"] == {"'self'"}
    assert directives["script-src"] == {"'self'"}
    assert directives["style-src"] == {"'self'"}
    assert directives["img-src"] == {"'self'", "data:"}
    assert directives["object-src"] == {"'none'"}
    assert directives["base-uri"] == {"'none'"}
    assert directives["frame-ancestors"] == {"'none'"}
    assert "unsafe" not in policy
    assert "*" not in policy


@pytest.mark.parametrize("path", ["/readyz", "/static/beach/chat.css", "/no-such-page"])
@pytest.mark.django_db
def test_so_does_everything_else(client: Client, path: str) -> None:
    assert "default-src 'self'" in client.get(path).headers["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/accounts/login/", "/no-such-page"])
@pytest.mark.django_db
def test_pages_at_the_door_follow_the_chosen_theme(client: Client, path: str) -> None:
    assert b"data-theme" not in client.get(path).content
    client.cookies["beach_theme"] = "dark"
    assert re.search(r'<html lang="en" dir="ltr"\s+data-theme="dark"\s*>', client.get(path).text)
    client.cookies["beach_theme"] = '"><script>'
    assert b"data-theme" not in client.get(path).content


@pytest.mark.django_db
def test_a_missing_page_says_so_in_words(client: Client) -> None:
    answer = client.get("/no-such-page")

    assert answer.status_code == 404
    assert "Page not found" in answer.text


@pytest.mark.parametrize("path", ["/accounts/login/", "/gallery/", "/gallery/act"])
@pytest.mark.django_db
async def test_a_form_that_cannot_be_read_is_refused_in_words(path: str) -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = "a" * 32
    answer = await client.post(path, b"a=1", content_type="application/x-www-form-urlencoded; charset=utf-7")

    assert answer.status_code == 400
    assert "This request couldn’t be read" in answer.text
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_the_sign_in_page_is_there_and_leads_back(client: Client, django_user_model: Any) -> None:
    django_user_model.objects.create_user("ann", password="a sound password")

    page = client.get("/accounts/login/")
    answer = client.post(
        "/accounts/login/?next=/healthz", {"username": "ann", "password": "a sound password"}
    )

    assert page.status_code == 200
    assert answer.headers["Location"] == "/healthz"


def test_healthz_touches_no_database(client: Client) -> None:
    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
async def test_healthz_is_answered_before_django_whatever_host_is_asked_for(method: str) -> None:
    asked: list[str] = []

    async def site(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["method"])

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/healthz", "method": method, "headers": [(b"host", b"10.0.0.7")]}
    await health.answering(site)(scope, None, send)

    if method == "POST":
        assert asked == ["POST"]
        return
    assert asked == []
    start, body = sent
    headers = dict(start["headers"])
    assert (start["status"], headers[b"content-type"]) == (200, b"application/json")
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert body["body"] == (b'{"status": "ok"}' if method == "GET" else b"")
    assert headers[b"content-length"] == b"16"


@pytest.mark.django_db
def test_readyz_with_a_current_database(client: Client) -> None:
    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


@pytest.mark.django_db
def test_readyz_with_a_migration_missing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health.MigrationExecutor, "migration_plan", lambda self, targets: [("x", False)])

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["problem"] == "1 migrations are not applied"


def test_readyz_without_a_database_says_so_and_keeps_the_reason_to_the_log(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*args: object) -> None:
        raise OperationalError("no route to db.internal.example")

    monkeypatch.setattr(health, "MigrationExecutor", refuse)

    with caplog.at_level(logging.ERROR, logger="envelopes.serving.health"):
        answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["problem"] == "the database does not answer"
    assert "db.internal.example" not in answer.text
    assert "db.internal.example" in caplog.text


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_cannot_write(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405


async def test_static_files_reach_an_asynchronous_server_whole(async_client: AsyncClient) -> None:
    """Warnings are errors here: the plain middleware warns for each file that it serves under ASGI."""
    answer = await async_client.get("/static/beach/chat.css")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/css")
    assert int(answer.headers["Content-Length"]) == len(answer.content) > 0


async def test_a_missing_static_file_is_a_plain_404(async_client: AsyncClient) -> None:
    assert (await async_client.get("/static/beach/no-such.css")).status_code == 404


async def test_an_unchanged_static_file_is_not_sent_again(async_client: AsyncClient) -> None:
    first = await async_client.get("/static/beach/chat.css")
    again = await async_client.get(
        "/static/beach/chat.css", headers={"If-Modified-Since": first.headers["Last-Modified"]}
    )

    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["ar", "he-IL", "de", "en-GB", "tlh"])
def test_what_is_written_in_english_is_said_to_be_english(language: str) -> None:
    page = Client(headers={"accept-language": language}).get("/approve/nothing").content.decode()
    assert re.search(r'<html lang="en(-gb)?" dir="ltr"', page)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("path", "status"), [("/admin/no/such/page/", 404), ("/admin/auth/user/", 403)])
async def test_a_refused_page_of_the_desk_keeps_no_connection_to_the_database(path: str, status: int) -> None:
    """Each thread that drew one would have one for good, of the sixteen of a process."""
    member = await sync_to_async(make_user)("member", staff=True)
    browser = AsyncClient()
    await browser.aforce_login(member)
    opened: list[tuple[str, BaseDatabaseWrapper]] = []

    def note(connection: BaseDatabaseWrapper, **_: object) -> None:
        opened.append((threading.current_thread().name, connection))

    connection_created.connect(note)
    try:
        assert (await browser.get(path)).status_code == status
    finally:
        connection_created.disconnect(note)
    drawn = [connection for thread, connection in opened if thread.startswith("asyncio_")]
    assert drawn
    assert [connection.connection for connection in drawn] == [None] * len(drawn)

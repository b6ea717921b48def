from __future__ import annotations

import socket
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from beachsite import serving
from beachsite.demo.pacing import PacedModel
from beachsite.demo.script import sally
from beachsite.management.commands.demo import who_answers
from envelopes.serving import daphne_server
from tests.factories import acting


@pytest.fixture
def taken() -> Any:
    """A port that something listens on."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("demo", "--no-input", *arguments, stdout=out)
    return out.getvalue()


def test_a_taken_port_is_seen(taken: int) -> None:
    assert not serving.port_is_free(taken)


def test_a_taken_port_ends_with_what_to_do(taken: int) -> None:
    with pytest.raises(CommandError, match=rf"Port {taken} is in use on 127.0.0.1.* --port \d+"):
        run("--port", str(taken))


@pytest.mark.parametrize("port", ["0", "70000"])
def test_a_port_that_is_none(port: str) -> None:
    with pytest.raises(CommandError, match="1 to 65535"):
        run("--port", port)


@pytest.mark.django_db
def test_check_prepares_and_prints_passwords_once() -> None:
    first = run("--check")
    second = run("--check")

    assert "ada" in first
    assert "staff" in first
    assert "talks to Sally" in first
    start = "DJANGO_SETTINGS_MODULE=beachsite.settings.test python3 manage.py demo\n"
    assert f"Everything is ready. Start it with: {start}" in first
    assert "Accounts: ada, staff (--reset-passwords makes new passwords)" in second


@pytest.mark.django_db
def test_check_speaks_of_what_was_prepared(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another agent, other settings, another port, another folder."""
    data = str(settings.BEACH_DATA)
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "desk.settings")
    with acting(name="mo", display_name="Mo", provider=lambda: PacedModel(sally)):
        settings.BEACH_DEFAULT_ACTOR = "mo"
        said = run("--check", "--port", "8123", "--data", data)
    assert "talks to Mo" in said
    assert "Sally" not in said
    assert f"DJANGO_SETTINGS_MODULE=desk.settings python3 manage.py demo --port 8123 --data {data}\n" in said
    settings.BEACH_DEFAULT_ACTOR = ""
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "beachsite.settings.local")
    assert "Start it with: python3 manage.py demo\n" in run("--check")


@pytest.mark.django_db
def test_new_passwords_on_request() -> None:
    run("--check")

    assert "ada" in run("--check", "--reset-passwords")


def test_a_data_folder_that_the_settings_do_not_have() -> None:
    with pytest.raises(CommandError, match="set BEACH_DATA"):
        run("--check", "--data", "/nowhere/else")


@pytest.mark.django_db
def test_the_data_folder_of_the_settings_is_fine() -> None:
    assert "ready" in run("--check", "--data", str(settings.BEACH_DATA))


@pytest.mark.django_db
@pytest.mark.parametrize(("key", "words"), [("", "scripted model"), ("key", settings.BEACH_MODEL)])
def test_it_says_where_and_on_what_it_runs(monkeypatch: pytest.MonkeyPatch, key: str, words: str) -> None:
    def serve(port: int, listening: Callable[[], None]) -> bool:
        listening()
        return True

    monkeypatch.setattr(daphne_server, "serve", serve)
    monkeypatch.setattr(settings, "ANTHROPIC_API_KEY", key)
    port = serving.free_port_after(20_000)

    said = run("--port", str(port))

    assert f"http://127.0.0.1:{port}/\n" in said
    assert f"http://127.0.0.1:{port}/admin/\n" in said
    assert words in said


@pytest.mark.django_db
def test_a_port_that_is_lost_at_the_last_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daphne_server, "serve", lambda port, listening: False)

    with pytest.raises(CommandError, match="in use"):
        run("--port", str(serving.free_port_after(20_000)))


def test_sally_is_named_only_where_she_answers(settings: Any) -> None:
    assert "Sally is a scripted model" in who_answers()
    settings.ANTHROPIC_API_KEY = "key"
    assert who_answers().startswith("Sally runs on ")

    with acting(name="mo", provider=lambda: PacedModel(sally)):
        settings.BEACH_DEFAULT_ACTOR = "mo"
        assert who_answers().startswith("Mo answers: ")
        assert "Sally" not in who_answers()

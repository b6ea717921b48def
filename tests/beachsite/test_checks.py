"""A wrong combination of settings is found at start, and the message names the setting to change."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.checks import CheckMessage

from beachsite.checks import environment
from envelopes.checks import settings as checks

MEMORY = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
REDIS = {"default": {"BACKEND": "channels_redis.core.RedisChannelLayer"}}


def ids(messages: Sequence[CheckMessage]) -> list[str]:
    assert all(message.hint for message in messages), "every message says what to change"
    return [str(message.id) for message in messages]


@pytest.mark.parametrize(
    ("executor", "count", "layers", "vendor", "expected"),
    [
        ("inprocess", 1, MEMORY, "sqlite", []),
        ("inprocess", 4, MEMORY, "postgresql", ["envelopes.E030"]),
        ("inprocess", 4, REDIS, "sqlite", []),
        ("worker", 1, MEMORY, "postgresql", ["envelopes.E030"]),
        ("worker", 1, REDIS, "sqlite", ["envelopes.E031"]),
        ("worker", 1, MEMORY, "sqlite", ["envelopes.E030", "envelopes.E031"]),
        ("worker", 4, REDIS, "postgresql", []),
    ],
)
def test_processes(
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    executor: str,
    count: int,
    layers: Any,
    vendor: str,
    expected: list[str],
) -> None:
    settings.BEACH_EXECUTOR = executor
    settings.BEACH_PROCESSES = count
    settings.CHANNEL_LAYERS = layers
    monkeypatch.setattr(checks, "connection", SimpleNamespace(vendor=vendor))

    assert ids(checks.processes(None)) == expected


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, None),
        ({"list_items": 50, "regex_steps": 20}, None),
        ({"list_item": 50}, "'list_item'"),
        ({"list_items": 0}, "'list_items'"),
        ({"list_items": True}, "'list_items'"),
        ({"list_items": "50"}, "'list_items'"),
        ({"list_items": 2.5}, "'list_items'"),
        ({7: 1}, "7"),
        (["list_items"], "dictionary"),
        (None, "dictionary"),
    ],
)
def test_a_limit_with_a_wrong_name_or_value_is_named(settings: Any, given: Any, named: str | None) -> None:
    settings.BEACH_A2UI_LIMITS = given

    found = checks.limits(None)

    assert ids(found) == ([] if named is None else ["envelopes.E035"])
    assert all(str(named) in message.msg and "list_items" in str(message.hint) for message in found)


@pytest.mark.parametrize(
    "origin",
    ["https://chat.example.com", "http://localhost:8000", "https://sub-domain.example.com:8443"],
)
def test_a_full_origin_passes(settings: Any, origin: str) -> None:
    settings.BEACH_ALLOWED_ORIGINS = [origin]

    assert ids(checks.addresses(None)) == []


@pytest.mark.parametrize(
    "origin",
    [
        "chat.example.com",
        "//chat.example.com",
        "https://chat.example.com/",
        "https://chat.example.com/path",
        "https://*.example.com",
        "https://user@chat.example.com",
        "https://chat.example.com:port",
        "https://chat.example.com:99999",
        "https://",
        "ftp://chat.example.com",
        "HTTPS://chat.example.com",
        "*",
        "null",
    ],
)
def test_anything_less_than_a_full_origin_is_refused(settings: Any, origin: str) -> None:
    settings.BEACH_ALLOWED_ORIGINS = [origin]

    assert ids(checks.addresses(None)) == ["envelopes.E032"]


@pytest.mark.parametrize("host", ["images.example.com", "*.example.com", "localhost:9000"])
def test_an_image_host_passes(settings: Any, host: str) -> None:
    settings.BEACH_IMAGE_HOSTS = [host]

    assert ids(checks.addresses(None)) == []


@pytest.mark.parametrize(
    "host",
    [
        "https://images.example.com",
        "a.example.com; script-src *",
        "a b",
        "*",
        "'self'",
        "a.example.com/x",
        "",
    ],
)
def test_an_image_host_cannot_smuggle_a_directive(settings: Any, host: str) -> None:
    settings.BEACH_IMAGE_HOSTS = [host]

    assert ids(checks.addresses(None)) == ["envelopes.E033"]


def test_a_redis_url_is_one(settings: Any) -> None:
    settings.REDIS_URL = "localhost:6379"

    assert ids(checks.addresses(None)) == ["envelopes.E034"]


def test_open_doors_are_told_before_a_deployment(settings: Any) -> None:
    settings.BEACH_ANONYMOUS = True
    settings.ALLOWED_HOSTS = ["*"]

    assert ids(checks.public(None)) == ["envelopes.W030", "envelopes.W031"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, None),
        (
            {"BEACH_DAY_COST": 5.0},
            "BEACH_DAY_COST is set, but BEACH_PRICES is empty, so answers count as free.",
        ),
        (
            {
                "BEACH_DAY_COST": 5.0,
                "BEACH_TURN_COST": 1.0,
                "ANTHROPIC_API_KEY": "k",
                "BEACH_MODEL": "claude-x-1",
            },
            "BEACH_TURN_COST, BEACH_DAY_COST are set, but BEACH_PRICES has no price for claude-x-1 (BEACH_MODEL),",
        ),
        (
            {
                "BEACH_ADDRESS_DAY_COST": 1.0,
                "BEACH_PRICES": {"other": {"input": 1}},
                "ANTHROPIC_API_KEY": "k",
            },
            "(BEACH_MODEL)",
        ),
        (
            {
                "BEACH_PERSON_DAY_COST": 1.0,
                "BEACH_PRICES": {"claude": {"input": 1}},
                "ANTHROPIC_API_KEY": "k",
            },
            None,
        ),
        # A model of an application's own has its name there, which is nowhere in the settings.
        ({"BEACH_DAY_COST": 5.0, "BEACH_PRICES": {"house-1": {"input": 1}}}, None),
        ({"BEACH_DAY_COST": "five"}, None),
    ],
)
def test_a_bound_on_cost_wants_prices(settings: Any, changed: dict[str, Any], told: str | None) -> None:
    for name, value in {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "BEACH_PRICES": {}, **changed}.items():
        setattr(settings, name, value)

    found = checks.prices(None)

    assert ids(found) == (["envelopes.W033"] if told else [])
    assert told is None or told in str(found[0].msg)


def test_s17_settings_that_are_missing_have_defaults(settings: Any) -> None:
    from envelopes.conf import KNOWN

    for name in KNOWN:
        if hasattr(settings, name):
            delattr(settings, name)
    for check in (checks.processes, checks.addresses, checks.limits, checks.kinds, checks.public):
        assert ids(check(None)) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BEACH_ALLOWED_ORIGINS", "https://chat.example.com"),
        ("BEACH_ALLOWED_ORIGINS", None),
        ("BEACH_ALLOWED_ORIGINS", [b"https://chat.example.com"]),
        ("BEACH_IMAGE_HOSTS", "images.example.com"),
        ("BEACH_FRAME_BYTES", "128k"),
        ("BEACH_FRAME_BYTES", 0),
        ("BEACH_LEASE_SECONDS", -1),
        ("BEACH_LEASE_SECONDS", float("nan")),
        ("BEACH_MAX_STEPS", True),
        ("BEACH_PROCESSES", "two"),
        ("BEACH_EXECUTOR", "workers"),
        ("BEACH_ANONYMOUS", "no"),
        ("REDIS_URL", None),
        # Lists are cut there, and Python cuts none at a half.
        ("BEACH_LIVE_RING", 256.5),
        ("BEACH_WINDOW_ROWS", 100.0),
        ("BEACH_MESSAGES_PER_MINUTE", 0.5),
    ],
)
def test_s17_a_setting_of_another_kind_is_named_at_start(settings: Any, name: str, value: Any) -> None:
    setattr(settings, name, value)
    found = checks.kinds(None)
    assert ids(found) == ["envelopes.E036"]
    assert name in found[0].msg
    # The others do not fall over it.
    for check in (checks.processes, checks.addresses):
        assert ids(check(None)) == []


def test_s17_a_check_does_not_repeat_a_key(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = b"sk-secret"
    (found,) = checks.kinds(None)
    assert "sk-secret" not in f"{found.msg}{found.hint}"


@pytest.mark.parametrize(
    ("threads", "pool", "expected"),
    [
        (14, {"max_size": 16}, ["envelopes.E037"]),
        (13, {"max_size": 16}, []),
        (4, {}, ["envelopes.E037"]),
        (99, None, []),
    ],
)
def test_the_threads_of_the_database_leave_connections_to_requests(
    settings: Any, monkeypatch: pytest.MonkeyPatch, threads: int, pool: Any, expected: list[str]
) -> None:
    settings.BEACH_DATABASE_THREADS = threads
    monkeypatch.setattr(checks, "connection", SimpleNamespace(settings_dict={"OPTIONS": {"pool": pool}}))

    assert ids(checks.threads(None)) == expected


def test_a_name_in_the_environment_that_nothing_reads_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ids(environment(None)) == []
    monkeypatch.setenv("BEACH_LEASE_SECOND", "3")
    monkeypatch.setenv("BEACH_TEST_ANYTHING", "3")
    (found,) = environment(None)

    assert (found.id, found.hint) == ("beachsite.W001", "Did you mean BEACH_LEASE_SECONDS?")

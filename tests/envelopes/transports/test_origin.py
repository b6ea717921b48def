"""The origin gate: what it refuses, the log tells whoever runs the site, with the setting to change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beachsite.suite import ROOT
from envelopes.transports.origin import OriginGate
from tests.desk import replies
from tests.sockets import Browser, Socket, panel

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = replies([])
PAGE = "https://chat.example.com:8443"


class Proxied(Browser):
    """Behind a proxy that passes on these headers."""

    def __init__(self, browser: Browser, **headers: str) -> None:
        super().__init__(browser.cookies)
        self.more = [
            (name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()
        ]

    def headers(self, origin: str | None = PAGE) -> list[tuple[bytes, bytes]]:
        plain = [pair for pair in super().headers(origin) if pair[0] != b"host"]
        return [*plain, *self.more]


async def _opens(browser: Browser, session: str, **headers: Any) -> bool:
    socket = Socket(browser, session, **headers)
    accepted, _ = await socket.wire.connect(timeout=30)
    if accepted:
        await socket.close()
    return bool(accepted)


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        # nginx with $host, which leaves the port out.
        ({"host": "chat.example.com"}, ["$http_host", "BEACH_ALLOWED_ORIGINS"]),
        # The address of the upstream.
        ({"host": "127.0.0.1:8000"}, ["$http_host", "BEACH_ALLOWED_ORIGINS"]),
        (
            {"host": "127.0.0.1:8000", "x_forwarded_host": "chat.example.com:8443"},
            ["USE_X_FORWARDED_HOST", "BEACH_ALLOWED_ORIGINS"],
        ),
        ({}, ["$http_host", "''"]),
    ],
    ids=["no port", "upstream", "forwarded", "no host"],
)
async def test_s16_the_log_says_that_host_and_origin_differ(
    headers: dict[str, str], told: list[str], caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["chat.example.com", "127.0.0.1"]
    async with panel(ANSWER) as (session, browser, _):
        assert not await _opens(Proxied(browser, **headers), session.public_id)
    (line,) = [record.getMessage() for record in caplog.records if "Refused a socket" in record.getMessage()]
    assert "Origin and Host differ" in line
    assert repr(PAGE) in line
    assert repr(headers.get("host", "")) in line
    for name in told:
        assert name in line


async def test_s16_a_host_that_is_not_allowed_is_said_to_be_that(
    caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["other.example.com"]
    async with panel(ANSWER) as (session, browser, _):
        assert not await _opens(Proxied(browser, host="chat.example.com:8443"), session.public_id)
    assert "is not in ALLOWED_HOSTS" in caplog.text
    assert "differ" not in caplog.text


@pytest.mark.parametrize(
    "origin", ["null", "", "file://", "http://[", "https://[::1", "javascript:alert(1)", "x" * 5000]
)
async def test_s16_an_origin_that_is_no_address_is_refused_and_named(
    origin: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with panel(ANSWER) as (session, browser, _):
        assert not await _opens(browser, session.public_id, origin=origin)
    line = next(record.getMessage() for record in caplog.records if "Refused a socket" in record.getMessage())
    assert repr(origin[:200]) in line
    assert len(line) < 400


async def test_s16_a_forwarded_host_counts_where_django_believes_it_too(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["chat.example.com", "127.0.0.1"]
    async with panel(ANSWER) as (session, browser, _):
        proxied = Proxied(browser, host="127.0.0.1:8000", x_forwarded_host="chat.example.com:8443")
        assert not await _opens(proxied, session.public_id)
        settings.USE_X_FORWARDED_HOST = True
        assert await _opens(proxied, session.public_id)
        # It takes the place of Host, and is not believed beside it.
        other = Proxied(browser, host="chat.example.com:8443", x_forwarded_host="127.0.0.1")
        assert not await _opens(other, session.public_id)


def test_s16_the_example_for_nginx_passes_on_host_and_port() -> None:
    text = Path(ROOT / "docs" / "deploy.md").read_text()
    assert "proxy_set_header Host $http_host;" in text
    assert "proxy_set_header Host $host;" not in text


async def test_s17_without_the_setting_only_the_site_itself_may(settings: Any) -> None:
    del settings.BEACH_ALLOWED_ORIGINS
    assert not OriginGate.allows("https://chat.example", "testserver")
    async with panel(ANSWER) as (session, browser, _):
        assert await _opens(browser, session.public_id)
        assert not await _opens(browser, session.public_id, origin="https://chat.example")

"""Where webhooks may be sent: to hosts that the site has named, over TLS. What a subscription says is not enough, since
the server can reach more than its people should."""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import IPv6Address
from urllib.parse import urlsplit

import httpx

from envelopes.errors import ValidationFailed

_LABEL = "[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}")
"""A name of DNS or an address of IPv4: what else ``urlsplit`` takes for a host (``a%2f.example.com``), other readers of
addresses may take for something else."""


def check_target(url: str, hosts: Collection[str], *, insecure: bool = False) -> None:
    """``hosts`` are names, ``*.example.com`` for all below one; ``host:8443`` where the port is another one than 443.
    ``insecure`` lets ``http`` through too, for tests. Raises ``ValidationFailed``."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValidationFailed("This is no address.", path="/url") from error
    schemes = {"https": 443, "http": 80} if insecure else {"https": 443}
    host = parts.hostname or ""
    printable = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if parts.scheme not in schemes or not host or "@" in parts.netloc or not printable:
        raise ValidationFailed(
            "A webhook goes to an address that begins with https://, without a name or password.", path="/url"
        )
    if not _is_host(url, host):
        raise ValidationFailed("This is no name of a host.", path="/url")
    named = host if port in (None, schemes[parts.scheme]) else f"{host}:{port}"
    if not any(_is(named, one.lower()) for one in hosts):
        raise ValidationFailed(
            f"Webhooks do not go to {named[:200]}: BEACH_WEBHOOK_HOSTS does not name it.", path="/url"
        )


def _is_host(url: str, host: str) -> bool:
    """Whether it is one, and whoever connects reads the same one out of ``url``."""
    if not _NAME.fullmatch(host) and not _is_ipv6(host):
        return False
    try:
        read = httpx.URL(url)
        # ``host`` is decoded, which shows whether it can be.
        return bool(read.host) and read.raw_host.decode() == host
    except (httpx.InvalidURL, UnicodeError):
        return False


def _is_ipv6(host: str) -> bool:
    try:
        return IPv6Address(host).scope_id is None
    except ValueError:
        return False


def _is(named: str, allowed: str) -> bool:
    return (
        named.endswith(allowed[1:]) and named != allowed[1:] if allowed.startswith("*.") else named == allowed
    )

"""Where webhooks may be sent: to hosts that the site has named, over TLS. What a subscription says is not enough, since
the server can reach more than its people should."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from envelopes.errors import ValidationFailed


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
    named = host if port in (None, schemes[parts.scheme]) else f"{host}:{port}"
    if not any(_is(named, one.lower()) for one in hosts):
        raise ValidationFailed(
            f"Webhooks do not go to {named[:200]}: BEACH_WEBHOOK_HOSTS does not name it.", path="/url"
        )


def _is(named: str, allowed: str) -> bool:
    return (
        named.endswith(allowed[1:]) and named != allowed[1:] if allowed.startswith("*.") else named == allowed
    )

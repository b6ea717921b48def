"""The address that somebody comes from: of the connection or, behind proxies of ours, what they have written down."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from envelopes.conf import conf


def address_of(request: HttpRequest) -> str:
    """Of a request; "" where nobody knows."""
    return _behind_proxies(
        str(request.META.get("REMOTE_ADDR") or ""), request.headers.get("X-Forwarded-For", "")
    )


def address_in(scope: Any) -> str:
    """Of the handshake of a socket, whose headers are still there; "" where nobody knows."""
    client = scope.get("client") or ("", 0)
    found = [value for name, value in scope.get("headers", ()) if name.lower() == b"x-forwarded-for"]
    return _behind_proxies(str(client[0]), b",".join(found).decode("latin-1"))


def _behind_proxies(client: str, forwarded: str) -> str:
    """Each proxy of ours, ``BEACH_PROXIES`` of them, adds who it was asked by at the end; what stands before that
    anybody may have written."""
    proxies = conf.BEACH_PROXIES
    listed = [address.strip() for address in forwarded.split(",") if address.strip()]
    return listed[-proxies] if proxies and len(listed) >= proxies else client

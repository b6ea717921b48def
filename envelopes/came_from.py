"""The address that somebody comes from: of the connection or, behind proxies of ours, what they have written down.

What is counted by it is counted by whoever has it: of IPv6 that is a network of 64 bits, in which each of a customer's
devices takes another address whenever it likes (RFC 8981; RIPE-690, section 4.2).
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
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
    return _holder(listed[-proxies] if proxies and len(listed) >= proxies else client)


def _holder(address: str) -> str:
    """Some proxies write the port too, which is another one with each connection: ``192.0.2.7:5124``, ``[::1]:443``."""
    host = address
    if address.startswith("["):
        host = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        host = address.partition(":")[0]
    try:
        found = ip_address(host)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped) if mapped is not None else str(ip_network((int(found), 64), strict=False))

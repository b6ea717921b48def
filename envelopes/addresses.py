"""Addresses of this site as browsers write them, which is not as URLconfs and servers have them."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from django.urls import ResolverMatch, get_script_prefix, resolve


def path_of(address: str) -> str:
    """The path of ``address`` as a URLconf has it: below the script's prefix, nothing in it quoted."""
    return f"/{unquote(urlsplit(address).path).removeprefix(get_script_prefix()).lstrip('/')}"


def resolved(address: str) -> ResolverMatch:
    """What serves ``address``. Raises ``Resolver404``, and ``ValueError`` for what is no address."""
    return resolve(path_of(address))

"""URLs that may be followed or loaded (rulebook 9.5, 16, 17.4; decision D33).

Each function returns the URL to use, or None. Nothing is repaired that a browser would read differently:
white space and controls may only surround a URL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

_MAX_CHARS = 8_192
_MAX_DATA_CHARS = 100_000
_DATA_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/]+={0,2}", re.IGNORECASE)
_MAILTO = re.compile(r"mailto:[^\s@/:?#]+@[^\s@/:?#]+(?:\?[^\s#]*)?", re.IGNORECASE)
_WEB = frozenset({"http", "https"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


def safe_link(url: object) -> str | None:
    """A link in text: http, https or mailto."""
    text = _candidate(url)
    if text is None:
        return None
    if _MAILTO.fullmatch(text):
        return text
    return text if _web(text) else None


def safe_open(url: object) -> str | None:
    """A URL for `openUrl`, media or a citation: http or https."""
    text = _candidate(url)
    return text if text is not None and _web(text) else None


def safe_image(url: object, hosts: frozenset[str]) -> str | None:
    """A picture or medium: a path of this site, a base64 data URL of a bitmap, or http(s) from one of `hosts`.

    A host allows itself on the default port; `host:8080` allows that port; `.example.org` allows every host
    below example.org.
    """
    if isinstance(url, str) and url[:5].lower() == "data:":
        return url if len(url) <= _MAX_DATA_CHARS and _is_bitmap(url) else None
    text = _candidate(url)
    if text is None:
        return None
    if text.startswith("/"):
        return None if text.startswith("//") else text
    parts = _web(text)
    return text if parts and _host_allowed(parts, hosts) else None


@lru_cache(maxsize=16)
def _is_bitmap(url: str) -> bool:
    """Kept, because one long address may be shown by every item of a list."""
    return _DATA_IMAGE.fullmatch(url) is not None


def _candidate(url: object) -> str | None:
    """The URL without surrounding blanks and controls, if nothing in it could be read in two ways."""
    if not isinstance(url, str) or len(url) > _MAX_CHARS:
        return None
    text = url.strip().strip("".join(map(chr, range(33))))
    # isprintable() is false for every control, separator, zero-width and direction character.
    if not text or not text.isprintable() or " " in text or "\\" in text:
        return None
    return text


def _web(text: str) -> SplitResult | None:
    """The parts of an absolute http(s) URL with a host and without credentials."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _WEB or not parts.hostname or "@" in parts.netloc or port == 0:
        return None
    # urlsplit accepts "https:///host" variants that browsers mend; the authority must follow exactly two slashes.
    return parts if text[len(parts.scheme) : len(parts.scheme) + 3] == "://" else None


def _host_allowed(parts: SplitResult, hosts: frozenset[str]) -> bool:
    host = parts.hostname or ""
    if not host.isascii():
        return False
    suffix = "" if parts.port in {None, _DEFAULT_PORTS[parts.scheme]} else f":{parts.port}"
    if host + suffix in hosts:
        return True
    labels = host.split(".")
    return any("." + ".".join(labels[i:]) + suffix in hosts for i in range(1, len(labels)))

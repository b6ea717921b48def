"""System checks of mails about approvals: what is switched on and could not work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.core import checks

from envelopes.conf import conf
from envelopes.transports.signed_posts import is_secret


@checks.register()
def mail_settings(app_configs: Any, **kwargs: Any) -> Sequence[checks.CheckMessage]:
    """Mails need links, links the address of the site, and replies somebody who vouches for them."""
    found: list[checks.CheckMessage] = []
    if conf.BEACH_APPROVAL_MAIL != "off" and not conf.BEACH_SITE_URL:
        told = f"BEACH_APPROVAL_MAIL is {conf.BEACH_APPROVAL_MAIL!r}, but mails have nowhere to link to."
        hint = "Set BEACH_SITE_URL to the address of the site, such as https://chat.example.com."
        found.append(checks.Error(told, hint=hint, id="envelopes.E020"))
    if conf.BEACH_SITE_URL and not _is_site(conf.BEACH_SITE_URL):
        told = f"BEACH_SITE_URL is {conf.BEACH_SITE_URL!r}, which is not the address of a site."
        hint = "Give its scheme and host, such as https://chat.example.com."
        found.append(checks.Error(told, hint=hint, id="envelopes.E021"))
    if conf.BEACH_MAIL_SECRET and not is_secret(conf.BEACH_MAIL_SECRET):
        told = "BEACH_MAIL_SECRET is no secret of Standard Webhooks."
        hint = "It is whsec_ and at least 24 random bytes as base64."
        found.append(checks.Error(told, hint=hint, id="envelopes.E022"))
    if conf.BEACH_MAIL_REPLY_TO and not conf.BEACH_MAIL_AUTHSERV:
        told = "BEACH_MAIL_REPLY_TO is set, but no mail host vouches for who sends replies: none of them decides."
        hint = "Set BEACH_MAIL_AUTHSERV to what the Authentication-Results of your mail host begin with."
        found.append(checks.Warning(told, hint=hint, id="envelopes.W020"))
    return found


def _is_site(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("https", "http") and bool(parts.hostname) and not (parts.query or parts.fragment)

"""What programs post to the site under a secret of their own: signed as Standard Webhooks has it, within five minutes,
and once. Whoever receives asks for all three before anything is read."""

from __future__ import annotations

import base64
import binascii
import time

from django.http import HttpRequest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from envelopes.errors import Forbidden, TooLarge
from envelopes.nonces import DatabaseNonces

WINDOW_SECONDS = 300
"""How far the time of a post may be from ours; the library holds the same."""

ID_CHARACTERS = 256


def body_of(request: HttpRequest, limit: int) -> bytes:
    """Raises ``TooLarge`` before more than that is read."""
    told = request.headers.get("Content-Length", "")
    if not told.isascii() or not told.isdigit() or len(told) > 12 or int(told) > limit:
        raise TooLarge(f"A post has at most {limit:,} bytes, and says how many.", limit=limit)
    return request.read(int(told))


def is_secret(text: str) -> bool:
    """Whether it is one that can sign."""
    try:
        return text.startswith("whsec_") and len(base64.b64decode(text[6:], validate=True)) >= 24
    except binascii.Error:
        return False


def verify(request: HttpRequest, body: bytes, secret: str) -> str:
    """The ``webhook-id``. Raises ``Forbidden`` for a post that is not of whoever knows ``secret``, or not of now."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        Webhook(secret).verify(body, headers, json_parse=False)
    except (WebhookVerificationError, ValueError, OverflowError) as error:
        raise Forbidden("This is not signed by whoever may send it, or not in time.") from error
    return _name(request)


def came_before(request: HttpRequest, scope: str) -> bool:
    """Whether a post with its ``webhook-id`` has been used up. Raises ``Forbidden`` for an id that is too long."""
    return DatabaseNonces(scope).is_used(_name(request))


def use_up(request: HttpRequest, scope: str) -> bool:
    """Whether this post comes for the first time, by its ``webhook-id``. Where it has an effect, in the transaction of
    that. Raises ``Forbidden`` for an id that is too long, ``Unavailable``."""
    return DatabaseNonces(scope).use(_name(request), time.time() + 2 * WINDOW_SECONDS)


def _name(request: HttpRequest) -> str:
    name = request.headers.get("webhook-id", "")
    if not 0 < len(name) <= ID_CHARACTERS:
        raise Forbidden(f"A webhook-id has 1 to {ID_CHARACTERS} characters.")
    return name

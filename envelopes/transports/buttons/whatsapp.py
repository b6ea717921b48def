"""WhatsApp (Cloud API): a message with reply buttons, and what is posted when one is pressed. Pure functions of what
Meta documents.

Meta signs what it posts: ``X-Hub-Signature-256`` is ``sha256=`` and the HMAC-SHA256 of the body under the app's secret.
Nothing of that is of a moment, so a press is remembered for as long as one may come again: seven days.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from envelopes.approvals.in_words import anew_of, facts_of, question_of
from envelopes.models import Approval
from envelopes.registries.actors import agent_name
from envelopes.registries.doors import WHATSAPP
from envelopes.transports.buttons.presses import Press, read_value, text_at, value_of
from envelopes.types import JsonObject

KEPT_SECONDS = 7 * 24 * 3600
AHEAD_SECONDS = 300
"""How far Meta's clock may be before ours."""

BODY_CHARACTERS = 1_024
"""What the text of a message with buttons may hold."""


def message(approval: Approval, to: str) -> JsonObject:
    """What to post to ``/messages``; ``to`` is a telephone number as WhatsApp writes it. Without the button that
    approves where not all of the arguments is in it."""
    facts = facts_of(approval)
    anew = anew_of(approval)
    lines = [question_of(approval), *([anew] if anew else []), "", *(one.line() for one in facts)]
    text = "\n".join(
        [*lines, "", f"{agent_name(approval.handler)} · {approval.tool_name} · {approval.digest[:16]}"]
    )
    whole = not any(one.more for one in facts) and len(text) <= BODY_CHARACTERS
    if not whole:
        told = _("Not all of it is shown here: approve it where it is.")
        text = f"{text[: BODY_CHARACTERS - len(told) - 3]}…\n\n{told}"
    buttons = [("denied", _("Deny")), *([("granted", _("Approve"))] if whole else [])]
    return {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": to,
        "type": "interactive",
        "interactive": {
            "type": "button",
            "body": {"text": text},
            "action": {
                "buttons": [
                    {"type": "reply", "reply": {"id": value_of(approval, decision), "title": label[:20]}}
                    for decision, label in buttons
                ]
            },
        },
    }


def is_signed(headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """Whether Meta has posted ``body``. ``headers`` by any case."""
    given = {name.lower(): value for name, value in headers.items()}.get("x-hub-signature-256", "")
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={expected}".encode(), given.encode("utf-8", "replace"))


def presses_in(payload: JsonObject, now: float) -> list[Press]:
    """Those of our buttons, however many messages came in one post; ``by`` is the telephone number. Anything else that
    is posted to the same address is no press, nor is one of more than seven days ago or of a time to come."""
    found = []
    for one in _messages(payload):
        value = text_at(one, "interactive", "button_reply", "id") or text_at(one, "button", "payload")
        meant, sent = read_value(value), text_at(one, "timestamp")
        is_now = (
            sent.isascii()
            and sent.isdigit()
            and len(sent) <= 12
            and -AHEAD_SECONDS <= now - int(sent) < KEPT_SECONDS
        )
        name, by = text_at(one, "id"), text_at(one, "from")
        if meant is not None and is_now and name and by:
            found.append(Press(WHATSAPP.name, by, meant[1], meant[0], name, int(sent) + KEPT_SECONDS + 60))
    return found


def _messages(payload: JsonObject) -> Iterator[Any]:
    for entry in _list(payload, "entry"):
        for change in _list(entry, "changes"):
            value = change.get("value") if isinstance(change, dict) else None
            yield from _list(value, "messages")


def _list(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []

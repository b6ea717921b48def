"""Slack: a message with buttons, and the ``block_actions`` payload of a press. Pure functions of what Slack documents.

Slack signs what it posts: ``X-Slack-Signature`` is ``v0=`` and the HMAC-SHA256 of ``v0:<timestamp>:<body>`` under the
app's signing secret.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from django.utils.translation import gettext as _

from envelopes.approvals.in_words import anew_of, behalf_of, facts_of, question_of
from envelopes.errors import ValidationFailed
from envelopes.models import Approval
from envelopes.registries.actors import agent_name
from envelopes.registries.doors import SLACK
from envelopes.transports.buttons.presses import Press, read_object, read_value, text_at, value_of
from envelopes.types import JsonObject

WINDOW_SECONDS = 300
BLOCK = "beach.approval"
SECTION_CHARACTERS = 3_000
"""What one block of text may hold (Block Kit, section)."""

BLOCKS = 45
"""Of the 50 that a message may have, for arguments."""


def message(approval: Approval) -> JsonObject:
    """What to post to a channel or a person: ``blocks``, and ``text`` for notifications. Without the button that
    approves where not all of the arguments is in it."""
    facts = facts_of(approval)
    texts = [question_of(approval), *(one.line() for one in facts)]
    fits = len(facts) <= BLOCKS and max(map(len, texts)) <= SECTION_CHARACTERS
    whole = fits and not any(fact.more for fact in facts)
    about = " · ".join(
        part for part in (agent_name(approval.handler), behalf_of(approval), approval.tool_name) if part
    )
    blocks: list[JsonObject] = [
        {"type": "section", "text": _plain(question_of(approval))},
        *({"type": "section", "text": _plain(anew)} for anew in [anew_of(approval)] if anew),
        *({"type": "section", "text": _plain(one.line())} for one in facts[:BLOCKS]),
    ]
    if not whole:
        blocks.append(
            {"type": "section", "text": _plain(_("Not all of it is shown here: approve it where it is."))}
        )
    blocks.append({"type": "context", "elements": [_plain(f"{about} · {approval.digest[:16]}")]})
    buttons = [_button(approval, "denied", _("Deny"))]
    if whole:
        buttons.append(_button(approval, "granted", _("Approve")))
    blocks.append({"type": "actions", "block_id": BLOCK, "elements": buttons})
    return {"text": question_of(approval), "blocks": blocks}


def _button(approval: Approval, decision: str, label: str) -> JsonObject:
    return {
        "type": "button",
        "action_id": f"beach.{decision}",
        "text": _plain(label),
        "value": value_of(approval, decision),
    }


def _plain(text: str) -> JsonObject:
    """Text without Slack's own marks, mentions and links."""
    return {"type": "plain_text", "text": text[:SECTION_CHARACTERS], "emoji": False}


def is_signed(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> bool:
    """Whether Slack has posted ``body``, within five minutes of ``now``. ``headers`` by any case."""
    found = {name.lower(): value for name, value in headers.items()}
    seconds = found.get("x-slack-request-timestamp", "")
    if not (seconds.isascii() and seconds.isdigit() and len(seconds) <= 12):
        return False
    if abs(now - int(seconds)) > WINDOW_SECONDS:
        return False
    expected = hmac.new(secret.encode(), b"v0:" + seconds.encode() + b":" + body, hashlib.sha256).hexdigest()
    given = found.get("x-slack-signature", "")
    return hmac.compare_digest(f"v0={expected}".encode(), given.encode("utf-8", "replace"))


def payload_in(body: bytes) -> JsonObject:
    """Slack posts a form with one field, which is JSON. Raises ``ValidationFailed``."""
    try:
        fields = parse_qs(body.decode(), max_num_fields=10)
    except ValueError as error:
        raise ValidationFailed("This is no form.") from error
    values = fields.get("payload", [])
    if len(values) != 1:
        raise ValidationFailed("This has no payload.")
    return read_object(values[0])


def press_in(payload: JsonObject, once: str, until: float) -> Press:
    """``by`` is ``<team>/<user>``: ids of people count within their team. Raises ``ValidationFailed`` for anything but
    one press of one of our buttons."""
    actions = payload.get("actions")
    if payload.get("type") != "block_actions" or not isinstance(actions, list) or len(actions) != 1:
        raise ValidationFailed("This is not one press of a button.")
    meant = read_value(text_at(actions, 0, "value"))
    if meant is None or text_at(actions, 0, "action_id") != f"beach.{meant[0]}":
        raise ValidationFailed("The button is none of ours.")
    team = text_at(payload, "user", "team_id") or text_at(payload, "team", "id")
    user = text_at(payload, "user", "id")
    if not team or not user:
        raise ValidationFailed("It does not say who pressed.")
    decision, question = meant
    return Press(SLACK.name, f"{team}/{user}", question, decision, once, until)


def answer(told: str, *, is_decided: bool) -> dict[str, Any]:
    """What to post to the payload's ``response_url``: the message without its buttons, or a line for the presser."""
    if is_decided:
        return {"replace_original": True, "text": told, "blocks": [{"type": "section", "text": _plain(told)}]}
    return {"replace_original": False, "response_type": "ephemeral", "text": told}

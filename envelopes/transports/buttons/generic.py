"""The payload that any program can post: ``{"button": "granted:ID:DIGEST", "by": "who", "reason": "why"}``."""

from __future__ import annotations

from envelopes.errors import ValidationFailed
from envelopes.registries.doors import WEBHOOK
from envelopes.transports.buttons.presses import Press, read_object, read_value, text_at

BY_CHARACTERS = 128


def press_in(body: bytes, once: str, until: float) -> Press:
    """Raises ``ValidationFailed``."""
    payload = read_object(body)
    meant = read_value(payload.get("button"))
    by = text_at(payload, "by")
    if meant is None:
        raise ValidationFailed("The button is none of ours.", path="/button")
    if not 0 < len(by) <= BY_CHARACTERS:
        raise ValidationFailed(f"It says by whom, in 1 to {BY_CHARACTERS} characters.", path="/by")
    decision, question = meant
    return Press(WEBHOOK.name, by, question, decision, once, until, text_at(payload, "reason"))

"""A press of a button, whatever program it was in, and what stands behind the button."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from envelopes.approvals.exactly import Question
from envelopes.errors import ValidationFailed
from envelopes.models import Approval
from envelopes.protocol.strict_json import parse_strict
from envelopes.types import JsonObject

_VALUE = re.compile(r"(granted|denied):([A-Za-z0-9]{1,32}):([0-9a-f]{64})")


class Press(NamedTuple):
    """``door`` is one of ``registries.doors``; ``by`` is what the program calls whoever pressed. ``once`` names this
    press, and is remembered until so many seconds since 1970."""

    door: str
    by: str
    question: Question
    decision: str
    once: str
    until: float
    reason: str = ""


def value_of(approval: Approval, decision: str) -> str:
    """What stands behind a button: the decision, the approval, and the digest of what its reader was shown. It is no
    secret: who pressed is what counts, and the program says that."""
    return f"{decision}:{approval.approval_id}:{approval.digest}"


def read_value(value: object) -> tuple[str, Question] | None:
    """The decision and the question; None for a button that is not one of ours."""
    found = _VALUE.fullmatch(value) if isinstance(value, str) else None
    return (found[1], Question(found[2], found[3])) if found is not None else None


def read_object(text: str | bytes) -> JsonObject:
    """A JSON object. Raises ``ValidationFailed``."""
    try:
        value = parse_strict(text.decode() if isinstance(text, bytes) else text)
    except ValueError as error:
        raise ValidationFailed("This is no JSON.") from error
    if not isinstance(value, dict):
        raise ValidationFailed("This is no JSON object.")
    return value


def text_at(value: Any, *path: str | int) -> str:
    """The text at that place; "" where there is none."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return ""
    return value if isinstance(value, str) else ""

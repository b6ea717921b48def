"""``staff-message``: what a member of staff wrote who has taken the conversation over, under their own name.

The runtime alone makes such a part (``turns.takeover``): no agent, no tool and nobody at a door can bring one in, so
whoever reads one may believe the name in it.
"""

from __future__ import annotations

from typing import Annotated

from django.utils.translation import gettext as _
from pydantic import Field

from envelopes.protocol.payloads import Payload
from envelopes.registries.part_types import RUNTIME, PartType
from envelopes.registries.retelling import data_of
from envelopes.types import JsonObject

STAFF = "beach:staff"
"""The actor of rows that are of staff: reserved, so no agent is called that."""


class StaffMember(Payload):
    """Who wrote it."""

    name: Annotated[str, Field(min_length=1, max_length=150)]


def described(name: str) -> str:
    """How models are told of whoever wrote it; by this it is found again where somebody is erased."""
    return f"{name}, a member of staff"


def handed_over(data: JsonObject) -> str:
    """What the row of a takeover says, beside whose it is: ``data`` is its ``TakeoverData``."""
    return (
        _("Took the conversation over.")
        if data.get("state") == "taken"
        else _("Handed the conversation back.")
    )


def _retold(part: JsonObject) -> str:
    return f"[{described(_name(part))}, wrote to the user:] {part.get('text') or ''}"


def _in_words(part: JsonObject) -> str:
    return str(part.get("text") or "")


def _name(part: JsonObject) -> str:
    return str(data_of(part).get("name") or "?")


STAFF_MESSAGE = PartType(
    "staff-message",
    RUNTIME,
    "flush",
    "once",
    text="required",
    data="required",
    data_model=StaffMember,
    canonical=True,
    retold=_retold,
    in_words=_in_words,
    description="what a member of staff wrote who has taken the conversation over",
    example={"text": "I can hold both seats until noon.", "data": {"name": "Grace Hopper"}},
)

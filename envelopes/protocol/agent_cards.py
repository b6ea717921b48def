"""Agent Cards: the Beach extension, and a reader of what other agents show (envelope document, "Agent Card
advertising"; A2A 1.0, section 4.4)."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated

from a2a.types.a2a_pb2 import AgentCard
from google.protobuf.json_format import ParseError
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from envelopes.errors import TooLarge, ValidationFailed
from envelopes.protocol.agent_card_schema import agent_card_schema
from envelopes.protocol.parts import from_pydantic
from envelopes.protocol.strict_json import pointer
from envelopes.protocol.text import clean_text
from envelopes.types import Json

EXTENSION = "https://beach.cool-ai.io/extensions/v1"
"""The URI of the Beach extension."""

RESPOND_VERSION = "1"
"""Of the schema of ``respond()``: raised when a call that was right before no longer is."""

MAX_CARD_BYTES = 64 * 1024
_LONGEST_REASON = 300

_Name = Annotated[str, Field(min_length=1, max_length=128)]


class BeachExtension(BaseModel):
    """The extension's ``params``: part types that the agent takes and sends, the turn states and the A2UI catalogs that
    it knows, and the version of its ``respond()`` schema. Of an agent that does not say, nothing is assumed."""

    model_config = ConfigDict(extra="allow")

    envelopeConsumes: list[_Name] = []
    envelopeProduces: list[_Name] = []
    turnStates: list[_Name] = []
    catalogIds: list[str] = []
    respondSchemaVersion: str | None = None


def read_agent_card(document: Json) -> AgentCard:
    """An Agent Card of A2A 1.0, or of 0.3 in the terms of 1.0.

    Raises ``ValidationFailed`` with ``path`` (JSON Pointer) for what is none, and where the Beach extension is not as
    it should be; ``TooLarge`` beyond ``MAX_CARD_BYTES`` as ASCII.
    """
    if not isinstance(document, dict):
        raise ValidationFailed("An Agent Card is a JSON object.", path="")
    try:
        text = json.dumps(document)
    except RecursionError as error:
        raise _refused("it is nested too deeply", "") from error
    if len(text) > MAX_CARD_BYTES:
        raise TooLarge(f"An Agent Card has at most {MAX_CARD_BYTES} bytes.")
    # Only whoever reads a card pays for the SDK's client.
    from a2a.client.card_resolver import parse_agent_card

    current = json.loads(text)
    failed: Exception | None = None
    card = AgentCard()
    try:
        # It also writes what is older into ``current``, in today's terms.
        card = parse_agent_card(current)
    except (ParseError, OverflowError, TypeError, AttributeError) as error:
        failed = error
    fault = min(_validator().iter_errors(current), key=lambda error: list(map(str, error.path)), default=None)
    if fault is not None:
        raise _refused(fault.message, pointer(fault.path))
    if failed is not None:
        raise _refused(str(failed), "") from failed
    extension_of(document)
    return card


def extension_of(document: Json) -> BeachExtension | None:
    """What a card says in the Beach extension; None where it does not speak of Beach. The card itself is not checked.

    Raises ``ValidationFailed`` where the extension is there and not as it should be.
    """
    capabilities = document.get("capabilities") if isinstance(document, dict) else None
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    for number, extension in enumerate(extensions if isinstance(extensions, list) else ()):
        if isinstance(extension, dict) and extension.get("uri") == EXTENSION:
            try:
                return BeachExtension.model_validate(extension.get("params", {}))
            except ValidationError as error:
                raise from_pydantic(error, f"/capabilities/extensions/{number}/params") from error
    return None


def consumed(document: Json) -> frozenset[str]:
    """The part types that a stored card says its agent takes; none of a card that does not speak of Beach, or not as
    it should."""
    try:
        extension = extension_of(document)
    except ValidationFailed:
        return frozenset()
    return frozenset(extension.envelopeConsumes) if extension is not None else frozenset()


def _refused(why: str, path: str) -> ValidationFailed:
    shown = clean_text(why if len(why) <= _LONGEST_REASON else f"{why[:_LONGEST_REASON]}…").rstrip(".")
    return ValidationFailed(f"This is no Agent Card: {shown} (at {path or '/'}).", path=path)


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(agent_card_schema())

"""Part types and turn states as the sources write them, in their own words (D1): ``part_types.register`` and
``turn_states.register`` take such a mapping as well.

A part type is named by ``partType`` (envelope document, "Registration") or by ``id`` (respond() document,
"Consumer-registered part types"), and says how it travels in ``deliveryRules``, in ``meta`` or in fields of its own.
The consumer owns the payload: text and data are both optional, and nothing of them is checked. What models read of such
a type may stand beside it, as ``description`` and ``example``: the sources have no words for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from envelopes.errors import RegistrationError
from envelopes.types import JsonObject

Delivery: TypeAlias = Literal["flush", "once", "accumulate", "drop"]

_Model = TypeVar("_Model", bound=BaseModel)


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rules(_Declared):
    """What each class of transport does with parts of a type."""

    streaming: Delivery
    buffered: Delivery


class Meta(_Declared):
    """The same in the words of the respond() document. ``serialisation`` is what the payload's owner says of it."""

    streaming_preferred: bool = Field(validation_alias="streamingPreferred")
    delivered: Delivery | Literal["dropped"] = Field(validation_alias="buffered")
    serialisation: str = "json"

    def rules(self) -> Rules:
        """A type that does not prefer to stream comes whole, when it is there."""
        return Rules(
            streaming="flush" if self.streaming_preferred else "once",
            buffered="drop" if self.delivered == "dropped" else self.delivered,
        )


class DeclaredPartType(_Declared):
    """A consumer's part type."""

    name: str = Field(validation_alias="partType")
    rules: Rules = Field(validation_alias="deliveryRules")
    allowed_transports: frozenset[str] | None = Field(None, validation_alias="allowedTransports")
    requires_peer_consumes: bool = Field(False, validation_alias="requiresPeerConsumes")
    description: str = ""
    example: JsonObject = {}
    is_canonical: Literal[False] = Field(False, validation_alias="isCanonical")

    def fields(self) -> dict[str, Any]:
        """How it travels and what models read of it, by the names of the fields of a ``PartType``."""
        return {
            **self.rules.model_dump(),
            **self.model_dump(
                include={"allowed_transports", "requires_peer_consumes", "description", "example"}
            ),
        }

    @model_validator(mode="before")
    @classmethod
    def _one_shape(cls, given: object) -> object:
        """``meta`` and fields of its own become ``deliveryRules``; two of them at once stay, and are refused."""
        given = _named(given, "partType")
        if "deliveryRules" in given:
            return given
        if "meta" in given:
            rules: object = Meta.model_validate(given.pop("meta")).rules()
        else:
            rules = {key: given.pop(key) for key in Rules.model_fields if key in given}
        return {**given, "deliveryRules": rules}


class DeclaredTurnState(_Declared):
    """A consumer's turn state (respond() document, "Turn states")."""

    name: str = Field(validation_alias="turnState")
    terminal: bool = Field(validation_alias="isTerminal")
    emits_envelope: bool = Field(validation_alias="emitsEnvelope")
    holds_actor: bool = Field(validation_alias="holdsActor")
    meaning: str = ""
    passes: bool = False
    delegates: bool = False
    needs: str = ""

    @model_validator(mode="before")
    @classmethod
    def _by_one_name(cls, given: object) -> object:
        return _named(given, "turnState")


def _named(given: object, key: str) -> dict[str, object]:
    """A copy, with the name under ``key`` where it came as ``id``."""
    copy = dict(given) if isinstance(given, Mapping) else {}
    if "id" in copy and key not in copy:
        copy[key] = copy.pop("id")
    return copy


def read(model: type[_Model], kind: str, given: Mapping[str, object]) -> _Model:
    """``given`` as ``model``. Raises ``RegistrationError``, which names each field that is wrong."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(step) for step in fault['loc']) or 'all of it'}: {fault['msg']}"
            for fault in error.errors(include_url=False)
        )
        raise RegistrationError(
            f"This is no {kind}: {wrong}.", name=str(given.get("partType") or given.get("id", ""))
        ) from error

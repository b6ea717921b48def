"""What is encrypted: the rows of a site that are its configuration, as they are written and read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from envelopes.errors import ValidationFailed
from envelopes.protocol.agent_cards import read_agent_card
from envelopes.protocol.config_envelope import CONFIG_BYTES, Kind
from envelopes.protocol.parts import from_pydantic
from envelopes.protocol.strict_json import parse_strict
from envelopes.protocol.text import clean_json
from envelopes.registries.scopes import SCOPES


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _known_scopes(scopes: list[str]) -> list[str]:
    if unknown := sorted(set(scopes).difference(SCOPES)):
        raise ValueError(f"there is no scope {', '.join(unknown)} here")
    return scopes


def _a_card(card: JsonValue) -> JsonValue:
    if card is not None:
        try:
            read_agent_card(card)
        except ValidationFailed as error:
            raise ValueError(f"this is no Agent Card: {error.message}") from error
    return card


class PeerState(_Closed):
    """A peer. Of its token there is only the digest, so whoever has the token is let in where this is imported."""

    name: Annotated[str, Field(max_length=56, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
    token_digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    token_end: Annotated[str, Field(min_length=4, max_length=4)]
    scopes: Annotated[list[str], AfterValidator(_known_scopes)]
    rate: Annotated[int, Field(ge=1, le=2**31 - 1)]
    card: Annotated[JsonValue, AfterValidator(_a_card)] = None
    is_active: bool = True


class GroupState(_Closed):
    """A group and what it may do, as ``application.codename``."""

    name: Annotated[str, Field(min_length=1, max_length=150)]
    permissions: list[str]


class FlagState(_Closed):
    """A feature flag of django-waffle, without people: they are this site's own. ``groups`` are names of groups."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    everyone: bool | None = None
    percent: Annotated[str | None, Field(pattern=r"^\d{1,2}(\.\d)?$")] = None
    testing: bool = False
    superusers: bool = True
    staff: bool = False
    authenticated: bool = False
    languages: str = ""
    rollout: bool = False
    note: str = ""
    groups: list[str] = []


class Payload(_Closed):
    """``peers`` is None in a profile, ``flags`` where the site that it comes from has none: those here stay."""

    peers: list[PeerState] | None = None
    groups: list[GroupState]
    flags: list[FlagState] | None = None


def read_payload(raw: bytes, kind: Kind) -> Payload:
    """What was sealed. Raises ``ValidationFailed`` with a pointer into the payload."""
    try:
        value = parse_strict(raw.decode(), limit=CONFIG_BYTES)
        if clean_json(value) != value:
            raise ValidationFailed("A text holds characters that no database keeps.", path="")
        payload = Payload.model_validate(value)
    except UnicodeDecodeError as error:
        raise ValidationFailed("What is sealed is no text in UTF-8.", path="") from error
    except ValidationError as error:
        raise from_pydantic(error, "") from error
    if (payload.peers is None) != (kind == "profile"):
        raise ValidationFailed("A config has peers, and a profile has none.", path="/peers")
    for path, names in (
        ("/peers", [peer.name for peer in payload.peers or ()]),
        ("/peers", [peer.token_digest for peer in payload.peers or ()]),
        ("/groups", [group.name for group in payload.groups]),
        ("/flags", [flag.name for flag in payload.flags or ()]),
    ):
        _only_once(path, names)
    return payload


def _only_once(path: str, names: Iterable[Any]) -> None:
    seen: set[Any] = set()
    for number, name in enumerate(names):
        if name in seen:
            raise ValidationFailed("The same stands there twice.", path=f"{path}/{number}")
        seen.add(name)

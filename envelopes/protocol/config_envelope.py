"""The envelope in which a site's configuration travels (seed 003: ``v``, ``kind``, ``metadata``,
``encrypted_payload``).

What is in the payload is whose who make and read it (``envelopes.config_transfer``). All of it is inside of
``encrypted_payload``: AES-256-GCM with a key that scrypt makes of a passphrase. What stands outside is authenticated
with it (``header``), so that nobody can change either.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal

import rfc8785
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from envelopes.errors import ValidationFailed
from envelopes.protocol.parts import from_pydantic
from envelopes.protocol.strict_json import parse_strict
from envelopes.types import JsonObject

Kind = Literal["config", "profile"]

CONFIG_VERSION = 1
CONFIG_BYTES = 16 * 1024 * 1024
"""The largest file that is read."""


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _is_base64(text: str) -> str:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("this is no base64") from error
    return text


def _is_power(number: int) -> int:
    if number & (number - 1):
        raise ValueError("this is no power of two")
    return number


Base64 = Annotated[str, AfterValidator(_is_base64), Field(json_schema_extra={"contentEncoding": "base64"})]


class Scrypt(_Closed):
    """How the key is made of the passphrase (RFC 7914). The bounds keep whoever opens a file from being made to spend
    more than some seconds and half a gigabyte on it."""

    name: Literal["scrypt"] = "scrypt"
    n: Annotated[int, AfterValidator(_is_power), Field(ge=2**14, le=2**19, description="A power of two.")]
    r: Annotated[int, Field(ge=8, le=8)] = 8
    p: Annotated[int, Field(ge=1, le=1)] = 1
    salt: Annotated[Base64, Field(min_length=24, max_length=88)]

    @property
    def salt_bytes(self) -> bytes:
        """The salt itself."""
        return base64.b64decode(self.salt)


class EncryptedPayload(_Closed):
    """UTF-8 JSON, encrypted; the tag stands behind the ciphertext, as AES-GCM of ``cryptography`` has it."""

    cipher: Literal["AES-256-GCM"] = "AES-256-GCM"
    kdf: Scrypt
    nonce: Annotated[Base64, Field(min_length=16, max_length=16)]
    ciphertext: Base64


class ConfigEnvironment(_Closed):
    """What decides how the site behaves and is no data of it: told to be compared, never imported."""

    settings: dict[str, JsonValue] = {}
    approvals: dict[str, JsonValue] = {}


class ConfigMetadata(_Closed):
    """What a file says of itself to everybody. ``exported_at`` is RFC 3339."""

    source: Annotated[str, Field(max_length=256)] = ""
    git_hash: Annotated[str, Field(max_length=64)] = ""
    exported_at: Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
    environment: ConfigEnvironment = ConfigEnvironment()


class ConfigEnvelope(_Closed):
    """``kind``: all of the configuration, or a profile, which is the part of it without peers."""

    v: Literal[1]
    kind: Kind
    metadata: ConfigMetadata
    encrypted_payload: EncryptedPayload

    def header(self) -> bytes:
        """What AES-GCM has to authenticate beside the payload: the rest of the envelope (RFC 8785),
        with what the key is made by. Raises ``ValidationFailed`` for what RFC 8785 has no text for."""
        told = self.model_dump(mode="json", exclude={"encrypted_payload": {"ciphertext"}})
        try:
            return rfc8785.dumps(told)
        except (rfc8785.CanonicalizationError, UnicodeError) as error:
            raise ValidationFailed(
                "A number or a text of the metadata cannot be authenticated.", path="/metadata"
            ) from error

    def as_json(self) -> JsonObject:
        """The envelope as it is written."""
        return self.model_dump(mode="json")


def read_config_envelope(text: str) -> ConfigEnvelope:
    """The envelope that a file holds. Raises ``ValidationFailed`` with a pointer; ``reason`` is ``newer_version`` where
    the file was made by a newer release."""
    value = parse_strict(text, limit=CONFIG_BYTES)
    version: Any = value.get("v") if isinstance(value, dict) else None
    if type(version) is not int:
        raise ValidationFailed("A configuration has a version, which is a whole number.", path="/v")
    if version > CONFIG_VERSION:
        raise ValidationFailed(
            f"This file has version {version}; this release reads version {CONFIG_VERSION}.",
            path="/v",
            reason="newer_version",
        )
    try:
        return ConfigEnvelope.model_validate(value)
    except ValidationError as error:
        raise from_pydantic(error, "") from error

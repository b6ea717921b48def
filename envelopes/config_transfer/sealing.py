"""The encrypted part: a key and a nonce of a passphrase (scrypt, RFC 7914), then AES-256-GCM.

The nonce comes from the passphrase with the key: with a salt of its own no file shares its key with another, so neither
can its nonce be used twice. Whoever opens a file thus knows a wrong passphrase from a file that was changed.
"""

from __future__ import annotations

import base64
import os
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt as Derivation

from envelopes.errors import ValidationFailed
from envelopes.protocol.config_envelope import ConfigEnvelope, ConfigMetadata, EncryptedPayload, Kind, Scrypt

COST = 2**17
"""Of scrypt, with blocks of 8: a third of a second and 128 MB for each guess."""

SALT_BYTES, KEY_BYTES, NONCE_BYTES = 16, 32, 12

PASSPHRASE_CHARACTERS = 12
"""The fewest that a file is sealed with: it may be tried out by whoever has the file, for as long as they like."""


def seal(kind: Kind, metadata: ConfigMetadata, payload: bytes, passphrase: str) -> ConfigEnvelope:
    """An envelope of ``payload``. Raises ``ValidationFailed`` for a passphrase that is too short."""
    if len(passphrase) < PASSPHRASE_CHARACTERS:
        raise ValidationFailed(
            f"A passphrase has at least {PASSPHRASE_CHARACTERS} characters.", limit=PASSPHRASE_CHARACTERS
        )
    scrypt = Scrypt(n=COST, salt=_text(os.urandom(SALT_BYTES)))
    key, nonce = _derived(passphrase, scrypt)
    made = EncryptedPayload(kdf=scrypt, nonce=_text(nonce), ciphertext="")
    envelope = ConfigEnvelope(v=1, kind=kind, metadata=metadata, encrypted_payload=made)
    made.ciphertext = _text(AESGCM(key).encrypt(nonce, payload, envelope.header()))
    return envelope


def unseal(envelope: ConfigEnvelope, passphrase: str) -> bytes:
    """The payload. Raises ``ValidationFailed``; ``reason`` is ``wrong_passphrase`` or ``tampered``."""
    sealed = envelope.encrypted_payload
    key, nonce = _derived(passphrase, sealed.kdf)
    if not secrets.compare_digest(nonce, base64.b64decode(sealed.nonce)):
        raise ValidationFailed(
            "The passphrase does not open this file.",
            path="/encrypted_payload",
            reason="wrong_passphrase",
            hint="With the right one this means that the salt, the nonce or the cost of the file was changed.",
        )
    try:
        return AESGCM(key).decrypt(nonce, base64.b64decode(sealed.ciphertext), envelope.header())
    except InvalidTag as error:
        raise ValidationFailed(
            "This file was changed after it had been written.", path="/encrypted_payload", reason="tampered"
        ) from error


def _derived(passphrase: str, scrypt: Scrypt) -> tuple[bytes, bytes]:
    derivation = Derivation(
        salt=scrypt.salt_bytes, length=KEY_BYTES + NONCE_BYTES, n=scrypt.n, r=scrypt.r, p=scrypt.p
    )
    made = derivation.derive(passphrase.encode())
    return made[:KEY_BYTES], made[KEY_BYTES:]


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()

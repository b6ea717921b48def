"""The envelope of a configuration: its members, what is authenticated of it, and what is said of other versions."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from envelopes.errors import ValidationFailed
from envelopes.protocol.config_envelope import read_config_envelope

ENVELOPE: dict[str, Any] = {
    "v": 1,
    "kind": "profile",
    "metadata": {
        "source": "beach.example.com",
        "git_hash": "",
        "exported_at": "2026-11-29T03:38:48Z",
        "environment": {"settings": {"BEACH_AGENT_NAME": "Beach"}, "approvals": {}},
    },
    "encrypted_payload": {
        "cipher": "AES-256-GCM",
        "kdf": {"name": "scrypt", "n": 2**15, "r": 8, "p": 1, "salt": base64.b64encode(b"s" * 16).decode()},
        "nonce": base64.b64encode(b"n" * 12).decode(),
        "ciphertext": base64.b64encode(b"c" * 40).decode(),
    },
}


def changed(*path: str, value: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(ENVELOPE))
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return made


def test_it_is_read_and_written_as_it_was() -> None:
    found = read_config_envelope(json.dumps(ENVELOPE))

    assert found.as_json() == ENVELOPE
    assert found.encrypted_payload.kdf.salt_bytes == b"s" * 16


def test_all_but_the_ciphertext_is_authenticated() -> None:
    header = read_config_envelope(json.dumps(ENVELOPE)).header()

    for other in (
        changed("kind", value="config"),
        changed("metadata", "source", value="elsewhere"),
        changed("encrypted_payload", "nonce", value=base64.b64encode(b"m" * 12).decode()),
        changed("encrypted_payload", "kdf", "n", value=2**16),
    ):
        assert read_config_envelope(json.dumps(other)).header() != header
    other = changed("encrypted_payload", "ciphertext", value="AAAA")
    assert read_config_envelope(json.dumps(other)).header() == header


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([], "/v"),
        (changed("encrypted_payload", "kdf", "n", value=2**15 + 1), "/encrypted_payload/kdf/n"),
        (changed("v", value=True), "/v"),
        (changed("v", value=0), "/v"),
        (changed("kind", value="all"), "/kind"),
        (changed("more", value=1), "/more"),
        (changed("encrypted_payload", "cipher", value="none"), "/encrypted_payload/cipher"),
        (changed("encrypted_payload", "nonce", value="short"), "/encrypted_payload/nonce"),
        (changed("encrypted_payload", "ciphertext", value="!"), "/encrypted_payload/ciphertext"),
        (changed("encrypted_payload", "kdf", "n", value=2**30), "/encrypted_payload/kdf/n"),
    ],
)
def test_what_it_is_not(value: Any, path: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        read_config_envelope(json.dumps(value))
    assert refused.value.facts["path"] == path


def test_a_newer_version_is_told_as_such() -> None:
    with pytest.raises(ValidationFailed) as refused:
        read_config_envelope(json.dumps(changed("v", value=2)))
    assert refused.value.facts["reason"] == "newer_version"

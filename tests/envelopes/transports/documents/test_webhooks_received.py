"""A webhook is checked in eleven steps, and a nonce is used up only by whoever has signed."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from envelopes.nonces import DatabaseNonces
from envelopes.transports.documents import DocumentError, check_webhook, verify_webhook
from envelopes.transports.documents.shapes.common import canonical_id
from envelopes.transports.documents.shapes.webhook import ALIASES, WEBHOOK_BYTES
from envelopes.transports.documents.webhooks import signing
from tests.envelopes.transports.documents.tables import table

NOW = 1_800_000_000.0
SECRET = signing.new_secret()
GOOD: dict[str, Any] = {
    "v": 1,
    "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "event_type": "turn.failed",
    "resource_id": "s1",
    "data": {"a": 1},
    "replay_protection": {"nonce": "n" * 16, "timestamp_unix_ms": int(NOW * 1000)},
}


class Used:
    """Nonces in memory."""

    def __init__(self) -> None:
        self.seen: dict[str, float] = {}

    def use(self, nonce: str, until: float) -> bool:
        if nonce in self.seen:
            return False
        self.seen[nonce] = until
        return True


def webhook(row: dict[str, Any]) -> Any:
    if "value" in row:
        return row["value"]
    made = {**GOOD, **row.get("set", {})}
    if "protection" in row or "ms" in row:
        sent = GOOD["replay_protection"]["timestamp_unix_ms"] + row.get("ms", 0)
        made["replay_protection"] = {
            **GOOD["replay_protection"], "timestamp_unix_ms": sent, **row.get("protection", {})
        }  # fmt: skip
    if "long" in row:
        made[row["long"]] = "x" * 129
    if "many" in row:
        made["data"] = {str(number): 1 for number in range(row["many"])}
    names = {ours: theirs for theirs, ours in ALIASES.items()} if row.get("aliases") else {}
    return {names.get(name, name): value for name, value in made.items() if name not in row.get("gone", ())}


@pytest.mark.parametrize("row", table("webhooks"))
def test_it_says_what_is_wrong_first(row: dict[str, Any]) -> None:
    raw = json.dumps(webhook(row)).encode()
    if "reason" not in row:
        assert check_webhook(raw, NOW)["event_type"] == "turn.failed"
        return
    with pytest.raises(DocumentError) as refused:
        check_webhook(raw, NOW)
    assert (refused.value.reason, refused.value.path) == (row["reason"], row.get("path", ""))


@pytest.mark.parametrize(("size", "reason"), [(WEBHOOK_BYTES, None), (WEBHOOK_BYTES + 1, "PayloadTooLarge")])
def test_as_many_bytes_as_may_be(size: int, reason: str | None) -> None:
    made = {**GOOD, "limits": {"max_payload_bytes": WEBHOOK_BYTES}}
    room = size - len(json.dumps({**made, "data": {"a": ""}}))
    raw = json.dumps({**made, "data": {"a": "x" * room}}).encode()
    assert len(raw) == size
    if reason is None:
        check_webhook(raw, NOW)
        return
    with pytest.raises(DocumentError) as refused:
        check_webhook(raw, NOW)
    assert (refused.value.reason, refused.value.facts["allowed"]) == (reason, WEBHOOK_BYTES)


def received(envelope: Any, used: Used, headers: dict[str, str] | None = None, secret: str = SECRET) -> Any:
    raw = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
    return verify_webhook(raw, headers or {}, secret, used, lambda: NOW)


def refusal(*args: Any, **more: Any) -> tuple[str, str]:
    with pytest.raises(DocumentError) as refused:
        received(*args, **more)
    return refused.value.reason, refused.value.path


def test_a_signed_one_is_taken_once() -> None:
    used, envelope = Used(), signing.signed(GOOD, SECRET)

    assert received(envelope, used) == envelope
    assert used.seen == {"n" * 16: NOW + 300}
    assert refusal(envelope, used) == ("InvalidValue", "replay_protection.nonce")


def test_the_headers_sign_as_well() -> None:
    used, raw = Used(), json.dumps(GOOD).encode()
    headers = signing.headers(SECRET, GOOD["id"], int(NOW), raw)

    assert received(raw, used, {name.title(): value for name, value in headers.items()})["id"] == GOOD["id"]
    assert refusal(raw + b" ", Used(), headers) == ("InvalidValue", "replay_protection.signature")
    assert refusal(raw, used, headers) == ("InvalidValue", "replay_protection.nonce")


def test_our_headers_are_those_of_the_standard() -> None:
    import time

    raw = json.dumps(GOOD).encode()

    assert Webhook(SECRET).verify(raw, signing.headers(SECRET, GOOD["id"], int(time.time()), raw)) == GOOD


@pytest.mark.parametrize("headers", [{}, {"webhook-id": "x"}])
def test_without_a_signature_no_nonce_is_used_up(headers: dict[str, str]) -> None:
    used = Used()

    assert refusal(GOOD, used, headers) == ("MissingField", "replay_protection.signature")
    assert used.seen == {}


@pytest.mark.parametrize(
    "headers",
    [
        {"webhook-signature": "v1,x"},
        {"webhook-signature": "", "webhook-timestamp": "\N{ARABIC-INDIC DIGIT ONE}"},
        {"webhook-signature": "v1,ü", "webhook-timestamp": "1", "webhook-id": "ü"},
        {"webhook-signature": "v1,x", "webhook-timestamp": "999999999999"},
        {"webhook-signature": "v1,\ud800", "webhook-timestamp": "1", "webhook-id": "\ud800"},
    ],
)
def test_with_a_wrong_one_neither(headers: dict[str, str]) -> None:
    used = Used()
    wrong = signing.signed(GOOD, signing.new_secret())
    changed = {**signing.signed(GOOD, SECRET), "data": {"a": 2}}

    for envelope, given in ((wrong, {}), (changed, {}), (GOOD, headers)):
        assert refusal(envelope, used, given) == ("InvalidValue", "replay_protection.signature")
    assert used.seen == {}


def test_a_signature_holds_for_the_names_that_were_sent() -> None:
    made = webhook({"aliases": True})

    assert received(signing.signed(made, SECRET), Used())["event_type"] == "turn.failed"


def test_damaged_bytes_raise_nothing_else() -> None:
    random, good = Random(3), json.dumps(signing.signed(GOOD, SECRET)).encode()
    used = Used()
    for _ in range(300):
        at = random.randrange(len(good))
        damaged = good[:at] + random.randbytes(random.randrange(1, 4)) + good[at + random.randrange(4) :]
        if damaged == good:
            continue
        with pytest.raises(DocumentError):
            received(damaged, used)
    assert used.seen == {}


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("whsec_" + "A" * 43 + "=", True),
        ("", False),
        ("whsec_", False),
        ("whsec_!", False),
        (None, False),
        ("x" * 60, False),
    ],
)
def test_what_a_secret_is(text: Any, good: bool) -> None:
    assert signing.is_secret(text) is good


def test_a_name_is_the_same_for_the_same() -> None:
    assert canonical_id(1_800_000_000_000, "a", 1) == canonical_id(1_800_000_000_000, "a", 1)
    assert canonical_id(1_800_000_000_000, "a", 1) != canonical_id(1_800_000_000_000, "a", 2)
    assert canonical_id(1_800_000_000_000, "b") < canonical_id(1_800_000_000_001, "a")
    assert canonical_id(0, "x").startswith("0000000000")


@pytest.mark.django_db
def test_nonces_of_the_database_are_used_once_in_each_scope() -> None:
    envelope = signing.signed(GOOD, SECRET)
    raw = json.dumps(envelope).encode()

    assert verify_webhook(raw, {}, SECRET, DatabaseNonces("one"), lambda: NOW) == envelope
    assert verify_webhook(raw, {}, SECRET, DatabaseNonces("two"), lambda: NOW) == envelope
    with pytest.raises(DocumentError) as refused:
        verify_webhook(raw, {}, SECRET, DatabaseNonces("one"), lambda: NOW)
    assert refused.value.path == "replay_protection.nonce"


@pytest.mark.parametrize(
    "change",
    [{"data": {"a": 2**60}}, {"data": {"a": "\ud800"}}, {"data": {"\ud800": 1}}, {"signature": "\ud800"}],
)
def test_what_nobody_can_have_signed_is_not_signed(change: dict[str, Any]) -> None:
    protection = {**GOOD["replay_protection"], "signature": change.pop("signature", "v1,x")}
    used = Used()

    envelope = {**GOOD, **change, "replay_protection": protection}
    assert refusal(envelope, used) == ("InvalidValue", "replay_protection.signature")
    assert used.seen == {}

"""A configuration goes to another site and changes there what it says, all of it or nothing."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User

from envelopes import config_transfer, peers
from envelopes.config_transfer import Change, Report, sealing
from envelopes.config_transfer.environment import SECRET, differences
from envelopes.errors import BeachError, Conflict, ValidationFailed
from envelopes.models import Peer
from envelopes.protocol.config_envelope import ConfigEnvelope, ConfigMetadata, read_config_envelope
from tests.cards import agent_card

pytestmark = pytest.mark.django_db

PASSPHRASE = "correct horse battery"


@pytest.fixture(autouse=True)
def _cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least that a file may ask for."""
    monkeypatch.setattr(sealing, "COST", 2**14)


@pytest.fixture
def tokens() -> dict[str, str]:
    """A site with two peers and a group; what the peers have in their hands."""
    desk = peers.add("desk", ["chat", "read"], rate=60, card=agent_card())[1]
    mill = peers.add("mill", ["read"])[1]
    Peer.objects.filter(name="mill").update(is_active=False)
    deciders = Group.objects.create(name="Deciders")
    deciders.permissions.set(Permission.objects.filter(codename__in=["view_approval", "change_approval"]))
    return {"desk": desk, "mill": mill}


def rows() -> dict[str, Any]:
    """What of this site is its configuration, as the tables have it."""
    fields = ("name", "token_digest", "token_end", "scopes", "rate", "card", "is_active")
    return {
        "peers": list(Peer.objects.order_by("name").values(*fields)),
        "groups": [
            (group.name, sorted(group.permissions.values_list("codename", flat=True)))
            for group in Group.objects.order_by("name")
        ],
    }


def emptied() -> None:
    Peer.objects.all().delete()
    Group.objects.all().delete()


def taken_in(text: str, *, dry: bool = False) -> Report:
    return config_transfer.carry_over(config_transfer.read(text, PASSPHRASE)[1], dry=dry)


def verbs(report: Report) -> dict[str, str]:
    return {f"{change.what} {change.name}": change.verb for change in report.changes}


def test_another_site_becomes_what_this_one_is_and_a_second_import_changes_nothing(
    tokens: dict[str, str],
) -> None:
    before = rows()
    text = config_transfer.export("config", PASSPHRASE)
    emptied()

    assert verbs(taken_in(text)) == {"group Deciders": "added", "peer desk": "added", "peer mill": "added"}
    assert rows() == before
    found = peers.authenticate(tokens["desk"])
    assert found is not None and found.name == "desk"
    # It was blocked, and is.
    assert peers.authenticate(tokens["mill"]) is None

    again = taken_in(text)
    assert (again.changes, again.changed, again.same) == ([], 0, 3)
    assert rows() == before


def test_a_profile_has_no_peers_and_leaves_those_that_are_here(tokens: dict[str, str]) -> None:
    text = config_transfer.export("profile", PASSPHRASE)
    envelope, payload = config_transfer.read(text, PASSPHRASE)
    assert envelope.kind == "profile" and payload.peers is None
    there = rows()
    Group.objects.all().delete()

    assert verbs(taken_in(text)) == {"group Deciders": "added"}
    assert rows() == there


def test_what_is_only_here_stays_and_what_is_different_is_told_member_by_member(
    tokens: dict[str, str],
) -> None:
    text = config_transfer.export("config", PASSPHRASE)
    desk = Peer.objects.get(name="desk")
    ends = desk.token_end
    peers.renew(desk)
    Peer.objects.filter(name="desk").update(rate=5, scopes=["read"])
    peers.add("later", ["chat"])
    Group.objects.get(name="Deciders").permissions.clear()
    Group.objects.create(name="Others")

    report = taken_in(text)

    assert report.changes == [
        Change(
            "group",
            "Deciders",
            "changed",
            (("permissions", [], ["envelopes.change_approval", "envelopes.view_approval"]),),
        ),
        Change("group", "Others", "only here"),
        Change(
            "peer",
            "desk",
            "changed",
            (
                ("token", f"...{desk.token_end}", f"...{ends}"),
                ("scopes", ["read"], ["chat", "read"]),
                ("rate", 5, 60),
            ),
        ),
        Change("peer", "later", "only here"),
    ]
    assert (report.changed, report.same) == (2, 1)
    assert peers.authenticate(tokens["desk"]) is not None


def test_peers_that_have_each_others_tokens_here_get_their_own(tokens: dict[str, str]) -> None:
    text = config_transfer.export("config", PASSPHRASE)
    before = rows()
    Peer.objects.filter(name="desk").update(name="other")
    Peer.objects.filter(name="mill").update(name="desk")
    Peer.objects.filter(name="other").update(name="mill")

    taken_in(text)

    assert rows() == before


def test_a_dry_run_tells_the_same_and_changes_nothing(tokens: dict[str, str]) -> None:
    text = config_transfer.export("config", PASSPHRASE)
    Peer.objects.filter(name="desk").update(rate=5)
    Group.objects.all().delete()
    before = rows()

    told = taken_in(text, dry=True)

    assert rows() == before
    assert taken_in(text) == told
    assert rows() != before


def test_a_failure_in_the_middle_leaves_everything_as_it_was(
    tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = config_transfer.export("config", PASSPHRASE)
    Peer.objects.filter(name="desk").update(rate=5)
    Peer.objects.filter(name="mill").delete()
    Group.objects.all().delete()
    before, saved = rows(), Peer.save

    def save(peer: Peer, *given: Any, **more: Any) -> None:
        if peer.name == "mill":
            assert rows() != before
            raise OSError("The disk is full.")
        saved(peer, *given, **more)

    monkeypatch.setattr(Peer, "save", save)
    with pytest.raises(OSError, match="full"):
        taken_in(text)
    assert rows() == before


def test_a_token_that_somebody_else_has_here_is_refused(tokens: dict[str, str]) -> None:
    text = config_transfer.export("config", PASSPHRASE)
    Group.objects.all().delete()
    Peer.objects.filter(name="desk").update(name="table")
    before = rows()

    with pytest.raises(Conflict, match=r"'desk' is the one of 'table'"):
        taken_in(text)
    assert rows() == before


def test_a_permission_that_does_not_exist_here_is_refused(tokens: dict[str, str]) -> None:
    kind = Permission.objects.get(codename="view_approval").content_type
    own = Permission.objects.create(codename="fly", name="fly", content_type=kind)
    Group.objects.get(name="Deciders").permissions.add(own)
    text = config_transfer.export("config", PASSPHRASE)
    own.delete()
    emptied()

    with pytest.raises(ValidationFailed, match=r"envelopes\.fly") as refused:
        taken_in(text)
    assert refused.value.facts["path"] == "/groups/0/permissions"
    assert rows() == {"peers": [], "groups": []}


def test_people_are_not_part_of_it(tokens: dict[str, str]) -> None:
    ada = User.objects.create(username="ada")
    ada.groups.set(Group.objects.all())
    text = config_transfer.export("config", PASSPHRASE)

    taken_in(text)

    assert list(ada.groups.values_list("name", flat=True)) == ["Deciders"]
    assert '"ada"' not in config_transfer.read(text, PASSPHRASE)[1].model_dump_json()


# -- files that are not in order --------------------------------------------------------------------------------------


def test_nothing_that_is_secret_can_be_read_in_the_file(tokens: dict[str, str], settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "sk-secret"
    settings.REDIS_URL = "redis://:hidden@example.com"
    text = config_transfer.export("config", PASSPHRASE)
    sealed = config_transfer.read(text, PASSPHRASE)[1].model_dump_json()

    for secret in (*tokens.values(), "sk-secret", "hidden", PASSPHRASE):
        assert secret not in text and secret not in sealed
    for state in rows()["peers"]:
        assert state["token_digest"] not in text and f'"{state["name"]}"' not in text
        assert state["token_digest"] in sealed
    told = read_config_envelope(text).metadata.environment.settings.keys()
    assert not SECRET & told
    assert not {"OPENAI_API_KEY", "BEACH_SLACK_SECRET", "BEACH_MAIL_SECRET", "BEACH_METRICS_TOKEN"} & told
    assert "BEACH_HISTORY_TOKENS" in told


def test_a_wrong_passphrase_is_said(tokens: dict[str, str]) -> None:
    text = config_transfer.export("config", PASSPHRASE)
    with pytest.raises(ValidationFailed, match="does not open") as refused:
        config_transfer.read(text, "another passphrase")
    assert refused.value.facts["reason"] == "wrong_passphrase"


def test_a_short_passphrase_seals_nothing() -> None:
    with pytest.raises(ValidationFailed, match="at least 12"):
        config_transfer.export("config", "short")


def places(value: Any, *steps: str) -> list[tuple[str, ...]]:
    """The way to every member that is no object, and to some of the settings."""
    if isinstance(value, dict) and value:
        keys = (
            list(value)[:3]
            if steps[-1:] in {("settings",), ("approvals",), ("BEACH_A2UI_LIMITS",)}
            else value
        )
        return [place for key in keys for place in places(value[key], *steps, key)]
    return [steps]


def changed(value: Any) -> Any:
    """Another value of the same kind; of a text one character, in base64 one bit."""
    match value:
        case bool():
            return not value
        case int():
            return value * 2
        case float():
            return value + 1
        case str() if value:
            return ("B" if value[0] != "B" else "A") + value[1:]
        case _:
            return "x"


def test_no_member_of_a_file_can_be_changed(tokens: dict[str, str]) -> None:
    made = json.loads(config_transfer.export("config", PASSPHRASE, source="here", git_hash="a" * 40))
    before, tried = rows(), set()
    for place in places(made):
        other = copy.deepcopy(made)
        holder = other
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = changed(holder[place[-1]])
        with pytest.raises(ValidationFailed) as refused:
            config_transfer.read(json.dumps(other), PASSPHRASE)
        tried.add((place[0], refused.value.facts.get("reason", "form")))
        assert "desk" not in str(refused.value.as_dict())
    assert tried >= {
        ("v", "newer_version"),
        ("kind", "form"),
        ("metadata", "tampered"),
        ("encrypted_payload", "tampered"),
        ("encrypted_payload", "wrong_passphrase"),
        ("encrypted_payload", "form"),
    }
    assert rows() == before


def test_a_config_cannot_be_made_a_profile(tokens: dict[str, str]) -> None:
    made = json.loads(config_transfer.export("config", PASSPHRASE)) | {"kind": "profile"}
    with pytest.raises(ValidationFailed) as refused:
        config_transfer.read(json.dumps(made), PASSPHRASE)
    assert refused.value.facts["reason"] == "tampered"


def test_every_byte_of_the_ciphertext_counts() -> None:
    made = json.loads(config_transfer.export("profile", PASSPHRASE))
    raw = base64.b64decode(made["encrypted_payload"]["ciphertext"])
    envelope = read_config_envelope(json.dumps(made))
    for at in range(len(raw)):
        bent = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
        sealed = envelope.encrypted_payload.model_copy(update={"ciphertext": base64.b64encode(bent).decode()})
        if at in (0, len(raw) // 2, len(raw) - 17, len(raw) - 1):
            with pytest.raises(ValidationFailed, match="was changed"):
                sealing.unseal(envelope.model_copy(update={"encrypted_payload": sealed}), PASSPHRASE)


def test_a_newer_version_is_said_before_anything_else(tokens: dict[str, str]) -> None:
    made = json.loads(config_transfer.export("config", PASSPHRASE)) | {"v": 2, "more": {}}
    with pytest.raises(ValidationFailed, match="this release reads version 1") as refused:
        config_transfer.read(json.dumps(made), PASSPHRASE)
    assert refused.value.facts["reason"] == "newer_version"


def sealed(payload: object, kind: Any = "config") -> str:
    made = config_transfer.export("profile", PASSPHRASE)
    metadata = read_config_envelope(made).metadata
    envelope = sealing.seal(kind, metadata, json.dumps(payload).encode(), PASSPHRASE)
    return json.dumps(envelope.as_json())


PEER = {"name": "p", "token_digest": "0" * 64, "token_end": "abcd", "scopes": ["chat"], "rate": 1}


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ([], ""),
        ({"groups": []}, "/peers"),
        ({"peers": []}, "/groups"),
        ({"peers": [], "groups": [], "more": 1}, "/more"),
        ({"peers": [PEER | {"scopes": ["fly"]}], "groups": []}, "/peers/0/scopes"),
        ({"peers": [PEER | {"rate": 0}], "groups": []}, "/peers/0/rate"),
        ({"peers": [PEER | {"name": "a b"}], "groups": []}, "/peers/0/name"),
        ({"peers": [PEER | {"name": "p\n"}], "groups": []}, "/peers/0/name"),
        ({"peers": [PEER | {"token_digest": "0"}], "groups": []}, "/peers/0/token_digest"),
        ({"peers": [PEER | {"card": {"name": 1}}], "groups": []}, "/peers/0/card"),
        ({"peers": [PEER, PEER], "groups": []}, "/peers/1"),
        ({"peers": [PEER, PEER | {"name": "q"}], "groups": []}, "/peers/1"),
        ({"peers": [], "groups": [{"name": "", "permissions": []}]}, "/groups/0/name"),
    ],
)
def test_what_is_sealed_is_read_as_strictly_as_what_people_enter(payload: object, path: str) -> None:
    with pytest.raises(BeachError) as refused:
        taken_in(sealed(payload))
    assert refused.value.facts["path"] == path
    assert not Peer.objects.exists()


# -- what is only compared --------------------------------------------------------------------------------------------


def test_settings_and_approvals_are_told_and_not_imported(settings: Any) -> None:
    settings.BEACH_AGENT_NAME = "There"
    settings.BEACH_A2UI_LIMITS = {"surfaces": 7}
    text = config_transfer.export("profile", PASSPHRASE)
    settings.BEACH_AGENT_NAME = "Here"
    settings.BEACH_A2UI_LIMITS = {}
    envelope: ConfigEnvelope = read_config_envelope(text)

    told = {name: (there, here) for name, there, here in differences(envelope.metadata.environment)}

    assert set(told) == {"BEACH_AGENT_NAME", "BEACH_A2UI_LIMITS"}
    assert told["BEACH_AGENT_NAME"] == ("There", "Here")
    there, here = told["BEACH_A2UI_LIMITS"]
    assert (there["surfaces"], here["surfaces"]) == (7, 50)
    assert envelope.metadata.environment.approvals["sally.book_flight"] == {
        "risk": "high",
        "expires_after": "setting",
    }


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"\xff", "UTF-8"),
        (b'{"peers": [], "groups": [{"name": "a\\u0000", "permissions": []}]}', "no database keeps"),
        (b'{"peers": [], "groups": [{"name": "a\\ud800", "permissions": []}]}', "no database keeps"),
        (b'{"peers": [], "groups": [], "groups": []}', "twice"),
        (b'{"peers": [], "groups": [{"name": 1, "permissions": []}]}', "string"),
        (b"[" * 10_000, "deeper"),
    ],
)
def test_what_is_sealed_is_as_little_trusted_as_what_is_not(raw: bytes, words: str) -> None:
    metadata = ConfigMetadata(exported_at="now")
    text = json.dumps(sealing.seal("config", metadata, raw, PASSPHRASE).as_json())
    before = rows()

    with pytest.raises(ValidationFailed, match=words):
        taken_in(text)
    assert rows() == before


@pytest.mark.parametrize("value", [2**60, "\ud800"])
def test_metadata_that_cannot_be_authenticated_is_refused(value: Any) -> None:
    envelope = json.loads(config_transfer.export("profile", PASSPHRASE))
    envelope["metadata"]["environment"]["settings"]["X"] = value

    with pytest.raises(ValidationFailed) as refused:
        config_transfer.read(json.dumps(envelope), PASSPHRASE)
    assert refused.value.facts["path"] == "/metadata"


@pytest.mark.parametrize(
    "cost", [{"n": 2**20}, {"p": 2}, {"r": 16}, {"n": 2**14 + 1}, {"n": True}, {"n": -(2**14)}]
)
def test_no_file_makes_whoever_opens_it_work_for_long(cost: dict[str, Any]) -> None:
    envelope = json.loads(config_transfer.export("profile", PASSPHRASE))
    envelope["encrypted_payload"]["kdf"] |= cost

    with pytest.raises(ValidationFailed) as refused:
        config_transfer.read(json.dumps(envelope), PASSPHRASE)
    assert str(refused.value.facts["path"]).startswith("/encrypted_payload/kdf")

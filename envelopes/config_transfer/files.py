"""A configuration as the text of a file, and back."""

from __future__ import annotations

import json

from django.contrib.auth.models import Group
from django.utils import timezone

from envelopes.config_transfer.environment import environment
from envelopes.config_transfer.flags import flags_here
from envelopes.config_transfer.payload import GroupState, Payload, PeerState, read_payload
from envelopes.config_transfer.sealing import seal, unseal
from envelopes.models import Peer
from envelopes.protocol.config_envelope import ConfigEnvelope, ConfigMetadata, Kind, read_config_envelope


def export(kind: Kind, passphrase: str, *, source: str = "", git_hash: str = "") -> str:
    """What is here now, as an envelope in JSON. ``source`` says where that is, to everybody.

    Raises ``ValidationFailed`` for a passphrase that is too short.
    """
    payload = Payload(peers=_peers() if kind == "config" else None, groups=_groups(), flags=flags_here())
    metadata = ConfigMetadata(
        source=source,
        git_hash=git_hash,
        exported_at=timezone.now().isoformat(timespec="seconds"),
        environment=environment(),
    )
    raw = payload.model_dump_json().encode()
    return json.dumps(seal(kind, metadata, raw, passphrase).as_json(), indent=2, ensure_ascii=False) + "\n"


def read(text: str, passphrase: str) -> tuple[ConfigEnvelope, Payload]:
    """The envelope and what is sealed in it.

    Raises ``ValidationFailed``: with ``reason`` ``newer_version``, ``wrong_passphrase`` or ``tampered``, and with a
    pointer into the file or into what was sealed for what is not in order.
    """
    envelope = read_config_envelope(text)
    return envelope, read_payload(unseal(envelope, passphrase), envelope.kind)


def _peers() -> list[PeerState]:
    return [
        PeerState.model_construct(**{name: getattr(peer, name) for name in PeerState.model_fields})
        for peer in Peer.objects.all()
    ]


def _groups() -> list[GroupState]:
    return [
        GroupState(name=group.name, permissions=permissions_of(group))
        for group in Group.objects.order_by("name").prefetch_related("permissions__content_type")
    ]


def permissions_of(group: Group) -> list[str]:
    """``application.codename``, in order."""
    return sorted(
        f"{permission.content_type.app_label}.{permission.codename}" for permission in group.permissions.all()
    )

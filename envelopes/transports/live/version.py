"""Which version of the wire is spoken, and what becomes of a client that knows it not (reading, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from envelopes.conf import conf
from envelopes.transports.live.errors import LiveError
from envelopes.transports.live.presenter.envelopes import SCHEMA_VERSION


def server_version() -> str:
    """What an ack advertises: the setting, else the stamp."""
    return conf.BEACH_LIVE_VERSION or SCHEMA_VERSION


def check_supported(supported: Sequence[str]) -> None:
    """Raises ``LiveError`` UPGRADE_REQUIRED unless ``supported`` is empty or has ours."""
    ours = server_version()
    if not supported or ours in supported:
        return
    policy = conf.BEACH_LIVE_VERSION_POLICY
    details = {"serverVersion": ours, "clientSupportedVersions": list(supported), "policy": policy}
    raise LiveError(
        "UPGRADE_REQUIRED",
        f"This server speaks {ours}.",
        details=details,
        serverVersion=ours,
        clientSupportedVersions=list(supported),
        policy=policy,
    )


def check_stamp(stamp: str | None) -> None:
    """The ``schemaVersion`` of an action: nothing is refused while ours or theirs is a draft, another major after that
    (seed, "Schema versioning"). Raises ``LiveError``."""
    ours = server_version()
    if stamp is None or stamp.startswith("draft-") or ours.startswith("draft-"):
        return
    if stamp.split(".")[0] != ours.split(".")[0]:
        details = {"serverVersion": ours, "clientVersion": stamp}
        raise LiveError(
            "UPGRADE_REQUIRED", f"This server speaks {ours}.", details=details, serverVersion=ours
        )

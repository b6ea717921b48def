"""The frames that there are: all of the reading's 1.1 but ``props_update`` and ``drain_ack``; none that is retired."""

from __future__ import annotations

import re

from beachsite.suite import ROOT
from envelopes.transports.live.frames import TYPES

FROM_CLIENTS = {
    "subscribe", "action", "ping", "channel_subscribe", "channel_unsubscribe", "host_context_observed",
}  # fmt: skip
FROM_HERE = {"ack", "pong", "error", "render", "data", "channel_payload", "channel_error", "render_event"}
SAID = re.compile(r"\bsay\(\s*\"([a-z_]+)\"|\{\"type\":\"([a-z_]+)\"")


def test_every_frame_of_a_client_is_read_and_no_other() -> None:
    assert set(TYPES) == FROM_CLIENTS


def test_every_frame_of_ours_is_said_and_no_other() -> None:
    folder = ROOT / "envelopes" / "transports" / "live"
    said = {
        one or other
        for file in folder.rglob("*.py")
        for one, other in SAID.findall(file.read_text(encoding="utf-8"))
    }
    assert said == FROM_HERE


def test_json_patch_is_read_in_one_place() -> None:
    """RFC 6902, section 4: whoever applies operations does so through the engine."""
    move = re.compile(r"==\s*\"move\"|case \"move\"")
    files = [
        str(file.relative_to(ROOT))
        for package in ("a2ui", "envelopes", "beachsite")
        for file in (ROOT / package).rglob("*.py")
        if move.search(file.read_text(encoding="utf-8"))
    ]
    assert files == ["a2ui/data/patch.py"]

"""A contract that holds: what actions and deliveries look like (6.1), and the tool that an action names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from envelopes.errors import TooLarge
from envelopes.transports.live.contracts.entries import ChannelSource, ReplayPolicy, StreamMode
from envelopes.transports.live.contracts.reserved import KNOWN, LIFECYCLE, lifecycle_violations
from envelopes.transports.live.contracts.structure import checked
from envelopes.transports.live.contracts.values import ValueCheck
from envelopes.transports.live.contracts.violations import (
    ContractRefused,
    ContractViolation,
    Violation,
    cut,
    json_type,
    listed,
    shown,
)
from envelopes.types import Json, JsonObject

MAX_CONTRACT_BYTES: Final = 65_536
"""JSON of one contract, in UTF-8."""

KEPT_CONTRACTS: Final = 256
"""Contracts of this process that stay compiled; the one that was used longest ago goes first."""

ReservedCheck = Callable[[Json], list[Violation]]

BUILT_IN: Final[Mapping[str, ReservedCheck]] = {LIFECYCLE: lifecycle_violations}
"""How payloads of the server's own channels are checked, where nobody brings a check of their own."""


@dataclass(frozen=True, slots=True)
class Channel:
    """How deliveries on a channel are to be folded and kept, and whether it can end."""

    mode: StreamMode = "append"
    replay: ReplayPolicy = "none"
    completable: bool = False
    source: ChannelSource | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """What a person did, as it is stored. ``tool`` is ours, whatever the client said (0.1)."""

    name: str
    data: Json
    tool: str | None = None

    def as_json(self) -> JsonObject:
        """``{action, data, tool?}`` (1.3)."""
        more = {} if self.tool is None else {"tool": self.tool}
        return {"action": self.name, "data": self.data, **more}


class Contract:
    """One that was checked; immutable, shared by whoever declares the same."""

    def __init__(self, document: JsonObject, digest: str, *, labels: bool = False) -> None:
        """:raises ContractRefused: something is wrong with it; all of that is told"""
        made, faults = checked(document, labels=labels)
        if faults:
            raise ContractRefused(faults)
        self.document = document
        self.digest = digest
        self._actions = None if made.actions is None else dict(made.actions)
        self.channels: Mapping[str, Channel] | None = (
            None
            if made.channels is None
            else {
                name: Channel(entry.mode, entry.replay, entry.complete, entry.source)
                for name, entry in made.channels.items()
            }
        )
        self._action_checks = {
            name: ValueCheck(entry.schema_)
            for name, entry in (made.actions or {}).items()
            if entry.schema_ is not None
        }
        self._payload_checks = {
            name: ValueCheck(entry.schema_) for name, entry in (made.channels or {}).items()
        }

    def action(self, payload: Json) -> Action:
        """The action in the payload of an envelope, which may be stored.

        Without an actionSpec every action is one; its name is what the payload says, or empty.

        :raises ContractViolation: it is not declared, or its data is not as declared
        :raises TooLarge: checking it takes too long
        """
        if self._actions is None:
            return undeclared_action(payload)
        faults = self._action_violations(payload, self._actions)
        if faults:
            raise ContractViolation("ggui_event", faults)
        name = payload["action"]
        return Action(name, payload.get("data"), self._actions[name].nextStep)

    def _action_violations(self, payload: Json, declared: Mapping[str, object]) -> list[Violation]:
        if not isinstance(payload, dict):
            return [Violation("value", "Is no object with an action.", "object", json_type(payload))]
        name = payload.get("action")
        if not isinstance(name, str) or not name.strip():
            found = shown(name) if "action" in payload else "absent"
            return [Violation("action", "Names no action.", "a name", found)]
        if name not in declared:
            names = listed(declared)
            message = f"'{cut(name)}' is no action of this session. Declared: {names}."
            return [Violation("action", message, names, cut(name))]
        check = self._action_checks.get(name)
        if check is None:
            return []
        if "data" not in payload:
            return [Violation(f"{name}.data", "'data' is required.", "present", "absent", "required")]
        return check.violations(payload["data"], f"{name}.data")

    def delivery_violations(
        self, channel: str, payload: Json, reserved: Mapping[str, ReservedCheck] | None = None
    ) -> list[Violation]:
        """What is wrong with a delivery. Neither mode nor policy nor completion has a say in it (10.4, 18).

        :param reserved: checks of the server's own channels that go before those that are built in
        :raises TooLarge: checking it takes too long
        """
        if channel in KNOWN:
            check = (reserved or {}).get(channel) or BUILT_IN.get(channel)
            return check(payload) if check else []
        declared = self._payload_checks.get(channel)
        if declared is None:
            return [_unknown_channel(channel, self.channels)]
        return declared.violations(payload, f"{channel}.payload")

    def channel(self, name: str) -> Channel | None:
        """How a declared channel is kept; None for one that is not declared, the server's own among them."""
        return (self.channels or {}).get(name)


def undeclared_action(payload: Json) -> Action:
    """The action of a session without an actionSpec: whatever was sent."""
    if not isinstance(payload, dict):
        return Action("", payload)
    name = payload.get("action")
    return Action(name if isinstance(name, str) else "", payload.get("data"))


def _unknown_channel(name: str, declared: Mapping[str, Channel] | None) -> Violation:
    names = listed(declared or ())
    message = f"'{cut(name)}' is an unknown channel. Declared: {names}."
    return Violation("channel", message, names, cut(name))


def _at_most(size: int, allowed: int, limit: str, what: str) -> None:
    if size > allowed:
        sentence = f"{what} has at most {allowed:,} bytes; this has {size:,}."
        raise TooLarge(sentence, limit=limit, allowed=allowed, got=size)


def contract_of(document: JsonObject, *, labels: bool = False) -> Contract:
    """The contract that a document declares, compiled once for each that is the same.

    :param labels: whether actions need a label; on the socket they do not (7.2)
    :raises ContractRefused: something is wrong with it; all of that is told
    :raises TooLarge: its JSON is longer than ``MAX_CONTRACT_BYTES``
    """
    try:
        text = json.dumps(
            document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        )
    except (RecursionError, ValueError) as error:
        fault = Violation("contract", "Is no JSON, or has too many levels.", code="CTR_SHAPE_INVALID")
        raise ContractRefused([fault]) from error
    size = len(text.encode("utf-8", "surrogatepass"))
    _at_most(size, MAX_CONTRACT_BYTES, "contract_bytes", "A contract")
    return _compiled(text, labels)


@lru_cache(maxsize=KEPT_CONTRACTS)
def _compiled(text: str, labels: bool) -> Contract:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Contract(json.loads(text), digest, labels=labels)

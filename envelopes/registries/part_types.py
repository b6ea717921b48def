"""Part types: what a part may be, who may emit it, and what each class of transport does with it.

The canonical set and the delivery table are those of the respond() and envelope documents; cells that they leave
out are settled by decisions D4 and D12.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from envelopes.conf import flag
from envelopes.errors import RegistrationError
from envelopes.protocol import payloads
from envelopes.registries.base import Registry, check_name

Origin = Literal["actor", "runtime", "inbound"]
Delivery = Literal["flush", "once", "accumulate", "drop", "audit-only", "inbound-only"]
Presence = Literal["required", "optional", "none"]


@dataclass(frozen=True)
class PartType:
    """One part type.

    ``streaming`` and ``buffered`` say what that class of transport does with it. ``streams_text``: its text may be
    shown while the call that holds it is still being written (D7). ``data_model`` checks ``data``.
    """

    name: str
    origins: frozenset[Origin]
    streaming: Delivery
    buffered: Delivery
    text: Presence = "optional"
    data: Presence = "none"
    data_model: type[BaseModel] | None = None
    streams_text: bool = False
    allowed_transports: frozenset[str] | None = None
    requires_peer_consumes: bool = False
    canonical: bool = False

    @property
    def delivered_to_panel(self) -> bool:
        """Whether a person's panel may ever see it."""
        if self.requires_peer_consumes or self.streaming in ("drop", "audit-only"):
            return False
        return self.allowed_transports is None or bool(self.allowed_transports & {"sse", "panel"})


class PartTypeRegistry(Registry[PartType]):
    """Part types by name; a consumer's own need a namespace (``acme.board``, D14)."""

    _NAME = re.compile(r"[a-z][A-Za-z0-9-]*(\.[A-Za-z0-9][A-Za-z0-9-]*)*")

    def register(self, item: PartType) -> PartType:
        check_name(self.kind, item.name, self._NAME)
        if not item.canonical and "." not in item.name and not flag("BEACH_ALLOW_UNPREFIXED"):
            raise RegistrationError(
                f"The part type {item.name!r} needs a prefix of its own, such as 'acme.{item.name}'.",
                name=item.name,
            )
        return super().register(item)


part_types = PartTypeRegistry("part type")

_ACTOR: frozenset[Origin] = frozenset({"actor", "runtime"})
_RUNTIME: frozenset[Origin] = frozenset({"runtime"})
_INBOUND: frozenset[Origin] = frozenset({"inbound"})


def _canonical(
    name: str,
    streaming: Delivery,
    buffered: Delivery,
    *,
    origins: frozenset[Origin] = _ACTOR,
    text: Presence = "optional",
    data: Presence = "none",
    data_model: type[BaseModel] | None = None,
    streams_text: bool = False,
    requires_peer_consumes: bool = False,
) -> None:
    part_types.register(
        PartType(
            name,
            origins,
            streaming,
            buffered,
            text=text,
            data=data,
            data_model=data_model,
            streams_text=streams_text,
            requires_peer_consumes=requires_peer_consumes,
            canonical=True,
        )
    )


_canonical("ack", "flush", "drop", text="required", streams_text=True)
_canonical("thinking", "flush", "drop", text="required", streams_text=True)
_canonical("response", "flush", "once", text="required", streams_text=True)
_canonical(
    "clarify",
    "flush",
    "flush",
    text="required",
    data="optional",
    data_model=payloads.Clarify,
    streams_text=True,
)
_canonical("error", "flush", "flush", text="required", data="optional", data_model=payloads.Problem)
_canonical("domain-data", "once", "once", data="required")
_canonical("llm-context", "once", "once", text="required", requires_peer_consumes=True)
_canonical("a2ui-surface", "flush", "once", data="required")
_canonical("artifact", "flush", "once", data="required", data_model=payloads.ArtifactRef)
_canonical("reasoning-trace", "audit-only", "audit-only", data="optional", data_model=payloads.ReasoningTrace)
_canonical("citation", "flush", "once", data="required", data_model=payloads.Citation)
_canonical("progress", "flush", "drop", data="required", data_model=payloads.Progress)
_canonical("setState", "drop", "drop", data="required", data_model=payloads.SetState)
_canonical(
    "approval-request",
    "flush",
    "flush",
    origins=_RUNTIME,
    data="required",
    data_model=payloads.ApprovalRequest,
)
_canonical(
    "approval-response",
    "flush",
    "drop",
    origins=_INBOUND,
    data="required",
    data_model=payloads.ApprovalResponse,
)

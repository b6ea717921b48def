"""Part types: what a part may be, who may emit it, and what each class of transport does with it.

The canonical set and the delivery table are those of the respond() and envelope documents; cells that they leave
out are settled by decisions D4 and D12.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from envelopes.conf import conf
from envelopes.errors import RegistrationError
from envelopes.protocol import payloads
from envelopes.registries import retelling
from envelopes.registries.base import Registry, check_name
from envelopes.registries.retelling import Retell
from envelopes.types import JsonObject

Origin = Literal["actor", "runtime", "inbound"]
Delivery = Literal["flush", "once", "accumulate", "drop"]
"""At once; whole, when it is there; with others of its kind, when the turn settles; not at all."""
Cell = Delivery | Literal["audit-only", "inbound-only"]
"""Of the delivery table: why a part never leaves, where it does not."""
Presence = Literal["required", "optional", "none"]


@dataclass(frozen=True)
class PartType:
    """One part type.

    ``data_model`` checks ``data``. What follows is the delivery table, which ``delivery.rules`` alone reads:
    ``streaming`` and ``buffered`` say what that class of connections does with it. ``streams_text``: its text may be
    shown while the call that holds it is still being written (D7). ``allowed_transports``: by no others.
    ``requires_peer_consumes``: only for programs that ask for it by name. ``requires_surfaces``: only for whoever can
    render interfaces, or asks for it by name. ``verbatim_to_peers``: peers get it whatever the cells say (D12).
    ``allowed_late``: it speaks of something that is there already, so it may come after its turn has settled.
    ``asks_person``: it suspends its turn until a person has answered it.

    ``retold`` says what models of later turns read of such a part; where it is None they read that there was one, if
    its turn has said nothing else. ``in_words`` says in a line what staff read of it in the log: its text where there
    is none, and of a part without text that there was one.
    """

    name: str
    origins: frozenset[Origin]
    streaming: Cell
    buffered: Cell
    text: Presence = "optional"
    data: Presence = "none"
    data_model: type[BaseModel] | None = None
    streams_text: bool = False
    allowed_transports: frozenset[str] | None = None
    requires_peer_consumes: bool = False
    canonical: bool = False
    requires_surfaces: bool = False
    verbatim_to_peers: bool = False
    allowed_late: bool = False
    asks_person: bool = False
    retold: Retell | None = retelling.words
    in_words: Callable[[JsonObject], str] | None = None


class PartTypeRegistry(Registry[PartType]):
    """Part types by name; a consumer's own need a namespace (``acme.board``, D14)."""

    _NAME = re.compile(r"[a-z][A-Za-z0-9-]*(\.[A-Za-z0-9][A-Za-z0-9-]*)*")

    def register(self, item: PartType) -> PartType:
        check_name(self.kind, item.name, self._NAME)
        if not item.canonical and "." not in item.name and not conf.BEACH_ALLOW_UNPREFIXED:
            raise RegistrationError(
                f"The part type {item.name!r} needs a prefix of its own, such as 'acme.{item.name}'.",
                name=item.name,
            )
        return super().register(item)


part_types = PartTypeRegistry("part type")

_ACTOR: frozenset[Origin] = frozenset({"actor", "runtime"})
_RUNTIME: frozenset[Origin] = frozenset({"runtime"})
_INBOUND: frozenset[Origin] = frozenset({"inbound"})
_ANYONE = _ACTOR | _INBOUND


def _canonical(
    name: str,
    streaming: Cell,
    buffered: Cell,
    *,
    origins: frozenset[Origin] = _ACTOR,
    text: Presence = "optional",
    data: Presence = "none",
    data_model: type[BaseModel] | None = None,
    streams_text: bool = False,
    requires_peer_consumes: bool = False,
    requires_surfaces: bool = False,
    verbatim_to_peers: bool = False,
    allowed_late: bool = False,
    asks_person: bool = False,
    retold: Retell | None = retelling.words,
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
            requires_surfaces=requires_surfaces,
            verbatim_to_peers=verbatim_to_peers,
            allowed_late=allowed_late,
            asks_person=asks_person,
            retold=retold,
            canonical=True,
        )
    )


_canonical("ack", "flush", "drop", text="required", streams_text=True, retold=retelling.nothing)
_canonical("thinking", "flush", "drop", text="required", streams_text=True, retold=retelling.nothing)
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
_canonical("domain-data", "once", "once", origins=_ANYONE, data="required", retold=retelling.shown_data)
_canonical(
    "llm-context", "once", "once", text="required", requires_peer_consumes=True, retold=retelling.nothing
)
_canonical(
    "a2ui-surface", "flush", "once", data="required", requires_surfaces=True, allowed_late=True, retold=None
)
_canonical(
    "artifact",
    "flush",
    "once",
    origins=_ANYONE,
    data="required",
    data_model=payloads.ArtifactRef,
    retold=retelling.shown_file,
)
_canonical(
    "reasoning-trace",
    "audit-only",
    "audit-only",
    data="optional",
    data_model=payloads.ReasoningTrace,
    retold=retelling.nothing,
)
_canonical(
    "citation", "flush", "once", data="required", data_model=payloads.Citation, retold=retelling.shown_source
)
_canonical(
    "progress", "flush", "drop", data="required", data_model=payloads.Progress, retold=retelling.nothing
)
_canonical(
    "setState",
    "drop",
    "drop",
    data="required",
    data_model=payloads.SetState,
    verbatim_to_peers=True,
    retold=retelling.nothing,
)
_canonical(
    "approval-request",
    "flush",
    "flush",
    origins=_RUNTIME,
    data="required",
    data_model=payloads.ApprovalRequest,
    asks_person=True,
    retold=retelling.asked,
)
_canonical(
    "approval-response",
    "flush",
    "drop",
    origins=_INBOUND,
    data="required",
    data_model=payloads.ApprovalResponse,
    allowed_late=True,
    retold=retelling.decided,
)

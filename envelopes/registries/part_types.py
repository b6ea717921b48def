"""Part types: what a part may be, who may emit it, and what each class of transport does with it.

The canonical set and the delivery table are those of the respond() and envelope documents; cells that they leave
out are settled by decisions D4 and D12.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pydantic import BaseModel

from envelopes.conf import conf
from envelopes.errors import RegistrationError
from envelopes.protocol import payloads
from envelopes.registries import declared, retelling
from envelopes.registries.base import Registry, check_name
from envelopes.registries.retelling import Retell
from envelopes.types import JsonObject

Origin = Literal["actor", "runtime", "inbound"]
Delivery = declared.Delivery
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
    ``asks_person``: it suspends its turn until a person has answered it. ``sets_state``: its data is a change of the
    session's state, which is made before anybody gets it, or refused (``turns.states``).

    ``template`` is a Django template that draws such a part on pages, from ``part``, ``text``, ``data``, ``id`` and
    ``locale``. ``module`` is the static path of an ES module that defines the custom element ``acme-board`` for the
    type ``acme.board``: it gets the part as JSON in ``data-part``, and holds what the template drew. Without either,
    data is drawn as data.

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
    sets_state: bool = False
    retold: Retell | None = retelling.words
    in_words: Callable[[JsonObject], str] | None = None
    template: str = ""
    module: str = ""


class PartTypeRegistry(Registry[PartType]):
    """Part types by name; a consumer's own need a namespace (``acme.board``, D14)."""

    _NAME = re.compile(r"[a-z][A-Za-z0-9-]*(\.[A-Za-z0-9][A-Za-z0-9-]*)*")

    def register(self, item: PartType | Mapping[str, object]) -> PartType:
        """Also takes a type as the sources write it (``registries.declared``)."""
        if isinstance(item, Mapping):
            given = declared.read(declared.DeclaredPartType, self.kind, item)
            item = PartType(given.name, _ACTOR, data="optional", **given.delivery())
        check_name(self.kind, item.name, self._NAME)
        if not item.canonical and "." not in item.name and not conf.BEACH_ALLOW_UNPREFIXED:
            raise RegistrationError(
                f"The part type {item.name!r} needs a prefix of its own, such as 'acme.{item.name}'.",
                name=item.name,
            )
        if item.module and "." not in item.name:
            raise RegistrationError(
                f"The part type {item.name!r} brings a module, so it needs a prefix: its element would have no hyphen.",
                name=item.name,
            )
        return super().register(item)


part_types = PartTypeRegistry("part type")

_ACTOR: frozenset[Origin] = frozenset({"actor", "runtime"})
_RUNTIME: frozenset[Origin] = frozenset({"runtime"})
_INBOUND: frozenset[Origin] = frozenset({"inbound"})
_ANYONE = _ACTOR | _INBOUND


_canonical = partial(PartType, canonical=True)

part_types.register(
    _canonical("ack", _ACTOR, "flush", "drop", text="required", streams_text=True, retold=retelling.nothing)
)
part_types.register(
    _canonical(
        "thinking", _ACTOR, "flush", "drop", text="required", streams_text=True, retold=retelling.nothing
    )
)
part_types.register(_canonical("response", _ACTOR, "flush", "once", text="required", streams_text=True))
part_types.register(
    _canonical(
        "clarify",
        _ACTOR,
        "flush",
        "flush",
        text="required",
        data="optional",
        data_model=payloads.Clarify,
        streams_text=True,
    )
)
part_types.register(
    _canonical(
        "error", _ACTOR, "flush", "flush", text="required", data="optional", data_model=payloads.Problem
    )
)
part_types.register(
    _canonical("domain-data", _ANYONE, "once", "once", data="required", retold=retelling.shown_data)
)
part_types.register(
    _canonical(
        "llm-context",
        _ACTOR,
        "once",
        "once",
        text="required",
        requires_peer_consumes=True,
        retold=retelling.nothing,
    )
)
part_types.register(
    _canonical(
        "a2ui-surface",
        _ACTOR,
        "flush",
        "once",
        data="required",
        requires_surfaces=True,
        allowed_late=True,
        retold=None,
    )
)
part_types.register(
    _canonical(
        "artifact",
        _ANYONE,
        "flush",
        "once",
        data="required",
        data_model=payloads.ArtifactRef,
        retold=retelling.shown_file,
    )
)
part_types.register(
    _canonical(
        "reasoning-trace",
        _ACTOR,
        "audit-only",
        "audit-only",
        data="optional",
        data_model=payloads.ReasoningTrace,
        retold=retelling.nothing,
    )
)
part_types.register(
    _canonical(
        "citation",
        _ACTOR,
        "flush",
        "once",
        data="required",
        data_model=payloads.Citation,
        retold=retelling.shown_source,
    )
)
part_types.register(
    _canonical(
        "progress",
        _ACTOR,
        "flush",
        "drop",
        data="required",
        data_model=payloads.Progress,
        retold=retelling.nothing,
    )
)
part_types.register(
    _canonical(
        "setState",
        _ANYONE,
        "drop",
        "drop",
        data="required",
        data_model=payloads.SetState,
        verbatim_to_peers=True,
        sets_state=True,
        retold=retelling.nothing,
    )
)
part_types.register(
    _canonical(
        "approval-request",
        _RUNTIME,
        "flush",
        "flush",
        data="required",
        data_model=payloads.ApprovalRequest,
        asks_person=True,
        retold=retelling.asked,
    )
)
part_types.register(
    _canonical(
        "approval-response",
        _INBOUND,
        "flush",
        "drop",
        data="required",
        data_model=payloads.ApprovalResponse,
        allowed_late=True,
        retold=retelling.decided,
    )
)

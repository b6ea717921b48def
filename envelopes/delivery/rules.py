"""Who gets what, and how: the only place that decides (seed 001 "Delivery rules"; D7, D12, D13, D55).

Pure functions over the table of part types. Doors, presenters, followers, the envelope and whoever stores a part ask
here; nobody else reads the columns of a ``PartType`` that are about delivery.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from envelopes.protocol.originators import Originator
from envelopes.protocol.rows import Audience
from envelopes.protocol.surfaces import places_of_data
from envelopes.registries.part_types import Delivery, PartType
from envelopes.registries.transports import Connection
from envelopes.types import PROGRAMS, JsonObject, PrincipalKind


@dataclass(frozen=True)
class Reader:
    """Who is at the other end.

    ``consumes``: the part types that a peer or a service says it takes (``llm-context``, types of an application).
    ``surfaces``: it can render interfaces.
    """

    kind: PrincipalKind = "person"
    consumes: frozenset[str] = frozenset()
    surfaces: bool = False

    @classmethod
    def of(cls, originator: Originator, *, surfaces: bool = False) -> Self:
        """Whoever began a turn, as they were then; ``surfaces`` is what their transport can do."""
        return cls(originator["kind"], frozenset(originator["consumes"]), surfaces)


ALSO_BY: dict[str, frozenset[str]] = {"panel": frozenset({"sse"}), "live": frozenset({"sse"})}
"""What may travel by the second may travel by the first (D13)."""


def delivery_for(kind: PartType, connection: Connection, reader: Reader, *, late: bool = False) -> Delivery:
    """How a part of this type travels to ``reader`` by ``connection``.

    *flush*: at once. *once*: when it is there, whole. *accumulate*: with others of its kind, when the turn settles.
    *drop*: not at all. ``late``: its turn had settled before it came.
    """
    if not _may_get(kind, connection, reader):
        return "drop"
    if late and not (kind.allowed_late and connection.kind == "streaming"):
        return "drop"
    if kind.verbatim_to_peers and reader.kind == "peer":
        return "flush" if connection.kind == "streaming" else "once"
    cell = kind.streaming if connection.kind == "streaming" else kind.buffered
    if cell == "inbound-only":
        # It was said to us. Where people follow, they see what one of them has said; programs learn what came of it.
        return "flush" if connection.kind == "streaming" and reader.kind not in PROGRAMS else "drop"
    return "drop" if cell == "audit-only" else cell


def gets(kind: PartType | None, connection: Connection, reader: Reader, *, late: bool = False) -> bool:
    """Whether ``reader`` gets parts of this type at all; None is one that nobody registered."""
    return kind is not None and delivery_for(kind, connection, reader, late=late) != "drop"


def encloses(kind: PartType, connection: Connection) -> bool:
    """Whether the bytes of what parts of this type refer to go along with them (envelope document: a reference on
    streaming transports, an attachment where a buffered one can have any)."""
    return kind.is_file and connection.attaches and connection.kind == "buffered"


def streams_text(kind: PartType, connection: Connection, reader: Reader) -> bool:
    """Whether ``reader`` gets text of this type while it is still being written: only what it would get anyway, at
    once, as a part."""
    return (
        may_stream(kind)
        and connection.kind == "streaming"
        and delivery_for(kind, connection, reader) == "flush"
    )


def may_stream(kind: PartType) -> bool:
    """Whether there can be anybody who gets text of this type while it is being written."""
    return kind.streams_text and (kind.streaming == "flush" or kind.verbatim_to_peers)


def audience(kind: PartType) -> Audience:
    """Whether a part of this type may leave the server at all: "audit" where there can be nobody who gets it."""
    cells = {kind.streaming, kind.buffered}
    nobody = cells <= {"drop", "audit-only"} and not kind.verbatim_to_peers
    return "audit" if nobody else "delivered"


def is_said(kind: PartType) -> bool:
    """Whether it is something said to a person: what is left of a turn whose state builds no envelope."""
    return kind.buffered == "flush" or (kind.data == "none" and not kind.requires_peer_consumes)


def is_question(kind: PartType) -> bool:
    """Whether it asks a person, who has answered by the time its turn settles: it was told when it came, and is no
    part of the answer. What else is said while a turn waits for that is (D11)."""
    return kind.asks_person


def is_surface(kind: PartType) -> bool:
    """Whether its data is an interface, which only whoever draws surfaces can do anything with."""
    return kind.requires_surfaces


def shown_at(kind: PartType | None, part: JsonObject) -> tuple[str, ...] | None:
    """The places of interfaces whose data a part of this type sets, where that is all that it does: of what is told of
    them, whoever sums up a conversation needs the last alone (``places_of_data``)."""
    return places_of_data(part.get("data")) if kind is not None and is_surface(kind) else None


def begins_turn(kind: PartType, *, new: bool) -> bool:
    """Whether a part of this type that comes after its turn has settled begins another turn, as part of which it
    travels: what a turn gathers beside what it says, such as data and files. ``new``: it does not speak of something
    that is there already, of which ``allowed_late`` speaks."""
    kept = kind.buffered in ("once", "accumulate") or kind.verbatim_to_peers
    return kept and not is_said(kind) and (new or not kind.allowed_late)


def unknown_transports(kind: PartType, known: Iterable[str]) -> frozenset[str]:
    """Names that it is bound to, of which none is among ``known``: nobody could mean them."""
    return (kind.allowed_transports or frozenset()).difference(known)


def in_words(kind: PartType) -> Iterator[str]:
    """What the table says of it, for developers."""
    yield f"streaming {kind.streaming}"
    yield f"buffered {kind.buffered}"
    if kind.allowed_transports is not None:
        yield f"only {' '.join(sorted(kind.allowed_transports))}"
    if kind.requires_peer_consumes:
        yield "only to who asks"
    if kind.requires_surfaces:
        yield "only where interfaces are drawn"


def _may_get(kind: PartType, connection: Connection, reader: Reader) -> bool:
    if kind.requires_peer_consumes and not (reader.kind in PROGRAMS and kind.name in reader.consumes):
        return False
    if kind.requires_surfaces and not (reader.surfaces or kind.name in reader.consumes):
        return False
    if not connection.name or kind.allowed_transports is None:
        return True
    names = ALSO_BY.get(connection.name, frozenset()) | {connection.name}
    return not kind.allowed_transports.isdisjoint(names)

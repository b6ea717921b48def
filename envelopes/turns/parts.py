"""Parts on their way into the log: the only place where they become rows.

Whoever says something comes through here: ``respond()``, tools, the runtime, decisions. What has to hold for every
part, and what may be made of one on its way, stands here once. ``turns.short_way`` does with ``checked_parts``,
``part_row`` and the surfaces what ``append_parts`` does; parts of which more is to be made are named in
``needs_database`` and do not go that way.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple, TypedDict

from envelopes import artifacts
from envelopes.delivery import rules
from envelopes.errors import ValidationFailed
from envelopes.log.append import Writer
from envelopes.models import Session, Turn
from envelopes.protocol.parts import Part, check_part
from envelopes.protocol.respond import MAX_PARTS
from envelopes.protocol.rows import Audience, PartData
from envelopes.registries.part_types import Origin, PartType, part_types
from envelopes.registries.statuses import TurnStatus
from envelopes.turns import agent_calls, channels, citing, gates, states, templates
from envelopes.turns.stamping import awaits_card, stamped
from envelopes.turns.surfaces import calls_functions
from envelopes.types import Json, JsonObject

logger = logging.getLogger(__name__)


class Appended(NamedTuple):
    """What the model is told of its parts: ``repaired`` is what was closed and repaired on surfaces, ``responses`` are
    the A2UI messages with what functions of ours gave, ``refused`` are changes of state that were not made, each
    ``{part, code, reasons}``; ``unbound`` are citations that point to no data, or name no source, each ``{part, code,
    message}``."""

    repaired: list[JsonObject]
    responses: list[JsonObject]
    refused: list[JsonObject]
    unbound: list[JsonObject]


def append_parts(
    writer: Writer,
    turn: Turn,
    parts: Sequence[Part | JsonObject],
    origin: Origin,
    *,
    state: str = "",
    actor: str = "",
    live: Mapping[int, str] | None = None,
    by: str = "",
    strict: bool = False,
) -> Appended:
    """Append ``parts`` to ``turn``: all of them or, raising what the checks do, none.

    A ``Part`` was checked by whoever made it; JSON is checked here, with pointers that begin with the part's number.
    ``state`` is what was declared with them, by default the turn's of now. ``actor`` says whose they are, where that is
    not the turn's actor. ``live`` are the streamed bubbles that they replace, by number of the part. ``by`` is the key
    of the member of staff whose words they are. ``strict``: a model wrote them, so a surface that would not be shown as
    it was meant is refused (D60). ``turn`` has to be read under the lock of ``writer``: parts of a
    settled turn are marked as late.

    Calls of agents' functions that they make due are made with them. Returns what the model is to read. Raises
    ``ValidationFailed`` for a part that cannot come from ``origin`` and for one that refers to no file of the session,
    ``RespondRefused`` when the message of a surface would change nothing.
    """
    checked = checked_parts(parts, origin)
    owner = actor or turn.actor
    later: list[Callable[[], object]] = []
    if origin != "runtime":
        # What the runtime says of data is stamped where it says it, and of a file it has just read that itself.
        checked = artifacts.checked(writer.session, [stamped(part, owner) for part in checked])
        # What the runtime says has passed already.
        checked, later = gates.passed(writer, turn, owner, checked)
    drawn = templates.made_of(writer, turn, owner, checked)
    tried, drawn = templates.tried(writer, turn, owner, checked, drawn, strict=strict)
    unbound = citing.unbound(writer, turn, checked)
    streams = channels.streams_of(writer.session, checked)
    for closing in tried.closing:
        _add(writer, turn, closing, state, actor)
    refused: list[JsonObject] = []
    shown = [made.shows for made in drawn]
    for number, part in enumerate(checked):
        if not _is_kept(part_types[part.part_type]):
            continue
        reasons = _proposed(writer, turn, part)
        if reasons:
            refused.append({"part": f"/parts/{number}", "code": states.CODE, "reasons": reasons})
        else:
            marked = unbound.get(number)
            is_drawn = any(part is each for each in shown)
            replaced = (live or {}).get(number)
            stream = streams.get(number)
            _add(
                writer,
                turn,
                part,
                state,
                actor,
                live=replaced,
                marked=marked,
                is_drawn=is_drawn,
                stream=stream,
                by=by,
            )
    for made in drawn:
        if made.part is not None:
            # Whose surface it is may be another one's, which has begun the slot.
            _add(writer, turn, made.part, state, actor if made.kept.owner == owner else made.kept.owner)
        templates.keep(made)
    channels.end_contracts(
        writer.session,
        [
            *((owner, part) for part in (*tried.closing, *checked)),
            *((made.kept.owner, made.part) for made in drawn if made.part is not None),
        ],
    )
    for message in tried.responses:
        writer.add("renderer-answer", {"message": message}, turn=turn, actor=actor)
    agent_calls.end(writer, tried.ended)
    agent_calls.make(writer, tried.due, turn=turn)
    for do in later:
        do()
    reported = [
        {"part": f"/parts/{number}", "code": code, "message": told}
        for number, (code, told) in unbound.items()
    ]
    return Appended(tried.told, tried.responses, refused, reported)


def _proposed(writer: Writer, turn: Turn, part: Part) -> list[JsonObject]:
    """Make the change of state that a part is, if it is one; returns why it is refused."""
    if not part_types[part.part_type].sets_state:
        return []
    return states.propose(writer, turn, part.data or {}, "actor")


def checked_parts(parts: Sequence[Part | JsonObject], origin: Origin) -> list[Part]:
    """``parts``, those that are JSON checked. Raises ``ValidationFailed`` as ``append_parts`` does."""
    return [
        part if isinstance(part, Part) else check_part(part, origin=origin, path=f"/{number}")[0]
        for number, part in enumerate(parts)
    ]


def needs_database(parts: Sequence[Part]) -> bool:
    """Whether more has to be known of ``parts`` than the session's surfaces and its turn: what a file is, what a
    citation points to, where the session's state is; or more is stored with them, what functions gave, what shows data,
    or less."""
    return any(
        (kind := part_types[part.part_type]).is_file
        or _is_special(kind)
        or citing.is_citation(part)
        or calls_functions(part)
        or templates.is_drawn(part)
        or channels.named_channel(part) is not None
        or channels.ends_surface(part)
        or gates.concerns(part)
        for part in parts
    )


def _is_kept(kind: PartType) -> bool:
    return kind.kept is None or kind.kept()


def _is_special(kind: PartType) -> bool:
    return kind.sets_state or kind.kept is not None


class PartRow(TypedDict):
    """What a part's row holds, beside its number and its time."""

    data: JsonObject
    part_type: str
    actor: str
    turn: int
    audience: Audience


def part_row(turn: Turn, part: Part, *, state: str = "", actor: str = "", live: str | None = None) -> PartRow:
    """The row that ``part`` becomes in ``turn`` as that stands now."""
    data: PartData = {"part": part.as_json(), "turnState": state or turn.turn_state or "awaiting"}
    if live:
        data["live"] = live
    if awaits_card(part, actor or turn.actor):
        data["ownCard"] = True
    if turn.status == TurnStatus.SETTLED:
        data["late"] = True
    return {
        "data": dict(data),
        "part_type": part.part_type,
        "actor": actor or turn.actor,
        "turn": turn.shown_in,
        "audience": rules.audience(part_types[part.part_type]),
    }


def inbound_parts(
    session: Session, raw: Sequence[Json], *, uploads: Container[int] = (), from_peer: bool = False
) -> dict[int, JsonObject]:
    """Parts that came in with a message, by number, as its row keeps them; but for ``uploads``, which are files of
    their own. A change of state comes from a peer, or not at all.

    One of a type that nobody registered is left out with a warning (D4). Raises ``ValidationFailed``, with pointers
    into the message, for one that cannot come in or is not what its type wants, for too many, and for a decision:
    those are made on their own.
    """
    if len(raw) > MAX_PARTS:
        raise ValidationFailed(f"A message has at most {MAX_PARTS} parts.", path="/parts")
    found: dict[int, JsonObject] = {}
    for number, value in enumerate(raw):
        if number in uploads:
            continue
        path = f"/parts/{number}"
        metadata = value.get("metadata") if isinstance(value, dict) else None
        name = metadata.get("partType") if isinstance(metadata, dict) else None
        if isinstance(name, str) and name not in part_types:
            logger.warning("A part of unknown type %r came with a message; it is left out.", name[:64])
            continue
        part, kind = check_part(value, origin="inbound", path=path)
        if kind.decides:
            raise ValidationFailed("A decision is no part of a message.", path=path)
        if kind.sets_state and not from_peer:
            raise ValidationFailed("A change of state does not come with a person's message.", path=path)
        found[number] = artifacts.referred(session, part, path).as_json()
    return found


def _add(
    writer: Writer,
    turn: Turn,
    part: Part,
    state: str,
    actor: str,
    *,
    live: str | None = None,
    marked: tuple[str, str] | None = None,
    is_drawn: bool = False,
    stream: JsonObject | None = None,
    by: str = "",
) -> None:
    row = part_row(turn, part, state=state, actor=actor, live=live)
    if is_drawn:
        row["data"]["drawn"] = True
    if stream is not None:
        row["data"]["stream"] = stream
    if marked is not None:
        row["data"]["unbound"] = marked[1]
    if by:
        row["data"]["by"] = by
    writer.add(
        "part",
        row["data"],
        part_type=row["part_type"],
        turn=turn,
        actor=row["actor"],
        audience=row["audience"],
    )

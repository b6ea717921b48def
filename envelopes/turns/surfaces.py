"""Checking an agent's surface messages before they are stored: under the session's lock, at its last row (D42)."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from a2ui import CallsDue, Diagnostic, SurfaceSet
from envelopes.errors import RespondRefused
from envelopes.log.append import Writer
from envelopes.part_types.a2ui_surface import A2UI_SURFACE
from envelopes.protocol.parts import Metadata, Part
from envelopes.protocol.surfaces import placed_messages
from envelopes.session_state import live_sessions
from envelopes.turns.strictness import Strictness, shortened
from envelopes.types import JsonObject

T = TypeVar("T")

RAISED = "raised"
"""The fact of a diagnostic with the type and the line of what code of an application raised: for staff."""

_FAILED = ("component", "catalog", RAISED)
"""What the log has of code of an application that failed."""

Placed: TypeAlias = "list[tuple[str, JsonObject]]"
"""Messages with the pointers at which they stand in their part."""

RETIRED_SLOT = "beach:retired"
"""The slot of rows by which the runtime closes a surface: no data belongs to it."""


@dataclass(frozen=True)
class Tried:
    """What came of trying surface parts: ``closing`` are parts that have to stand before them, to make room; ``told``
    is what was closed and what the engine repaired, for the model to read. ``responses`` are what functions of ours
    gave to the agent, ``due`` the calls of its functions that are to be made, ``ended`` the ids of those that wait no
    more."""

    closing: list[Part] = field(default_factory=list)
    told: list[JsonObject] = field(default_factory=list)
    responses: list[JsonObject] = field(default_factory=list)
    due: list[CallsDue] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)


def check_surfaces(
    writer: Writer,
    owner: str,
    parts: list[Part],
    *,
    owners: Mapping[int, str] | None = None,
    strict: Container[int] = (),
) -> Tried:
    """Try the surface parts of one call of ``owner`` on what the session of ``writer`` shows, and undo it. ``owners``:
    whose those are that are not, by number. ``strict`` are the numbers of those that a model wrote.

    A session holds so many surfaces and no more; the oldest of this owner are closed for new ones. Raises
    ``RespondRefused`` with every refusal when a message would change nothing, as for reserved names (D22), which are
    looked for after translation, and when a ``strict`` one would not be shown as it was meant (D60);
    ``ValidationFailed`` when it is no surface data.
    """
    found: list[tuple[int, str, Placed]] = []
    for number, part in enumerate(parts):
        if part.part_type == A2UI_SURFACE.name:
            messages = placed_messages(part.data)
            found.append((number, (owners or {}).get(number, owner), messages))
    if not found:
        return Tried()
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        most = view.engine.options.limits.surfaces
    return trying(writer, lambda surfaces: _tried(surfaces, owner, found, most, strict))


def calls_functions(part: Part) -> bool:
    """Whether a part calls a function of ours: its answer is stored with it."""
    if part.part_type != A2UI_SURFACE.name or not isinstance(part.data, dict):
        return False
    messages = part.data.get("messages")
    listed = messages if isinstance(messages, list) else [part.data]
    return any(isinstance(message, dict) and "callRendererFunction" in message for message in listed)


def trying(writer: Writer, do: Callable[[SurfaceSet], T]) -> T:
    """What ``do`` returns, done to the surfaces of the session as the log has them, and undone."""
    with live_sessions.open(writer.session, upto=writer.known_seq) as view:
        if not view.shown:
            # What nobody shows is new to pages: drawing what has changed would draw all of it.
            return do(view.engine.restore(view.surfaces.snapshot()))
        attempt = view.surfaces.attempt()
        try:
            return do(view.surfaces)
        finally:
            attempt.undo()


def _tried(
    surfaces: SurfaceSet,
    owner: str,
    found: list[tuple[int, str, Placed]],
    most: int,
    strict: Container[int],
) -> Tried:
    repaired: list[JsonObject] = []
    refused: list[JsonObject] = []
    responses: list[JsonObject] = []
    pending = surfaces.calls.pending() if surfaces.calls.possible else {}
    retired = _make_room(
        surfaces, owner, [message for _, _, messages in found for _, message in messages], most
    )
    strictness = Strictness(surfaces, owner)
    for number, whose, messages in found:
        for pointer, message in messages:
            problems = surfaces.apply(message, owner=whose)
            if number in strict:
                wrong, problems = strictness.judged(number, pointer, message, problems)
                refused += wrong
            for diagnostic in problems:
                (refused if diagnostic.refused else repaired).append(_as_json(number, diagnostic))
            # With the data as it is now.
            responses += surfaces.renderer_calls.responses()
    # Drawn once, since some faults show only then: an unknown function, a list that is cut.
    surfaces.flush()
    due = surfaces.calls.due()
    drawn = surfaces.diagnostics()
    repaired += [_as_json(found[-1][0], diagnostic) for diagnostic in drawn]
    refused += strictness.at_the_end(drawn)
    if refused:
        first = refused[0]
        raise RespondRefused(
            f"The surface was refused: {first['message']}",
            path=first.get("pointer", first["part"]),
            problems=shortened(refused),
            a2ui=first["code"],
        )
    told = [*(_told(found[0][0], message, most) for message in retired), *repaired][:20]
    ended = list(pending.keys() - surfaces.calls.pending().keys()) if pending else []
    return Tried([_closing(message) for message in retired], told, responses, due, ended)


def _closing(message: JsonObject) -> Part:
    return Part(data=message, metadata=Metadata(partType=A2UI_SURFACE.name, slotKey=RETIRED_SLOT))


def _make_room(surfaces: SurfaceSet, owner: str, messages: list[JsonObject], most: int) -> list[JsonObject]:
    """Delete the oldest surfaces of ``owner`` that these messages do not name, as many as they create beyond ``most``;
    returns the messages that did."""
    named: set[str] = set()
    made: set[str] = set()
    gone = 0
    for message in messages:
        for verb, body in message.items():
            surface_id = body.get("surfaceId") if isinstance(body, dict) else None
            if isinstance(surface_id, str):
                named.add(surface_id)
                if verb == "deleteSurface":
                    gone += 1
                elif surfaces.get(owner, surface_id) is None:
                    # By whatever verb: in v0.8 a surface comes into being with the first message that names it.
                    made.add(surface_id)
    over = len(surfaces) + len(made) - gone - most
    oldest = [surface for surface in surfaces if surface.owner == owner and surface.id not in named]
    retired: list[JsonObject] = [
        {"version": surface.version, "deleteSurface": {"surfaceId": surface.id}}
        for surface in oldest[: max(0, over)]
    ]
    for message in retired:
        surfaces.apply(message, owner=owner)
    surfaces.flush()
    return retired


def _told(part: int, message: JsonObject, most: int) -> JsonObject:
    surface_id = message["deleteSurface"]["surfaceId"]
    text = f"It was closed to make room: a conversation has at most {most} surfaces."
    return {
        "part": f"/parts/{part}",
        "code": "SURFACE_RETIRED",
        "surfaceId": surface_id,
        "path": "",
        "message": text,
    }


def _as_json(part: int, diagnostic: Diagnostic) -> JsonObject:
    told: JsonObject = {
        "part": f"/parts/{part}",
        "code": diagnostic.code,
        "surfaceId": diagnostic.surface_id,
        "path": diagnostic.path,
        "message": diagnostic.message,
    }
    if RAISED in diagnostic.facts:
        told["failed"] = {key: diagnostic.facts[key] for key in _FAILED if diagnostic.facts.get(key)}
    return told


def for_models(problem: JsonObject) -> JsonObject:
    """A problem of ``Tried.told`` as a model reads it: without what is for staff."""
    return {key: value for key, value in problem.items() if key != "failed"}

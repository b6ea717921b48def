"""The respond() call: its validation.

Source: the respond() document ("Tool schema", "Turn states"); D1, D3, D7.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from envelopes.errors import RespondRefused, ValidationFailed
from envelopes.protocol.parts import Part, check_part, from_pydantic
from envelopes.protocol.text import clean_text
from envelopes.registries.part_types import PartType, part_types
from envelopes.registries.turn_states import turn_states

RESPOND = "respond"
MAX_PARTS = 64
MAX_TASK = 4_000
"""Characters of what another actor is asked to do."""


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid")

    parts: list[Any] = Field(min_length=1, max_length=MAX_PARTS)
    turnState: str
    passTo: str | None = None
    delegateTo: str | None = None
    task: Annotated[str, Field(max_length=MAX_TASK)] | None = None
    note: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _older_name(cls, value: Any) -> Any:
        if isinstance(value, dict) and "turnState" not in value and "conversationState" in value:
            value = dict(value)
            value["turnState"] = value.pop("conversationState")
        return value


class RespondCall(BaseModel):
    """A respond() call that passed: parts in order, the state it declares. ``pass_to`` is the actor that takes the turn
    over, ``delegate_to`` the one that is asked to do ``task`` in it."""

    parts: list[Part]
    state: str
    pass_to: str | None = None
    delegate_to: str | None = None
    task: str | None = None
    note: str | None = None


def check_respond(value: Any, *, actors: tuple[str, ...] = ()) -> RespondCall:
    """Validate the input of one respond() call.

    Raises ``RespondRefused`` with ``path`` (JSON Pointer into the input), a sentence, and ``allowed`` where there is
    a list to choose from. ``actors`` are the names that ``passTo`` and ``delegateTo`` may hold.
    """
    if isinstance(value, dict):
        value = {clean_text(str(key)): clean_text(v) if isinstance(v, str) else v for key, v in value.items()}
    try:
        call = _Call.model_validate(value)
    except ValidationError as error:
        refused = from_pydantic(error)
        raise RespondRefused(refused.message, **refused.facts) from error
    state = turn_states.get(call.turnState)
    declarable = [s.name for s in turn_states if s.declarable]
    if state is None or not state.declarable:
        why = "is not registered" if state is None else "is set by the runtime, not declared"
        raise RespondRefused(
            f"The turn state {call.turnState!r} {why}.", path="/turnState", allowed=declarable
        )
    parts: list[Part] = []
    kinds: dict[str, PartType] = {}
    for number, raw in enumerate(call.parts):
        try:
            part, kind = check_part(raw, origin="actor", path=f"/parts/{number}")
        except ValidationFailed as error:
            raise RespondRefused(error.message, **error.facts) from error
        parts.append(part)
        kinds[kind.name] = kind
    _check_named("passTo", call.passTo, state.passes, [s.name for s in turn_states if s.passes], actors)
    delegating = [s.name for s in turn_states if s.delegates]
    _check_named("delegateTo", call.delegateTo, state.delegates, delegating, actors)
    if call.task is not None and not state.delegates:
        raise RespondRefused("task goes with delegateTo, and only with it.", path="/task")
    for kind in kinds.values():
        for other in kind.replaces.intersection(kinds):
            raise RespondRefused(
                f"A {kind.name} part replaces the {other} part: send one of them.", path="/parts"
            )
    needed = [kind for kind in part_types if kind.needed_for == state.name]
    if needed and not any(kind.name in kinds for kind in needed):
        told = " or ".join(f"{kind.name} part ({kind.description})" for kind in needed)
        raise RespondRefused(f"The turn state {state.name!r} needs a {told}.", path="/parts")
    if state.needs and state.needs not in kinds:
        raise RespondRefused(
            f"The turn state {state.name!r} needs a part of type {state.needs!r}.", path="/parts"
        )
    return RespondCall(
        parts=parts,
        state=state.name,
        pass_to=call.passTo,
        delegate_to=call.delegateTo,
        task=call.task,
        note=call.note,
    )


def _check_named(
    key: str, given: str | None, wanted: bool, states: list[str], actors: tuple[str, ...]
) -> None:
    """An actor is named where the state asks for one, and only there."""
    if wanted != (given is not None):
        which = " or ".join(repr(name) for name in states)
        raise RespondRefused(f"{key} goes with the turn state {which}, and only with it.", path=f"/{key}")
    if given is not None and given not in actors:
        raise RespondRefused(f"There is no actor {given!r}.", path=f"/{key}", allowed=list(actors))

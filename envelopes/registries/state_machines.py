"""State machines of applications: what a session may be in, and who may propose a change (respond() document,
"setState"; D15)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from envelopes.errors import RegistrationError
from envelopes.registries import declared
from envelopes.registries.base import Registry, check_name
from envelopes.registries.written import check_flag, check_items

Source = Literal["actor", "peer"]
"""Who proposes: an agent in its reply, another agent in a message."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_LONGEST_STATE = 128


@dataclass(frozen=True)
class Coordinate:
    """One thing that a component is in: where it begins, and what may follow each state. One without any is final."""

    initial: str
    transitions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class StateMachine:
    """The coordinates of one component, ``name``. Nobody may propose a transition who is not let in here.

    Raises ``RegistrationError`` for what is no name, for a coordinate that begins or goes where it has no state.
    """

    name: str
    coordinates: Mapping[str, Coordinate]
    allow_handler_transitions: bool = False
    allow_peer_transitions: bool = False

    def __post_init__(self) -> None:
        check_name("state machine", self.name, _NAME)
        owner = f"the state machine {self.name!r}"
        for flag in ("allow_handler_transitions", "allow_peer_transitions"):
            check_flag(owner, flag, getattr(self, flag))
        coordinates: object = self.coordinates
        if not isinstance(coordinates, Mapping) or not coordinates:
            raise RegistrationError(
                f"`coordinates` of {owner} has a Coordinate under each name, not {coordinates!r:.60}.",
                name=self.name,
            )
        for name, coordinate in self.coordinates.items():
            check_name("coordinate", name, _NAME)
            if not isinstance(coordinate, Coordinate):
                raise RegistrationError(
                    f"{self.name}.{name} is a Coordinate(initial, transitions), not {coordinate!r:.60}.",
                    name=self.name,
                )
            states = coordinate.transitions.keys()
            following: Mapping[str, Any] = coordinate.transitions
            if text := next((after for after in following.values() if isinstance(after, str)), None):
                raise RegistrationError(
                    f"What may follow in {self.name}.{name} is one text, {text!r}, not a tuple: a comma is missing.",
                    name=self.name,
                )
            for after in following.values():
                check_items(f"{self.name}.{name}", "transitions", after, str)
            meant = {
                coordinate.initial,
                *(state for after in coordinate.transitions.values() for state in after),
            }
            if unknown := sorted(meant - states):
                raise RegistrationError(
                    f"The coordinate {self.name}.{name} goes to {', '.join(unknown)}, which is no state of it.",
                    name=self.name,
                )
            if any(not state or len(state) > _LONGEST_STATE for state in states):
                raise RegistrationError(
                    f"A state of {self.name}.{name} has no name, or one of over {_LONGEST_STATE} characters.",
                    name=self.name,
                )

    def lets(self, source: Source) -> bool:
        """Whether ``source`` may propose transitions of this component."""
        return self.allow_handler_transitions if source == "actor" else self.allow_peer_transitions


class _Coordinate(BaseModel):
    model_config = ConfigDict(extra="forbid")

    initial: str
    transitions: dict[str, tuple[str, ...]]


class _Machine(BaseModel):
    model_config = ConfigDict(extra="forbid")

    component: str
    coordinates: Annotated[dict[str, _Coordinate], Field(min_length=1)]
    allow_handler_transitions: bool = Field(False, validation_alias="allowHandlerTransitions")
    allow_peer_transitions: bool = Field(False, validation_alias="allowPeerTransitions")


class StateMachineRegistry(Registry[StateMachine]):
    """State machines by component."""

    def register(self, item: StateMachine | Mapping[str, object]) -> StateMachine:
        """Also takes one as JSON has it: ``{component, coordinates: {name: {initial, transitions: {state: [state]}}},
        allowHandlerTransitions?, allowPeerTransitions?}``."""
        if isinstance(item, Mapping):
            given = declared.read(_Machine, self.kind, item)
            item = StateMachine(
                given.component,
                {
                    name: Coordinate(coordinate.initial, coordinate.transitions)
                    for name, coordinate in given.coordinates.items()
                },
                given.allow_handler_transitions,
                given.allow_peer_transitions,
            )
        return super().register(item)

    def register_file(self, path: Path) -> list[StateMachine]:
        """Register what a ``state-machine.json`` holds: one machine, or a list of them. Raises ``RegistrationError``,
        also for what is no JSON."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RegistrationError(f"{path} is no JSON file: {error}", name=str(path)) from error
        machines = found if isinstance(found, list) else [found]
        if not all(isinstance(machine, dict) for machine in machines):
            raise RegistrationError(f"{path} holds no state machines.", name=str(path))
        registered: list[StateMachine] = []
        for machine in machines:
            registered.append(self.register(machine))  # noqa: PERF401 - a comprehension would be who registers
        return registered

    def coordinate(self, key: str) -> tuple[StateMachine, Coordinate] | None:
        """What ``<component>.<coordinate>`` names, if anything."""
        component, dot, name = key.partition(".")
        machine = self.get(component) if dot else None
        coordinate = machine.coordinates.get(name) if machine is not None else None
        return (machine, coordinate) if machine is not None and coordinate is not None else None


state_machines = StateMachineRegistry("state machine")

"""What has to agree of a program that the engine and an official core have played, and what is left out by design."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from a2ui import Engine, EngineOptions
from a2ui.functions.results import GENERAL
from a2ui.programs.tree import run
from tests.conformance.asking import Oracle
from tests.conformance.comparing import comparable
from tests.conformance.making_1_0 import lowered, said

Ask = Callable[[list[Any]], dict[str, Any]]
UNWORDED = ("", GENERAL, "Validation failed")
"""What is said of a failed check without words of its own: here general ones, by the core others or none."""
FILLING = ("components", "dataModel")

UNRESOLVED = {"accessibility", "tabs", "options"}
"""The official Python core leaves what is dynamic inside of these as it is; its JavaScript sibling does not."""


def ours(program: list[Any], **options: Any) -> dict[str, Any]:
    return run(Engine(EngineOptions(**options)).surfaces(), program)


def node(raw: dict[str, Any], unresolved: set[str] = UNRESOLVED) -> dict[str, Any]:
    """What is compared of a node."""
    found = {key: raw[key] for key in ("at", "id", "scope", "type", "state") if key in raw}
    props = {name: value for name, value in raw.get("props", {}).items() if name not in unresolved}
    if "validationErrors" in props:
        props["validationErrors"] = [text for text in props["validationErrors"] if text not in UNWORDED]
        if not props["isValid"]:
            # Each tells that of the first one that fails, in its own way; before 1.0 there is one only.
            told = [*props.pop("severities", []), props.get("severity", "error")]
            props["severity"] = told[0]
    props.pop("severities", None)
    # Absent numbers are empty text here and null there (9.4); both show nothing.
    found["props"] = {name: value for name, value in filled(props).items() if value not in ("", None, {})}
    action = raw.get("action")
    if action:
        told = {key: action[key] for key in ("name", "userMessage") if action.get(key)}
        found["action"] = {**told, "context": without_nothing(action["context"])}
    compared: dict[str, Any] = comparable(found)
    return compared


def filled(value: Any) -> Any:
    """Properties with what is inside of them, but for members that hold nothing."""
    if isinstance(value, list):
        return [filled(item) for item in value]
    if isinstance(value, dict):
        return {key: filled(item) for key, item in value.items() if item not in ("", None)}
    return value


def without_nothing(context: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in context.items() if value not in ("", None)}


def agree_on_1_0(oracle: Oracle, program: list[Any]) -> None:
    """Asserts that the engine makes of a program of 1.0 what it makes of its late candidate, and what the core does."""
    agree(lambda one: oracle.ask(lowered(one)), program)
    assert ours(lowered(program)) == ours(program)


def agree(ask: Ask, program: list[Any], unresolved: set[str] = UNRESOLVED) -> None:
    """Asserts that both make the same of a program, `ask` being how the other one is asked."""
    mine, theirs = ours(program), ask(program)
    assert "crash" not in theirs, theirs
    if mine["errors"] or theirs["errors"]:
        program = filled_later(program)
        mine, theirs = ours(program), ask(program)
        explain(program, mine["errors"], theirs["errors"])
        # What one of them refused must not be there for the other: again without it.
        refused = {*mine["errors"], *theirs["errors"]}
        program = [one for position, one in enumerate(program) if position not in refused]
        mine, theirs = ours(program), ask(program)
        assert (mine["errors"], theirs["errors"]) == ([], [])
    surface = mine["surfaces"]["s"]
    assert comparable(surface["dataModel"]) == comparable(theirs["dataModel"])
    assert [node(one, unresolved) for one in surface["nodes"]] == [
        node(one, unresolved) for one in theirs["nodes"]
    ]


def filled_later(program: list[Any]) -> list[Any]:
    """The program with components and data of a new surface in messages of their own, so that each can be refused by
    itself."""
    done: list[Any] = []
    for message in program:
        body = message.get("createSurface", {})
        done.append(
            {**message, "createSurface": {k: v for k, v in body.items() if k not in FILLING}}
            if body
            else message
        )
        if "dataModel" in body:
            done.append(said("updateDataModel", path="/", value=body["dataModel"]))
        if "components" in body:
            done.append(said("updateComponents", components=body["components"]))
    return done


def explain(program: list[Any], mine: list[int], theirs: list[int]) -> None:
    """Only ours refuses: what closes a cycle. Only theirs: calls nested deeper than five, as in strict mode."""
    for position in set(mine) ^ set(theirs):
        assert "updateComponents" in program[position], program[position]
        if position in theirs:
            assert position in ours(program, strict=True)["errors"]

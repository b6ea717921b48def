"""The steps of random sessions in 1.0: with numbers of items, components and functions of two catalogs, and functions
that the agent runs."""

from __future__ import annotations

from random import Random
from typing import Any

from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0, MINIMAL_CATALOG
from a2ui.catalog.basic.card import Card
from a2ui.catalog.basic.text import Text
from a2ui.catalog.registry import Catalog
from a2ui.functions.basic_1_0 import BASIC_1_0 as FUNCTIONS
from tests.a2ui.asking import CATALOG, SHOP

OWN = "https://example.org/catalogs/own.json"
OTHER = Catalog(OWN, [Text(), Card()], FUNCTIONS, protocol="1.0")
"""A second catalog, of which some of the components and of the calls are."""

CATALOGS = (BASIC_CATALOG, MINIMAL_CATALOG, BASIC_CATALOG_1_0, OTHER)
ASKING = (*CATALOGS, CATALOG)
"""Beside these one with functions that the agent runs."""

_COUNTED: tuple[Any, ...] = (
    {"@call": "@index"},
    {"@call": "@index", "args": {"offset": 1}},
    {"@call": "formatString", "args": {"value": "${@index(offset: 1)}. ${n}"}},
    {"@call": "formatString", "args": {"value": "${@index()} ${/t}"}, "catalogId": OWN},
)


def newer(random: Random, step: Any, *, default: bool, asking: bool = False) -> Any:
    """A step of `chaos` or `sessions` as 1.0 writes it. Where there is no `default` catalog, each component and each
    call names its own. `asking`: some values, checks and clicks ask the agent."""
    if not isinstance(step, dict):
        return step
    done: dict[str, Any] = {"version": "1.0"}
    for verb, body in step.items():
        if verb == "createSurface":
            done[verb] = {"surfaceId": body["surfaceId"]} | (
                {"catalogId": BASIC_CATALOG_1_0.id} if default else {}
            )
        elif verb == "updateComponents":
            rows = [_component(random, row, default=default) for row in body["components"]]
            rows = [_asking(random, row) for row in rows] if asking else rows
            done[verb] = {**body, "components": rows}
        elif verb == "updateDataModel":
            done[verb] = {"value": None, **body}
        elif verb != "version":
            done[verb] = body
    return done


def _component(random: Random, row: dict[str, Any], *, default: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in row.items():
        name = f"@{key}" if key in ("accessibility", "checks") else key
        found[name] = value if key == "action" else _value(value, default=default)
    if "text" in found and random.random() < 0.5:
        found["text"] = _owned(random.choice(_COUNTED), default=default)
    elif "@accessibility" in found and random.random() < 0.3:
        found["@accessibility"] = {"label": _owned(random.choice(_COUNTED), default=default)}
    own = row["component"] in ("Text", "Card") and random.random() < 0.4
    if own or not default:
        found["@catalogId"] = OWN if own else BASIC_CATALOG_1_0.id
    return found


def _asking(random: Random, row: dict[str, Any]) -> dict[str, Any]:
    """A component of which some values are asked of the agent."""

    def ask(name: str, question: Any) -> dict[str, Any]:
        return {"@call": name, "catalogId": SHOP, "args": {"q": question}}

    question = random.choice(
        [1, {"@path": "/t"}, {"@path": "n"}, {"@call": "@index"}, ask("ask", {"@path": "/t"})]
    )
    if "text" in row and random.random() < 0.4:
        return {**row, "text": ask("ask", question)}
    if row["component"] == "Button":
        action = random.choice([row.get("action"), {"functionCall": ask("ask", question)},
                                {"event": {"name": "a", "context": {"c": ask("ask", question)}}}])  # fmt: skip
        checks = [{"condition": ask("judge", question), "message": "No."}] if random.random() < 0.5 else []
        return {**row, "action": action, "@checks": [*row.get("@checks", ()), *checks]}
    return row


def _value(value: Any, *, default: bool) -> Any:
    if isinstance(value, list):
        return [_value(item, default=default) for item in value]
    if not isinstance(value, dict) or "componentId" in value:
        return value
    if "path" in value:
        return {"@path": value["path"]}
    if "call" in value:
        args = {name: _value(item, default=default) for name, item in value["args"].items()}
        return _owned({"@call": value["call"], "args": args}, default=default)
    return {key: _value(item, default=default) for key, item in value.items()}


def _owned(call: dict[str, Any], *, default: bool) -> dict[str, Any]:
    if default or "catalogId" in call or call["@call"] == "@index":
        return call
    return {**call, "catalogId": OWN}

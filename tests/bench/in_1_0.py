"""Workloads of 0.9 as an agent that speaks 1.0 would send them: the same surface, whole in one message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from a2ui.protocol.catalog_ids import BASIC_1_0
from tests.bench.floors import Workload

_HEADINGS = {f"h{level}": "#" * level for level in range(1, 6)}
_ENVELOPE = frozenset({"accessibility", "checks"})


def in_1_0(workload: Workload) -> Workload:
    """The same program and updates in 1.0. Components and data of each surface come with it."""
    messages = [orjson.loads(text) for text in workload.messages]
    surfaces: dict[str, dict[str, Any]] = {}
    later = []
    for message in messages:
        verb, body = next((key, value) for key, value in message.items() if key != "version")
        whole = surfaces.get(body["surfaceId"])
        if verb == "createSurface":
            made = {key: value for key, value in body.items() if key != "theme"}
            surfaces[body["surfaceId"]] = {**made, "catalogId": BASIC_1_0}
        elif verb == "updateComponents" and whole is not None and "components" not in whole:
            whole["components"] = [_component(row) for row in body["components"]]
        elif verb == "updateDataModel" and whole is not None and body.get("path", "/") == "/" and not later:
            whole["dataModel"] = body["value"]
        else:
            later.append(_message(verb, body))
    texts = [orjson.dumps(_message("createSurface", body)) for body in surfaces.values()]
    updates = [
        orjson.dumps(_message("updateDataModel", orjson.loads(line)["updateDataModel"]))
        for line in workload.updates
    ]
    return replace(workload, messages=[*texts, *map(orjson.dumps, later)], updates=updates)


def _message(verb: str, body: dict[str, Any]) -> dict[str, Any]:
    if verb == "updateComponents":
        body = {**body, "components": [_component(row) for row in body["components"]]}
    return {"version": "1.0", verb: body}


def _component(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    variant = row.get("variant", "")
    if row["component"] == "Text" and variant in _HEADINGS:
        # Headings are Markdown; those from the data say so there.
        row = {key: value for key, value in row.items() if key != "variant"}
        if isinstance(row["text"], str):
            row["text"] = f"{_HEADINGS[variant]} {row['text']}"
    for key, value in row.items():
        if key in _ENVELOPE:
            found[f"@{key}"] = _value(value)
        else:
            # The path of a template has no mark.
            found[key] = value if key == "children" else _value(value)
    return found


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("path"), str):
        return {"@path": value["path"]}
    if isinstance(value.get("call"), str):
        args = {name: _value(argument) for name, argument in value.get("args", {}).items()}
        return {"@call": value["call"], "args": args}
    return {key: _value(item) for key, item in value.items()}

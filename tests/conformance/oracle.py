"""The official Python core as a process: a program a line in, its resolved tree a line out.

Run with `python -I`, so that `a2ui` is the official package alone; the argument `v1_0` chooses the catalog of 1.0.
The walk through the tree follows the rulebook (7.5, 8); values, actions and checks are the core's own.
"""

from __future__ import annotations

import importlib
import json
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from a2ui.core import MessageProcessor
from a2ui.core.resolution import ComponentContext, DataContext, GenericBinder

CATALOGS = importlib.import_module(f"a2ui.core.basic_catalog.{(sys.argv[1:] or ['v0_9'])[0]}")
OWN = {"checks", "action", "children", "validationResult"}
"""Properties that are compared elsewhere or in no renderer's result."""
MOST_NODES = 2_000
SLOTS = ("child", "trigger", "content")


class Surfaces:
    """One program."""

    def __init__(self) -> None:
        self.processor = MessageProcessor(catalogs=[CATALOGS.BasicCatalog(locale="en-US")])
        self.errors: list[int] = []

    def run(self, program: list[dict[str, Any]]) -> dict[str, Any]:
        for position, message in enumerate(program):
            try:
                if "@write" in message:
                    request = message["@write"]
                    surface = self.processor.model.get_surface(request["surfaceId"])
                    DataContext(surface=surface, path=request.get("scope") or "/").set(
                        request["path"], request["value"]
                    )
                else:
                    self.processor.process_messages([message])
            except Exception:  # noqa: BLE001 - errors are of many kinds; that it refused is what counts
                self.errors.append(position)
        surface = self.processor.model.get_surface("s")
        nodes = list(self.nodes(surface)) if surface is not None else []
        model = surface.data_model.get("/") if surface is not None else None
        return {"errors": self.errors, "dataModel": model, "nodes": nodes}

    def nodes(self, surface: Any) -> Iterator[dict[str, Any]]:
        if surface.components_model.get("root") is None:
            return
        stack: list[tuple[str, str, str, frozenset[tuple[str, str]]]] = [("root", "root", "/", frozenset())]
        for _ in range(MOST_NODES):
            if not stack:
                return
            at, component_id, scope, above = stack.pop()
            node: dict[str, Any] = {"at": at, "id": component_id, "scope": scope}
            if (component_id, scope) in above:
                yield node | {"state": "cycle"}
                continue
            component = surface.components_model.get(component_id)
            if component is None:
                yield node | {"state": "missing"}
                continue
            context = ComponentContext.from_surface(surface, component_id, scope)
            props = GenericBinder(context).snapshot
            kept = {
                key: value
                for key, value in props.items()
                if key not in OWN and not callable(value) and not key.startswith("set")
            }
            node |= {"type": component.type, "state": "ok", "props": _plain(kept)}
            if props.get("isValid") is False:
                node["props"]["severity"] = props["validationResult"].get("severity", "error")
            raw = dict(component.properties or {})
            action = raw.get("action")
            if isinstance(action, dict) and "event" in action:
                resolved = context.data_context.resolve_action(action)
                event = resolved.get("event", resolved)
                node["action"] = {"name": event["name"], "context": event.get("context") or {}}
                if event.get("userMessage") is not None:
                    node["action"]["userMessage"] = event["userMessage"]
            yield node
            below = above | {(component_id, scope)}
            stack += [(*child, below) for child in reversed(list(self.children(surface, at, scope, raw)))]

    def children(
        self, surface: Any, at: str, scope: str, raw: dict[str, Any]
    ) -> Iterator[tuple[str, str, str]]:
        for slot in SLOTS:
            if isinstance(raw.get(slot), str):
                yield f"{at}/{slot}", raw[slot], scope
        for index, tab in enumerate(raw.get("tabs") or []):
            yield f"{at}/tabs/{index}/child", tab["child"], scope
        children = raw.get("children")
        if isinstance(children, list):
            for index, child in enumerate(children):
                yield f"{at}/children/{index}", child, scope
        elif isinstance(children, dict):
            path = DataContext(surface=surface, path=scope).resolve_path(children["path"])
            items = surface.data_model.get(path)
            for index in range(len(items)) if isinstance(items, list) else ():
                yield f"{at}/children/{index}", children["componentId"], f"{path.rstrip('/')}/{index}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _plain(item)
            for key, item in value.items()
            if not callable(item) and not key.startswith("set")
        }
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def main() -> None:
    """One answer a line, until the input ends."""
    warnings.simplefilter("ignore")
    logging.disable()
    for line in sys.stdin:
        try:
            answer = Surfaces().run(json.loads(line))
        except Exception as error:  # noqa: BLE001 - an answer is due for every line
            answer = {"crash": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()

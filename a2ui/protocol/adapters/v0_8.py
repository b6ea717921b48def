"""v0.8 (rulebook 22): surfaces that begin when told, wrapped components, typed literals.

Surfaces come into being with the first message that names them and show nothing until `beginRendering`. Its root may
be any component, so the engine's own `root` is a column with that one child, and a component that is called `root`
goes by another name inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from a2ui.data.pointer import ABSENT, parse, read
from a2ui.data.values import pointer_text
from a2ui.errors import must_be
from a2ui.protocol import catalog_ids
from a2ui.protocol.adapters.port import Host, Step, body_of, native, refusal
from a2ui.protocol.adapters.v0_8_components import ROOT_INSIDE, Components, inside
from a2ui.protocol.adapters.v0_8_data import Lists, located, spelled, written
from a2ui.protocol.dialects import V08_VERBS
from a2ui.state.components import ROOT
from a2ui.surface.surface import Surface

_VERBS: Final = (*V08_VERBS, "deleteSurface")
_BASIC_IDS: Final = frozenset(
    {
        "https://a2ui.org/specification/v0_8/standard_catalog_definition.json",
        "https://a2ui.org/specification/v0_8/json/standard_catalog_definition.json",
        "https://github.com/google/A2UI/blob/main/specification/v0_8/json/standard_catalog_definition.json",
        "https://github.com/a2ui-project/a2ui/blob/main/specification/v0_8/json/standard_catalog_definition.json",
        "https://raw.githubusercontent.com/google/A2UI/refs/heads/main/specification/v0_8/json/standard_catalog_definition.json",
    }
)
_MINIMAL_IDS: Final = frozenset(
    {
        "https://a2ui.org/specification/v0_8/catalogs/minimal/minimal_catalog.json",
        "https://a2ui.org/specification/v0_8/json/catalogs/minimal/minimal_catalog.json",
    }
)


class V08:
    """Translates v0.8."""

    version: ClassVar[str] = "v0.8"

    def translate(self, message: dict[str, Any], host: Host) -> list[Step]:
        """See `Adapter.translate`."""
        verb, body = body_of(message, _VERBS)
        surface = host.surface(body.get("surfaceId"))
        if surface is not None and surface.version != self.version:
            raise refusal(f"{verb} belongs to v0.8; this surface speaks {surface.version}.", f"/{verb}")
        if verb == "deleteSurface":
            return [native(verb, body)]
        if verb == "beginRendering":
            return _begin(body, surface)
        surface_id = body.get("surfaceId")
        made = [] if surface is not None else [_created(surface_id, None, None)]
        model = None if surface is None else surface.data_model
        before = [] if surface is None else [component.raw for component in surface.store]
        if verb == "dataModelUpdate":
            return [*made, _data(body, model, Lists(before))]
        components = Components(host, str(surface_id))
        rows = components.rows(body.get("components"))
        update = native("updateComponents", {"surfaceId": surface_id, "components": rows})
        lists = _lists(Lists([*before, *rows]), surface_id, model)
        initial = [
            native("updateDataModel", {"surfaceId": surface_id, "path": path, "value": value}, needed=False)
            for path, value in components.initial.items()
            if not _holds(model, path)
        ]
        return [*made, update, *lists, *initial]

    def outgoing(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """`userAction` and `error`, without version."""
        action = message.get("action")
        if not isinstance(action, dict):
            return {"error": message["error"]}
        if action["sourceComponentId"] == ROOT_INSIDE:
            action = {**action, "sourceComponentId": ROOT}
        return {"userAction": dict(action)}


def _created(surface_id: Any, catalog_id: Any, styles: Any) -> Step:
    body: dict[str, Any] = {"surfaceId": surface_id, "catalogId": catalog_ids.BASIC}
    if catalog_id in _MINIMAL_IDS:
        body["catalogId"] = catalog_ids.MINIMAL
    elif catalog_id is not None and catalog_id not in _BASIC_IDS:
        body["catalogId"] = catalog_id
    if styles is not None:
        body["theme"] = styles
    return native("createSurface", body)


def _begin(body: dict[str, Any], surface: Surface | None) -> list[Step]:
    surface_id, root = body.get("surfaceId"), body.get("root")
    for key in body.keys() - {"surfaceId", "root", "catalogId", "styles"}:
        raise refusal(f"Unknown property {str(key)[:40]!r} in beginRendering.", f"/{str(key)[:40]}")
    if not isinstance(root, str) or not root:
        raise refusal(must_be("root", "the id of a component", body.get("root", ...)), "/root")
    if not isinstance(body.get("catalogId"), str | None):
        raise refusal(must_be("catalogId", "text", body["catalogId"]), "/catalogId")
    if not isinstance(body.get("styles", {}), dict):
        raise refusal(must_be("styles", "an object", body["styles"]), "/styles")
    top = {"id": ROOT, "component": "Column", "children": [inside(root)]}
    show = native("updateComponents", {"surfaceId": surface_id, "components": [top]})
    create = _created(surface_id, body.get("catalogId"), body.get("styles"))
    if surface is None:
        return [create, show]
    if not body.keys() & {"catalogId", "styles"}:
        return [show]
    # Theme and catalog belong to the creation of a surface; here they come after its content.
    rows = [component.raw for component in surface.store if component.id != ROOT]
    steps = [native("deleteSurface", {"surfaceId": surface_id}), create]
    steps.append(native("updateDataModel", {"surfaceId": surface_id, "value": surface.data_model}))
    if rows:
        steps.append(native("updateComponents", {"surfaceId": surface_id, "components": rows}))
    return [*steps, show]


def _data(body: dict[str, Any], model: Any, lists: Lists) -> Step:
    """One write: the entries are set beside what is there, each at its key below the path."""
    path = body.get("path", "")
    if not isinstance(path, str):
        raise refusal(must_be("path", "text", path), "/path")
    tokens = located(parse(spelled(path)), model)
    held = read(model, tokens) if model is not None else None
    value = lists.held(written(body.get("contents"), held), tokens)
    return native(
        "updateDataModel", {"surfaceId": body.get("surfaceId"), "path": pointer_text(tokens), "value": value}
    )


def _lists(lists: Lists, surface_id: Any, model: Any) -> list[Step]:
    """What turns maps that templates run over into lists."""
    steps = []
    for tokens in sorted(lists.absolute):
        value = read(model, tokens)
        held = lists.held(value, tokens)
        if held is not value:
            write = {"surfaceId": surface_id, "path": pointer_text(tokens), "value": held}
            steps.append(native("updateDataModel", write, needed=False))
    return steps


def _holds(model: Any, path: str) -> bool:
    return model is not None and read(model, parse(path)) is not ABSENT

"""1.0: test cases and examples of its candidates, the suites of its core, and the examples as we have them in 1.0."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from a2ui import Engine, EngineOptions, SurfaceSet
from a2ui.binding.parsing import parse
from a2ui.catalog import envelope
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.registry import Catalog, Catalogs, Vocabulary
from a2ui.components import BaseComponent
from a2ui.errors import ExpressionError
from a2ui.functions.registry import Function, FunctionRegistry, agent_function
from a2ui.programs.checking import check
from a2ui.programs.tree import tree
from a2ui.protocol.dialects import BARE
from a2ui.protocol.messages import read
from a2ui.safety.ids import base36
from a2ui.safety.limits import DEFAULT_LIMITS
from a2ui.schema.dynamic import call, dynamic_value
from a2ui.schema.shapes import Check
from tests.a2ui.page import parse as parse_html
from tests.conformance.case import Case, yaml_file
from tests.conformance.own_catalogs import component
from tests.conformance.schemas import SPECIFICATION
from tests.shared import SHARED

_FOLDER = "specification/v1_0"


class CustomCard(BaseComponent):
    """The component of the suite on reserved keys: its `metadata` is its own, and any value."""

    name = "CustomCard"
    properties = {"metadata": lambda raw, where: parse(raw, where, data=True)}

    def build(self, build: Any) -> None:
        build.done(lambda scope, context: f'<div id="{build.id}{context}"></div>')


_BASIC = BASIC_CATALOG_1_0.extended("basic", components=[CustomCard()], aliases=BASIC_CATALOG_1_0.aliases)


def _surfaces(*catalogs: Catalog, strict: bool = False) -> SurfaceSet:
    return Engine(EngineOptions(catalogs=catalogs or (_BASIC,), strict=strict)).surfaces()


def _message(message: dict[str, Any], expected: bool) -> None:
    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    body = message.get("updateComponents")
    if isinstance(body, dict):
        made = {"surfaceId": body.get("surfaceId"), "catalogId": BASIC_CATALOG_1_0.id}
        surfaces.apply({"version": "v1.0", "createSurface": made})
    assert any(problem.refused for problem in surfaces.apply(message)) != expected


def _example(file: Path) -> None:
    messages = json.loads(file.read_text(encoding="utf-8"))["messages"]
    assert not [finding for finding in check(Engine(), messages) if finding.severity == "error"]


def _reserved(entry: dict[str, Any]) -> None:
    (message,) = entry["payload"]
    message = {**message, "createSurface": {**message["createSurface"], "catalogId": "basic"}}
    surfaces = _surfaces()
    problems = surfaces.apply(message)
    assert any(problem.refused for problem in problems) == ("expect_error" in entry), problems
    if "expect_error" not in entry:
        assert not problems
        given = message["createSurface"]["components"][0].get("metadata")
        if given is not None:
            surface = surfaces.get("", "s1")
            assert surface is not None
            held = surface.store.by_id["root"].props["metadata"]
            assert held == {key.replace("@@", "@"): value for key, value in given.items()}


def _deletion(entry: dict[str, Any]) -> None:
    surfaces = _surfaces()
    body = {"surfaceId": "s", "catalogId": "basic", "dataModel": entry["dataModel"]}
    assert not surfaces.apply({"version": "1.0", "createSurface": body})
    update = {"surfaceId": "s", "path": entry["path"], "value": entry["value"]}
    assert not surfaces.apply({"version": "1.0", "updateDataModel": update})
    surface = surfaces.get("", "s")
    assert surface is not None
    assert surface.data_model == entry["expect_data_model"]


def _result(entry: dict[str, Any]) -> None:
    surfaces = _surfaces()
    (message,) = entry["payload"]
    assert not surfaces.apply(message)
    (surface,) = surfaces
    expected = entry["expect"]["root"]
    props = tree(surface)["nodes"][0]["props"]
    assert props["isValid"] is expected["valid"]
    assert props["validationErrors"] == [expected["message"]]
    assert props["severities"] == [expected["severity"]]


def _ruled(catalog_id: str, schemas: Mapping[str, Any]) -> Catalog:
    own = []
    for name, schema in schemas.items():
        # The simplified schemas say nothing of the property by which their containers hold others.
        holder = {"properties": {"children": {"items": {"title": "ComponentId"}}}}
        made = type(component(name, {**holder, **schema}))
        for key, attribute in (
            ("allowedParents", "allowed_parents"),
            ("allowedChildren", "allowed_children"),
        ):
            if key in schema:
                setattr(made, attribute, frozenset(schema[key]))
        own.append(made())
    # Some have names of the Basic Catalog and nothing else of it.
    components = {**BASIC_CATALOG_1_0.components, **{one.name: one for one in own}}
    functions, protocol = BASIC_CATALOG_1_0.functions, BASIC_CATALOG_1_0.protocol
    return Catalog(catalog_id, components.values(), functions, protocol=protocol)


def _composition(entry: dict[str, Any]) -> None:
    schema = entry.get("catalog_schema")
    catalog = _ruled(schema["catalogId"], schema["components"]) if schema else _BASIC
    rows = [{"id": name, **row} for name, row in entry["components"].items()]
    body = {"surfaceId": "s", "catalogId": catalog.id, "components": rows}
    problems = _surfaces(catalog).apply({"version": "1.0", "createSurface": body})
    codes = [problem.code for problem in problems if problem.code.startswith("UNALLOWED")]
    assert codes == ([entry["expect_error"]["code"]] if "expect_error" in entry else [])
    assert not codes or any(
        problem.refused
        for problem in _surfaces(catalog, strict=True).apply({"version": "1.0", "createSurface": body})
    )


def _catalogs(entry: dict[str, Any]) -> None:
    surface = entry["args"]["surface"]
    versions = entry["args"].get("catalogs", {})
    offered = {
        name: Catalog(
            name,
            [component(row["component"], {}) for row in entry["args"].get("components", {}).values()],
            FunctionRegistry(),
            protocol=versions.get(name, {}).get("protocolVersion", "v1.0").removeprefix("v"),
        )
        for name in surface["supportedCatalogIds"]
    }
    words = Vocabulary(offered[surface["defaultCatalogId"]], Catalogs(offered.values()))
    rows = entry["args"].get("components", {})
    # The case on versions has no component: it asks for any of the other catalogs.
    ids = [envelope.catalog_of(row) for row in rows.values()] or surface["supportedCatalogIds"][1:]
    found = [words.catalog(one) for one in ids]
    if "expect_error" in entry:
        assert None in found
    else:
        assert found[-1] is offered[entry["expect_selected"]]


_DEFINITIONS: Mapping[str, Any] = {
    "Extensions": lambda value, one: envelope.metadata_shape({"extensions": value}, "", one),
    "ComponentCommon": lambda value, one: envelope.metadata_shape(value["metadata"], "", one),
    "IndexSystemFunction": lambda value, one: call(value, "", one),
    "DynamicValue": lambda value, one: dynamic_value(value, "", one),
}


_KNOWN = Function("known", lambda args, env: None)
"""The function of the suite, of which it says nothing."""


def _fits(definition: str, value: Any) -> bool:
    if definition == "FunctionResponse":
        return not isinstance(read({"version": "1.0", "agentFunctionResponse": value}, DEFAULT_LIMITS), list)
    known = _KNOWN if definition == "DynamicValue" else None
    found = Check(lambda name, catalog_id: known, BARE)
    _DEFINITIONS[definition](value, found)
    return not found.problems


def _definition(entry: dict[str, Any]) -> None:
    for value in entry["good"]:
        assert _fits(entry["definition"], value), value
    for value in entry["bad"]:
        assert not _fits(entry["definition"], value), value


def _accessibility(entry: dict[str, Any]) -> None:
    """The HTML says what the accessibility tree is to hold; that it does is for tests/browser/test_accessibility.py."""
    given = entry["surface"]
    definitions = dict(given["components"]) | {
        given["id"]: {k: v for k, v in given.items() if k != "components"}
    }
    rows = []
    for name, definition in definitions.items():
        # Its catalog has a button with a title, and a container with one child.
        row = {**definition, "id": "root" if name == given["id"] else name}
        if "title" in row:
            rows.append({"id": f"{name}-title", "component": "Text", "text": row.pop("title")})
            row |= {"child": f"{name}-title", "action": {"event": {"name": "go"}}}
        rows.append(row | ({"component": "Card"} if row["component"] == "Container" else {}))
    surfaces = _surfaces()
    body = {"surfaceId": "s", "catalogId": "basic", "components": rows}
    assert not surfaces.apply({"version": "v1.0", "createSurface": body})
    (surface,) = surfaces
    page = {element.get("id"): element for element in parse_html(surface.html())[0].iter()}
    for name, expected in entry["assertions"]["accessibilityTree"].items():
        component = surface.store.by_id["root" if name == given["id"] else name]
        element = page[f"{surface.dom_id}-{base36(component.number)}"]
        assert expected.get("label") in (None, element.get("aria-label"), "".join(element.itertext()))
        assert element.get("aria-description") == expected.get("description")
        assert element.get("aria-live") == expected.get("live")
        assert (element.get("aria-hidden") == "true") is expected.get("hidden", False)


def _rpc(entry: dict[str, Any]) -> None:
    """Functions across the wire. The suite says of each function who may call it, and what the caller claims of a
    click, which is believed by nobody here."""
    functions = [
        Function(
            name,
            partial(_answer, entry["expect"]),
            callers=meta["allowedCallers"],
            effect=meta.get("requiresUserActivation", False),
        )
        for name, meta in entry.get("meta", {}).items()
    ]
    ids = ("basic", "media_catalog", "system_catalog")
    own = [Catalog(one, (), FunctionRegistry(functions), protocol="1.0") for one in ids]
    surfaces = _surfaces(*own)
    if "outboundCall" in entry:
        _outbound(entry)
        return
    if "agentFunctionResponse" in entry:
        message = {"version": "v1.0", "agentFunctionResponse": entry["agentFunctionResponse"]}
        surfaces.apply(message)
        assert surfaces.renderer_calls.responses() == []
        return
    problems = surfaces.apply({"version": "v1.0", "callRendererFunction": entry["callRendererFunction"]})
    if "schema_error" in entry["expect"]:
        assert [problem.path for problem in problems] == [f"/{entry['expect']['schema_error']}"]
        return
    assert problems == []
    (found,) = surfaces.renderer_calls.responses()
    body, wanted = found["rendererFunctionResponse"], entry["expect"]["rendererFunctionResponse"]
    body.get("error", {}).pop("message", None)
    assert body == wanted


def _answer(expected: Mapping[str, Any], args: Mapping[str, Any], env: Any) -> Any:
    response = expected["rendererFunctionResponse"]
    if response.get("error", {}).get("code") == "EXECUTION_ERROR":
        raise ExpressionError("It fails.")
    return response.get("value")


def _outbound(entry: dict[str, Any]) -> None:
    """A call in an interface, as it goes to the agent; and its value, as a component has it."""
    call = entry["outboundCall"]["callFunction"]
    shop = _BASIC.extended(
        call["catalogId"], functions=FunctionRegistry([agent_function(call["call"])]), protocol="1.0"
    )
    surfaces = _surfaces(shop)
    row = {"id": "root", "component": "Text", "text": call}
    body = {"surfaceId": "main_surface", "catalogId": shop.id, "components": [row]}
    assert surfaces.apply({"version": "v1.0", "createSurface": body}) == []
    surfaces.flush()
    (due,) = surfaces.calls.due()
    surfaces.calls.make(due)
    (message,) = due.messages
    sent = message["callAgentFunction"]
    assert sent["surfaceId"] == entry["outboundCall"]["surfaceId"]
    assert sent["callFunction"] == {"@call": call["call"], "catalogId": shop.id, "args": call["args"]}
    answer = {**entry["agentFunctionResponse"], "functionCallId": sent["functionCallId"]}
    assert surfaces.apply({"version": "v1.0", "agentFunctionResponse": answer}) == []
    surface = surfaces.get("", "main_surface")
    assert surface is not None
    assert surface.evaluate(call, {}) == entry["expect"]["result"]


_RUNNERS = {
    "accessibility": _accessibility,
    "reserved_keys": _reserved,
    "data_deletion": _deletion,
    "validation_result": _result,
    "composition_constraints": _composition,
    "multi_catalog": _catalogs,
    "common_types": _definition,
    "rpc_functions": _rpc,
}


def cases() -> Iterator[Case]:
    """One a test of a file, one an example program, one an entry of a suite."""
    assert SHARED is not None
    folder = SHARED / SPECIFICATION / "v1_0"
    suite = json.loads((folder / "test/cases/initial_state_validation.json").read_text(encoding="utf-8"))
    for number, test in enumerate(suite["tests"]):
        run = partial(_message, test["data"], test["valid"])
        yield Case(f"{_FOLDER}/test/cases", f"initial_state_validation-{number}", run)
    for under in ("", "derived_1.0/"):
        for file in sorted((folder / under / "catalogs/basic/examples").glob("*.json")):
            yield Case(f"{_FOLDER}/{under}catalogs/basic/examples", file.stem, partial(_example, file))
    for name, runner in _RUNNERS.items():
        for entry in yaml_file(f"{_FOLDER}/conformance/{name}.yaml"):
            if entry.get("definition") != "Surface":
                yield Case(f"{_FOLDER}/conformance/{name}", str(entry["name"]), partial(runner, entry))

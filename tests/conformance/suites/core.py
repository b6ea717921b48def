"""conformance/core: message processor, validator, actions, data model, functions, expressions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from a2ui import ActionError, Engine, EngineOptions, SurfaceSet, joined_data_models
from a2ui.catalog.basic import MINIMAL_CATALOG
from a2ui.catalog.registry import Catalog
from a2ui.data.pointer import parse, parse_scoped
from a2ui.data.values import equal, pointer_text
from a2ui.errors import Diagnostic
from a2ui.programs.reading import messages_of
from a2ui.protocol.adapters import outgoing
from a2ui.surface.topology import topology_problems
from tests.conformance.case import Case, yaml_file
from tests.conformance.own_catalogs import basic_as, catalog
from tests.conformance.suites import node_resolution, values

BASIC_IDS = ("test-catalog", "v09-cat", "standard")
CODES = {
    "IntegrityError": {"STATE_ERROR"},
    "CatalogError": {"CATALOG_NOT_FOUND"},
    "ValidationError": {"VALIDATION_FAILED", "UNKNOWN_COMPONENT_TYPE"},
}


def engine_for(schemas: list[dict[str, Any]], *, strict: bool) -> Engine:
    catalogs: tuple[Catalog, ...] = tuple(catalog(schema) for schema in schemas)
    return Engine(EngineOptions(catalogs=catalogs or (basic_as(*BASIC_IDS), MINIMAL_CATALOG), strict=strict))


def feed(surfaces: SurfaceSet, messages: Any, *, topology: bool) -> list[Diagnostic]:
    """The refusals of the messages and, at the end, what does not hang together."""
    found = [p for message in messages_of(messages) for p in surfaces.apply(message) if p.refused]
    if topology and not found:
        found = [problem for surface in surfaces for problem in topology_problems(surface)]
    return found


def assert_error(found: list[Diagnostic], expected: Any) -> None:
    """By category; the texts are each renderer's own."""
    assert found, "nothing was refused"
    if isinstance(expected, dict):
        assert {problem.code for problem in found} <= CODES[expected["category"]], found


def assert_surfaces(surfaces: SurfaceSet, expected: dict[str, Any]) -> None:
    for name, want in expected.items():
        surface = surfaces.get("", name)
        assert (surface is not None) == want.get("exists", True)
        if surface is None:
            continue
        assert surface.send_data_model == want.get("sendDataModel", surface.send_data_model)
        assert surface.theme == want.get("theme", surface.theme)
        assert equal(surface.data_model, want.get("dataModel", surface.data_model))
        if "components" in want:
            rows = {component.id: component.raw for component in surface.store}
            wanted = want["components"]
            if isinstance(wanted, list):
                wanted = {row["id"]: row for row in wanted}
            assert rows.keys() == wanted.keys()
            assert all(rows[key].items() >= row.items() for key, row in wanted.items())


def process(entry: dict[str, Any]) -> None:
    action = entry["action"]
    if action == "resolve_path":
        tokens, absolute = parse_scoped(entry["args"]["path"])
        scope = parse(entry["args"].get("contextPath", ""))
        assert pointer_text(tokens if absolute else (*scope, *tokens)) == entry["expect"]
        return
    strict = entry.get("strictMode", False)
    engine = engine_for(entry.get("catalogs", []), strict=strict)
    if action == "get_renderer_capabilities":
        offered = {entry["args"]["version"]: engine.capabilities()[entry["args"]["version"]]}
        assert offered == entry["expect"]
        return
    surfaces = engine.surfaces()
    found = feed(surfaces, entry["messages"], topology=strict)
    if "expectError" in entry:
        assert_error(found, entry["expectError"])
        return
    assert not found, found
    if action == "get_renderer_data_model":
        assert joined_data_models(surfaces.data_models("")) == entry["expect"]
    else:
        assert_surfaces(surfaces, entry["expect"]["surfaces"])


def validate(entry: dict[str, Any]) -> None:
    schemas = [entry["catalog"]] if "catalog" in entry else []
    surfaces = engine_for(schemas, strict=True).surfaces()
    for step in entry["steps"]:
        found = feed(surfaces, step["messages"], topology=entry.get("strictMode", False))
        if "expectError" in step:
            assert_error(found, step["expectError"])
        else:
            assert not found, found


def dispatch(entry: dict[str, Any]) -> None:
    """A click on a button with this action, inside a template where the case has a scope."""
    event = entry["actionPayload"].get("event", {})
    version = "v1.0" if "userMessage" in event else "v0.9"
    button = {"component": "Button", "child": "t", "action": entry["actionPayload"]}
    scope = parse(entry.get("scope", ""))
    rows = [{"id": "t", "component": "Text", "text": "Go"}]
    if scope:
        children = {"componentId": "b", "path": pointer_text(scope[:-1])}
        rows += [{"id": "root", "component": "List", "children": children}, {"id": "b", **button}]  # type: ignore[dict-item]
    else:
        rows += [{"id": "root", **button}]
    surfaces = engine_for([], strict=False).surfaces()
    for verb, body in (
        ("createSurface", {"catalogId": "test-catalog"}),
        ("updateDataModel", {"value": entry.get("dataModel", {})}),
        ("updateComponents", {"components": rows}),
    ):
        assert not [
            p for p in surfaces.apply({"version": version, verb: {"surfaceId": "s", **body}}) if p.refused
        ]
    html = surfaces.flush()[0].html
    targets = [part.split('"')[0] for part in html.split('<button id="')[1:]]
    problems, sent = [], None
    try:
        action = surfaces.act(targets[int(scope[-1]) if scope else 0])
        sent = outgoing(action.message)["action"] if action is not None else None  # type: ignore[union-attr]
    except ActionError as error:
        problems.append(error.code)
    problems += [problem.code for problem in surfaces.diagnostics()]
    assert problems == [error["code"] for error in entry.get("expectDispatchedErrors", [])]
    wanted = entry.get("expectDispatched")
    assert (sent is None) == (wanted is None)
    if wanted:
        assert {key: sent[key] for key in ("name", "userMessage", "context") if key in sent} == {
            "context": {}
        } | wanted


RUNNERS = {
    "message_processor_v0_9": process,
    "validator_v0_9": validate,
    "actions": dispatch,
    "data_model": values.data_model,
    "expressions": values.expression,
    "functions": values.function,
    "node_resolution": node_resolution.run,
}


def cases() -> Iterator[Case]:
    """Every entry of every file."""
    for name, run in RUNNERS.items():
        for entry in yaml_file(f"conformance/core/{name}.yaml"):
            yield Case(f"conformance/core/{name}", str(entry["name"]), partial(run, entry))

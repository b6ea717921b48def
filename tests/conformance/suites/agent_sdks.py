"""agent_sdks/conformance: the validator suite; all others are about what agents do before anything is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from a2ui import Engine, EngineOptions
from a2ui.catalog.basic import BASIC_CATALOG
from a2ui.catalog.registry import Catalog
from a2ui.protocol import catalog_ids
from tests.conformance.case import Case, yaml_file
from tests.conformance.own_catalogs import catalog
from tests.conformance.suites.core import feed
from tests.shared import SHARED

SUITE = "agent_sdks/conformance/suites/validator"


def _catalog(given: Any) -> Catalog:
    assert SHARED is not None
    if isinstance(given, str):
        given = json.loads((SHARED / "spec/a2ui/agent_sdks/conformance" / given).read_text(encoding="utf-8"))
    made = catalog(given)
    components = {"Column": BASIC_CATALOG.components["Column"], **made.components}
    return Catalog(
        made.id,
        components.values(),
        made.functions,
        aliases={catalog_ids.BASIC, "standard", "std", "test_catalog"} - {made.id},
    )


def validate(entry: dict[str, Any]) -> None:
    """A payload is one agent's whole answer; without `createSurface` it goes to a surface that is there already."""
    config = entry["catalog"]
    v08 = config["version"] == "0.8"
    for step in entry.get("steps", [entry]):
        kinds = _catalog(config.get("catalog_schema", {"catalogId": "none"}))
        surfaces = Engine(EngineOptions(catalogs=(kinds,), strict=True)).surfaces()
        payload = step["payload"]
        payload = payload if isinstance(payload, list) else [payload]
        named = {
            str(body.get("surfaceId")): verb
            for message in payload
            for verb, body in message.items()
            if isinstance(body, dict)
        }
        begun = any("createSurface" in message or "beginRendering" in message for message in payload)
        if not v08 and not any("createSurface" in message for message in payload):
            for name in named:
                surfaces.apply(
                    {"version": "v0.9", "createSurface": {"surfaceId": name, "catalogId": kinds.id}}
                )
        shown = any("updateComponents" in message or "surfaceUpdate" in message for message in payload)
        found = feed(surfaces, payload, topology=begun and shown)
        if "expect_error" in step:
            assert found, "nothing was refused"
        else:
            assert not found, found


def cases() -> Iterator[Case]:
    """The validator's cases of both versions."""
    for entry in yaml_file(f"{SUITE}.yaml"):
        yield Case(SUITE, str(entry["name"]), partial(validate, entry))

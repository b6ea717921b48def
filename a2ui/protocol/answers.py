"""What a renderer tells an agent, in the form of the version that its surface was made in.

See rulebook 5.2 and 14, and sections 3.2 and 3.3 of the reading of 1.0.

Actions are made by `interaction.act`, which knows what was clicked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from a2ui.data.values import JSON
from a2ui.errors import VALIDATION_FAILED, Diagnostic
from a2ui.protocol.dialects import CANDIDATE, V0_9, V0_9_1, V08, V1_0, speaks_1_0

UNALLOWED_PARENT: Final = "UNALLOWED_PARENT"
UNALLOWED_CHILD: Final = "UNALLOWED_CHILD"

_CLOSED: Final = frozenset({VALIDATION_FAILED, UNALLOWED_PARENT, UNALLOWED_CHILD})
"""Codes of 1.0 whose errors have a path, and no members of their own."""

_OURS: Final = frozenset({"CATALOG_NOT_FOUND", "UNKNOWN_COMPONENT_TYPE"})
"""Details of what 1.0 calls VALIDATION_FAILED."""


def error(problem: Diagnostic, version: str) -> dict[str, Any] | None:
    """The `error` message for a problem. None where 1.0 cannot say it: it belongs to no surface and to no call."""
    if version == V08:
        return {"error": problem.as_message()["error"]}
    if not speaks_1_0(version):
        return problem.as_message(version)
    call_id = problem.facts.get("functionCallId")
    code = VALIDATION_FAILED if problem.code in _OURS else problem.code
    said: dict[str, Any] = {"code": code, "message": problem.message}
    if isinstance(call_id, str) and call_id:
        return {"version": version, "error": {**_facts(problem), **said, "functionCallId": call_id}}
    if not problem.surface_id:
        return None
    said["surfaceId"] = problem.surface_id
    if code in _CLOSED:
        return {"version": version, "error": {**said, "path": problem.path or "/"}}
    if problem.path:
        said["path"] = problem.path
    return {"version": version, "error": {**_facts(problem), **said}}


def _facts(problem: Diagnostic) -> dict[str, Any]:
    """What else is known, without the names that say whose problem it is."""
    return {key: value for key, value in problem.facts.items() if key not in {"surfaceId", "functionCallId"}}


_MODELS: Final[Mapping[bool, str]] = {False: "a2uiClientDataModel", True: "a2uiRendererDataModel"}


def data_models(surfaces: Iterable[tuple[str, str, JSON]]) -> dict[str, Any]:
    """The metadata of a message to an agent that asked for data models, of (version, surfaceId, model): those of 1.0
    under another name than older ones. Each says the version of the first of its surfaces; the schema of 0.9.1 has the
    version of 0.9 there."""
    found: dict[str, Any] = {}
    for version, surface_id, model in surfaces:
        said = V0_9.version if version == V0_9_1.version else version
        named = found.setdefault(_MODELS[speaks_1_0(version)], {"version": said, "surfaces": {}})
        named["surfaces"][surface_id] = model
    return found


def joined_data_models(models: Mapping[str, Any]) -> dict[str, Any] | None:
    """What `data_models` gave as one object, in the version of the first; None where there is nothing."""
    found = [*models.values()]
    if not found:
        return None
    return {**found[0], "surfaces": {key: model for one in found for key, model in one["surfaces"].items()}}


def capabilities(
    older: Iterable[str], newer: Iterable[str], inline: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The metadata that says which catalogs are known: `older` ids for 0.9, `newer` ones for 1.0, under both of its
    names, with `inline` catalogs whole."""
    of_0_9: dict[str, Any] = {"supportedCatalogIds": list(older)}
    of_1_0: dict[str, Any] = {"supportedCatalogIds": list(newer)}
    documents = list(inline)
    if documents:
        of_1_0["inlineCatalogs"] = documents
    return {
        "a2uiClientCapabilities": {V0_9.version: of_0_9, V0_9_1.version: of_0_9},
        "a2uiRendererCapabilities": {V1_0.version: of_1_0, CANDIDATE.version: of_1_0},
    }


def agent_capabilities(catalog_ids: Iterable[str], *, accepts_inline: bool) -> dict[str, Any]:
    """What an agent announces: the catalogs that it writes surfaces with, and whether it takes inline ones (3.3)."""
    return {V1_0.version: {"supportedCatalogIds": list(catalog_ids), "acceptsInlineCatalogs": accepts_inline}}

"""The official JSON schemas as an oracle: is a message valid?"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.shared import SHARED

SPECIFICATION = "spec/a2ui/specification"


def _load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded


@cache
def validator(schema: str, version: str = "v0_9_1", catalog: str = "basic") -> Draft202012Validator:
    """The validator of one schema file; `catalog.json` in it means the named catalog. Formats are asserted."""
    assert SHARED is not None
    folder = SHARED / SPECIFICATION / version
    target = _load(folder / "catalogs" / catalog / "catalog.json")
    resources = []
    for file in sorted((folder / "json").glob("*.json")):
        if file.name == "sample.json":
            continue
        document = {"$id": f"https://a2ui.org/specification/{version}/{file.name}"} | _load(file)
        resources.append((document["$id"], Resource.from_contents(document, DRAFT202012)))
        # The catalog files name the common types of v0.9 in both versions.
        resources.append(
            (
                f"https://a2ui.org/specification/v0_9/{file.name}",
                Resource.from_contents(document, DRAFT202012),
            )
        )
        base = document["$id"].rpartition("/")[0]
        resources.append((f"{base}/catalog.json", Resource.from_contents(target)))
    resources.append(("https://a2ui.org/specification/v0_9/catalog.json", Resource.from_contents(target)))
    resources.append((target["$id"], Resource.from_contents(target)))
    registry: Registry[Any] = Registry().with_resources(resources)
    document = {"$id": f"https://a2ui.org/specification/{version}/{schema}"} | _load(folder / "json" / schema)
    return Draft202012Validator(
        document, registry=registry, format_checker=Draft202012Validator.FORMAT_CHECKER
    )


def valid(message: Any, schema: str = "server_to_client.json", **which: str) -> bool:
    return bool(validator(schema, **which).is_valid(message))

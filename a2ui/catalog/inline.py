"""Inline catalogs: catalogs that come as documents, and are never code (sections 5 and 10 of the reading of 1.0).

A component of one is drawn as the component that it extends: the `$ref` of its schema, by itself or in its `allOf`,
leads to one of a catalog that the renderer has, or to one of the same document that does. What it has beside that is
taken and not drawn. One that extends nothing is unknown, and so is a function that is none of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from a2ui.catalog import envelope
from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.component_type import ComponentType
from a2ui.catalog.registry import Catalog, Catalogs
from a2ui.data.pointer import ABSENT
from a2ui.errors import A2uiError, must_be
from a2ui.functions.registry import Function, FunctionRegistry

INLINE_CATALOGS_NOT_ALLOWED: Final = "INLINE_CATALOGS_NOT_ALLOWED"
"""The settings take none."""
CATALOG_INVALID: Final = "CATALOG_INVALID"
"""The document is no catalog."""

_KEYS: Final = frozenset(
    {
        "$schema", "$id", "protocolVersion", "title", "description", "catalogId", "instructions", "components",
        "functions", "$defs",
    }
)  # fmt: skip
_MOST = 500
"""Components, and functions, of one document; members of one of these."""
_STEPS = 20
"""References that are followed from a component to what it is drawn as."""
_ID_CHARS = 200


def inline_catalog(document: object, known: Catalogs) -> Catalog:
    """The catalog of a document. Raises A2uiError: CATALOG_INVALID, with a pointer into the document."""
    if not isinstance(document, dict):
        raise _invalid(must_be("catalog", "an object", document), "")
    for key in document:
        if key not in _KEYS:
            raise _invalid(f"A catalog has no member {str(key)[:40]!r}.", f"/{str(key)[:40]}")
    catalog_id = document.get("catalogId")
    if not isinstance(catalog_id, str) or not 0 < len(catalog_id) <= _ID_CHARS:
        raise _invalid(
            must_be("catalogId", "the id of a catalog", document.get("catalogId", ...)), "/catalogId"
        )
    if known.find(catalog_id) is not None:
        raise _invalid("There is a catalog of this id already.", "/catalogId")
    version = document.get("protocolVersion", "0.9")
    if not isinstance(version, str):
        raise _invalid(must_be("protocolVersion", "text", version), "/protocolVersion")
    reader = _Reader(catalog_id, known, _entries(document, "components"))
    components = [made for name in reader.components if (made := reader.component(name)) is not None]
    functions = {
        name: found
        for name, entry in _entries(document, "functions").items()
        if (found := reader.function(entry)) is not None
    }
    return Catalog(
        catalog_id,
        components,
        FunctionRegistry.named(functions),
        protocol="0.9" if version.startswith("0.") else "1.0",
        document=document,
    )


class _Reader:
    """What the references of one document lead to."""

    def __init__(self, catalog_id: str, known: Catalogs, components: Mapping[str, Mapping[str, Any]]) -> None:
        self.components = components
        self._id = catalog_id
        self._known = known

    def component(self, name: str) -> ComponentType | None:
        """The component of this name; None where it extends nothing that is here."""
        properties: set[str] = set()
        required: set[str] = set()
        base: ComponentType | None = None
        at: str | None = name
        for _ in range(_STEPS):
            if at is None:
                break
            where, entry = f"/components/{at}", self.components[at]
            at = None
            for part in _parts(entry):
                properties |= _members(part, "properties", where).keys()
                required |= set(_texts(part, "required", where))
                owner, kind, target = _reference(part.get("$ref"))
                if kind != "components":
                    continue
                if owner in ("", self._id):
                    at = target if target in self.components else None
                else:
                    found = self._known.find(owner)
                    base = found.components.get(target) if found is not None else None
        return None if base is None else self._extended(name, base, properties, required)

    def _extended(
        self, name: str, base: ComponentType, properties: set[str], required: set[str]
    ) -> ComponentType:
        where, entry = f"/components/{name}", self.components[name]
        more = dict.fromkeys(sorted(properties - base.kinds.keys() - {"id", "component"}), _taken)
        own = type(base)
        members = {
            "__doc__": f"A component of an inline catalog that is drawn as {base.name}.",
            "__module__": __name__,
            "name": name,
            "properties": {**base.kinds, **more},
            "required": base.required | (required - {"id", "component"}),
            "draws": base.draws,
        }
        for key, attribute in (
            ("allowedParents", "allowed_parents"),
            ("allowedChildren", "allowed_children"),
        ):
            if key in entry:
                members[attribute] = frozenset(_texts(entry, key, where))
        made: ComponentType = type(own.__name__, (own,), members)()
        return made

    def function(self, entry: Mapping[str, Any]) -> Function | None:
        """The function of ours that an entry refers to."""
        for part in _parts(entry):
            owner, kind, name = _reference(part.get("$ref"))
            found = self._known.find(owner) if kind == "functions" else None
            if found is not None:
                return found.functions.get(name)
        return None


def _taken(raw: Any, where: AcceptContext) -> Any:
    """A property that is known, and not drawn."""
    return ABSENT


def _entries(document: Mapping[str, Any], key: str) -> dict[str, Mapping[str, Any]]:
    """The components or functions of a document, each called by an identifier."""
    entries = _members(document, key, "")
    for name, entry in entries.items():
        where = f"/{key}/{name[:40]}"
        if not envelope.is_identifier(name) or name == envelope.SURFACE:
            raise _invalid(f"Nothing may be called {name[:40]!r}.", where)
        if not isinstance(entry, dict):
            raise _invalid(must_be(name[:40], "an object", entry), where)
        constant = _members(_members(entry, "properties", where), "component", where).get("const", name)
        if key == "components" and constant != name:
            raise _invalid(f"The component of {name[:40]!r} is called {str(constant)[:40]!r}.", where)
    return entries


def _parts(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema and those that it is put together from."""
    yield entry
    put_together = entry.get("allOf")
    for part in put_together[:_MOST] if isinstance(put_together, list) else ():
        if isinstance(part, dict):
            yield part


def _members(entry: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    found = entry.get(key, {})
    if not isinstance(found, dict) or len(found) > _MOST:
        raise _invalid(must_be(key, f"an object of at most {_MOST} members", found), f"{where}/{key}")
    return found


def _texts(entry: Mapping[str, Any], key: str, where: str) -> list[str]:
    found = entry.get(key, [])
    if not isinstance(found, list) or len(found) > _MOST or not all(isinstance(one, str) for one in found):
        raise _invalid(must_be(key, f"a list of at most {_MOST} texts", found), f"{where}/{key}")
    return found


def _reference(raw: Any) -> tuple[str, str, str]:
    """(id of a catalog or "", "components" or "functions", name) of a `$ref`; empty where it is none of these."""
    owner, separator, pointer = raw.partition("#/") if isinstance(raw, str) else ("", "", "")
    kind, _, name = pointer.partition("/")
    return (owner, kind, name) if separator else ("", "", "")


def _invalid(message: str, path: str) -> A2uiError:
    return A2uiError(message, code=CATALOG_INVALID, path=path, fault="agent")

"""A catalog in few words: a line for each component, and the signatures of its functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0
from a2ui.catalog.beach import OWN
from a2ui.catalog.beach.document import document
from a2ui.catalog.component_type import ComponentType
from a2ui.catalog.registry import Catalog
from a2ui.functions.registry import Function
from a2ui.teaching.words import component_in_words, entry_in_words, function_in_words

_DOCUMENTED: Final[Mapping[ComponentType, Mapping[str, Any]]] = {
    kind: document()["components"][kind.name] for kind in OWN
}
"""What we say of our own components in the document of their catalog."""

_GROUPS: Final = {
    "string": "that give text",
    "validationResult": "for conditions of @checks",
    "boolean": "that give true or false",
    "number": "that give a number",
    "array": "that give a list",
    "void": "for the functionCall of an action",
}


class Described(NamedTuple):
    """A catalog in words: how its part begins, a line for each component by name, lines for its functions."""

    head: str
    components: Mapping[str, str]
    functions: list[str]


def for_prompt(catalog: Catalog) -> str:
    """What a model is told of a catalog: of one that extends the Basic Catalog, what it has beside that."""
    found = described(catalog)
    lines = [found.head, *(f"- {line}" for line in found.components.values()), *found.functions]
    return "\n".join(lines)


def described(catalog: Catalog) -> Described:
    """`catalog` in words."""
    basic = BASIC_CATALOG if catalog.protocol == "0.9" else BASIC_CATALOG_1_0
    extends = catalog is not basic and basic.components.items() <= catalog.components.items()
    known = basic.components if catalog is not basic else {}
    own = {name: kind for name, kind in catalog.components.items() if known.get(name) is not kind}
    functions = {
        name: function
        for name, function in catalog.functions.by_name.items()
        if catalog is basic or basic.functions.get(name) is not function
    }
    head = f"Catalog {catalog.id}"
    if extends:
        head += ": everything of the Basic Catalog, and" if own or functions else ": the Basic Catalog."
    else:
        head += ":"
    components = {name: _line(kind, _entries(catalog).get(name, {})) for name, kind in own.items()}
    return Described(head, components, list(_functions(functions)))


def extends_basic(catalog: Catalog) -> bool:
    """Whether everything of the Basic Catalog 1.0 is in it."""
    return BASIC_CATALOG_1_0.components.items() <= catalog.components.items()


def _entries(catalog: Catalog) -> Mapping[str, Any]:
    found = (catalog.document or {}).get("components", {})
    return found if isinstance(found, dict) else {}


def _line(kind: ComponentType, entry: Mapping[str, Any]) -> str:
    documented = _DOCUMENTED.get(kind)
    if documented is not None:
        return entry_in_words(kind.name, documented)
    description = entry.get("description", "")
    return component_in_words(kind, description if isinstance(description, str) else "")


def _functions(functions: Mapping[str, Function]) -> Iterator[str]:
    """A line for each group of functions that are used alike."""
    usual = {name: one for name, one in functions.items() if not one.remote and one.callers != "agentOnly"}
    for returns, words in _GROUPS.items():
        if listed := _listed(
            (name, one) for name, one in usual.items() if one.signature and one.signature.returns == returns
        ):
            yield f"Functions {words}: {listed}."
    others = ((name, one) for name, one in usual.items() if not one.signature)
    if listed := _listed(others):
        yield f"Other functions: {listed}."
    if listed := _listed((name, one) for name, one in functions.items() if one.remote):
        yield f"Functions that a surface calls and you answer: {listed}."
    if listed := _listed((name, one) for name, one in functions.items() if one.is_open):
        yield f"You may call with callRendererFunction: {listed}."


def _listed(found: Iterable[tuple[str, Function]]) -> str:
    return ", ".join(function_in_words(function, name) for name, function in found)

"""The builder has what the Basic Catalog 1.0 has: every component, property, value and function, and nothing else."""

from __future__ import annotations

import inspect
import typing

import pytest

from a2ui import compose
from a2ui.catalog import kinds
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.catalog.basic.basic_1_0 import Text as TextType
from a2ui.catalog.icons import NAMES
from a2ui.compose import fn
from a2ui.compose.basic import IconName
from a2ui.compose.component import Common, Component
from a2ui.schema.shapes import no_more

COMPONENTS = sorted(BASIC_CATALOG_1_0.components)
NAMED_OTHERWISE = {"and": "all_of", "or": "any_of", "not": "is_not"}
"""Words of Python's own."""


def _parameters(name: str) -> dict[str, inspect.Parameter]:
    """What a class takes, beside what all of them take."""
    signature = inspect.signature(getattr(compose, name).__init__, eval_str=True)
    assert signature.parameters["common"].kind is inspect.Parameter.VAR_KEYWORD
    return {name: one for name, one in signature.parameters.items() if name not in ("self", "common")}


def _literals(annotation: object) -> set[str]:
    """The texts of the Literals in a union."""
    found = set()
    for part in (annotation, *typing.get_args(annotation)):
        if typing.get_origin(part) is typing.Literal:
            found |= set(typing.get_args(part))
    return found


def _properties(name: str) -> dict[str, kinds.Kind]:
    """Those of the catalog that the schema of 1.0 still has."""
    kind = BASIC_CATALOG_1_0.components[name]
    return {key: how for key, how in kind.kinds.items() if kind.shapes.get(key) is not no_more}


def test_every_component_has_a_class() -> None:
    classes = {one.__name__ for one in Component.__subclasses__() if one.__module__ == "a2ui.compose.basic"}
    assert classes == set(COMPONENTS)
    assert classes < set(compose.__all__)


@pytest.mark.parametrize("name", COMPONENTS)
def test_it_takes_the_properties_of_its_type(name: str) -> None:
    assert _parameters(name).keys() | {"weight", "accessibility"} == _properties(name).keys()
    assert Common.__annotations__.keys() == {"id", "weight", "accessibility", "extensions"}


@pytest.mark.parametrize("name", COMPONENTS)
def test_it_needs_what_its_type_needs(name: str) -> None:
    needed = {
        key
        for key, one in _parameters(name).items()
        if one.default is one.empty or one.kind is one.VAR_POSITIONAL
    }
    assert needed == BASIC_CATALOG_1_0.components[name].required


@pytest.mark.parametrize("name", COMPONENTS)
def test_its_words_are_those_of_its_type(name: str) -> None:
    for key, how in _properties(name).items():
        if (values := kinds.ENUM_VALUES.get(how)) is not None:
            assert _literals(_parameters(name)[key].annotation) == set(values), key


def test_a_property_that_is_new_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    known = BASIC_CATALOG_1_0.components["Text"]
    assert isinstance(known, TextType)
    monkeypatch.setitem(known._kinds, "colour", kinds.text)
    with pytest.raises(AssertionError):
        test_it_takes_the_properties_of_its_type("Text")


def test_icons_are_those_that_there_are() -> None:
    assert set(typing.get_args(IconName)) == NAMES.keys()


@pytest.mark.parametrize("name", sorted(BASIC_CATALOG_1_0.functions.by_name))
def test_every_function_takes_what_its_signature_says(name: str) -> None:
    if name == "capitalize":
        pytest.skip("of the minimal catalog")
    function = BASIC_CATALOG_1_0.functions.get(name)
    assert function is not None and function.signature is not None
    taken = inspect.signature(getattr(fn, NAMED_OTHERWISE.get(name, name))).parameters
    signature = function.signature
    assert taken.keys() == signature.required.keys() | signature.optional.keys()
    needed = {key for key, one in taken.items() if one.default is one.empty}
    assert needed == signature.required.keys()

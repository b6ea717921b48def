"""Whatever can be built passes strict mode, and is drawn without a word, as it is and lowered."""

from __future__ import annotations

import inspect
import typing
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from a2ui import Engine, EngineOptions, compose
from a2ui.catalog.basic import BASIC_CATALOG_1_0
from a2ui.compose import (
    Accessibility,
    Button,
    Component,
    ComposeError,
    Divider,
    Surface,
    Text,
    check,
    each,
    event,
    fn,
    index,
    lowered,
    option,
    path,
    plain,
    svg,
    tab,
)
from a2ui.compose.parts import Event, Option, SvgPath
from tests.a2ui.strategies import FUZZ

DATA = {
    "text": "Some *text*",
    "number": 3,
    "flag": True,
    "list": ["a", "b"],
    "day": "2026-08-15",
    "money": {"amount": 9.5, "currency": "EUR"},
    "items": [{"id": "a", "text": "One", "number": 1}, {"id": "b", "text": "Two", "number": 2}],
}

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12)
texts = st.one_of(
    words.map(plain),
    st.just(path("/text")),
    st.just(path("text")),
    st.sampled_from(
        [
            fn.formatString("${/text} and ${formatNumber(value: /number, decimals: 1)}"),
            fn.formatCurrency(path("/money/amount"), path("/money/currency")),
            fn.formatDate(path("/day"), "EEEE d MMMM"),
            fn.pluralize(path("/flag"), "no", one="yes"),
        ]
    ),
)
numbers = st.one_of(st.integers(0, 100), st.floats(0, 100), st.just(path("/number")))
truths = st.one_of(
    st.booleans(),
    st.just(path("/flag")),
    st.sampled_from(
        [fn.required(path("/text")), fn.is_not(path("/flag")), fn.numeric(path("/number"), min=1)]
    ),
)
conditions = st.sampled_from(
    [
        fn.required(path("/text")),
        fn.all_of(path("/flag"), fn.email(path("/text"))),
        fn.any_of(fn.length(path("/text"), max=3), fn.regex(path("/text"), "^S")),
        path("/flag"),
    ]
)
events = st.builds(
    lambda context, said: Event("go", context, said),
    st.none()
    | st.dictionaries(
        st.text("abc@_", min_size=1, max_size=3),
        st.recursive(
            texts | numbers | truths,
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
            max_leaves=4,
        ),
        max_size=3,
    ),
    st.none() | texts,
)
addresses = st.sampled_from(["https://example.com/a", path("/text")])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": texts, "label": texts, "description": texts, "placeholder": texts, "url": addresses,
    "posterUrl": addresses, "weight": st.integers(0, 5), "filterable": st.booleans(),
    "enableDate": st.booleans(), "enableTime": st.booleans(), "steps": st.integers(1, 9),
    "options": st.lists(words, unique=True, max_size=3).map(lambda found: [option(plain(one), one) for one in found]),
    "checks": st.lists(st.builds(check, conditions, st.none() | words), max_size=2),
    "action": events | st.just(fn.openUrl("https://example.com/")),
    "accessibility": st.builds(
        Accessibility, st.none() | texts, st.none() | texts, st.sampled_from([None, "off", "polite", "assertive"]),
        st.none() | truths,
    ),
    "extensions": st.just({"acme": {"a": 1}}),
}  # fmt: skip
OF: dict[tuple[str, str], st.SearchStrategy[Any]] = {
    ("TextField", "value"): st.just(path("/text")), ("CheckBox", "value"): truths,
    ("ChoicePicker", "value"): st.just(path("/list")) | st.lists(words, max_size=2),
    ("Slider", "value"): numbers, ("Slider", "min"): st.integers(0, 3), ("Slider", "max"): st.integers(4, 9),
    ("DateTimeInput", "value"): st.just(path("/day")), ("DateTimeInput", "min"): st.just("2026-01-01"),
    ("DateTimeInput", "max"): st.just("2027-01-01"),
    ("Icon", "name"): st.sampled_from(["check", "info", svg("M0 0h24"), SvgPath(fn.formatString("M0 0h24"))]),
}  # fmt: skip
"""Of properties that are not the same in all components."""


def _literals(annotation: object) -> list[str]:
    return [
        word
        for part in (annotation, *typing.get_args(annotation))
        if typing.get_origin(part) is typing.Literal
        for word in typing.get_args(part)
    ]


@st.composite
def component(draw: st.DrawFn, name: str, inner: st.SearchStrategy[Component]) -> Component:
    """One of a type, with properties as its class and the catalog have them."""
    kind = BASIC_CATALOG_1_0.components[name]
    found: dict[str, Any] = {}
    signature = inspect.signature(getattr(compose, name).__init__, eval_str=True)
    listed: list[Any] = []
    for key, one in [
        *signature.parameters.items(),
        *((key, None) for key in ("weight", "accessibility", "extensions")),
    ]:
        if key in ("self", "common") or (key not in kind.required and draw(st.booleans())):
            continue
        if one is not None and one.kind is one.VAR_POSITIONAL:
            if name == "Tabs":
                listed = draw(st.lists(st.builds(tab, texts, inner), min_size=1, max_size=3))
            else:
                listed = draw(
                    st.lists(inner, max_size=3) | inner.map(lambda item: [each("/items", _item(item))])
                )
        elif key in kind.slots:
            found[key] = draw(readable if key == "trigger" else inner)
        elif one is not None and (values := _literals(one.annotation)) and (name, key) not in OF:
            found[key] = draw(st.sampled_from(values))
        else:
            found[key] = draw(OF[name, key] if (name, key) in OF else VALUES[key])
    try:
        made: Component = getattr(compose, name)(*listed, **found)
    except ComposeError as error:
        # What is inside decides: a hidden card must hold no control, nor must a button.
        assume(error.property not in ("accessibility", "child"))
        raise
    return made


def _item(inside: Component) -> Component:
    return compose.Column(Text(fn.formatString("${@index(offset: 1)}. ${text}")), Text(index()), inside)


def _never() -> st.SearchStrategy[Component]:
    return st.nothing()


readable = st.builds(Text, texts)
LEAVES = [name for name, kind in sorted(BASIC_CATALOG_1_0.components.items()) if not kind.slots]
HOLDERS = sorted(BASIC_CATALOG_1_0.components.keys() - LEAVES)
leaves = st.one_of([component(name, _never()) for name in LEAVES])
trees = st.recursive(
    leaves, lambda inner: st.one_of([component(name, inner) for name in HOLDERS]), max_leaves=6
)


def said_of(messages: list[Any]) -> tuple[list[Any], str]:
    surfaces = Engine(EngineOptions(strict=True)).surfaces()
    told = [one for message in messages for one in surfaces.apply(message, owner="a")]
    pages = [change.html for change in surfaces.flush()]
    return [*told, *surfaces.diagnostics()], "".join(pages)


@settings(max_examples=40 * FUZZ, deadline=None)
@given(trees)
def test_whatever_is_built_is_drawn_without_a_word(root: Component) -> None:
    surface = Surface("s", compose.Column(root), DATA)
    told, page = said_of(surface.create())
    assert told == []
    assert page


@settings(max_examples=20 * FUZZ, deadline=None)
@given(trees)
def test_lowered_it_is_drawn_too(root: Component) -> None:
    found = lowered(Surface("s", compose.Column(root), DATA).create())
    if all(note.kind == "rewritten" for note in found.notes):
        told, page = said_of(found.messages)
        assert told == []
        assert page


@settings(max_examples=20 * FUZZ, deadline=None)
@given(trees)
def test_the_same_code_gives_the_same_ids(root: Component) -> None:
    first, second = (Surface("s", compose.Row(root, Divider())).components for _ in range(2))
    assert first == second
    assert len({row["id"] for row in first}) == len(first)


def test_every_type_is_among_what_is_built() -> None:
    assert {*LEAVES, *HOLDERS} == BASIC_CATALOG_1_0.components.keys()
    assert Button in Component.__subclasses__()
    assert event("a") == Event("a")
    assert option("a", "b") == Option("a", "b")

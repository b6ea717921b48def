"""Hypothesis strategies for messages of the Basic Catalog, and for what goes wrong with them."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

IDS = ["root", "a", "b", "c", "d"]
PATHS = [
    "/n",
    "/s",
    "/flag",
    "/list",
    "/list/0",
    "/people",
    "/people/0/name",
    "name",
    "age",
    "/",
    "/none",
    "x",
]
"""`.` is not among them: the Python core does not know it."""

words = st.sampled_from(["", "Hello", "**bold**", "12", "2026-09-04", "true", "ü 😀", "${/s}", "a b"])
numbers = st.one_of(st.integers(-3, 1500), st.sampled_from([0.3, -2.26, 3.0, 1234.57]))
ids = st.sampled_from(IDS[1:])
bindings = st.builds(lambda path: {"path": path}, st.sampled_from(PATHS))


def call(name: str, **args: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda given: {"call": name, "args": given}, st.fixed_dictionaries(args))


# Lists become JSON, in which the core escapes what is not ASCII (see test_differential).
scalar_bindings = st.builds(
    lambda path: {"path": path}, st.sampled_from(["/n", "/s", "/flag", "name", "/none"])
)
plain_text = st.one_of(words, bindings)
plain_number = st.one_of(numbers, bindings)
# The official Python core takes empty lists and objects as false where a condition is asked for; see test_differential.
plain_boolean = st.one_of(
    st.booleans(), st.builds(lambda path: {"path": path}, st.sampled_from(["/n", "/s", "/flag", "/none"]))
)
# Grouping is off where it is exactly false, and not for what counts as false (9.4); see test_differential.
grouping = st.one_of(st.booleans(), st.sampled_from([{"path": "/flag"}, {"path": "/none"}]))
templates = st.lists(
    st.sampled_from(
        [
            "Hi ",
            "${/s}",
            "${name}",
            "${/n}",
            "${/none}",
            "\\${x}",
            "${formatNumber(value: /n, decimals: 1)}",
            "!",
            "${true}",
        ]
    ),
    max_size=4,
).map("".join)

texts = st.one_of(
    plain_text,
    call("formatString", value=st.one_of(templates, scalar_bindings)),
    call("formatNumber", value=plain_number, decimals=st.integers(0, 3), grouping=grouping),
    call("formatCurrency", value=plain_number, currency=st.sampled_from(["USD", "EUR", "GBP"])),
    call(
        "formatDate",
        value=st.sampled_from(["2026-09-04", "2026-09-04T10:30:00Z"]),
        format=st.just("yyyy-MM-dd"),
    ),
    call("pluralize", value=numbers, one=st.just("one"), other=words),
)
# What the validators of text are given: the core takes the text of a number or an object, we take none (9.2).
judged = st.one_of(words, st.builds(lambda path: {"path": path}, st.sampled_from(["/s", "/none"])))
conditions = st.deferred(
    lambda: st.one_of(
        plain_boolean,
        call("required", value=judged),
        call("length", value=judged, min=st.integers(0, 4)),
        call("numeric", value=plain_number, max=numbers),
        call("email", value=judged),
        call("regex", value=judged, pattern=st.sampled_from(["^[A-Z]", "o$", "[0-9]+"])),
        call("not", value=conditions),
        call("and", values=st.lists(conditions, min_size=2, max_size=3)),
        call("or", values=st.lists(conditions, min_size=2, max_size=3)),
    )
)
checks = st.lists(st.fixed_dictionaries({"condition": conditions, "message": words}), max_size=2)
children = st.one_of(
    st.lists(ids, max_size=3),
    st.builds(
        lambda c, p: {"componentId": c, "path": p},
        ids,
        st.sampled_from(["/people", "/list", "kids", "/none", "/s"]),
    ),
)
context = st.dictionaries(
    st.sampled_from(["k", "path", "call", "x"]),
    st.one_of(words, numbers, st.booleans(), bindings, texts, st.lists(words, max_size=2)),
    max_size=2,
)
actions = st.one_of(
    st.builds(lambda c: {"event": {"name": "go", "context": c}}, context),
    st.just({"event": {"name": "go"}}),
    st.just({"functionCall": {"call": "openUrl", "args": {"url": "https://example.org/"}}}),
)


def component(
    name: str, required: dict[str, Any], optional: dict[str, Any] | None = None
) -> st.SearchStrategy[Any]:
    common = {"weight": numbers, "accessibility": st.fixed_dictionaries({}, optional={"label": texts})}
    return st.fixed_dictionaries(
        {"component": st.just(name), **required}, optional={**(optional or {}), **common}
    )


align = st.sampled_from(["start", "center", "end", "stretch"])
justify = st.sampled_from(["start", "center", "end", "spaceBetween", "stretch"])
COMPONENTS = st.one_of(
    component("Text", {"text": texts}, {"variant": st.sampled_from(["h1", "h5", "caption", "body"])}),
    component(
        "Image", {"url": plain_text}, {"description": texts, "fit": st.sampled_from(["cover", "none"])}
    ),
    component(
        "Icon", {"name": st.one_of(st.sampled_from(["add", "star"]), bindings, st.just({"svgPath": "M0 0"}))}
    ),
    component("Row", {"children": children}, {"justify": justify, "align": align}),
    component("Column", {"children": children}, {"justify": justify, "align": align}),
    component("List", {"children": children}, {"direction": st.just("horizontal"), "align": align}),
    component("Card", {"child": ids}),
    component(
        "Tabs",
        {"tabs": st.lists(st.fixed_dictionaries({"title": texts, "child": ids}), min_size=1, max_size=2)},
    ),
    component("Modal", {"trigger": ids, "content": ids}),
    component("Divider", {}, {"axis": st.just("vertical")}),
    component("Button", {"child": ids, "action": actions}, {"variant": st.just("primary"), "checks": checks}),
    component(
        "TextField", {"label": texts}, {"value": texts, "variant": st.just("longText"), "checks": checks}
    ),
    component("CheckBox", {"label": texts, "value": plain_boolean}, {"checks": checks}),
    component(
        "ChoicePicker",
        {
            "options": st.lists(
                st.fixed_dictionaries({"label": texts, "value": st.sampled_from(["x", "y", "z"])}),
                max_size=3,
                unique_by=lambda option: option["value"],
            ),
            "value": st.one_of(st.lists(words, max_size=2), bindings),
        },
        {"label": texts, "filterable": st.booleans(), "checks": checks},
    ),
    component("Slider", {"value": plain_number, "max": numbers}, {"min": numbers, "label": texts}),
    component(
        "DateTimeInput",
        {"value": plain_text},
        {
            "enableDate": st.booleans(),
            "min": st.sampled_from(["2026-09-04", "2026-09-04T10:30:00Z"]),
            "label": texts,
        },
    ),
)
ROWS = st.lists(COMPONENTS, min_size=1, max_size=5).map(
    lambda rows: [{"id": name, **row} for name, row in zip(IDS, rows, strict=False)]
)
MODELS = st.fixed_dictionaries(
    {},
    optional={
        "n": numbers,
        "s": words,
        "flag": st.booleans(),
        "list": st.lists(words, max_size=3),
        "people": st.lists(
            st.fixed_dictionaries(
                {"name": words}, optional={"age": numbers, "kids": st.just([{"name": "K"}])}
            ),
            max_size=3,
        ),
    },
)
leaves = st.one_of(words, numbers, st.booleans())


def written(path: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"updateDataModel": {"surfaceId": "s", "path": path, **value}}


def given_as(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return values.map(lambda value: {"value": value})


# `/n` is asked for as a condition, so nothing empty is put there or left there (`plain_boolean`).
CHANGES = st.lists(
    st.one_of(
        st.one_of(
            st.builds(written, st.just("/n"), st.one_of(st.just({}), given_as(leaves))),
            st.builds(
                written,
                st.sampled_from(
                    [
                        "/list/0",
                        "/list/1",
                        "/people/0/name",
                        "/people/0",
                        "/new/0/deep",
                        "/people/0/name/x",
                        "/list/y",
                    ]
                ),
                st.one_of(st.just({}), given_as(st.one_of(leaves, st.just([]), st.just({})))),
            ),
        ),
        st.builds(
            lambda path, scope, value: {
                "@write": {"surfaceId": "s", "path": path, "scope": scope, "value": value}
            },
            st.sampled_from(["/n", "name", "age", "/list/0"]),
            st.sampled_from(["", "/people/0"]),
            st.one_of(words, numbers),
        ),
        ROWS.map(lambda rows: {"updateComponents": {"surfaceId": "s", "components": rows}}),
    ),
    max_size=4,
).map(lambda changes: [change if "@write" in change else {"version": "v0.9", **change} for change in changes])
"""What may follow: data written and deleted, what a person enters, components defined anew."""

JUNK: list[Any] = [None, True, 0, -1, 2.5, "x", "", [], ["x"], {}, {"path": "/n"}, {"path": 5}, {"call": "not"},
                   {"call": 3}, {"path": "/n", "x": 1},
                   {"call": "email", "args": {"value": "x"}, "returnType": "string"},
                   {"call": "openUrl", "args": {"url": "no uri"}}, [{"path": "/n"}], {"svgPath": 1}]  # fmt: skip
KEYS = ["x", "text", "value", "checks", "min", "max", "returnType", "args", "label", "path"]


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found.append((value, key))
        _places(inner, found)
    return found


@st.composite
def broken(draw: st.DrawFn, made: st.SearchStrategy[Any]) -> Any:
    """Something made with up to two things replaced, removed or added."""
    value = copy.deepcopy(draw(made))
    for _ in range(draw(st.integers(0, 2))):
        places = _places(value, [])
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        kind = draw(st.sampled_from(["replace", "remove", "add"]))
        junk = copy.deepcopy(draw(st.sampled_from(JUNK)))
        if kind == "replace":
            holder[key] = junk
        elif kind == "remove":
            del holder[key]
        elif isinstance(holder, dict):
            holder[draw(st.sampled_from(KEYS))] = junk
        else:
            holder.append(junk)
    return value

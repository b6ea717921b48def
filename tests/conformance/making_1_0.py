"""Hypothesis strategies for programs of 1.0: those of `making` in its form, and what only 1.0 can say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.conformance.making import CHANGES, MODELS, ROWS, leaves, words

BASIC_1_0 = "https://a2ui.org/specification/v1_0/catalogs/basic/catalog.json"
_ENVELOPE = ("accessibility", "checks")

# Not in a text: the official core cannot read it there, see test_differential_1_0.
_counted = st.one_of(
    st.just({"@call": "@index"}),
    st.builds(lambda offset: {"@call": "@index", "args": {"offset": offset}}, st.integers(-2, 3)),
)
_plain = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["path", "call", "k", "@@path", "@@x"]), inner, max_size=2),
    ),
    max_leaves=4,
)
RESULTS = st.fixed_dictionaries(
    {"valid": st.booleans()},
    optional={
        "message": words.filter(bool),
        "code": st.just("C"),
        "severity": st.sampled_from(["error", "warning", "info"]),
    },
)
"""Results of checks as data."""


def native(value: Any) -> Any:
    """What `making` makes, with the keys of 1.0."""
    if isinstance(value, list):
        return [native(item) for item in value]
    if not isinstance(value, dict) or "componentId" in value:
        return value
    if "path" in value and len(value) == 1:
        return {"@path": value["path"]}
    if "call" in value:
        return {"@call": value["call"], "args": {name: native(arg) for name, arg in value["args"].items()}}
    return {key: native(item) for key, item in value.items()}


def component(row: dict[str, Any]) -> dict[str, Any]:
    """A row of `making` in 1.0; headings are said in Markdown there."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        if key == "action" and "event" in value:
            context = {name: native(item) for name, item in value["event"].get("context", {}).items()}
            found[key] = {"event": {**value["event"], **({"context": context} if context else {})}}
        elif key == "variant" and row["component"] == "Text":
            found[key] = "caption" if value == "caption" else "body"
        else:
            found[f"@{key}" if key in _ENVELOPE else key] = native(value)
    return found


@st.composite
def rows(
    draw: st.DrawFn, made: st.SearchStrategy[list[dict[str, Any]]], *, newer: bool
) -> list[dict[str, Any]]:
    """Components of 1.0; where they are `newer`, with what no version before can say."""
    done = [component(row) for row in draw(made)]
    for row in done if newer else ():
        kind = row["component"]
        if kind == "Text" and draw(st.booleans()):
            row["text"] = draw(_counted)
        elif kind == "TextField" and draw(st.booleans()):
            row["placeholder"] = draw(words)
        elif kind == "Slider" and draw(st.booleans()):
            row["steps"] = draw(st.integers(1, 9))
        elif kind == "Button" and "event" in row["action"]:
            event = row["action"]["event"]
            event |= {"userMessage": draw(words)} if draw(st.booleans()) else {}
            event |= {"context": {"plain": draw(_plain), "at": draw(_counted)}} if draw(st.booleans()) else {}
        if "@checks" in row and draw(st.booleans()):
            at = draw(st.sampled_from(["/result", "/none"]))
            rule = {"condition": {"@path": at}}
            row["@checks"] = [*row["@checks"], rule | draw(st.sampled_from([{}, {"message": "m"}]))]
        if draw(st.integers(0, 4)) == 0:
            row["@catalogId"] = BASIC_1_0
    return done


def in_json(value: Any) -> Any:
    """Data with whole numbers as JSON has them: the official core shows 3.0 in a text as it came, and not as 3."""
    if isinstance(value, dict):
        return {key: in_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [in_json(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def said(verb: str, **body: Any) -> dict[str, Any]:
    return {"version": "1.0", verb: {"surfaceId": "s", **body}}


@st.composite
def programs(draw: st.DrawFn, *, newer: bool = True) -> list[dict[str, Any]]:
    """A surface `s` of the Basic Catalog with components and data, in one message or several, and what follows."""
    first = draw(rows(ROWS, newer=newer))
    model = in_json(draw(MODELS) | ({"result": draw(RESULTS)} if newer else {}))
    if draw(st.booleans()):
        made = [said("createSurface", catalogId=BASIC_1_0, components=first, dataModel=model)]
    else:
        made = [
            said("createSurface", catalogId=BASIC_1_0),
            said("updateComponents", components=first),
            said("updateDataModel", path="/", value=model),
        ]
    for change in draw(CHANGES):
        if "updateComponents" in change:
            made.append(
                said(
                    "updateComponents",
                    components=draw(rows(st.just(change["updateComponents"]["components"]), newer=newer)),
                )
            )
        elif "updateDataModel" in change:
            # What `making` deletes by leaving the value out is deleted by null here.
            told = {"value": None, **in_json(change["updateDataModel"])}
            made.append({"version": "1.0", "updateDataModel": told})
        else:
            made.append({"@write": in_json(change["@write"])})
    if newer and draw(st.booleans()):
        made.append(said("updateDataModel", path="/result", value=draw(st.one_of(RESULTS, st.booleans()))))
    return made


def lowered(program: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same in the late candidate: another version string, and envelope keys without @."""
    return [_lowered(message) for message in program]


def _lowered(message: dict[str, Any]) -> dict[str, Any]:
    done: dict[str, Any] = {}
    for verb, body in message.items():
        if verb == "version":
            done[verb] = "v1.0"
        elif isinstance(body, dict) and "components" in body:
            bare = [
                {key.removeprefix("@"): value for key, value in row.items()} for row in body["components"]
            ]
            done[verb] = {**body, "components": bare}
        else:
            done[verb] = body
    return done

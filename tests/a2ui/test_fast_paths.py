"""Where a quick way stands beside the full one, both give the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2ui.catalog.accepting import AcceptContext
from a2ui.catalog.basic import BASIC_CATALOG, BASIC_CATALOG_1_0
from a2ui.catalog.basic.text import Text
from a2ui.catalog.registry import Catalog, Catalogs, Vocabulary
from a2ui.components import BaseComponent
from a2ui.protocol.dialects import BARE, MARKED, PLAIN, Notation
from a2ui.protocol.messages import read_fast, read_full
from a2ui.safety.limits import Limits
from a2ui.state.components import Component
from a2ui.state.rows import accept_fast, accept_full
from tests.a2ui.strategies import JSON

LIMITS = Limits()
OTHER = "https://example.org/other.json"
WORDS = {
    PLAIN: Vocabulary(BASIC_CATALOG, Catalogs((BASIC_CATALOG,))),
    **dict.fromkeys(
        (BARE, MARKED),
        Vocabulary(
            BASIC_CATALOG_1_0,
            Catalogs(
                (BASIC_CATALOG_1_0, Catalog(OTHER, [Text()], BASIC_CATALOG_1_0.functions, protocol="1.0"))
            ),
        ),
    ),
}
VERBS = (
    "createSurface", "updateComponents", "updateDataModel", "deleteSurface", "callRendererFunction",
    "agentFunctionResponse",
)  # fmt: skip
VALUES = st.one_of(
    JSON,
    st.sampled_from(
        [
            "root",
            "t",
            "",
            {"path": "/a"},
            {"path": "~"},
            {"call": "required", "args": {"value": {"path": "b"}}},
            {"@path": "/a"},
            {"@call": "@index"},
            {"@call": "required", "args": {"value": {"@path": "b"}}, "catalogId": OTHER},
            {"@odd": 1},
            OTHER,
            BASIC_CATALOG_1_0.id,
        ]
    ),
)
BODIES = st.dictionaries(
    st.sampled_from(
        [
            "surfaceId",
            "catalogId",
            "path",
            "value",
            "components",
            "sendDataModel",
            "theme",
            "odd",
            "dataModel",
            "metadata",
            "functionCallId",
            "callFunction",
            "error",
        ]
    ),
    VALUES,
)
MESSAGES = st.fixed_dictionaries(
    {"version": st.sampled_from(["v0.9", "v0.9.1", "v1.0", "1.0", "v7", None])},
    optional=dict.fromkeys(VERBS, BODIES),
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["root", "a", "b", "c"]),
            "component": st.sampled_from(["Text", "Card", "TextField", "No"]),
        },
        optional=dict.fromkeys(
            (
                "text",
                "child",
                "label",
                "value",
                "checks",
                "weight",
                "odd",
                "accessibility",
                "catalogId",
                "@catalogId",
                "@checks",
                "@accessibility",
                "@metadata",
                "@odd",
            ),
            VALUES,
        ),
    ),
    max_size=4,
)


def properties(props: dict[str, Any]) -> dict[str, Any]:
    """Without what may be there or not: a definition that is usable as it is is not copied."""
    return {key: value for key, value in props.items() if key not in ("id", "component")}


def facts(component: Component) -> tuple[Any, ...]:
    return component.id, component.type, properties(component.props), component.references


def context(notation: Notation) -> AcceptContext:
    return AcceptContext(LIMITS, "s", [], notation, WORDS[notation].signature)


@given(MESSAGES)
def test_messages_are_read_alike(message: dict[str, Any]) -> None:
    fast = read_fast(message, LIMITS)

    assert fast is None or fast == read_full(message, LIMITS)


@pytest.mark.parametrize(
    "body",
    [
        {"updateDataModel": {"surfaceId": "s", "value": 1}},
        {"createSurface": {"surfaceId": "s", "catalogId": "basic"}},
        {"updateComponents": {"surfaceId": "s", "components": []}},
    ],
)
@pytest.mark.parametrize("version", ["v0.9", "v0.9.1"])
def test_usual_messages_take_the_quick_way(body: dict[str, Any], version: str) -> None:
    message = {"version": version, **body}

    assert read_fast(message, LIMITS) is not None
    assert read_fast(message, LIMITS) == read_full(message, LIMITS)


@given(ROWS, st.sampled_from([*WORDS]))
def test_rows_are_accepted_alike(rows: list[dict[str, Any]], notation: Notation) -> None:
    quick, slow = context(notation), context(notation)
    fast, _ = accept_fast(rows, {}, WORDS[notation], quick)
    full = accept_full(rows, {}, WORDS[notation], slow)

    if fast is not None:
        assert full is not None
        assert [facts(c) for c in fast.values()] == [facts(c) for c in full.values()]
        assert quick.problems == slow.problems
    else:
        # Only what is twice in a message, or too much, is left to the full way here.
        assert len({row["id"] for row in rows}) < len(rows)


@given(ROWS, st.sampled_from([*WORDS]))
def test_definitions_are_accepted_alike(rows: list[dict[str, Any]], notation: Notation) -> None:
    for row in rows:
        kind = WORDS[notation].default.components.get(row["component"])
        if not isinstance(kind, BaseComponent):
            continue
        quick, slow = context(notation), context(notation)
        # The first time may be the full way, which leaves the plan for the second.
        kind.accept(row, context(notation))
        given_back, full = kind.accept(row, quick), kind.accept_full(row, slow)

        assert properties(given_back) == full
        assert quick.problems == slow.problems

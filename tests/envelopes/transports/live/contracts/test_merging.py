"""Contracts that hold at once are one: entries of all, and no name in two shapes."""

from __future__ import annotations

from typing import Any

import pytest

from envelopes.transports.live.contracts import contract_of, merged

TEXT = {"type": "string"}
ROUND = {"schema": TEXT}
CASES: list[tuple[list[Any], Any, list[str]]] = [
    ([], {}, []),
    ([{"actionSpec": {"a": {}}}], {"actionSpec": {"a": {}}}, []),
    ([{"actionSpec": {"a": {}}}, {"actionSpec": {"b": {}}}], {"actionSpec": {"a": {}, "b": {}}}, []),
    ([{"actionSpec": {"a": {}}}, {"streamSpec": {"b": ROUND}}],
     {"actionSpec": {"a": {}}, "streamSpec": {"b": ROUND}}, []),
    # The same twice is one.
    ([{"actionSpec": {"a": ROUND}}, {"actionSpec": {"a": {"schema": dict(TEXT)}}}], {"actionSpec": {"a": ROUND}}, []),
    ([{"actionSpec": {"a": {}}}, {"actionSpec": {"a": ROUND, "b": {}}}],
     {"actionSpec": {"a": {}, "b": {}}}, ["actionSpec.a"]),
    ([{"streamSpec": {"a": ROUND}}, {"streamSpec": {"a": {**ROUND, "mode": "replace"}}}],
     {"streamSpec": {"a": ROUND}}, ["streamSpec.a"]),
    ([{"propsSpec": {"description": "d", "properties": {"a": ROUND}}}, {"propsSpec": {"properties": {"b": ROUND}}}],
     {"propsSpec": {"description": "d", "properties": {"a": ROUND, "b": ROUND}}}, []),
    ([{"propsSpec": {"properties": {"a": ROUND}}}, {"propsSpec": {"properties": {"a": {"schema": {}}}}}],
     {"propsSpec": {"properties": {"a": ROUND}}}, ["propsSpec.a"]),
    ([{"agentCapabilities": {"tools": {"t": 1}}}, {"agentCapabilities": {"tools": {"t": True}}}],
     {"agentCapabilities": {"tools": {"t": 1}}}, ["agentCapabilities.tools.t"]),
]  # fmt: skip


@pytest.mark.parametrize(("documents", "made", "clashes"), CASES)
def test_entries_of_all_and_no_name_in_two_shapes(documents: Any, made: Any, clashes: list[str]) -> None:
    found, faults = merged(documents)

    assert found == made
    assert [(fault.field, fault.code) for fault in faults] == [(one, "CTR_DUP_NAME") for one in clashes]


@pytest.mark.parametrize(
    "wrong", [{"actionSpec": []}, {"actionSpec": None}, {"propsSpec": {"properties": 3}}, {"x": 1}]
)
def test_what_is_no_contract_is_refused_as_one_by_itself_is(wrong: Any) -> None:
    sound = {"streamSpec": {"b": ROUND}}
    for documents in ([wrong], [sound, wrong], [wrong, sound]):
        with pytest.raises(Exception, match="cannot be declared"):
            contract_of(merged(documents)[0])


def test_two_parts_that_do_not_fit_are_told_of_the_whole() -> None:
    """A name in two parts clashes across contracts as it does within one."""
    made, faults = merged([{"actionSpec": {"a": {}}}, {"streamSpec": {"a": ROUND}}])

    assert not faults
    with pytest.raises(Exception, match="a: "):
        contract_of(made)

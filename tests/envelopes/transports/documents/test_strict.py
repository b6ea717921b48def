"""The strict stage: kinds of errors, their order, and the fields that they name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envelopes.transports.documents.formats.errors import InvalidInput
from envelopes.transports.documents.formats.strict import (
    DEPTH,
    check_document,
    check_document_text,
    read_json,
)
from tests.envelopes.transports.documents.tables import BLOCK, DOCUMENT, table


def _sent(row: dict[str, Any]) -> bytes | None:
    if "hex" in row:
        return bytes.fromhex(row["hex"])
    return row["text"].encode() if "text" in row else None


def _value(row: dict[str, Any]) -> Any:
    if "value" in row:
        return row["value"]
    block = {**BLOCK, **row.get("block", {})}
    for name in row.get("without", ()):
        del block[name]
    return {"v": 1, "surface": "s", "components": [1], "experimental": block}


@pytest.mark.parametrize("row", table("strict"))
def test_it_says_what_is_wrong_first(row: dict[str, Any]) -> None:
    raw = _sent(row)
    if "reason" not in row:
        assert check_document(_value(row)) == _value(row)
        assert check_document_text(json.dumps(_value(row)).encode()) == _value(row)
        return
    with pytest.raises(InvalidInput) as refused:
        check_document_text(raw) if raw is not None else check_document(_value(row))
    error = refused.value
    assert (error.code, error.reason, error.path) == ("invalid_input", row["reason"], row.get("path", ""))
    assert error.as_dict()["reason"] == row["reason"]


def test_a_whole_document_passes() -> None:
    assert check_document_text(json.dumps(DOCUMENT)) == DOCUMENT


@pytest.mark.parametrize(("levels", "passes"), [(DEPTH, True), (DEPTH + 1, False), (100_000, False)])
def test_json_is_nested_so_deeply_and_no_deeper(levels: int, passes: bool) -> None:
    text = "[" * levels + "]" * levels
    if passes:
        read_json(text)
        return
    with pytest.raises(InvalidInput) as refused:
        read_json(text)
    assert refused.value.reason == "InvalidJson"


def test_what_is_too_large_is_not_read() -> None:
    with pytest.raises(InvalidInput) as refused:
        read_json(b" " * 11, limit=10)
    assert (refused.value.reason, refused.value.facts["allowed"]) == ("PayloadTooLarge", 10)

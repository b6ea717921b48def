"""conformance/core: data model, functions, expressions."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from a2ui.data import pointer
from a2ui.data.data_model import DataModel
from a2ui.data.pointer import ABSENT, Tokens, parse
from a2ui.data.values import equal
from a2ui.errors import DataError, ExpressionError
from a2ui.functions.basic import BASIC
from a2ui.functions.expressions import Literal, Path, PlainText, parse_template
from a2ui.functions.registry import Env


def function(entry: dict[str, Any]) -> None:
    """One call of one function."""
    known = BASIC.get(entry["function"])
    assert known is not None
    try:
        found = known.evaluate(entry["args"], Env())
    except ExpressionError:
        assert "expectError" in entry
        return
    assert found == entry["expect"]
    assert type(found) is type(entry["expect"])


def _plain(part: Any) -> Any:
    """The syntax tree in the notation of the suite."""
    if isinstance(part, PlainText):
        return part.text
    if isinstance(part, Literal):
        return part.value
    if isinstance(part, Path):
        return {"path": ("/" if part.absolute else "") + pointer.format(part.tokens)[1:]}
    return {
        "call": part.name,
        "args": {name: _plain(value) for name, value in part.args},
        "returnType": "any",
    }


def _joined(values: list[Any]) -> list[Any]:
    out: list[Any] = []
    for value in values:
        if isinstance(value, str) and out and isinstance(out[-1], str):
            out[-1] += value
        else:
            out.append(value)
    return out


def expression(entry: dict[str, Any]) -> None:
    """One template text, parsed."""
    if "expect_error" in entry:
        with pytest.raises(ExpressionError, match=re.escape(entry["expect_error"]["message"])):
            parse_template(entry["input"])
        return
    template = parse_template(entry["input"])
    constant = template.constant
    found = (
        [constant]
        if constant is not None and not template.parts
        else [_plain(part) for part in template.parts]
    )
    expected = _joined(entry["expect"])
    found = _joined(found) or [""]
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


def data_model(entry: dict[str, Any]) -> None:
    """Reads, writes and who is told of them."""
    model = DataModel(copy.deepcopy(entry.get("initial", {})))
    watched = list(entry.get("watch", []))
    for step in entry["steps"]:
        if step["op"] == "get":
            found = model.read(parse(step["path"]))
            if "expect_absent" in step:
                assert found is ABSENT
            if "expect_type" in step:
                assert isinstance(found, {"list": list, "object": dict}[step["expect_type"]])
            if "expect" in step:
                assert equal(found, step["expect"])
        elif step["op"] == "dispose":
            watched = []
        else:
            _change(model, step, watched)


def _change(model: DataModel, step: dict[str, Any], watched: list[str]) -> None:
    tokens = parse(step["path"])
    if "expect_error" in step:
        with pytest.raises(DataError, match=re.escape(step["expect_error"]["message"])):
            model.write(tokens, step["value"])
        return
    touched = model.write(tokens, step["value"]) if step["op"] == "set" else model.delete(tokens)
    told = [p for p in watched if any(_overlaps(parse(p), t.tokens) for t in touched)]
    assert told == step.get("expect_notified", told)
    for path, value in step.get("expect_values", {}).items():
        assert equal(model.read(parse(path)), value)


def _overlaps(one: Tokens, other: Tokens) -> bool:
    """Whether a change at one concerns a reader of the other: equal, ancestor or descendant (rulebook 6.5)."""
    return one[: len(other)] == other[: len(one)]

"""Shapes of dynamic values: bindings, calls, what functions take (rulebook 7.1, 9; section 4 of the reading of 1.0)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from a2ui.schema.shapes import Check, Shape, anything, below, boolean, list_of, number, record, string

INDEX: Final = "@index"
"""The one function of the protocol itself: the position of the nearest item of a template."""

CALL_DEPTH: Final = 5
"""Levels of calls inside the arguments of calls; not in the schemas, but what strict validators ask for (9.1)."""


def _is_reserved(key: str) -> bool:
    return key[:1] == "@" and key[1:2] != "@"


def _binding(value: dict[str, Any], path: str, check: Check) -> None:
    key = check.notation.path
    if len(value) != 1 or type(value[key]) is not str:
        check.wrong(path, f'a binding: {{"{key}": text}} and nothing else', value)


def dynamic(literal: Shape, returns: str) -> Shape:
    """A literal, a binding, or a call whose `returnType`, where it is given, is `returns`."""

    def shape(value: Any, path: str, check: Check) -> None:
        if type(value) is not dict:
            literal(value, path, check)
        elif check.notation.path in value:
            _binding(value, path, check)
        else:
            call(value, path, check)
            if value.get("returnType", returns) != returns:
                check.bad(below(path, "returnType"), f"A function that returns {returns} is needed here.")

    return shape


dynamic_string = dynamic(string, "string")
dynamic_number = dynamic(number, "number")
dynamic_boolean = dynamic(boolean, "boolean")
dynamic_string_list = dynamic(list_of(string), "array")


def dynamic_value(value: Any, path: str, check: Check) -> None:
    """Any literal but null; in 0.9 no plain objects either, and items of a list are not looked at."""
    if value is None:
        check.wrong(path, "a value", value)
    elif type(value) is dict:
        if check.notation.path in value:
            _binding(value, path, check)
        elif check.notation.call in value or not check.notation.marked:
            call(value, path, check)
        else:
            _literal(value, path, check)
    elif type(value) is list and check.notation.marked:
        _literal(value, path, check)


def _literal(value: Any, path: str, check: Check) -> None:
    """Data in which bindings and calls may stand, at any depth."""
    waiting: list[tuple[Any, str]] = [(value, path)]
    while waiting:
        at, where = waiting.pop()
        if type(at) is list:
            waiting += [(item, below(where, index)) for index, item in enumerate(at)]
        elif type(at) is dict and (at is value or not at.keys() & {check.notation.path, check.notation.call}):
            for key, item in at.items():
                if _is_reserved(key):
                    check.bad(below(where, key), f"Keys that start with @ are reserved; write @{key[:40]}.")
                waiting.append((item, below(where, key)))
        elif type(at) is dict:
            dynamic_value(at, where, check)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes: arguments by name; `any_of` are arguments of which at least one is needed."""

    returns: str
    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)
    any_of: tuple[str, ...] = ()

    def takes_data(self, argument: str) -> bool:
        """Whether an argument may be any value, so that an object may be meant as it is."""
        shape = self.required.get(argument) or self.optional.get(argument)
        return shape is None or shape is anything or shape is dynamic_value


def call(value: Any, path: str, check: Check) -> None:
    """A function call; the arguments of a function without a signature are not looked at."""
    notation = check.notation
    name = value.get(notation.call) if type(value) is dict else None
    if type(name) is not str:
        check.wrong(path, f'a function call: {{"{notation.call}": name}}', value)
        return
    catalog_id = value.get("catalogId", "") if notation.marked else ""
    for key in value.keys() - _CALL_MEMBERS[notation.marked] - {notation.call}:
        check.bad(below(path, key), f"There is no property {str(key)[:40]!r} in a function call.")
    if name == INDEX and notation.marked:
        _index(value, path, check)
        return
    if type(catalog_id) is not str:
        check.wrong(below(path, "catalogId"), "the id of a catalog", catalog_id)
        return
    function = check.function(name, catalog_id)
    if function is None:
        check.bad(below(path, notation.call), f"There is no function {name[:40]!r}.", unusable=True)
        return
    if function.callers == "agentOnly":
        check.bad(below(path, notation.call), f"Only the agent may call {name[:40]}.", unusable=True)
        return
    if function.effect and notation.marked and not check.clicked:
        check.bad(below(path, notation.call), f"{name[:40]} runs on a click only.")
        return
    check.clicked = False
    if check.depth >= CALL_DEPTH:
        check.bad(path, f"functionCall depth: calls are nested more than {CALL_DEPTH} levels deep.")
        return
    signature = function.signature
    if signature is not None and value.get("returnType", signature.returns) != signature.returns:
        check.bad(below(path, "returnType"), f"{name} returns {signature.returns}.")
    args = value.get("args") if "args" in value or signature is not None else {}
    if type(args) is not dict:
        check.wrong(below(path, "args"), "an object", value.get("args", ...))
        return
    check.depth += 1
    _arguments(signature, args, below(path, "args"), check)
    check.depth -= 1


_CALL_MEMBERS: Final = {False: {"args", "returnType"}, True: {"args", "catalogId"}}


def _index(value: dict[str, Any], path: str, check: Check) -> None:
    """`@index`: no catalog, and at most an offset (4.3)."""
    if "catalogId" in value:
        check.bad(below(path, "catalogId"), f"{INDEX} belongs to no catalog.")
    if "args" in value:
        record({}, {"offset": dynamic_number})(value["args"], below(path, "args"), check)


def _arguments(signature: Signature | None, args: dict[str, Any], path: str, check: Check) -> None:
    for key, argument in args.items():
        if check.notation.marked and _is_reserved(key):
            check.bad(below(path, key), f"Keys that start with @ are reserved; write @{key[:40]}.")
        if argument is None:
            check.wrong(below(path, key), "a value", argument)
    if signature is None:
        return
    given = {key: argument for key, argument in args.items() if argument is not None}
    known = {**signature.required, **signature.optional}
    for key, argument in given.items():
        if key not in known:
            check.bad(below(path, key), f"There is no argument {key[:40]!r}.")
        else:
            known[key](argument, below(path, key), check)
    for key in signature.required:
        if key not in args:
            check.bad(below(path, key), f"`{key}` is required.", unusable=True)
    if signature.any_of and not any(key in args for key in signature.any_of):
        check.bad(path, "One of " + ", ".join(signature.any_of) + " is required.", unusable=True)

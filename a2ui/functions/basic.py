"""The fourteen functions of the Basic Catalog, and the one that the minimal catalog adds (rulebook 9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from a2ui.errors import ExpressionError
from a2ui.functions import expressions
from a2ui.functions.dates import DATES
from a2ui.functions.effects import EFFECTS
from a2ui.functions.logic import LOGIC
from a2ui.functions.registry import Env, Function, FunctionRegistry
from a2ui.functions.signatures import SIGNATURES
from a2ui.functions.text import TEXT
from a2ui.functions.validators import VALIDATORS
from a2ui.safety.text import to_text

FORMAT_STRING = "formatString"


def _format_string(args: Mapping[str, Any], env: Env) -> str:
    """formatString outside of any scope: paths find nothing. Inside a surface the binding layer parses the same
    template and gives it the data; it never calls this."""

    def call(name: str, arguments: Mapping[str, Any]) -> Any:
        function = BASIC.get(name)
        if function is None or function.effect:
            raise ExpressionError(f"There is no function {name!r:.60} to use in text.", expression=name)
        return function.evaluate(arguments, env)

    template = expressions.parse_template(to_text(args.get("value")), env.limits)
    return expressions.evaluate(template, lambda path: None, call)


def _capitalize(args: Mapping[str, Any], env: Env) -> str:
    text = to_text(args.get("value"))
    return text[:1].upper() + text[1:]


def _signed(*functions: Function) -> list[Function]:
    return [replace(function, signature=SIGNATURES[function.name]) for function in functions]


BASIC = FunctionRegistry(
    _signed(*VALIDATORS, Function(FORMAT_STRING, _format_string), *TEXT, *DATES, *EFFECTS, *LOGIC)
)
MINIMAL = BASIC.extend(*_signed(Function("capitalize", _capitalize)))

"""The functions of the Basic Catalog 1.0: those of 0.9, of which validators give results (sections 4.4, 6 and 8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from a2ui.data.values import JSON
from a2ui.functions.basic import BASIC
from a2ui.functions.logic import logic
from a2ui.functions.registry import Env, Function
from a2ui.functions.results import holds
from a2ui.functions.signatures import SIGNATURES, SIGNATURES_1_0

# Shared by all calls: values are never changed.
_VALID: Final[JSON] = {"valid": True}
_INVALID: Final[JSON] = {"valid": False}
_INVALID_EMAIL: Final[JSON] = {
    "valid": False,
    "code": "INVALID_EMAIL",
    "message": "Please enter a valid email address (e.g. user@example.com).",
}


def _judging(function: Function, invalid: JSON = _INVALID) -> Function:
    """A validator whose boolean becomes a result."""
    evaluate, prepare = function.evaluate, function.prepare

    def result(args: Mapping[str, Any], env: Env) -> JSON:
        return _VALID if evaluate(args, env) else invalid

    def prepared(name: str, fixed: Mapping[str, Any], env: Env) -> Callable[[Any], JSON] | None:
        judge = prepare(name, fixed, env) if prepare is not None else None
        return None if judge is None else lambda value: _VALID if judge(value) else invalid

    return replace(function, evaluate=result, prepare=prepared if prepare is not None else None)


_CHANGED = (
    *(
        _judging(function)
        for name in ("required", "regex", "length", "numeric")
        if (function := BASIC.get(name))
    ),
    *(_judging(function, _INVALID_EMAIL) for name in ("email",) if (function := BASIC.get(name))),
    *logic(holds),
)

BASIC_1_0 = BASIC.extend(
    *[
        replace(function, signature=SIGNATURES_1_0.get(function.name, SIGNATURES[function.name]))
        for function in {**BASIC.by_name, **{one.name: one for one in _CHANGED}}.values()
    ]
)

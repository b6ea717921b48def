"""The functions of the Basic Catalog 1.0: those of 0.9, of which validators give results (sections 4.4, 6 and 8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from a2ui.data.values import JSON
from a2ui.functions.basic import BASIC
from a2ui.functions.logic import logic
from a2ui.functions.results import VALID, holds
from a2ui.functions.signatures import SIGNATURES, SIGNATURES_1_0
from a2ui.functions.validators import validators

_INVALID: Final[JSON] = {"valid": False}
_INVALID_EMAIL: Final[JSON] = {
    "valid": False,
    "code": "INVALID_EMAIL",
    "message": "Please enter a valid email address (e.g. user@example.com).",
}

_CHANGED = (*validators(VALID, _INVALID, _INVALID_EMAIL), *logic(holds))

BASIC_1_0 = BASIC.extend(
    *[
        replace(function, signature=SIGNATURES_1_0.get(function.name, SIGNATURES[function.name]))
        for function in {**BASIC.by_name, **{one.name: one for one in _CHANGED}}.values()
    ],
    replacing=BASIC.by_name,
)

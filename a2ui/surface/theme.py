"""The theme of a surface (rulebook section 15): what is valid is kept, everything else is dropped and reported."""

from __future__ import annotations

from typing import Any

from a2ui.data.values import JSON
from a2ui.errors import VALIDATION_FAILED, Diagnostic
from a2ui.safety.colours import parse_hex
from a2ui.safety.text import clean_text
from a2ui.safety.urls import safe_open

_NAME_CHARS = 200


def check_theme(theme: JSON, surface_id: str, *, strict: bool) -> tuple[dict[str, Any], list[Diagnostic]]:
    """(usable theme, problems). `strict` refuses instead of dropping. Unknown keys are allowed by the schema and
    mean nothing here, so they are left out in silence."""
    problems: list[Diagnostic] = []

    def bad(message: str, path: str) -> None:
        problems.append(Diagnostic(VALIDATION_FAILED, message, path, surface_id, refused=strict))

    if theme is None:
        return {}, problems
    if not isinstance(theme, dict):
        bad("theme is an object.", "/theme")
        return {}, problems
    checked: dict[str, Any] = {}
    colour, icon, name = theme.get("primaryColor"), theme.get("iconUrl"), theme.get("agentDisplayName")
    if colour is not None:
        if parse_hex(colour) is None:
            bad("primaryColor is six hexadecimal digits after #.", "/theme/primaryColor")
        else:
            checked["primaryColor"] = colour
    if icon is not None:
        url = safe_open(icon)
        if url is None:
            bad("iconUrl is an absolute http or https address.", "/theme/iconUrl")
        else:
            checked["iconUrl"] = url
    if name is not None:
        if isinstance(name, str):
            checked["agentDisplayName"] = clean_text(name)[:_NAME_CHARS]
        else:
            bad("agentDisplayName is a text.", "/theme/agentDisplayName")
    return checked, problems

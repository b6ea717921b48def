"""`openUrl`, the one function that does something (rulebook 9.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2ui.errors import ExpressionError
from a2ui.functions.registry import Env, Function
from a2ui.safety.urls import safe_open


def checked_url(args: Mapping[str, Any]) -> str:
    """The http(s) URL that `openUrl` with these resolved arguments may open. Raises ExpressionError."""
    url = safe_open(args.get("url"))
    if url is None:
        raise ExpressionError("openUrl opens absolute http and https addresses only.", expression="openUrl")
    return url


def _open_url(args: Mapping[str, Any], env: Env) -> None:
    # Opening is the browser's part; the engine hands it `checked_url`.
    checked_url(args)


EFFECTS = (Function("openUrl", _open_url, effect=True),)

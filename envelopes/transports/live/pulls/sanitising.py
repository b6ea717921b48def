"""What a client is told of a poll that failed: text of a tool, without what may be a secret (reading, 5.6)."""

from __future__ import annotations

import re
from typing import Final

MAX_CHARACTERS: Final = 2_048
"""Of a text; a mark says that there was more."""

REMOVED: Final = "[removed]"

_HEADER = re.compile(r"\b(authorization\s*[:=]\s*)[^\r\n]+", re.IGNORECASE)
_SCHEME = re.compile(r"\b(bearer|basic)(\s+)[^\s,;\"']+", re.IGNORECASE)
_QUERY = re.compile(
    r"([?&;][^=&\s?#]{0,64}?(?:token|secret|key|passw|signature|sig|auth|credential|code)[^=&\s?#]{0,64}=)[^&\s#]+",
    re.IGNORECASE,
)
_USER = re.compile(r"(://)[^/\s@]{1,256}@")
_ENVIRONMENT = re.compile(r"\$?\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")


def sanitised(text: str) -> str:
    """``text`` without values of authorization, secret query parameters and names of the environment; cut."""
    kept = text[: 2 * MAX_CHARACTERS]
    kept = _HEADER.sub(rf"\1{REMOVED}", kept)
    kept = _SCHEME.sub(rf"\1\2{REMOVED}", kept)
    kept = _USER.sub(rf"\1{REMOVED}@", kept)
    kept = _QUERY.sub(rf"\1{REMOVED}", kept)
    kept = _ENVIRONMENT.sub(REMOVED, kept)
    cut = len(text) > 2 * MAX_CHARACTERS or len(kept) > MAX_CHARACTERS
    return f"{kept[:MAX_CHARACTERS]}… [cut]" if cut else kept

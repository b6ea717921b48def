"""What can go wrong between us and the Claude API, in our terms (``failures``).

Measured with SDK 2.14: an ``error`` event in a stream is a plain ``APIStatusError`` whose status is 200, so its type
counts before its status; a stalled stream is ``httpx2.ReadTimeout`` and not the SDK's timeout error.
"""

from __future__ import annotations

import re

import anthropic
import httpx2

from envelopes.errors import ProviderError
from envelopes.providers.failures import (
    BROKEN,
    BUSY,
    KEY,
    MODEL,
    MONEY,
    REFUSED,
    RIGHTS,
    SILENT,
    TOO_LONG,
    TROUBLE,
    UNREADABLE,
    Failure,
    by_status,
    failed,
    words_of,
)

WHO = "Claude"

_TYPES: dict[str, Failure] = {
    "overloaded_error": BUSY,
    "rate_limit_error": BUSY,
    "api_error": TROUBLE,
    "timeout_error": SILENT,
    "authentication_error": KEY,
    "permission_error": RIGHTS,
    "billing_error": MONEY,
    "not_found_error": MODEL,
    "request_too_large": TOO_LONG,
    "invalid_request_error": REFUSED,
}

# Without a type of its own: "prompt is too long: 210000 tokens > 200000 maximum", "input length and `max_tokens`
# exceed context limit: ...".
_LONG = re.compile(r"prompt is too long|exceeds? (the )?context (limit|window)", re.IGNORECASE)


def as_provider_error(error: Exception) -> ProviderError:
    """``error`` in our terms; ``detail`` holds its own words, for the log and not for people."""
    if isinstance(error, anthropic.APIStatusError):
        return _from_status(error)
    if isinstance(error, (anthropic.APITimeoutError, httpx2.TimeoutException)):
        return failed(SILENT, WHO, kind="timeout", detail=words_of(error))
    if isinstance(error, (anthropic.APIConnectionError, httpx2.HTTPError, httpx2.StreamError)):
        return failed(BROKEN, WHO, kind="connection", detail=words_of(error))
    if isinstance(error, (anthropic.APIResponseValidationError, *UNREADABLE)):
        return failed(BROKEN, WHO, kind="unreadable", detail=words_of(error))
    return failed(REFUSED, WHO, kind="refused", detail=words_of(error))


def _from_status(error: anthropic.APIStatusError) -> ProviderError:
    kind, status = error.type, error.status_code
    words = error.api_message or words_of(error)
    failure = _TYPES.get(kind or "") or by_status(status)
    if failure is REFUSED and (status == 413 or _LONG.search(words)):
        failure = TOO_LONG
    return failed(
        failure,
        WHO,
        kind=kind or "status",
        headers=error.response.headers,
        status=status,
        request_id=error.request_id,
        detail=words,
    )

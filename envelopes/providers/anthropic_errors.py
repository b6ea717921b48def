"""What can go wrong between us and the Claude API, in our terms (``failures``).

Measured with SDK 2.14: an ``error`` event in a stream is a plain ``APIStatusError`` whose status is 200, so its type
counts before its status; a stalled stream is ``httpx2.ReadTimeout`` and not the SDK's timeout error.
"""

from __future__ import annotations

import re

import anthropic

from envelopes.errors import ProviderError
from envelopes.providers import failures
from envelopes.providers.sdk import from_sdk

WHO = "Claude"

_TYPES: dict[str, failures.Failure] = {
    "overloaded_error": failures.BUSY,
    "rate_limit_error": failures.BUSY,
    "api_error": failures.TROUBLE,
    "timeout_error": failures.SILENT,
    "authentication_error": failures.KEY,
    "permission_error": failures.RIGHTS,
    "billing_error": failures.MONEY,
    "not_found_error": failures.MODEL,
    "request_too_large": failures.TOO_LONG,
    "invalid_request_error": failures.REFUSED,
}

# Without a type of its own: "prompt is too long: 210000 tokens > 200000 maximum", "input length and `max_tokens`
# exceed context limit: ...".
_LONG = re.compile(r"prompt is too long|exceeds? (the )?context (limit|window)", re.IGNORECASE)


def as_provider_error(error: Exception) -> ProviderError:
    """``error`` in our terms."""
    return from_sdk(error, WHO, anthropic, anthropic.APIStatusError, _told)


def _told(error: anthropic.APIStatusError, who: str) -> ProviderError:
    # What stands in for the API may write anything there.
    kind, status = str(error.type or ""), error.status_code
    words = str(error.api_message or "") or failures.words_of(error)
    failure = _TYPES.get(kind) or failures.by_status(status)
    if failure is failures.REFUSED and (status == 413 or _LONG.search(words)):
        failure = failures.TOO_LONG
    return failures.failed(
        failure,
        who,
        kind=kind or "status",
        headers=error.response.headers,
        status=status,
        request_id=error.request_id,
        detail=words,
    )

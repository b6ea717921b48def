"""Whether a mail host of ours vouches for the domain that a mail says it is from (RFC 8601, Authentication-Results)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import authres

_features = authres.all_features()
RESULT_CHARACTERS = 4_000
"""The longest header of results that is read."""


def vouched(results: list[str], domain: str, hosts: Collection[str]) -> str:
    """By which method ``domain`` was found to be true, "" by none. ``results`` are the mail's headers of that name, the
    topmost first; ``hosts`` are the names that ours go by.

    Only the topmost counts, and only from one of ``hosts``: whatever stands below it may have come with the mail, and a
    host takes out what comes in under its own name (section 5). DMARC has to have passed for this very domain; where
    nothing is said of DMARC, a DKIM signature of this very domain does. SPF alone tells whose server it was, which many
    share, so it is not enough; and a failure of DMARC outweighs anything.
    """
    if not results or len(results[0]) > RESULT_CHARACTERS:
        return ""
    try:
        header = _features.parse_value(" ".join(results[0].split()))
    except (authres.AuthResError, ValueError, RecursionError):
        # The last one for comments within comments, hundreds deep.
        return ""
    if str(header.authserv_id).casefold() not in {host.casefold() for host in hosts}:
        return ""
    found = [one for one in header.results if isinstance(one, authres.AuthenticationResult)]
    dmarc = [one for one in found if one.method == "dmarc"]
    if dmarc:
        good = all(one.result == "pass" and _of(one, "header", "from") == domain for one in dmarc)
        return "dmarc" if good else ""
    signed = [one for one in found if one.method == "dkim" and one.result == "pass"]
    return "dkim" if any(_signer(one) == domain for one in signed) else ""


def _signer(result: Any) -> str:
    return _of(result, "header", "d") or _of(result, "header", "i").rpartition("@")[2]


def _of(result: Any, kind: str, name: str) -> str:
    values = {str(one.value) for one in result.properties if (one.type, one.name) == (kind, name)}
    return values.pop().casefold() if len(values) == 1 else ""

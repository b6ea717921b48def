"""What can go wrong between us and a model, whoever's it is: a sentence for people, and whether again may help.

Each provider sorts its SDK's errors into these; ``who`` is what people call the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from envelopes.errors import ProviderError
from envelopes.protocol.text import clean_text


@dataclass(frozen=True)
class Failure:
    """``why`` is a word for it; ``retryable``: the same request may well be answered in a while."""

    why: str
    sentence: str
    retryable: bool = False


WORDS, KIND = 500, 100
"""Characters of what the other side says that are kept, and of its word for it: some answer with all that they got."""

_CHECK = "Whoever runs this site has to check it."

BUSY = Failure(
    "busy", "{who} is very busy at the moment. Asking again in a minute usually helps.", retryable=True
)
BROKEN = Failure("broken", "The connection to {who} broke off. Asking again usually helps.", retryable=True)
SILENT = Failure("silent", "{who} did not answer in time. Asking again usually helps.", retryable=True)
TROUBLE = Failure("trouble", "{who} had a problem of its own. Asking again usually helps.", retryable=True)
KEY = Failure("key", f"{{who}} does not accept the key that is set up here. {_CHECK}")
RIGHTS = Failure("rights", f"The key that is set up here may not use this model. {_CHECK}")
MODEL = Failure("model", f"The model that is set up here does not exist. {_CHECK}")
MONEY = Failure("money", f"The {{who}} account of this site cannot pay for an answer. {_CHECK}")
TOO_LONG = Failure("too_long", "This is too long for {who}.")
ENDLESS = Failure(
    "endless", "{who} did not come to an end with its answer. Asking again usually helps.", retryable=True
)
REFUSED = Failure("refused", "{who} did not accept the request. Asking the same again will not help.")

_STATUSES: dict[int, Failure] = {
    401: KEY,
    402: MONEY,
    403: RIGHTS,
    404: MODEL,
    408: SILENT,
    409: TROUBLE,
    413: TOO_LONG,
    429: BUSY,
    503: BUSY,
    504: SILENT,
    529: BUSY,
}


def by_status(status: int) -> Failure:
    """By the status of HTTP alone. 200 is an error in a stream, of a kind that nobody knows."""
    return _STATUSES.get(status) or (REFUSED if 400 <= status < 500 else TROUBLE)


def failed(
    failure: Failure, who: str, *, kind: str, headers: Mapping[str, str] | None = None, **facts: Any
) -> ProviderError:
    """The error for it. ``kind`` is the other side's word; ``headers`` are those of its answer: they may say when to
    come again (``retry_after``, seconds), or not to. Of words the beginning is kept."""
    told = {
        name: fact if isinstance(fact, int | float) else str(fact)[:WORDS]
        for name, fact in facts.items()
        if fact is not None
    }
    given = headers or {}
    retryable = failure.retryable and given.get("x-should-retry") != "false"
    if retryable and (seconds := retry_after(given)) is not None:
        told["retry_after"] = seconds
    sentence = failure.sentence.format(who=who)
    return ProviderError(
        sentence, retryable=retryable, kind=_on_one_line(kind), why=failure.why, who=who, **told
    )


def _on_one_line(kind: str) -> str:
    """It stands in the log of the process, which whoever wrote it must not go on writing."""
    return clean_text(" ".join(kind.split()))[:KIND]


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """The seconds that the other side asks us to wait (RFC 9110, 10.2.3, and ``retry-after-ms``); None where it does
    not say, or what cannot be read."""
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    written = headers.get("retry-after", "")
    if (seconds := _number(written)) is not None:
        return seconds
    try:
        at = parsedate_to_datetime(written)
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(written: str) -> float | None:
    """A number that is finite; 0 for one below."""
    try:
        number = float(written)
    except ValueError:
        return None
    return max(0.0, number) if isfinite(number) else None


UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, UserWarning)
"""What reading an event raises that is not what the API's documents say: SDKs check nothing of it."""


def words_of(error: Exception) -> str:
    """Its own words, for the log and not for people."""
    return f"{type(error).__name__}: {error}"[:WORDS]


def without(error: ProviderError, key: str) -> ProviderError:
    """``error`` with ``key`` left out of what the other side says: some repeat what they were asked with. One that is
    as short as a word may be one."""
    if len(key) >= _SHORTEST_KEY:
        facts = error.facts
        error.facts = {
            name: _without(fact, key) if isinstance(fact, str) else fact for name, fact in facts.items()
        }
    return error


_SHORTEST_KEY = 8


def _without(words: str, key: str) -> str:
    words = words.replace(key, LEFT_OUT)
    # What was cut may end in the middle of it.
    for length in range(len(key) - 1, _SHORTEST_KEY - 1, -1):
        if words.endswith(key[:length]):
            return words[:-length] + LEFT_OUT
    return words


LEFT_OUT = "(the key)"

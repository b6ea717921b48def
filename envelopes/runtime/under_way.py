"""What a reply has taken of which nobody says so: it was stopped, or broke off, or its server does not count. What its
model's side has told by then counts, what came from a cache as well; the rest is estimated."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from envelopes.costs import counts_in, taken
from envelopes.providers.estimating import tokens_in
from envelopes.providers.failures import ENDLESS, failed
from envelopes.providers.port import (
    BlockEnded,
    InputFragment,
    ModelEvent,
    Provider,
    ReplyEnded,
    TextFragment,
    UsageTold,
)
from envelopes.types import JsonObject

REPLY_BYTES = 8 * 1024 * 1024
"""Of one reply: no model writes as much, but a server that does not stop one might send for half an hour."""


@dataclass
class UnderWay:
    """One reply. ``sent``: tokens of its request, counted or estimated."""

    provider: Provider
    sent: int
    _is_begun: bool = False
    _bytes: dict[int, int] = field(default_factory=dict)
    _told: JsonObject | None = None
    _is_over: bool = False
    _written: int = 0

    def hear(self, event: ModelEvent) -> None:
        """Raises ``ProviderError`` for what comes after ``REPLY_BYTES``, but of code."""
        self._is_begun = True
        match event:
            case InputFragment() | TextFragment():
                self._grow(event.index, _size(event.fragment))
            case BlockEnded():
                # Not all providers tell of pieces.
                whole = event.raw_input or json.dumps(event.content, ensure_ascii=False)
                self._grow(event.index, max(0, _size(whole) - self._bytes.get(event.index, 0)))
            case UsageTold() | ReplyEnded():
                self._told = event.usage or self._told
                self._is_over = isinstance(event, ReplyEnded) and isinstance(event.stop_reason, str)

    def spent(self) -> tuple[JsonObject, bool]:
        """What it took, in the words of the Messages API, and whether that is an estimate. Empty where nothing has
        come; of code, which takes nothing, only what it says itself."""
        told = counts_in(self._told)
        if self._is_code or not self._is_begun:
            return told if self._is_over else {}, False
        # A prompt has at least one token: without any, nobody has counted.
        is_told = taken(told).came > 0
        if self._is_over and is_told:
            return told, False
        size = sum(self._bytes.values())
        written = tokens_in(size) if size else 0
        found = told if is_told else {**told, "input_tokens": self.sent}
        return {**found, "output_tokens": max(written, found.get("output_tokens", 0))}, True

    def _grow(self, index: int, size: int) -> None:
        self._bytes[index] = self._bytes.get(index, 0) + size
        self._written += size
        if self._written > REPLY_BYTES and not self._is_code:
            told = f"There were more than {REPLY_BYTES} bytes."
            raise failed(ENDLESS, self.provider.label, kind="endless", detail=told)

    @property
    def _is_code(self) -> bool:
        return getattr(self.provider, "trusted", False) is True


def _size(text: str) -> int:
    """In bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))

"""What a reply has taken that never came to its end: it was stopped, or broke off. Its model's side counts it all the
same, but says how much only at the end, if at all; so it is estimated."""

from __future__ import annotations

from dataclasses import dataclass

from envelopes.costs import counts_in
from envelopes.providers.estimating import tokens_in, tokens_of
from envelopes.providers.port import BlockEnded, InputFragment, ModelEvent, Provider, ReplyEnded
from envelopes.types import JsonObject


@dataclass
class UnderWay:
    """One reply. ``sent``: tokens of its request, counted or estimated."""

    provider: Provider
    sent: int
    _is_begun: bool = False
    _bytes: int = 0
    _tokens: int = 0
    _told: JsonObject | None = None

    def hear(self, event: ModelEvent) -> None:
        self._is_begun = True
        match event:
            case InputFragment():
                self._bytes += len(event.fragment.encode("utf-8", "replace"))
            case BlockEnded() if event.kind != "tool_use":
                self._tokens += tokens_of(event.content)
            case ReplyEnded():
                self._told = event.usage

    def usage(self) -> JsonObject:
        """In the words of the Messages API; empty where nothing has come, and for code, which takes nothing."""
        if not self._is_begun or getattr(self.provider, "trusted", False) is True:
            return {}
        written = self._tokens + (tokens_in(self._bytes) if self._bytes else 0)
        told = counts_in(self._told)
        found = told if "input_tokens" in told else {"input_tokens": self.sent}
        return {**found, "output_tokens": max(written, found.get("output_tokens", 0))}

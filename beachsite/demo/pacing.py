"""The scripted model at the speed of a person's eye: words slowly enough to be seen coming, data without delay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from envelopes.conf import conf
from envelopes.providers.port import BlockStarted, InputFragment, ModelEvent, ModelRequest
from envelopes.providers.scripted import Script, ScriptedProvider

_WORDS, _DATA = 0.3, 30.0
"""Shares of ``BEACH_SCRIPT_PACE``: a card is forty times as long as an answer, and nobody watches it being written."""


class PacedModel(ScriptedProvider):
    """``ScriptedProvider`` with two speeds. ``pace`` and ``sleep`` as there."""

    def __init__(
        self,
        script: Script,
        label: str = "Scripted demo model",
        *,
        pace: float | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(script, label, pace=0)
        self._speed = pace
        self._wait = sleep

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        speed = conf.BEACH_SCRIPT_PACE if self._speed is None else self._speed
        written, owed = "", 0.0
        async with aclosing(super().stream(request)) as events:
            async for event in events:
                if isinstance(event, BlockStarted):
                    written = ""
                elif isinstance(event, InputFragment) and speed > 0:
                    written += event.fragment
                    # A part's metadata stands first; inside a card "text" is only another key.
                    share = _DATA if written.rfind('"data":') > written.rfind('"metadata":') else _WORDS
                    owed += len(event.fragment) / (speed * share)
                    # A sleep shorter than the clock's grain costs more than it says.
                    if owed > 0.01:
                        await self._wait(owed)
                        owed = 0.0
                yield event

"""A model through the SDK of its maker: what is the same whoever's it is. Connections, what is set, where errors begin.

The SDKs of Anthropic and OpenAI are of one family: a client with ``close()``, streams over httpx, and the same names of
errors, which ``from_sdk`` reads. A provider adds how a request is written and how events are read.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, aclosing
from typing import Any, ClassVar, Generic, Protocol, TypedDict, TypeVar

import httpx2

from envelopes.conf import conf
from envelopes.errors import ProviderError
from envelopes.providers.clients import Client, Clients
from envelopes.providers.failures import BROKEN, REFUSED, SILENT, UNREADABLE, failed, without, words_of
from envelopes.providers.port import ModelEvent, ModelRequest

NO_KEY = "none"
"""For clients that ask for a key where there is none to be had."""

C = TypeVar("C", bound=Client)
E = TypeVar("E", bound=Exception)


class SdkProvider(ABC, Generic[C]):
    """A provider for one model.

    ``room`` is how many tokens a request may have, its window less the longest reply; 0 for ``BEACH_REQUEST_TOKENS``.
    ``base_url`` "" is the SDK's own. ``effort`` "" is the model's own, ``temperature`` is sent where it is not None.
    Making one is cheap: connections are shared by all providers of an event loop. The SDK is told to retry nothing: the
    runtime does, and people are told.
    """

    name: str
    clients: ClassVar[Clients[Any]]
    """One for each SDK; a class that derives from a provider has clients of its own in it."""
    sdk_error: ClassVar[type[Exception]]
    """What all errors of the SDK derive from."""
    timeout: ClassVar[httpx2.Timeout]
    """Seconds, where whoever makes one does not say."""

    def __init__(
        self,
        api_key: str,
        model: str,
        *,
        base_url: str = "",
        max_tokens: int = 16_000,
        effort: str = "",
        temperature: float | None = None,
        timeout: httpx2.Timeout | None = None,
        label: str = "",
        room: int = 0,
    ) -> None:
        self.model = model
        self.label = label or self._called(model)
        self.room = room
        self._api_key = api_key
        self._base_url = base_url
        self._max_tokens = max_tokens
        self._effort = effort
        self._temperature = temperature
        self._timeout = timeout or self.timeout

    @abstractmethod
    def make_client(self) -> C:
        """A client for ``_base_url`` and ``_api_key`` that retries nothing."""

    @abstractmethod
    def load(self) -> None:
        """Touch what the SDK loads when it is first asked for. In a thread."""

    @abstractmethod
    def body(self, request: ModelRequest) -> dict[str, Any]:
        """``request`` as the SDK takes it. What is wrong there is a fault of ours, not of the other side."""

    @abstractmethod
    def events(self, body: dict[str, Any]) -> AsyncGenerator[ModelEvent, None]:
        """The reply to ``body``, as ``stream`` has it; what the SDK raises is let through, and what reading raises."""

    @abstractmethod
    def as_provider_error(self, error: Exception) -> ProviderError:
        """``error`` in our terms: ``from_sdk``."""

    def told(self, error: Exception) -> ProviderError:
        """``as_provider_error``, without the key where the other side has repeated it."""
        return without(self.as_provider_error(error), self._api_key)

    def check_set_up(self) -> None:
        """Raise ``not_set_up`` where something is missing without which nothing can be asked."""

    def _called(self, model: str) -> str:
        """What people call ``model``."""
        return model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The reply as it is written. Cancelling the task, or closing this generator, closes the connection.

        Raises ``ProviderError`` with ``kind`` (the other side's code or ours), ``status`` and ``request_id`` where
        there are any, and its own words as ``detail``, which are for the log.
        """
        self.check_set_up()
        with self.holding():
            async with aclosing(self.events(self.body(request))) as events:
                while True:
                    # What a consumer throws in at the yield below is not the provider's failure.
                    try:
                        event = await anext(events)
                    except StopAsyncIteration:
                        return
                    except self._failures as error:
                        raise self.told(error) from error
                    yield event

    async def aclose(self) -> None:
        """Close the connections of this event loop that this provider would use. It may be used again."""
        await self.clients.close(self._identity)

    async def warm(self) -> None:
        """Load what the first request would otherwise wait for, which takes seconds."""
        await asyncio.to_thread(self.load)
        self.client()

    def client(self) -> C:
        """That of the running event loop. ``stream`` holds it; what else uses one, such as ``count``, does it
        ``with self.holding():``, or its connection may be closed when many others are asked for."""
        client: C = self.clients.get(self._identity, self.make_client)
        return client

    def holding(self) -> AbstractContextManager[None]:
        """``client()`` stays open within it, however many others there are."""
        return self.clients.holding(self._identity)

    @property
    def _identity(self) -> tuple[type[Any], str, str]:
        # A class that derives from a provider may make its clients otherwise.
        return type(self), self._base_url, self._api_key

    @property
    def _failures(self) -> tuple[type[Exception], ...]:
        return (self.sdk_error, httpx2.HTTPError, httpx2.StreamError, *UNREADABLE)


class Options(TypedDict):
    """What the settings say of every model."""

    max_tokens: int
    effort: str
    temperature: float | None


def from_conf() -> Options:
    """``BEACH_MAX_TOKENS``, ``BEACH_EFFORT`` and ``BEACH_TEMPERATURE``."""
    return {
        "max_tokens": conf.BEACH_MAX_TOKENS,
        "effort": conf.BEACH_EFFORT,
        "temperature": conf.BEACH_TEMPERATURE,
    }


class Sdk(Protocol):
    """The module of an SDK, with the names of its errors."""

    @property
    def APITimeoutError(self) -> type[Exception]: ...  # noqa: N802
    @property
    def APIConnectionError(self) -> type[Exception]: ...  # noqa: N802
    @property
    def APIResponseValidationError(self) -> type[Exception]: ...  # noqa: N802


def from_sdk(
    error: Exception, who: str, sdk: Sdk, told: type[E], read: Callable[[E, str], ProviderError]
) -> ProviderError:
    """``error`` in our terms; ``detail`` holds its own words, for the log and not for people. ``told`` is what the SDK
    raises when the other side has said what is wrong, which ``read`` reads; ``who`` is what people call the model.

    A stalled stream is httpx's timeout, not the SDK's.
    """
    detail = words_of(error)
    if isinstance(error, (sdk.APITimeoutError, httpx2.TimeoutException)):
        return failed(SILENT, who, kind="timeout", detail=detail)
    if isinstance(error, (sdk.APIConnectionError, httpx2.HTTPError, httpx2.StreamError)):
        return failed(BROKEN, who, kind="connection", detail=detail)
    if isinstance(error, (sdk.APIResponseValidationError, *UNREADABLE)):
        return failed(BROKEN, who, kind="unreadable", detail=detail)
    if isinstance(error, told):
        return read(error, who)
    return failed(REFUSED, who, kind="refused", detail=detail)
